//! The built application, driven like a reviewer does: by its window and the keyboard, against the real PostgreSQL.

#[path = "desktop/app.rs"]
mod app;
#[path = "desktop/backlog.rs"]
mod backlog;
#[path = "desktop/close.rs"]
mod close;
#[path = "desktop/dead_letters.rs"]
mod dead_letters;
#[path = "desktop/home.rs"]
mod home;
#[path = "desktop/keyboard.rs"]
mod keyboard;
#[path = "desktop/tour.rs"]
mod tour;

use std::time::Duration;

use anyhow::{Context as _, ensure};
use app::App;
use backlog::Backlog;
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::display::{Display, Size};
use countersign_tests::wait::until;
use home::Home;

/// As in `tauri.conf.json`: the window fills the display.
const WINDOW: Size = (1400, 880);
/// How many rows a story selects and signs.
const SIGNED: usize = 6;
/// From the start of the application to its first rows, on a busy machine.
const ROWS_WITHIN: Duration = Duration::from_mins(1);
/// From a click or a key to what it leads to.
const SHOWN_WITHIN: Duration = Duration::from_secs(20);
/// The undo window, and a few attempts of the outbox after a network came back.
const COMMITTED_WITHIN: Duration = Duration::from_mins(2);
/// Where pictures go, the README's among them, when they are asked for.
const SCREENSHOTS: &str = "COUNTERSIGN_SCREENSHOT_DIR";

type Outcome = anyhow::Result<()>;

/// Only one WebDriver of WebKit works at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_approved_with_the_keyboard_and_closing_leaves_nothing_behind() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(approve_and_close(&app, &backlog)).await;
    app.end();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_of_500_in_three_currencies_takes_fewer_than_40_keystrokes_and_reconciles() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_a_close().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let home = Home::new(&backlog, &proxy)?.with_settings("queue_maxsize = 500\nlease_prefetch = 500\n")?;
    let display = Display::start(WINDOW).await?;
    let app = App::start(&display, &home).await?;
    let told = app.tell(close::close(&app, &backlog, &proxy)).await;
    app.end();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_records_are_corrected_rehearsed_and_replayed_by_keyboard_alone() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_bad_records().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = Box::pin(app.tell(dead_letters::remedy(&app, &backlog))).await;
    app.end();
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_fits_into_the_window() -> Outcome {
    let _turn = TURN.lock().await;
    for look in tour::looks() {
        let backlog = Backlog::with_demo_exceptions().await?;
        let proxy = CuttingProxy::start(backlog.addr().await?).await?;
        let whole = "queue_maxsize = 500\nlease_prefetch = 500\n";
        let home = Home::new(&backlog, &proxy)?.attended().with_settings(whole)?.looking_like(*look)?;
        let display = Display::start(look.size).await?;
        let app = App::start(&display, &home).await?;
        let told = app.tell(tour::tour(&app, &backlog, &proxy, *look)).await;
        app.end();
        told.with_context(|| format!("{look:?}"))?;
    }
    Ok(())
}

