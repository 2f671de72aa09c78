//! Opening: look, lock, check, and only then write.

use std::fs;
use std::path::Path;
use std::time::Duration;

use countersign_domain::id::WorkstationId;
use countersign_engine::port::{JournalError, JournalFault};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use crate::error::Cause;
use crate::file::{self, Found};
use crate::{SqliteJournal, schema};

/// How long to wait for a program that is reading the file, such as a backup, before it counts as locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// Prepared statements kept: more than this crate has.
const STATEMENTS: usize = 32;
/// The log's size after a checkpoint, in bytes; a batch of 5,000 decisions needs about a third of it.
const LOG_BYTES: i64 = 16 * 1024 * 1024;

impl SqliteJournal {
    /// Opens the journal at `path`, or makes one if nothing is there; `new_workstation` becomes its identity only then.
    ///
    /// A file that is damaged, belongs to another program or comes from a newer release is refused and stays as it is, byte for
    /// byte. [`SqliteJournal::set_aside`] makes room for a fresh journal, once the reviewer knows.
    pub fn open(path: &Path, new_workstation: WorkstationId) -> Result<Self, JournalError> {
        open(path, new_workstation).map_err(|cause| cause.during("open", path))
    }
}

fn open(path: &Path, new_workstation: WorkstationId) -> Result<SqliteJournal, Cause> {
    let lock = file::lock(path)?;
    if let Found::Nothing = file::look(path)? {
        create(path, new_workstation)?;
    }
    let mut connection = connect(path, OpenFlags::empty())?;
    if connection.is_readonly(MAIN_DB)? {
        return Err(Cause::Found(
            JournalFault::ReadOnly,
            format!(
                "{} cannot be written: nothing could be signed; make the file writable and start again",
                path.display()
            ),
        ));
    }
    // Until the file is known to be ours, closing it must not move the log into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Before the first read, so that the log's index lives in memory and no second connection can ever share the file.
    set(&connection, "locking_mode", "EXCLUSIVE", "exclusive")?;
    // Once more, now with the log: a newer release may have died before the header reached the file itself.
    let application_id = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    file::judge(path, application_id, schema::user_version(&connection)?)?;
    check(&connection, path)?;

    set(&connection, "journal_mode", "WAL", "wal")?;
    make_durable(&connection)?;
    schema::migrate(&mut connection)?;
    connection.query_row("SELECT 1 FROM identity", [], |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    file::make_private(path)?;
    Ok(SqliteJournal { connection, path: path.to_owned(), _lock: lock })
}

/// Makes the whole file under another name and moves it into place: there is never half a journal.
fn create(path: &Path, workstation: WorkstationId) -> Result<(), Cause> {
    let new = file::beside(path, ".new");
    // What an earlier attempt left behind; nothing was ever signed in it.
    for leftover in [&new, &file::beside(&new, "-journal")] {
        if leftover.exists() {
            fs::remove_file(leftover)?;
        }
    }
    // SQLite gives its other files the rights of this one.
    file::private().create_new(true).open(&new)?;
    let mut connection = connect(&new, OpenFlags::SQLITE_OPEN_CREATE)?;
    make_durable(&connection)?;
    schema::create(&mut connection, workstation)?;
    connection.close().map_err(|(_, error)| error)?;
    fs::rename(&new, path)?;
    file::sync_directory(path)?;
    Ok(())
}

fn connect(path: &Path, more: OpenFlags) -> Result<Connection, Cause> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A damaged file must not run functions from its schema, nor make SQLite read past the end of a page.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
    Ok(connection)
}

/// A commit returns when it is on the disk. `fullfsync` matters on macOS, where fsync alone stops at the drive's cache.
fn make_durable(connection: &Connection) -> Result<(), Cause> {
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA foreign_keys = ON; \
         PRAGMA journal_size_limit = {LOG_BYTES}"
    ))?;
    Ok(())
}

/// Sets a mode that `SQLite` may decline without an error, and makes sure that it did not.
fn set(connection: &Connection, pragma: &str, mode: &str, expected: &str) -> Result<(), Cause> {
    let actual: String = connection.pragma_update_and_check(None, pragma, mode, |row| row.get(0))?;
    if actual == expected {
        return Ok(());
    }
    Err(Cause::Found(
        JournalFault::Io,
        format!("the file system does not support {pragma} {mode}, only {actual}; put the journal on a local disk"),
    ))
}

/// The file's structure, read once from end to end; the first finding ends the search.
fn check(connection: &Connection, path: &Path) -> Result<(), Cause> {
    let finding: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if finding == "ok" {
        return Ok(());
    }
    Err(Cause::Found(
        JournalFault::Corrupt,
        format!(
            "{} is damaged: the file was not touched; set it aside, keep it for support, who may recover decisions from it, and start a fresh one ({finding})",
            path.display()
        ),
    ))
}
