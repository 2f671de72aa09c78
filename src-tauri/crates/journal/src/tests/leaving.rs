//! Signing out, exporting and destroying.

use std::fs;

use countersign_domain::hash::sha256;
use countersign_domain::id::{Digest, ExceptionId};
use countersign_engine::port::{Journal as _, LocalDeadLetter, Stage, Write};
use serde_json::Value;
use uuid::Uuid;

use super::fixture::*;
use crate::{ACCEPTED_KEPT, DEAD_LETTERS_KEPT, SqliteJournal, file};

fn letter(n: i64) -> LocalDeadLetter {
    let id = ExceptionId(n);
    LocalDeadLetter { id, version: 1, body: body(n), reason: "PoisonMessage".to_owned(), attempts: 3, at: time(n) }
}

/// Decisions 1 to 4: accepted, refused, given up and unanswered.
fn one_of_each(journal: &mut SqliteJournal) {
    apply(
        journal,
        [
            Write::Bind { installation: Uuid::from_u128(1), reviewer: "alice".to_owned() },
            leased(),
            signing(entries(1..=4)),
            Write::Settled(vec![
                answered(1, Stage::Committed, Some(countersign_domain::sign_off::Outcome::Committed)),
                answered(2, Stage::Refused, Some(REFUSED)),
                answered(3, Stage::Dead, None),
            ]),
            Write::DeadLettered(vec![letter(9)]),
        ],
    );
}

#[test]
fn signing_out_keeps_what_is_unanswered_and_nothing_else() {
    let place = place();
    let mut journal = place.open();
    one_of_each(&mut journal);
    let before = restored(&mut journal);
    apply(&mut journal, [Write::Cleared]);
    let pragma = |journal: &SqliteJournal, name| {
        journal.connection.pragma_query_value::<i64, _>(None, name, |row| row.get(0)).expect("it reads")
    };
    assert_eq!(pragma(&journal, "freelist_count"), 0, "no free page is left to hold anything");
    assert_eq!(fs::metadata(file::beside(&place.path, "-wal")).expect("it is there").len(), 0);
    let bytes = fs::metadata(&place.path).expect("it is there").len();
    assert_eq!(bytes, u64::try_from(pragma(&journal, "page_count") * 4_096).expect("few"));

    apply(&mut journal, [Write::Cleared]);
    drop(journal);
    let mut journal = place.open();
    let after = restored(&mut journal);
    assert_eq!((after.identity, after.last_ordinal), (before.identity, 4), "it is the same reviewer's journal");
    assert_eq!((after.leases.len(), after.deck.len()), (0, 0));
    let unanswered: Vec<_> =
        before.outbox.into_iter().filter(|entry| matches!(entry.stage, Stage::Ready | Stage::Dead)).collect();
    assert_eq!(after.outbox, unanswered);
    let counts = journal.counts().expect("it reads");
    assert_eq!((counts.ready, counts.dead, counts.refused, counts.committed, counts.dead_letters), (1, 1, 0, 0, 0));
    for n in 1..30 {
        assert_eq!(journal.body(ExceptionId(n)), Ok(None));
    }
    // What was kept is answered as ever, and the same work can be leased again.
    apply(&mut journal, [settle(4..=4, Stage::Committed, countersign_domain::sign_off::Outcome::Committed), leased()]);
    assert_eq!(outbox(&mut journal), [(3, Stage::Dead), (4, Stage::Committed)]);
}

#[test]
fn dismissed_refusals_and_dead_letters_have_bounds() {
    let place = place();
    let mut journal = place.open();
    let last = i64::from(ACCEPTED_KEPT) + 3;
    apply(
        &mut journal,
        [
            signing(entries(1..=last + 1)),
            settle(1..=last + 1, Stage::Refused, REFUSED),
            Write::Dismissed((1..=last).map(key).collect()),
        ],
    );
    let mut kept = Vec::new();
    journal.for_each_entry(|entry| kept.push(entry.ordinal)).expect("it reads");
    assert_eq!((kept.len(), kept[0]), (20_001, 4), "the oldest dismissed are forgotten, the others never");
    assert_eq!(outbox(&mut journal).len(), 1);

    let last = i64::from(DEAD_LETTERS_KEPT) + 5;
    apply(&mut journal, [Write::DeadLettered((1..=last).map(letter).collect())]);
    assert_eq!(journal.counts().expect("it reads").dead_letters, 1_000);
    let oldest = journal.connection.query_row("SELECT min(exception_id) FROM dead_letter", [], |row| row.get(0));
    assert_eq!(oldest, Ok(6));
}