/// A new workstation shows who it is; a supervisor compares and confirms, and work begins without another click.
async fn enrol(app: &App<'_>, backlog: &Backlog) -> Outcome {
    let shown = async |what: &str| {
        app.attribute(&format!(r#"[data-testid="enrolment-{what}"]"#), "data-value", ROWS_WITHIN).await
    };
    let (workstation, fingerprint) = (shown("workstation").await?, shown("fingerprint").await?);
    let asking = until("the workstation to ask", SHOWN_WITHIN, async || Ok(Some(backlog.asking().await?))).await?;
    ensure!(asking == (workstation, fingerprint.replace('-', "")), "the window shows another key than {asking:?}");
    app.see_text(r#"[data-testid="link-pill"]"#, "Waiting for confirmation", SHOWN_WITHIN).await?;
    picture_if_asked_for(app, "enrolment.png").await?;
    backlog.confirm().await?;
    app.see(r#"[data-testid="link-pill"][data-online="true"]"#, SHOWN_WITHIN).await
}

async fn approve_and_close(app: &App<'_>, backlog: &Backlog) -> Outcome {
    enrol(app, backlog).await?;
    app.see(r#"[data-testid="link-pill"][data-online="true"]"#, ROWS_WITHIN).await?;
    let signed = app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
    app.see(r#"[data-testid="detail"] table"#, SHOWN_WITHIN).await?;
    picture_if_asked_for(app, "review-light.png").await?;
    app.approve().await?;
    app.see_text(r#"[data-testid="toast"]"#, &format!("Signed {SIGNED}"), SHOWN_WITHIN).await?;

    until("the sign-offs to be committed", COMMITTED_WITHIN, async || {
        Ok((backlog.signed().await? == signed).then_some(()))
    })
    .await?;
    ensure!(backlog.decided_twice().await? == 0, "something was decided twice");

    app.click("nav-sync").await?;
    app.see(&format!(r#"[data-testid="outbox-counts"][data-committed="{SIGNED}"][data-ready="0"]"#), SHOWN_WITHIN)
        .await?;
    app.click("tab-receipts").await?;
    app.see(r#"[data-testid="receipts"] tbody tr"#, SHOWN_WITHIN).await?;
    app.press_button("Finish and close").await?;
    app.gone(COMMITTED_WITHIN).await?;
    ensure!(backlog.leases_held().await? == 0, "closing did not give undecided exceptions back");
    ensure!(app.log().contains(r#""event":"closed""#), "the log does not say how it ended");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_signed_offline_survives_a_kill_and_is_committed_once() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(sign_offline_and_die(&app, &backlog, &proxy)).await;
    app.end();
    let signed = told?;
    ensure!(backlog.signed().await?.is_empty(), "nothing can have reached the database");

    let app = App::start(&display, &home).await?;
    let told = app.tell(come_back(&app, &backlog, &proxy, &signed)).await;
    app.end();
    told
}

async fn sign_offline_and_die(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy) -> anyhow::Result<Vec<i64>> {
    enrol(app, backlog).await?;
    let signed = app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
    proxy.cut();
    app.approve().await?;
    app.see_text(r#"[data-testid="toast"]"#, &format!("Signed {SIGNED}"), SHOWN_WITHIN).await?;
    app.see(r#"[data-testid="link-pill"][data-online="false"]"#, COMMITTED_WITHIN).await?;
    app.kill(SHOWN_WITHIN).await?;
    Ok(signed)
}

async fn come_back(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy, signed: &[i64]) -> Outcome {
    // Offline, from the journal alone.
    app.see(r#"[data-testid^="row-"]"#, ROWS_WITHIN).await?;
    app.click("nav-sync").await?;
    app.see(&format!(r#"[data-testid="outbox-counts"][data-ready="{SIGNED}"]"#), SHOWN_WITHIN).await?;
    app.see(r#"[data-testid="link-pill"][data-online="false"]"#, SHOWN_WITHIN).await?;

    proxy.pass();
    until("the sign-offs to be committed without another click", COMMITTED_WITHIN, async || {
        Ok((backlog.signed().await? == signed).then_some(()))
    })
    .await?;
    ensure!(backlog.decided_twice().await? == 0, "something was decided twice");
    app.see(&format!(r#"[data-testid="outbox-counts"][data-committed="{SIGNED}"]"#), SHOWN_WITHIN)
        .await
        .context("the window does not tell what the database has answered")
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_offline_tells_what_is_left_and_leaves_it_on_disk() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(close_offline(&app, &backlog, &proxy)).await;
    app.end();
    told?;
    ensure!(backlog.signed().await?.is_empty(), "nothing can have reached the database");
    Ok(())
}

async fn close_offline(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy) -> Outcome {
    enrol(app, backlog).await?;
    app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
    proxy.cut();
    app.approve().await?;
    app.see(r#"[data-testid="link-pill"][data-online="false"]"#, COMMITTED_WITHIN).await?;
    app.ask_to_end().await?;
    app.see_text(r#"[data-testid="drain-dialog"]"#, &format!("Still to be sent{SIGNED}"), SHOWN_WITHIN).await?;
    picture_if_asked_for(app, "closing-offline.png").await?;
    app.click("drain-close-now").await?;
    app.gone(SHOWN_WITHIN).await?;
    ensure!(app.log().contains(&format!(r#""unsent":{SIGNED}"#)), "the log does not say what is left on disk");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_password_is_told_in_words_and_the_right_one_lets_the_work_begin() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?.attended());
    let app = App::start(&display, &home).await?;
    let told = app.tell(sign_in(&app, &backlog)).await;
    app.end();
    told
}

async fn sign_in(app: &App<'_>, backlog: &Backlog) -> Outcome {
    app.see(r#"[data-testid="connect-form"] [data-testid="password"]"#, ROWS_WITHIN).await?;
    app.enter("password", "not the password").await?;
    // While an attempt is under way, another one is not begun.
    app.see(r#"[data-testid="connect-submit"]:not([disabled])"#, SHOWN_WITHIN).await?;
    app.see_text(r#"[data-testid="connect-error"]"#, "enter the password again", SHOWN_WITHIN).await?;
    app.enter("password", &backlog.password).await?;
    enrol(app, backlog).await?;
    app.see(r#"[data-testid="link-pill"][data-online="true"]"#, SHOWN_WITHIN).await?;
    app.see(r#"[data-testid^="row-"]"#, ROWS_WITHIN).await?;
    ensure!(!app.log().contains(&backlog.password), "the log holds the password");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_out_gives_everything_back_and_can_remove_what_is_left() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(sign_out_and_remove(&app, &backlog, &home)).await;
    app.end();
    told
}

async fn sign_out_and_remove(app: &App<'_>, backlog: &Backlog, home: &Home) -> Outcome {
    enrol(app, backlog).await?;
    app.see(r#"[data-testid^="row-"]"#, ROWS_WITHIN).await?;
    ensure!(!home.journals()?.is_empty(), "there is no journal");
    app.click("sign-out").await?;
    app.see(r#"[data-testid="sign-out-confirm"]"#, SHOWN_WITHIN).await?;
    app.click("sign-out-confirm").await?;
    app.see(r#"[data-testid="connect-form"]"#, COMMITTED_WITHIN).await?;
    app.see_text(r#"[data-testid="leaving"]"#, "removed from this computer", SHOWN_WITHIN).await?;
    ensure!(backlog.leases_held().await? == 0, "signing out did not give undecided exceptions back");

    app.click("remove-everything").await?;
    app.see(r#"[data-testid="remove-confirm"]"#, SHOWN_WITHIN).await?;
    app.click("remove-confirm").await?;
    app.see_text(r#"[data-testid="toast"]"#, "were removed", SHOWN_WITHIN).await?;
    let left = home.journals()?;
    ensure!(left.is_empty(), "{left:?} is left");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_workstation_keeps_unsent_decisions_until_their_export_was_seen() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start(WINDOW).await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(be_revoked(&app, &backlog, &proxy, &home)).await;
    app.end();
    told
}

async fn be_revoked(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy, home: &Home) -> Outcome {
    enrol(app, backlog).await?;
    app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
    proxy.cut();
    app.approve().await?;
    app.see_text(r#"[data-testid="toast"]"#, &format!("Signed {SIGNED}"), SHOWN_WITHIN).await?;
    backlog.revoke().await?;
    proxy.pass();
    app.see_text(r#"[data-testid="leaving"]"#, "left on a train", COMMITTED_WITHIN).await?;
    let unsent = format!("{SIGNED} unsent decisions are still here");
    app.see_text(r#"[data-testid="leaving-unsent"]"#, &unsent, SHOWN_WITHIN).await?;
    ensure!(backlog.signed().await?.is_empty(), "a revoked workstation signed");

    app.see(r#"[data-testid="remove-everything"][disabled]"#, SHOWN_WITHIN).await?;
    app.click("export-outbox").await?;
    app.see(r#"[data-testid="acknowledge-export"]"#, SHOWN_WITHIN).await?;
    app.click("acknowledge-export").await?;
    picture_if_asked_for(app, "revoked.png").await?;
    app.click("remove-everything").await?;
    app.see(r#"[data-testid="remove-confirm"]"#, SHOWN_WITHIN).await?;
    app.click("remove-confirm").await?;
    app.see(r#"[data-testid="connect-form"]"#, SHOWN_WITHIN).await?;
    ensure!(home.journals()?.is_empty(), "{:?} is left", home.journals()?);
    let export = home.export()?.context("there is no export")?;
    ensure!(export.lines().count() == SIGNED + 1, "the export is not whole: {export}");
    Ok(())
}

async fn picture_if_asked_for(app: &App<'_>, name: &str) -> Outcome {
    match std::env::var_os(SCREENSHOTS) {
        Some(directory) => app.picture(&std::path::Path::new(&directory).join(name)).await,
        None => Ok(()),
    }
}
