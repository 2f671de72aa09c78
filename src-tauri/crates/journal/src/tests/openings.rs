//! What may be at a journal's path, and what becomes of it.

use std::fs;
use std::path::Path;

use countersign_domain::id::WorkstationId;
use countersign_engine::port::{Journal as _, JournalError, JournalFault, Stage};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

use super::fixture::*;
use crate::{SqliteJournal, file, open, schema};

fn refused(path: &Path) -> JournalError {
    SqliteJournal::open(path, &secret(), WORKSTATION).expect_err("it is refused")
}

/// A connection as another program with the key has it, which leaves the log beside the file.
fn stranger(path: &Path) -> Connection {
    let connection = open::connect(path, Some(&secret()), OpenFlags::empty()).expect("it opens");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("a known option");
    connection
}

#[test]
fn a_new_journal_is_private_and_keeps_its_first_identity() {
    let place = place();
    drop(place.open());
    let mut journal = SqliteJournal::open(&place.path, &secret(), WorkstationId(Uuid::from_u128(8))).expect("it opens");
    assert_eq!(restored(&mut journal).identity.workstation, WORKSTATION);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        apply(&mut journal, [leased()]);
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(place.path.parent().expect("a directory")), 0o700);
        for suffix in ["", "-wal", ".lock"] {
            assert_eq!(mode(&file::beside(&place.path, suffix)), 0o600, "{suffix}");
        }
    }
}

#[test]
fn the_connection_is_as_durable_as_it_has_to_be() {
    let place = place();
    let journal = place.open();
    let version = schema::VERSION.to_string();
    for (pragma, expected) in [
        ("journal_mode", "wal"),
        ("locking_mode", "exclusive"),
        ("synchronous", "2"),
        ("fullfsync", "1"),
        ("checkpoint_fullfsync", "1"),
        ("foreign_keys", "1"),
        ("trusted_schema", "0"),
        ("user_version", version.as_str()),
        ("secure_delete", "1"),
        ("temp_store", "2"),
        ("application_id", "1129531214"),
    ] {
        let actual: rusqlite::types::Value =
            journal.connection.pragma_query_value(None, pragma, |row| row.get(0)).expect(pragma);
        let actual = match actual {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        };
        assert_eq!(actual, expected, "{pragma}");
    }
}

#[test]
fn a_second_instance_is_kept_out() {
    let place = place();
    let journal = place.open();
    let error = refused(&place.path);
    assert_eq!(error.fault, JournalFault::Locked);
    assert!(error.to_string().starts_with("open: another Countersign has"), "{error}");
    drop(journal);
    drop(place.open());
}

#[test]
fn another_program_that_has_the_file_open_is_told_as_a_lock() {
    let place = place();
    drop(place.open());
    let other = stranger(&place.path);
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE").expect("nobody else has it");
    assert_eq!(refused(&place.path).fault, JournalFault::Locked);
}

#[test]
fn a_newer_journal_is_refused_and_not_touched() {
    let place = place();
    drop(place.open());
    let whole = fs::read(&place.path).expect("it reads");
    // Once with the version in the file itself, once only in the log, where a crash leaves it.
    for in_log in [false, true] {
        let newer = stranger(&place.path);
        newer
            .execute_batch(&format!(
                "PRAGMA user_version = {}{}",
                schema::VERSION + 1,
                if in_log { "" } else { "; PRAGMA wal_checkpoint(TRUNCATE)" }
            ))
            .expect("it writes");
        drop(newer);
        let before = files(&place.path);
        let error = refused(&place.path);
        assert_eq!(error.fault, JournalFault::Newer, "{error}");
        assert_eq!(files(&place.path), before);
        // Without the log the file is as it was.
        file::remove(&file::beside(&place.path, "-wal")).expect("it goes");
        fs::write(&place.path, &whole).expect("it writes");
    }
}

#[test]
fn the_file_of_another_application_is_refused_and_not_touched() {
    let place = place();
    fs::create_dir_all(place.path.parent().expect("a directory")).expect("it is made");
    Connection::open(&place.path)
        .expect("it opens")
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .expect("it writes");
    let before = files(&place.path);
    let error = refused(&place.path);
    assert_eq!(error.fault, JournalFault::Corrupt);
    assert!(error.message.contains("another application"), "{error}");
    assert_eq!(files(&place.path), before);
}

