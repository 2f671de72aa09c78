//! Files and the keys that fit them, or do not.

use std::fs;

use countersign_engine::port::{JournalFault, Stage};

use super::fixture::*;
use crate::{JournalKey, SqliteJournal, file};

fn other_secret() -> JournalKey {
    JournalKey::new(&[0xa5; JournalKey::BYTES])
}

#[test]
fn a_key_prints_nothing() {
    let key = JournalKey::new(&[0xab; JournalKey::BYTES]);
    let printed = format!("{key:?} {key:#?} {:?}", key.clone()).to_lowercase();
    assert!(!printed.contains("ab,") && !printed.contains("abab") && !printed.contains("171"), "{printed}");
    assert_eq!(key.literal().as_str(), format!("\"x'{}'\"", "ab".repeat(32)));
}

#[test]
fn a_journal_opens_with_its_key_alone_and_another_key_touches_nothing() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=20))]);
    drop(journal);
    // Once closed well, once with the latest decisions in the log, as a crash leaves it.
    for in_log in [false, true] {
        if in_log {
            let journal = place.open();
            let no_checkpoint = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            journal.connection.set_db_config(no_checkpoint, true).expect("a known option");
            let mut journal = journal;
            apply(&mut journal, [signing(entries(21..=29))]);
            drop(journal);
            assert!(fs::metadata(file::beside(&place.path, "-wal")).expect("a log").len() > 0);
        }
        let before = files(&place.path);
        let error = SqliteJournal::open(&place.path, &other_secret(), WORKSTATION).expect_err("it does not fit");
        assert_eq!((error.fault, error.fault.code()), (JournalFault::Key, "JOURNAL_KEY"), "{error}");
        for words in ["does not fit", "was not touched", "unlock the keyring", "restore the key file"] {
            assert!(error.message.contains(words), "{words}: {error}");
        }
        assert_eq!(files(&place.path), before);
    }
    assert_eq!(outbox(&mut place.open()).len(), 29);
}

#[test]
fn what_is_no_journal_at_all_is_told_as_well_as_can_be() {
    let place = place();
    fs::create_dir_all(place.path.parent().expect("a directory")).expect("it is made");
    // Nobody can tell noise from a journal with another key.
    for (content, fault) in [
        (vec![0x17; 3 * 4_096], JournalFault::Key),
        (vec![0x17; 3 * 4_096 + 1], JournalFault::Corrupt),
        (b"SQLite format 3\0 and then nothing".to_vec(), JournalFault::Corrupt),
    ] {
        fs::write(&place.path, content).expect("it writes");
        let before = files(&place.path);
        assert_eq!(SqliteJournal::open(&place.path, &secret(), WORKSTATION).expect_err("no journal").fault, fault);
        assert_eq!(files(&place.path), before);
        SqliteJournal::set_aside(&place.path, time(0)).expect("it moves");
    }
    drop(place.open());
}

#[test]
fn a_rollback_journal_beside_an_encrypted_file_is_not_rolled_back() {
    let place = place();
    drop(place.open());
    fs::write(file::beside(&place.path, "-journal"), b"somebody else's").expect("it writes");
    let before = files(&place.path);
    for key in [secret(), other_secret()] {
        let error = SqliteJournal::open(&place.path, &key, WORKSTATION).expect_err("it is not ours");
        assert_eq!(error.fault, JournalFault::Corrupt, "{error}");
        assert_eq!(files(&place.path), before);
    }
}

#[test]
fn only_what_is_encrypted_needs_a_key_that_was_made_before() {
    let place = place();
    let needs = || SqliteJournal::needs_key(&place.path).expect("it is looked at");
    assert!(!needs(), "nothing is there");
    fs::create_dir_all(place.path.parent().expect("a directory")).expect("it is made");
    fs::write(&place.path, b"too short for a journal").expect("it writes");
    assert!(!needs());
    fs::remove_file(&place.path).expect("it is there");
    plaintext(&place.path, [leased()]);
    assert!(!needs(), "it gets its key now");
    drop(place.open());
    assert!(needs());
    fs::rename(&place.path, file::beside(&place.path, "-wal")).expect("it moves");
    assert!(needs(), "a log without its journal");
}

#[test]
fn a_page_that_changed_is_damage() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=29)), settle(1..=29, Stage::Refused, REFUSED)]);
    drop(journal);
    let whole = fs::read(&place.path).expect("it reads");
    for page in 1..whole.len() / 4_096 {
        let mut damaged = whole.clone();
        damaged[page * 4_096 + 100] ^= 1;
        fs::write(&place.path, &damaged).expect("it writes");
        // A page that nothing refers to may be skipped; any other one is noticed.
        if let Err(error) = SqliteJournal::open(&place.path, &secret(), WORKSTATION) {
            assert_eq!(error.fault, JournalFault::Corrupt, "page {page}: {error}");
            assert!(error.message.contains("is damaged"), "{error}");
        } else {
            assert!(page > 2, "page {page} holds tables");
        }
        file::remove(&file::beside(&place.path, "-wal")).expect("it goes");
    }
}
