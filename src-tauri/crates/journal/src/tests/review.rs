//! What helps a reviewer to look: the content before, confirmations, the focus, the window's own state.

use countersign_domain::focus::Focus;
use countersign_domain::hash::content_hash;
use countersign_domain::id::{BatchId, ExceptionId, Seq};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Batch, DeckItem, Entry, Journal as _, Settled, Stage, UI_STATE_BYTES, Write};
use uuid::Uuid;

use super::fixture::*;
use crate::SqliteJournal;

fn changed(n: i64, version: u32) -> (DeckItem, String) {
    let body = format!("version {version}");
    (DeckItem { version, content: content_hash(&body), ..item(n) }, body)
}

fn arrive(items: Vec<(DeckItem, String)>) -> Write {
    Write::Leased { leases: Vec::new(), items }
}

fn previous(journal: &mut SqliteJournal, n: i64) -> Option<(u32, String)> {
    journal.previous(ExceptionId(n)).expect("the journal reads")
}

#[test]
fn what_a_changed_exception_said_before_is_kept_as_long_as_it_is_here() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), arrive(vec![(item(1), body(1)), changed(2, 2), changed(3, 2), changed(11, 2)])]);
    assert_eq!(previous(&mut journal, 1), None, "it did not change");
    assert_eq!(previous(&mut journal, 2), Some((1, body(2))));
    drop(journal);
    let mut journal = place.open();
    apply(&mut journal, [arrive(vec![changed(2, 2)])]);
    assert_eq!(previous(&mut journal, 2), Some((1, body(2))), "the same version comes twice");
    apply(&mut journal, [arrive(vec![changed(2, 3)])]);
    assert_eq!(previous(&mut journal, 2), Some((2, "version 2".to_owned())));
    apply(&mut journal, [Write::Left(vec![ExceptionId(3)])]);
    assert_eq!(previous(&mut journal, 3), None);
    assert!(!deck(&mut journal).contains(&3));
    apply(&mut journal, [Write::Dropped(vec![partition(0)])]);
    assert_eq!(previous(&mut journal, 2), None);
    assert!(previous(&mut journal, 11).is_some());
    apply(&mut journal, [Write::Cleared]);
    assert_eq!(previous(&mut journal, 11), None);
}

#[test]
fn an_exception_that_changed_before_its_decision_arrived_comes_back_with_what_was_decided_on() {
    let place = place();
    let mut journal = place.open();
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=3)),
            settle(1..=2, Stage::Refused, Outcome::StaleVersion),
            arrive(vec![changed(1, 2)]),
        ],
    );
    assert_eq!(previous(&mut journal, 1), Some((1, body(1))));
    assert_eq!(journal.body(ExceptionId(1)), Ok(Some("version 2".to_owned())));
    let mut again = entry(30);
    (again.item, again.sign_off.exception) = (changed(1, 2).0, ExceptionId(1));
    again.sign_off.content = again.item.content;
    apply(&mut journal, [signing(vec![again]), settle(30..=30, Stage::Committed, Outcome::Committed)]);
    assert_eq!(previous(&mut journal, 1), None, "it is decided");
}

#[test]
fn a_confirmation_adds_up_whatever_becomes_of_its_decisions() {
    let place = place();
    let mut journal = place.open();
    let in_batch = |batch: u128, mut entry: Entry, ordinal: u64| {
        (entry.batch, entry.ordinal) = (BatchId(Uuid::from_u128(batch)), ordinal);
        entry
    };
    let second = |n| in_batch(6, entry(n), u64::try_from(n).expect("few"));
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=6)),
            signing(vec![second(11), second(12)]),
            settle(1..=1, Stage::Committed, Outcome::Held),
            settle(2..=2, Stage::Committed, Outcome::AwaitingSecond),
            settle(3..=4, Stage::Refused, Outcome::OverLimit),
            Write::Dismissed(vec![key(3)]),
            // The fourth is decided again, and takes the place of the refused one.
            leased(),
            signing(vec![in_batch(7, entry(4), 20)]),
            Write::Withdrawn(vec![key(11)]),
        ],
    );
    drop(journal);
    let mut journal = place.open();
    let told = journal.batches().expect("the journal reads");
    let counts = |batch: &Batch| {
        (
            batch.id.0.as_u128(),
            batch.signed,
            batch.committed,
            batch.held,
            batch.awaiting,
            batch.refused,
            batch.waiting,
            batch.unsent,
        )
    };
    assert_eq!(
        told.iter().map(counts).collect::<Vec<_>>(),
        [(7, 1, 0, 0, 0, 0, 1, 0), (6, 1, 0, 0, 0, 0, 1, 0), (5, 6, 0, 1, 1, 2, 2, 1)],
        "newest first"
    );
    let (batch, entries) = journal.batch(BatchId(Uuid::from_u128(5))).expect("it reads").expect("it is there");
    assert_eq!(batch, told[2]);
    assert_eq!(batch.receipts, [70, 71]);
    assert_eq!((batch.attestation.as_str(), batch.policy_version), (ATTESTATION, 3));
    assert_eq!(entries.iter().map(|entry| entry.ordinal).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(entries[3].stage, Stage::Refused, "what the first confirmation came to");
    assert_eq!(entries[0].steps, entry(1).steps);
    apply(&mut journal, [Write::Withdrawn(vec![key(12)])]);
    assert_eq!(journal.batch(BatchId(Uuid::from_u128(6))), Ok(None), "nothing of it is left");
    assert_eq!(journal.entry(key(5)).expect("it reads").map(|entry| entry.ordinal), Some(5));
    assert_eq!(journal.entry(key(12)), Ok(None));
}

