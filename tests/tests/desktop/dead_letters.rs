//! The desk of dead letters, by keyboard alone, on what the shipped exceptions have of bad records.

use anyhow::{Context as _, ensure};
use countersign_tests::wait::until;
use thirtyfour::prelude::*;

use crate::app::App;
use crate::backlog::Backlog;
use crate::keyboard::Keyboard;
use crate::{COMMITTED_WITHIN, Outcome, ROWS_WITHIN, SHOWN_WITHIN, enrol};

/// A bad record: where it is found, what is wrong with it, and what is written instead.
struct Bad {
    key: &'static str,
    cause: &'static str,
    /// Finds it among the letters of its cause.
    filter: &'static str,
    field: &'static str,
    good: &'static str,
}

const BAD: [Bad; 3] = [
    // Three decimal places, of which the dirham has two.
    Bad {
        key: "8020172becb1395381cd1872fdc5557e97923d6e5c60a1204ccaf2f710fe0137",
        cause: "AMOUNT",
        filter: "8020172becb1395381cd1872fdc5557e",
        field: "payload.line_items[0].line_amount",
        good: "999.38",
    },
    // The kuna was withdrawn.
    Bad {
        key: "90517a288a104c2f9de1bf6e865ca47a8c339aeb0d873ccb6ef8a07cc60915b5",
        cause: "CURRENCY",
        filter: "hep-split",
        field: "currency",
        good: "EUR",
    },
    // A statement line without a date.
    Bad {
        key: "3b3ab7de171debfe5a76b882a76ced6498aa9363640607a670377e16679702dc",
        cause: "DATE",
        filter: "3b3ab7de171debfe5a76b882a76ced64",
        field: "payload.statement_line.date",
        good: "2018-01-05",
    },
];

const DECK: &str = r#"[data-testid="deck-pill"]"#;

