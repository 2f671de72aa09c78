//! A close, by keyboard alone: 500 exceptions in three currencies, with an undo, a network that fails, and a receipt that adds up.

use anyhow::{Context as _, ensure};
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::wait::until;
use thirtyfour::prelude::*;

use crate::app::App;
use crate::backlog::{Backlog, CLOSE};
use crate::keyboard::Keyboard;
use crate::{COMMITTED_WITHIN, Outcome, ROWS_WITHIN, SHOWN_WITHIN, enrol};

/// What the whole close may take.
const STROKES: usize = 40;

pub(crate) async fn close(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy) -> Outcome {
    enrol(app, backlog).await?;
    app.see_text(r#"[data-testid="deck-pill"]"#, &format!("Deck {CLOSE} of"), ROWS_WITHIN).await?;
    app.see(r#"[data-testid="grid"] [role="row"][tabindex="0"]"#, ROWS_WITHIN).await?;
    let keys = Keyboard::new(app.window());

    // A view: everything without a variance. It is signed, taken back, and signed again.
    keys.chord(Key::Alt, "2").await?;
    let zero = sign_what_is_shown(app, &keys).await?;
    keys.press("u").await?;
    app.see_text(r#"[data-testid="deck-pill"]"#, &format!("Deck {CLOSE} of"), SHOWN_WITHIN)
        .await
        .context("undoing did not bring the batch back")?;
    ensure!(sign_what_is_shown(app, &keys).await? == zero, "not all of what was taken back was signed again");

    // A filter within everything.
    keys.chord(Key::Alt, "1").await?;
    keys.press("/").await?;
    keys.write("us-").await?;
    keys.press(Key::Enter).await?;
    let filtered = sign_what_is_shown(app, &keys).await?;
    ensure!(filtered > 0 && filtered < CLOSE, "the filter shows {filtered}");
    until("the first batches to be committed", COMMITTED_WITHIN, async || {
        Ok((backlog.signed().await?.len() == zero + filtered).then_some(()))
    })
    .await?;

    // The network goes; work goes on.
    proxy.cut();
    keys.chord(Key::Alt, "1").await?;
    let rest = sign_what_is_shown(app, &keys).await?;
    ensure!(zero + filtered + rest == CLOSE, "{zero} + {filtered} + {rest} are not {CLOSE}");
    app.see(r#"[data-testid="link-pill"][data-online="false"]"#, COMMITTED_WITHIN).await?;
    ensure!(backlog.signed().await?.len() == zero + filtered, "something was sent without a network");
    proxy.pass();
    until("everything to be committed without another key", COMMITTED_WITHIN, async || {
        Ok((backlog.signed().await?.len() == CLOSE).then_some(()))
    })
    .await?;
    ensure!(backlog.decided_twice().await? == 0, "something was decided twice");

    // The confirmations in the window come to what the database says.
    keys.chord(Key::Alt, "s").await?;
    app.see(r#"[data-testid="tab-confirmations"]"#, SHOWN_WITHIN).await?;
    reconcile(app, backlog, rest).await?;
    let strokes = keys.strokes();
    println!("{CLOSE} exceptions took {strokes} keystrokes");
    ensure!(strokes < STROKES, "{strokes} keystrokes are {STROKES} or more");
    Ok(())
}

/// Selects what is shown, opens the dialog, signs, and answers how many; the pre-flight says that nothing will be refused.
async fn sign_what_is_shown(app: &App<'_>, keys: &Keyboard<'_>) -> anyhow::Result<usize> {
    let grid = r#"[data-testid="grid"] [role="row"][tabindex="0"]:focus"#;
    app.see(grid, SHOWN_WITHIN).await.context("the keyboard is not in the grid")?;
    keys.chord(Key::Control, "a").await?;
    let split = r#"[data-testid="drop-refused"]"#;
    app.see(&format!(r#"[data-testid="approve"]:not([disabled]), {split}"#), SHOWN_WITHIN).await?;
    if app.is_there(split).await? {
        // Part of a report is not shown: it is left for later, since a report is signed whole.
        keys.press("n").await?;
    }
    app.see(r#"[data-testid="approve"]:not([disabled])"#, SHOWN_WITHIN).await?;
    keys.press("a").await?;
    app.see(r#"[data-testid="preflight-COMMITTED"]"#, SHOWN_WITHIN).await?;
    app.see(r#"[data-testid="sign-confirm"]:not([disabled])"#, SHOWN_WITHIN).await?;
    let label = app.text(r#"[data-testid="sign-confirm"]"#).await?;
    let count: String = label.chars().filter(char::is_ascii_digit).collect();
    keys.chord(Key::Control, Key::Enter).await?;
    app.see_text(r#"[data-testid="toast"]"#, &format!("Signed {count}"), SHOWN_WITHIN).await?;
    app.without(r#"[data-testid="sign-dialog"]"#, SHOWN_WITHIN).await?;
    count.parse().with_context(|| format!("the dialog does not say how many it signs: {label}"))
}

/// Signed is committed, held, awaiting, refused and waiting together, in the window and in the database.
async fn reconcile(app: &App<'_>, backlog: &Backlog, latest: usize) -> Outcome {
    let (committed, awaiting) = backlog.outcomes().await?;
    ensure!(committed + awaiting == CLOSE, "{committed} committed and {awaiting} awaiting are not {CLOSE}");
    ensure!(awaiting > 0, "the policy asked for no second signature");
    app.click("tab-confirmations").await?;
    let sum = async |part: &str| -> anyhow::Result<usize> {
        let css = format!(r#"[data-testid="batches"] [data-part="{part}"]"#);
        app.sum(&css).await
    };
    until("the confirmations to be answered", COMMITTED_WITHIN, async || {
        let accepted = sum("committed").await? + sum("held").await? + sum("awaiting").await?;
        Ok((accepted == CLOSE).then_some(()))
    })
    .await?;
    let decided = sum("committed").await? + sum("held").await?;
    ensure!(decided == committed, "the window counts other commits than the database");
    ensure!(sum("awaiting").await? == awaiting, "the window counts other second signatures than the database");
    app.window().find(By::Css(r#"[data-testid^="open-receipt-"]"#)).await?.click().await?;
    app.see_text(r#"[data-testid="receipt-sum"]"#, &latest.to_string(), SHOWN_WITHIN).await?;
    app.see(r#"[data-testid="receipt-totals"] tbody tr:nth-child(3)"#, SHOWN_WITHIN)
        .await
        .context("three currencies were signed")?;
    Ok(())
}