#[test]
fn a_damaged_journal_is_refused_not_touched_and_set_aside_whole() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=20))]);
    drop(journal);
    let whole = fs::read(&place.path).expect("it reads");
    let mut torn = whole.clone();
    torn[4096..].fill(0xa5);
    let damages: [&[u8]; 4] = [b"not a database at all", &whole[..50], &whole[..whole.len() / 2], &torn];
    for (n, damaged) in (0..).zip(damages) {
        fs::write(&place.path, damaged).expect("it writes");
        fs::write(file::beside(&place.path, "-wal"), b"").expect("it writes");
        let before = files(&place.path);
        let error = refused(&place.path);
        assert_eq!(error.fault, JournalFault::Corrupt, "{error}");
        assert_eq!(files(&place.path), before, "damage {n}");

        let aside = SqliteJournal::set_aside(&place.path, time(0)).expect("it moves");
        let suffix = if n == 0 { String::new() } else { format!("-{}", n + 1) };
        assert_eq!(aside, file::beside(&place.path, &format!(".corrupt-20251231T235959Z{suffix}")));
        assert_eq!(fs::read(&aside).expect("it is kept"), damaged);
        assert!(file::beside(&aside, "-wal").exists(), "the log goes with it");
        assert!(deck(&mut place.open()).is_empty(), "a fresh one takes its place");
    }
}

#[test]
fn an_open_journal_and_a_missing_one_are_not_set_aside() {
    let place = place();
    assert_eq!(SqliteJournal::set_aside(&place.path, time(0)).expect_err("nothing is there").fault, JournalFault::Io);
    let mut journal = place.open();
    assert_eq!(SqliteJournal::set_aside(&place.path, time(0)).expect_err("it is in use").fault, JournalFault::Locked);
    apply(&mut journal, [leased()]);
}

#[test]
fn a_log_without_its_journal_is_not_poured_into_a_fresh_one() {
    let place = place();
    drop(place.open());
    let other = stranger(&place.path);
    other.execute_batch("INSERT INTO dead_letter VALUES (1, 1, '', '', 1, 1, 0)").expect("it writes");
    drop(other);
    fs::remove_file(&place.path).expect("it is there");
    let error = refused(&place.path);
    assert_eq!(error.fault, JournalFault::Corrupt);
    assert!(error.message.contains("its log is still there"), "{error}");
    SqliteJournal::set_aside(&place.path, time(0)).expect("the log alone moves");
    assert_eq!(place.open().counts().expect("it reads").dead_letters, 0);
}

#[test]
fn what_a_crash_left_of_making_a_journal_is_no_obstacle() {
    let place = place();
    fs::create_dir_all(place.path.parent().expect("a directory")).expect("it is made");
    fs::write(&place.path, b"").expect("it writes");
    for suffix in [".new", ".new-journal"] {
        fs::write(file::beside(&place.path, suffix), b"half of it").expect("it writes");
    }
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=1))]);
    assert_eq!(outbox(&mut journal), [(1, Stage::Ready)]);
    assert!(!file::beside(&place.path, ".new").exists());
    journal.restore().expect("it reads");
}

#[cfg(unix)]
#[test]
fn a_file_or_a_folder_that_cannot_be_written_is_told_as_such() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = place();
    drop(place.open());
    let directory = place.path.parent().expect("a directory");
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    set(&place.path, 0o400);
    if fs::OpenOptions::new().write(true).open(&place.path).is_ok() {
        // Rights do not bind root; the codes behind these errors have a test of their own.
        return;
    }
    assert_eq!(refused(&place.path).fault, JournalFault::ReadOnly);
    set(&place.path, 0o600);
    // The log cannot be made.
    set(directory, 0o500);
    assert_eq!(refused(&place.path).fault, JournalFault::ReadOnly);
    fs::remove_file(file::beside(&place.path, ".lock")).expect_err("the folder is read-only");
    assert_eq!(
        SqliteJournal::set_aside(&place.path, time(0)).expect_err("nothing moves").fault,
        JournalFault::ReadOnly
    );
    set(directory, 0o700);
    drop(place.open());
}
