//! Journals of a release that did not encrypt.

use std::fs;
use std::path::Path;

use countersign_domain::id::ExceptionId;
use countersign_engine::port::{Journal as _, JournalFault, Restored, Write};
use rusqlite::Connection;

use super::fixture::*;
use crate::{JournalKey, SqliteJournal, file, upgrade};

/// Part of every body in the fixture.
const CONTENT: &[u8] = b"idempotency_key";

/// Leaves a journal as a kill after some step does.
type Leave<'a> = &'a dyn Fn(&Path);

fn writes() -> [Write; 3] {
    [leased(), signing(entries(1..=20)), settle(1..=5, countersign_engine::port::Stage::Refused, REFUSED)]
}

/// What a journal of this release says after the same changes.
fn expected() -> Restored {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, writes());
    let mut expected = restored(&mut journal);
    // A release that did not encrypt did not seal either.
    for entry in &mut expected.outbox {
        (entry.sign_off.policy_version, entry.sign_off.seal) = (0, None);
        // Nor were there figures.
        entry.sign_off.figure = None;
        // Nor did it remember what was sent, and what was done.
        (entry.may_be_sent, entry.receipt, entry.steps) = (true, None, Vec::new());
    }
    expected
}

fn holds(bytes: &[u8], content: &[u8]) -> bool {
    bytes.windows(content.len()).any(|window| window == content)
}

/// Opens it; everything is there, encrypted, and nothing else is.
fn assert_upgraded(path: &Path, state: &str) {
    let mut journal = SqliteJournal::open(path, &secret(), WORKSTATION).expect(state);
    assert_eq!(restored(&mut journal), expected(), "{state}");
    assert_eq!(journal.body(ExceptionId(12)), Ok(Some(body(12))), "{state}");
    drop(journal);
    let files = files(path);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["journal.sqlite"], "{state}");
    assert!(files.values().all(|bytes| !holds(bytes, CONTENT)), "{state}");
    drop(SqliteJournal::open(path, &secret(), WORKSTATION).expect(state));
}

#[test]
fn a_plaintext_journal_is_encrypted_and_keeps_everything() {
    let place = place();
    plaintext(&place.path, writes());
    let before = files(&place.path);
    assert!(holds(&before["journal.sqlite-wal"], CONTENT), "the control: without a key it is there to read");
    assert_upgraded(&place.path, "the log in use");
    let journal = place.open();
    assert_eq!(
        journal.connection.pragma_query_value::<i32, _>(None, "user_version", |row| row.get(0)),
        Ok(crate::schema::VERSION)
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&place.path).expect("it is there").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn an_upgrade_that_is_killed_between_any_two_steps_is_ended_by_the_next_opening() {
    let key = secret();
    let plain = |path: &Path| file::beside(path, upgrade::PLAIN);
    let steps: [(&str, Leave<'_>); 8] = [
        ("half a copy", &|path| {
            for suffix in [".new", ".new-wal", ".new-journal"] {
                fs::write(file::beside(path, suffix), b"half of it").expect("it writes");
            }
        }),
        ("the log emptied", &|path| upgrade::empty_log(path).expect("it is emptied")),
        ("the log without its header", &|path| {
            let log = fs::read(file::beside(path, "-wal")).expect("it reads");
            let bytes = fs::read(path).expect("it reads");
            upgrade::empty_log(path).expect("it is emptied");
            assert_ne!(fs::read(path).expect("it reads"), bytes, "the log went into the file");
            let mut headless = log;
            headless[..4_096].fill(0);
            fs::write(file::beside(path, "-wal"), headless).expect("it writes");
        }),
        ("copied", &|path| {
            upgrade::empty_log(path).expect("it is emptied");
            upgrade::copy(path, &key).expect("it is copied");
        }),
        ("between the renames", &|path| {
            upgrade::empty_log(path).expect("it is emptied");
            upgrade::copy(path, &key).expect("it is copied");
            fs::rename(path, plain(path)).expect("it moves");
        }),
        ("between the renames, with an empty file in its place", &|path| {
            upgrade::empty_log(path).expect("it is emptied");
            upgrade::copy(path, &key).expect("it is copied");
            fs::rename(path, plain(path)).expect("it moves");
            fs::write(path, b"").expect("it writes");
        }),
        ("renamed", &|path| {
            upgrade::empty_log(path).expect("it is emptied");
            upgrade::copy(path, &key).expect("it is copied");
            upgrade::swap(path).expect("it is moved");
        }),
        ("half overwritten", &|path| {
            upgrade::encrypt(path, &key).expect("it is encrypted");
            let mut old = fs::read(plain(path)).expect("it reads");
            let half = old.len() / 2;
            old[..half].fill(0);
            fs::write(plain(path), old).expect("it writes");
        }),
    ];
    for (state, leave) in steps {
        let place = place();
        plaintext(&place.path, writes());
        leave(&place.path);
        assert_upgraded(&place.path, state);
    }
}

#[test]
fn the_old_journal_is_kept_until_the_new_one_opens() {
    let place = place();
    plaintext(&place.path, writes());
    upgrade::encrypt(&place.path, &secret()).expect("it is encrypted");
    let before = files(&place.path);
    assert!(before.contains_key("journal.sqlite.plain"));
    let other = JournalKey::new(&[1; JournalKey::BYTES]);
    let error = SqliteJournal::open(&place.path, &other, WORKSTATION).expect_err("it does not fit");
    assert_eq!(error.fault, JournalFault::Key);
    assert_eq!(files(&place.path), before);
    assert_upgraded(&place.path, "with its key");
}

#[test]
fn two_journals_of_which_both_may_hold_decisions_are_left_alone() {
    let place = place();
    plaintext(&place.path, writes());
    fs::copy(&place.path, file::beside(&place.path, upgrade::PLAIN)).expect("it is copied");
    let before = files(&place.path);
    let error = SqliteJournal::open(&place.path, &secret(), WORKSTATION).expect_err("which one is it");
    assert_eq!(error.fault, JournalFault::Corrupt);
    assert!(error.message.contains("both hold decisions"), "{error}");
    assert_eq!(files(&place.path), before);
}

#[test]
fn a_damaged_plaintext_journal_is_refused_and_not_touched() {
    let place = place();
    plaintext(&place.path, writes());
    upgrade::empty_log(&place.path).expect("it is emptied");
    let mut bytes = fs::read(&place.path).expect("it reads");
    bytes[4_096..].fill(0xa5);
    fs::write(&place.path, &bytes).expect("it writes");
    let error = SqliteJournal::open(&place.path, &secret(), WORKSTATION).expect_err("it is damaged");
    assert_eq!(error.fault, JournalFault::Corrupt, "{error}");
    assert_eq!(fs::read(&place.path).expect("it reads"), bytes);
    assert!(!file::beside(&place.path, ".new").exists());
}

#[test]
fn a_plaintext_journal_of_a_newer_release_is_refused_and_not_touched() {
    let place = place();
    plaintext(&place.path, writes());
    Connection::open(&place.path).and_then(|open| open.pragma_update(None, "user_version", 9)).expect("it writes");
    let before = files(&place.path);
    let error = SqliteJournal::open(&place.path, &secret(), WORKSTATION).expect_err("it is newer");
    assert_eq!(error.fault, JournalFault::Newer);
    assert_eq!(files(&place.path), before);
}
