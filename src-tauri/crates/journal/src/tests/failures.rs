//! Writes that fail: what is told, and that nothing of them stays.

use std::io::{self, ErrorKind};

use countersign_domain::id::ExceptionId;
use countersign_engine::port::{Journal as _, JournalFault, Stage};
use rusqlite::ffi;

use super::fixture::*;
use crate::error::{Cause, fault_of, fault_of_io};

#[test]
fn a_batch_with_one_bad_decision_leaves_nothing() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(vec![entry(20)])]);
    let before = restored(&mut journal);
    let mut same_key = entry(20);
    same_key.ordinal = 21;
    let mut same_ordinal = entry(21);
    same_ordinal.ordinal = 20;
    let mut too_exact = entry(21);
    too_exact.sign_off.decided_at += chrono::TimeDelta::nanoseconds(1);
    for last in [same_key, same_ordinal, too_exact] {
        let mut batch = entries(1..=19);
        batch.push(last);
        let error = journal.write(&signing(batch)).expect_err("the last one is bad");
        assert!(error.operation == "sign" && error.message.contains("nothing was signed"), "{error}");
        assert_eq!(restored(&mut journal), before);
        assert!(journal.connection.is_autocommit());
    }
    apply(&mut journal, [signing(entries(1..=19))]);
    assert_eq!(outbox(&mut journal).len(), 20);
}

#[test]
fn a_full_disk_is_told_before_anything_is_called_signed_and_the_next_write_works() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=5))]);
    let before = restored(&mut journal);
    let pages: i64 = journal.connection.pragma_query_value(None, "page_count", |row| row.get(0)).expect("it reads");
    let limit = |journal: &crate::SqliteJournal, pages: i64| {
        journal
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
            .expect("it is set");
    };

    limit(&journal, pages + 20);
    let error = journal.write(&signing(entries(6..=5_000))).expect_err("there is no room for so many");
    assert_eq!(error.fault, JournalFault::Full);
    assert!(
        error.to_string().starts_with("sign: the disk is full: nothing was signed; free space and sign again"),
        "{error}"
    );
    assert!(journal.connection.is_autocommit());
    assert_eq!(restored(&mut journal), before);

    limit(&journal, 1_000_000);
    apply(&mut journal, [signing(entries(6..=5_000))]);
    drop(journal);
    assert_eq!(outbox(&mut place.open()).len(), 5_000);
}

#[test]
fn each_error_of_sqlite_is_told_as_what_it_means() {
    for (code, expected) in [
        (ffi::SQLITE_FULL, JournalFault::Full),
        (ffi::SQLITE_READONLY, JournalFault::ReadOnly),
        (ffi::SQLITE_READONLY_DBMOVED, JournalFault::ReadOnly),
        (ffi::SQLITE_READONLY_DIRECTORY, JournalFault::ReadOnly),
        (ffi::SQLITE_CANTOPEN, JournalFault::ReadOnly),
        (ffi::SQLITE_PERM, JournalFault::ReadOnly),
        (ffi::SQLITE_BUSY, JournalFault::Locked),
        (ffi::SQLITE_BUSY_RECOVERY, JournalFault::Locked),
        (ffi::SQLITE_LOCKED, JournalFault::Locked),
        (ffi::SQLITE_CORRUPT, JournalFault::Corrupt),
        (ffi::SQLITE_CORRUPT_INDEX, JournalFault::Corrupt),
        (ffi::SQLITE_NOTADB, JournalFault::Corrupt),
        (ffi::SQLITE_IOERR_WRITE, JournalFault::Io),
        (ffi::SQLITE_IOERR_FSYNC, JournalFault::Io),
        (ffi::SQLITE_NOMEM, JournalFault::Io),
    ] {
        assert_eq!(fault_of(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)), expected, "{code}");
    }
}

#[test]
fn each_error_of_the_file_system_is_told_as_what_it_means() {
    let place = place();
    for (kind, expected, words) in [
        (ErrorKind::StorageFull, JournalFault::Full, "the disk is full: nothing was read"),
        (ErrorKind::QuotaExceeded, JournalFault::Full, "free space and try again"),
        (ErrorKind::PermissionDenied, JournalFault::ReadOnly, "cannot be written"),
        (ErrorKind::ReadOnlyFilesystem, JournalFault::ReadOnly, "make the file and its folder writable"),
        (ErrorKind::NotADirectory, JournalFault::Io, "failed"),
    ] {
        assert_eq!(fault_of_io(&kind.into()), expected, "{kind}");
        let error = Cause::Io(io::Error::from(kind)).during("open", &place.path);
        assert!(error.fault == expected && error.message.contains(words), "{error}");
    }
}

#[test]
fn a_failed_disk_is_asked_whether_it_is_full() {
    let place = place();
    drop(place.open());
    let failed = || Cause::Sqlite(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_WRITE), None));
    assert_eq!(failed().during("sign", &place.path).fault, JournalFault::Io, "there is room");
    assert!(!crate::file::beside(&place.path, ".probe").exists());
    #[cfg(target_os = "linux")]
    {
        // Writing to this device fails as on a full disk.
        let link = crate::file::beside(&place.path, ".probe");
        std::os::unix::fs::symlink("/dev/full", &link).expect("it is made");
        assert_eq!(failed().during("sign", &place.path).fault, JournalFault::Full);
    }
}

#[test]
fn a_row_that_does_not_read_is_damage() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=1))]);
    journal.connection.execute("UPDATE outbox SET item = '{\"id\":1}'", []).expect("it writes");
    let error = journal.restore().expect_err("an item has more fields");
    assert_eq!(error.fault, JournalFault::Corrupt);
    assert_eq!(journal.body(ExceptionId(1)), Ok(Some(body(1))));
    apply(&mut journal, [settle(1..=1, Stage::Committed, countersign_domain::sign_off::Outcome::Committed)]);
}
