//! Opening: look, lock, check, and only then write.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use countersign_domain::id::WorkstationId;
use countersign_engine::port::{JournalError, JournalFault};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};
use secrecy::zeroize::Zeroizing;

use crate::error::{Cause, fault_of};
use crate::file::{self, Found};
use crate::{JournalKey, SqliteJournal, schema, upgrade};

/// How long to wait for a program that is reading the file, such as a backup, before it counts as locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// Prepared statements kept: more than this crate has.
const STATEMENTS: usize = 32;
/// The log's size after a checkpoint, in bytes; a batch of 5,000 decisions needs about a third of it.
const LOG_BYTES: i64 = 16 * 1024 * 1024;

impl SqliteJournal {
    /// Opens the journal at `path`, or makes one if nothing is there; `new_workstation` becomes its identity only then. A journal of a
    /// release that did not encrypt is encrypted, whole or not at all.
    ///
    /// A file that the key does not fit, that is damaged, belongs to another program or comes from a newer release is refused and
    /// stays as it is, byte for byte. [`SqliteJournal::set_aside`] makes room for a fresh journal, once the reviewer knows.
    pub fn open(path: &Path, key: &JournalKey, new_workstation: WorkstationId) -> Result<Self, JournalError> {
        open(path, key, new_workstation).map_err(|cause| cause.during("open", path))
    }

    /// Whether what is at `path` can be read only with a key that was made before. While it is so, no new key may be made.
    pub fn needs_key(path: &Path) -> Result<bool, JournalError> {
        file::needs_key(path).map_err(|cause| cause.during("open", path))
    }
}

fn open(path: &Path, key: &JournalKey, new_workstation: WorkstationId) -> Result<SqliteJournal, Cause> {
    let lock = file::lock(path)?;
    upgrade::resume(path)?;
    match file::look(path)? {
        Found::Nothing => create(path, key, new_workstation)?,
        Found::Plaintext => upgrade::encrypt(path, key)?,
        Found::Encrypted => {}
    }
    let mut connection = connect(path, Some(key), OpenFlags::empty())?;
    examine(&connection, path)?;
    settle(&connection)?;
    schema::migrate(&mut connection)?;
    connection.query_row("SELECT 1 FROM identity", [], |_| Ok(()))?;
    file::make_private(path)?;
    upgrade::finish(path)?;
    Ok(SqliteJournal { connection, path: path.to_owned(), _lock: lock })
}

/// Makes sure, before anything is written, that this is a whole journal which this release knows and can write.
pub(crate) fn examine(connection: &Connection, path: &Path) -> Result<(), Cause> {
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
    set(connection, "locking_mode", "EXCLUSIVE", "exclusive")?;
    // The first page is read here, with the log's newer one in its place: a newer release may have died before its version reached the
    // file itself.
    let application_id = match connection.pragma_query_value(None, "application_id", |row| row.get(0)) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => return Err(key_refused(path)),
        other => other?,
    };
    file::judge(path, application_id, schema::user_version(connection)?)?;
    check(connection, path)
}

/// Makes a journal that was examined one that is written: with a log, which goes into the file when it is closed. A file has it before
/// it gets its name, so that a rollback journal beside it is never ours.
pub(crate) fn settle(connection: &Connection) -> Result<(), Cause> {
    set(connection, "journal_mode", "WAL", "wal")?;
    make_durable(connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Every page is authenticated, so a wrong key and a damaged first page look the same.
fn key_refused(path: &Path) -> Cause {
    Cause::Found(
        JournalFault::Key,
        format!(
            "the key of this workstation does not fit {}, or the file is damaged at its start: the file was not touched; unlock the keyring or restore the key file that belongs to it, and try again; without its key a journal cannot be read by anybody",
            path.display()
        ),
    )
}

/// Makes the whole file under another name and moves it into place: there is never half a journal.
fn create(path: &Path, key: &JournalKey, workstation: WorkstationId) -> Result<(), Cause> {
    let new = make_new(path)?;
    let mut connection = connect(&new, Some(key), OpenFlags::empty())?;
    set(&connection, "locking_mode", "EXCLUSIVE", "exclusive")?;
    settle(&connection)?;
    schema::create(&mut connection, workstation)?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(&new)?.sync_all()?;
    fs::rename(&new, path)?;
    file::sync_directory(path)?;
    Ok(())
}

/// An empty private file beside the journal, in place of what an earlier attempt left behind: nothing was ever signed in that.
pub(crate) fn make_new(path: &Path) -> Result<std::path::PathBuf, Cause> {
    let new = file::beside(path, ".new");
    for suffix in ["", "-journal", "-wal", "-shm"] {
        file::remove(&file::beside(&new, suffix))?;
    }
    // SQLite gives its other files the rights of this one.
    file::private().create_new(true).open(&new)?;
    Ok(new)
}

/// A connection to a journal, or, without a key, to one that is not encrypted yet.
pub(crate) fn connect(path: &Path, key: Option<&JournalKey>, more: OpenFlags) -> Result<Connection, Cause> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more)?;
    // It would write to the standard error what is told here as an error anyhow.
    connection.query_row("PRAGMA cipher_log_level = NONE", [], |_| Ok(()))?;
    if let Some(key) = key {
        let sql = Zeroizing::new(["PRAGMA key = ", &key.literal()].concat());
        connection.execute_batch(&sql)?;
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A damaged file must not run functions from its schema, nor make SQLite read past the end of a page. What does not fit into
    // memory must not go to a file that is not encrypted, and what is deleted must be gone.
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON",
    )?;
    Ok(connection)
}

/// A commit returns when it is on the disk. `fullfsync` matters on macOS, where fsync alone stops at the drive's cache.
pub(crate) fn make_durable(connection: &Connection) -> Result<(), Cause> {
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
    let finding = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    let finding: String = match finding {
        // A page that does not decrypt ends the search with an error.
        Err(error) if fault_of(&error) == JournalFault::Corrupt => error.to_string(),
        other => other?,
    };
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