pub(crate) async fn remedy(app: &App<'_>, backlog: &Backlog) -> Outcome {
    enrol(app, backlog).await?;
    app.see(r#"[data-testid="grid"] [role="row"][tabindex="0"]"#, ROWS_WITHIN).await?;
    let keys = Keyboard::new(app.window());
    app.see(r#"[data-testid="nav-letters"]"#, SHOWN_WITHIN).await.context("the reviewer has the right to the desk")?;
    keys.chord(Key::Alt, "d").await?;
    among_letters(app).await?;
    for bad in &BAD {
        correct_and_replay(app, &keys, bad).await.with_context(|| format!("{} of {}", bad.field, bad.cause))?;
    }
    let all = BAD.map(|bad| bad.key);
    until("what was corrected to be pending", COMMITTED_WITHIN, async || {
        let pending = backlog.pending_prepared_by_me(&all).await?;
        Ok((usize::try_from(pending)? == BAD.len()).then_some(()))
    })
    .await?;

    // Who corrected it is shut out of it: what arrives after it comes into this deck, and it does not.
    keys.chord(Key::Alt, "r").await?;
    let mine = backlog.pending_for_me().await?;
    app.see_text(DECK, &format!("Deck {mine} of"), COMMITTED_WITHIN).await?;
    backlog.one_more().await?;
    app.see_text(DECK, &format!("Deck {} of", mine + 1), COMMITTED_WITHIN).await?;
    app.see(r#"[data-testid="grid"] [role="row"][tabindex="0"]:focus"#, SHOWN_WITHIN).await?;
    keys.press("/").await?;
    keys.write("hep-split").await?;
    app.see(r#"[data-testid="empty"]"#, SHOWN_WITHIN).await.context("the corrector can see what they corrected")?;
    println!("{} bad records took {} keystrokes", BAD.len(), keys.strokes());
    Ok(())
}

async fn correct_and_replay(app: &App<'_>, keys: &Keyboard<'_>, bad: &Bad) -> Outcome {
    choose(app, keys, bad.cause).await?;
    keys.press("/").await?;
    app.see(r#"[data-testid="letters-filter"]:focus"#, SHOWN_WITHIN).await?;
    keys.chord(Key::Control, "a").await?;
    keys.write(bad.filter).await?;
    keys.press(Key::Enter).await?;
    among_letters(app).await?;
    app.see_text(r#"[data-testid="letters-count"]"#, "1 of", SHOWN_WITHIN).await?;
    app.see_text(r#"[data-testid="letter-reason"]"#, bad.field, SHOWN_WITHIN).await?;

    keys.press("t").await?;
    app.see_text(r#"[data-testid="letter-grid"] [data-cursor] [data-column="state"]"#, "Taken by you", SHOWN_WITHIN)
        .await?;
    keys.press(Key::Enter).await?;
    app.see(&format!(r#"[data-testid="field-{}"]:focus"#, bad.field), SHOWN_WITHIN)
        .await
        .context("the keyboard does not begin in the field at fault")?;
    keys.chord(Key::Control, "a").await?;
    keys.write(bad.good).await?;
    app.see_text(r#"[data-testid="letter-unsaved"]"#, bad.good, SHOWN_WITHIN).await?;
    app.see_text(r#"[data-testid="letter-problem"]"#, "you will not be able to sign it", SHOWN_WITHIN).await?;
    keys.chord(Key::Control, Key::Enter).await?;
    app.see_text(r#"[data-testid="letter-changes"]"#, bad.good, SHOWN_WITHIN).await?;
    among_letters(app).await?;

    // The rehearsal changes nothing; replaying does.
    keys.press("e").await?;
    app.see_text(r#"[data-testid="replay-sum"]"#, "1 would go in", SHOWN_WITHIN).await?;
    keys.press(Key::Escape).await?;
    app.without(r#"[data-testid="replay-dialog"]"#, SHOWN_WITHIN).await?;
    among_letters(app).await?;
    keys.press("r").await?;
    app.see_text(r#"[data-testid="replay-sum"]"#, "1 would go in", SHOWN_WITHIN).await?;
    keys.chord(Key::Control, Key::Enter).await?;
    app.see_text(r#"[data-testid="replay-sum"]"#, "1 went in", SHOWN_WITHIN).await?;
    keys.press(Key::Escape).await?;
    app.without(r#"[data-testid="replay-dialog"]"#, SHOWN_WITHIN).await?;

    // The filter is cleared for the next one.
    app.see_text(r#"[data-testid="letters-count"]"#, "0 of", SHOWN_WITHIN).await?;
    keys.press("/").await?;
    app.see(r#"[data-testid="letters-filter"]:focus"#, SHOWN_WITHIN).await?;
    keys.press(Key::Escape).await
}

/// Goes to the causes and down to one of them.
async fn choose(app: &App<'_>, keys: &Keyboard<'_>, cause: &str) -> Outcome {
    keys.press("g").await?;
    app.see(r#"[data-testid="causes"] :focus"#, SHOWN_WITHIN).await?;
    keys.press(Key::Home).await?;
    let wanted = format!(r#"[data-testid="cause-{cause}"]"#);
    app.see(&wanted, SHOWN_WITHIN).await?;
    let causes = app.count(r#"[data-testid="causes"] button"#).await?;
    for _ in 0..causes {
        if app.is_there(&format!("{wanted}:focus")).await? {
            keys.press(Key::Enter).await?;
            app.see(&format!(r#"{wanted}[aria-current="true"]"#), SHOWN_WITHIN).await?;
            return among_letters(app).await;
        }
        keys.press("j").await?;
    }
    ensure!(false, "no key leads to {cause}");
    Ok(())
}

/// The keyboard is among the letters, or in their grid while there are none.
async fn among_letters(app: &App<'_>) -> Outcome {
    let row = r#"[data-testid="letter-grid"] [role="row"][tabindex="0"]:focus"#;
    app.see(&format!(r#"{row}, [data-testid="letter-grid"]:focus"#), SHOWN_WITHIN).await
}