#[test]
fn an_export_is_everything_that_is_unanswered_and_proves_itself() {
    let place = place();
    let mut journal = place.open();
    one_of_each(&mut journal);
    let mut out = Vec::new();
    let digest = journal.export_outbox(&mut out).expect("it is written");
    let text = String::from_utf8(out).expect("JSON");
    let (lines, last) = text.trim_end().rsplit_once('\n').expect("more than one line");
    let lines = format!("{lines}\n");
    assert_eq!(digest.count, 2);
    assert_eq!(digest.sha256, sha256(lines.as_bytes()));
    assert_eq!(last, format!(r#"{{"count":2,"sha256":"{}"}}"#, digest.sha256));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["stage"], &lines[1]["stage"]), (&"DEAD".into(), &"READY".into()));
    let (line, entry) = (&lines[1], entry(4));
    for (field, expected) in [
        ("key", entry.sign_off.key.0.to_string()),
        ("workstation", WORKSTATION.0.to_string()),
        ("reviewer", "alice".to_owned()),
        ("batch", entry.batch.0.to_string()),
        ("idempotency_key", "key-4".to_owned()),
        ("partition", "partition-0".to_owned()),
        ("content", entry.sign_off.content.0.to_string()),
        ("decision", "APPROVE".to_owned()),
        ("comment", "naïve\ncomment".to_owned()),
        ("decided_at", "2026-01-01T00:00:00.000003Z".to_owned()),
    ] {
        assert_eq!(line[field], Value::from(expected), "{field}");
    }
    for (field, expected) in [("ordinal", 4), ("exception", 4), ("epoch", 3), ("seq", 5), ("version", 1)] {
        assert_eq!(line[field], Value::from(expected), "{field}");
    }
    assert_eq!(line["reason"], Value::Null);
    assert_eq!(lines[0]["problem"], "five transient errors");
}

#[test]
fn an_export_that_cannot_be_written_is_told_and_one_of_nothing_is_empty() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let place = place();
    let journal = place.open();
    assert_eq!(journal.export_outbox(&mut std::io::sink()).expect("it is written").count, 0);
    let error = journal.export_outbox(&mut Full).expect_err("no room");
    assert_eq!(error.fault, countersign_engine::port::JournalFault::Full);
    assert!(error.message.contains("nothing was changed"), "{error}");
}

#[test]
fn a_journal_is_destroyed_only_with_an_export_of_exactly_what_is_in_it() {
    let place = place();
    let mut journal = place.open();
    one_of_each(&mut journal);
    let old = journal.export_outbox(&mut Vec::new()).expect("it is written").sha256;
    apply(&mut journal, [signing(vec![entry(5)])]);
    for acknowledged in [None, Some(Digest([0; 32])), Some(old)] {
        let error = journal.destroy(acknowledged).expect_err("that is not what is in it");
        assert!(error.message.contains("3 unanswered") && error.message.contains("nothing was deleted"), "{error}");
        journal = place.open();
        assert_eq!(outbox(&mut journal).len(), 5);
    }
    let present = journal.export_outbox(&mut Vec::new()).expect("it is written").sha256;
    // Leftovers go too.
    fs::write(file::beside(&place.path, ".new"), b"half of it").expect("it writes");
    journal.destroy(Some(present)).expect("it was exported");
    assert!(files(&place.path).is_empty(), "{:?}", files(&place.path).keys());
    assert_eq!(restored(&mut place.open()).last_ordinal, 0, "another one can be made in its place");
}

#[test]
fn without_unanswered_decisions_nothing_needs_to_be_acknowledged() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=2)), settle(1..=2, Stage::Refused, REFUSED)]);
    journal.destroy(None).expect("everything is answered");
    assert!(files(&place.path).is_empty());
}

#[test]
fn a_destruction_that_was_cut_short_is_ended_by_the_next_opening() {
    let place = place();
    drop(place.open());
    fs::rename(&place.path, file::beside(&place.path, crate::upgrade::GONE)).expect("it moves");
    drop(place.open());
    assert_eq!(files(&place.path).keys().collect::<Vec<_>>(), ["journal.sqlite"]);
}