#[test]
fn what_is_about_to_be_sent_may_have_been_sent_ever_after() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=3)), Write::Sending(vec![key(1)])]);
    drop(journal);
    let sent: Vec<bool> = restored(&mut place.open()).outbox.iter().map(|entry| entry.may_be_sent).collect();
    // The second was made online.
    assert_eq!(sent, [true, true, false]);
}

#[test]
fn a_focus_is_found_again_and_starts_every_lease_anew() {
    let place = place();
    let mut journal = place.open();
    let focus = Focus { entities: vec!["DE01".to_owned()], at_most: Some(5), ..Focus::default() };
    apply(&mut journal, [leased(), Write::Focus(Some(focus.clone()))]);
    drop(journal);
    let mut journal = place.open();
    let found = restored(&mut journal);
    assert_eq!(found.focus, Some(focus));
    assert!(found.leases.iter().all(|lease| (lease.after, lease.more) == (Seq(0), true)));
    apply(&mut journal, [Write::Cleared]);
    assert_eq!(restored(&mut journal).focus, None);
}

#[test]
fn the_windows_state_is_bounded_and_goes_with_the_reviewer() {
    let place = place();
    let mut journal = place.open();
    assert_eq!(journal.ui_state(), Ok(None));
    apply(&mut journal, [Write::UiState("first".to_owned()), Write::UiState("ä".repeat(UI_STATE_BYTES / 2))]);
    let error = journal.write(&Write::UiState("x".repeat(UI_STATE_BYTES + 1))).expect_err("it is too long");
    assert!(error.message.contains("500001 bytes"), "{error}");
    assert_eq!(journal.ui_state().expect("it reads").map(|state| state.len()), Some(UI_STATE_BYTES));
    apply(&mut journal, [Write::Cleared]);
    assert_eq!(journal.ui_state(), Ok(None));
}

/// A refusal after which the exception stays in the deck.
fn returned(n: i64) -> Settled {
    Settled { returned: Some("Refused: over your limit".to_owned()), ..answered(n, Stage::Refused, Some(REFUSED)) }
}

/// The note of an exception of the deck, `unmarked` if it has none.
fn note(journal: &mut SqliteJournal, n: i64) -> Option<String> {
    let item = restored(journal).deck.into_iter().find(|item| item.id == ExceptionId(n))?;
    Some(item.note.unwrap_or_else(|| "unmarked".to_owned()))
}

#[test]
fn what_is_refused_stays_in_the_deck_with_its_note_as_long_as_its_lease() {
    let place = place();
    let mut journal = place.open();
    let marked = Some("Refused: over your limit".to_owned());
    let mut other_epoch = lease(1);
    other_epoch.epoch.0 += 1;
    apply(
        &mut journal,
        [
            leased(),
            arrive(vec![changed(2, 2)]),
            signing(entries(3..=4)),
            signing(vec![entry(11), entry(21)]),
            // Of the others the leases are gone, or somebody had them meanwhile.
            Write::Dropped(vec![partition(2)]),
            Write::Leased { leases: vec![other_epoch], items: Vec::new() },
            Write::Settled(vec![returned(3), answered(4, Stage::Refused, Some(REFUSED)), returned(11), returned(21)]),
        ],
    );
    drop(journal);
    let mut journal = place.open();
    assert_eq!([3, 4, 11, 21].map(|n| note(&mut journal, n)), [marked.clone(), None, None, None]);
    assert_eq!(journal.body(ExceptionId(3)), Ok(Some(body(3))), "its content is there to be looked at");
    apply(&mut journal, [Write::Dismissed(vec![key(3)])]);
    assert_eq!(note(&mut journal, 3), marked, "putting the decision away is about the decision");
    apply(&mut journal, [Write::Dropped(vec![partition(0)])]);
    assert_eq!(note(&mut journal, 3), None);
}

#[test]
fn a_refused_exception_that_changed_before_is_still_told_from_what() {
    let place = place();
    let mut journal = place.open();
    let mut decided = entry(2);
    decided.item = changed(2, 2).0;
    decided.sign_off.content = decided.item.content;
    apply(
        &mut journal,
        [leased(), arrive(vec![changed(2, 2)]), signing(vec![decided]), Write::Settled(vec![returned(2)])],
    );
    assert_eq!(previous(&mut journal, 2), Some((1, body(2))));
}

#[test]
fn the_other_decision_takes_the_place_of_a_refused_one_and_its_confirmation_still_adds_up() {
    let place = place();
    let mut journal = place.open();
    let mut other = entry(1);
    (other.ordinal, other.batch) = (30, BatchId(Uuid::from_u128(7)));
    other.sign_off.key = key(30);
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=2)),
            Write::Settled(vec![returned(1), returned(2)]),
            Write::Dismissed(vec![key(1)]),
            signing(vec![other]),
        ],
    );
    drop(journal);
    let mut journal = place.open();
    assert_eq!(outbox(&mut journal), [(2, Stage::Refused), (30, Stage::Ready)]);
    assert_eq!(note(&mut journal, 1), None, "it is decided");
    let told = journal.batches().expect("the journal reads");
    assert_eq!(told.iter().map(|batch| (batch.signed, batch.refused)).collect::<Vec<_>>(), [(1, 0), (2, 2)]);
    // Taken back, what was refused before is undecided again, and still marked.
    apply(&mut journal, [Write::Withdrawn(vec![key(30)])]);
    assert_eq!(note(&mut journal, 1), Some("Refused: over your limit".to_owned()));
    let plan: String = journal
        .connection
        .query_row(
            "EXPLAIN QUERY PLAN DELETE FROM outbox WHERE exception_id = 1 AND content = x'00' AND stage = 'REFUSED'",
            [],
            |row| row.get(3),
        )
        .expect("it is planned");
    assert!(plan.contains("outbox_refused"), "{plan}");
}
