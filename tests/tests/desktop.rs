//! The built application, driven like a reviewer does: by its window and the keyboard, against the real PostgreSQL.

#[path = "desktop/app.rs"]
mod app;
#[path = "desktop/backlog.rs"]
mod backlog;
#[path = "desktop/display.rs"]
mod display;
#[path = "desktop/wait.rs"]
mod wait;

use std::time::Duration;

use anyhow::Context as _;
use app::{App, Home};
use backlog::Backlog;
use countersign_testkit::proxy::CuttingProxy;
use display::Display;
use wait::until;

/// How many rows a story selects and signs.
const SIGNED: usize = 6;
/// From the start of the application to its first rows, on a busy machine.
const ROWS_WITHIN: Duration = Duration::from_secs(60);
/// From a click or a key to what it leads to.
const SHOWN_WITHIN: Duration = Duration::from_secs(20);
/// The undo window, and a few attempts of the outbox after a network came back.
const COMMITTED_WITHIN: Duration = Duration::from_secs(120);
/// Where the picture for the README goes, when it is asked for.
const SCREENSHOTS: &str = "COUNTERSIGN_SCREENSHOT_DIR";

type Outcome = anyhow::Result<()>;

/// Only one WebDriver of WebKit works at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_approved_with_the_keyboard_and_closing_leaves_nothing_behind() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start().await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(approve_and_close(&app, &backlog)).await;
    app.end().await;
    told
}

async fn approve_and_close(app: &App<'_>, backlog: &Backlog) -> Outcome {
    app.see(r#"[data-testid="link-pill"][data-online="true"]"#, ROWS_WITHIN).await?;
    let signed = app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
    app.see(r#"[data-testid="detail"] table"#, SHOWN_WITHIN).await?;
    if let Some(directory) = std::env::var_os(SCREENSHOTS) {
        app.picture(&std::path::Path::new(&directory).join("review-light.png")).await?;
    }
    app.approve().await?;
    app.see_text(r#"[data-testid="toast"]"#, &format!("Signed {SIGNED}"), SHOWN_WITHIN).await?;

    until("the sign-offs to be committed", COMMITTED_WITHIN, async || {
        Ok((backlog.signed().await? == signed).then_some(()))
    })
    .await?;
    assert_eq!(backlog.decided_twice().await?, 0);

    app.click("nav-sync").await?;
    app.see(&format!(r#"[data-testid="outbox-counts"][data-committed="{SIGNED}"][data-ready="0"]"#), SHOWN_WITHIN)
        .await?;
    app.press_button("Finish and close").await?;
    app.gone(COMMITTED_WITHIN).await?;
    assert_eq!(backlog.leases_held().await?, 0, "closing gives undecided exceptions back");
    let log = app.log();
    anyhow::ensure!(log.contains(r#""event":"closed""#), "the log does not say how it ended:\n{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_signed_offline_survives_a_kill_and_is_committed_once() -> Outcome {
    let _turn = TURN.lock().await;
    let backlog = Backlog::with_demo_exceptions().await?;
    let proxy = CuttingProxy::start(backlog.addr().await?).await?;
    let (display, home) = (Display::start().await?, Home::new(&backlog, &proxy)?);
    let app = App::start(&display, &home).await?;
    let told = app.tell(sign_offline_and_die(&app, &proxy)).await;
    app.end().await;
    let signed = told?;
    assert!(backlog.signed().await?.is_empty(), "nothing can have reached the database");

    let app = App::start(&display, &home).await?;
    let told = app.tell(come_back(&app, &backlog, &proxy, &signed)).await;
    app.end().await;
    told
}

async fn sign_offline_and_die(app: &App<'_>, proxy: &CuttingProxy) -> anyhow::Result<Vec<i64>> {
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
    assert_eq!(backlog.decided_twice().await?, 0);
    app.see(&format!(r#"[data-testid="outbox-counts"][data-committed="{SIGNED}"]"#), SHOWN_WITHIN)
        .await
        .context("the window does not tell what the database has answered")
}
