//! A journal of a release that did not encrypt becomes an encrypted one: whole or not at all.
//!
//! Whatever a crash leaves, one file holds every decision and is found by the next opening:
//!
//! 1. the log is moved into the journal, and overwritten;
//! 2. `.new` is made, encrypted, and compared with the journal;
//! 3. the journal is renamed to `.plain`, then `.new` to the journal;
//! 4. once the journal opens with its key, `.plain` is overwritten and deleted.

use std::fs::{self, File};
use std::path::Path;

use countersign_engine::port::JournalFault;
use rusqlite::{Connection, OpenFlags, params};
use secrecy::zeroize::Zeroizing;

use crate::error::Cause;
use crate::schema::{self, APPLICATION_ID};
use crate::{JournalKey, file, open};

/// The old journal, between the two renames and until it is overwritten.
pub(crate) const PLAIN: &str = ".plain";
/// A journal that is being destroyed.
pub(crate) const GONE: &str = ".gone";

/// Puts back a journal that a crash between the two renames left under the other name, and ends a destruction that was begun.
pub(crate) fn resume(path: &Path) -> Result<(), Cause> {
    file::shred(&file::beside(path, GONE))?;
    let plain = file::beside(path, PLAIN);
    if plain.exists() && file::is_empty(path)? {
        fs::rename(plain, path)?;
        file::sync_directory(path)?;
    }
    Ok(())
}

/// Overwrites and deletes what was there before. Only after the journal was opened with its key: until then it is the only one that
/// is known to be readable.
pub(crate) fn finish(path: &Path) -> Result<(), Cause> {
    file::shred(&file::beside(path, PLAIN))
}

/// The whole upgrade but for its last step.
pub(crate) fn encrypt(path: &Path, key: &JournalKey) -> Result<(), Cause> {
    if file::beside(path, PLAIN).exists() {
        // Only an older release that was started in the middle of an upgrade leaves this.
        return Err(Cause::Found(
            JournalFault::Corrupt,
            format!(
                "{0} and {0}{PLAIN} both hold decisions: nothing was read and neither was touched; set the first aside and the second takes its place",
                path.display()
            ),
        ));
    }
    tracing::info!(event = "encrypting", "the journal of an older release is being encrypted");
    empty_log(path)?;
    copy(path, key)?;
    swap(path)
}

/// Moves the log into the file, so that the file alone is everything, and overwrites it.
pub(crate) fn empty_log(path: &Path) -> Result<(), Cause> {
    let connection = open::connect(path, None, OpenFlags::empty())?;
    open::examine(&connection, path)?;
    open::make_durable(&connection)?;
    let (busy, in_log, moved): (i64, i64, i64) =
        connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if busy != 0 || in_log != moved {
        return Err(Cause::Found(
            JournalFault::Locked,
            format!("another program is reading {}; close it and try again", path.display()),
        ));
    }
    // The log stays behind when it is closed, see `examine`: deleted by SQLite, its content would stay on the disk.
    connection.close().map_err(|(_, error)| error)?;
    for suffix in ["-wal", "-shm"] {
        file::shred(&file::beside(path, suffix))?;
    }
    Ok(())
}

/// Makes the encrypted copy under another name.
pub(crate) fn copy(path: &Path, key: &JournalKey) -> Result<(), Cause> {
    let new = open::make_new(path)?;
    // A checkpoint has emptied the log; read as it is, the file gets none again.
    let old = open::connect(path, None, OpenFlags::empty())?;
    open::examine(&old, path)?;
    let sql = Zeroizing::new(["ATTACH DATABASE ?1 AS encrypted KEY ", &key.literal()].concat());
    old.execute(&sql, params![file::name(&new)?])?;
    old.execute_batch("PRAGMA encrypted.synchronous = FULL")?;
    old.query_row("SELECT sqlcipher_export('encrypted')", [], |_| Ok(()))?;
    // The header's own fields are not part of the export.
    old.pragma_update(Some("encrypted"), "application_id", APPLICATION_ID)?;
    old.pragma_update(Some("encrypted"), "user_version", schema::user_version(&old)?)?;
    old.execute_batch("DETACH DATABASE encrypted")?;
    old.close().map_err(|(_, error)| error)?;

    let copied = open::connect(&new, Some(key), OpenFlags::empty())?;
    open::examine(&copied, &new)?;
    copied.execute("ATTACH DATABASE ?1 AS plain KEY ''", params![file::name(path)?])?;
    if !is_copy(&copied)? {
        return Err(Cause::Found(
            JournalFault::Io,
            format!("the encrypted copy of {} is not what was copied: nothing was changed; try again", path.display()),
        ));
    }
    copied.execute_batch("DETACH DATABASE plain")?;
    open::settle(&copied)?;
    copied.close().map_err(|(_, error)| error)?;
    if file::beside(&new, "-wal").exists() {
        return Err(Cause::Found(
            JournalFault::Io,
            format!("the log of {} did not go into it: nothing was changed; try again", new.display()),
        ));
    }
    // Reading the old one may have made it an empty log again, which does not belong to the new one.
    for suffix in ["-wal", "-shm"] {
        file::shred(&file::beside(path, suffix))?;
    }
    File::open(&new)?.sync_all()?;
    file::make_private(&new)?;
    Ok(())
}

/// Puts the copy in the old one's place.
pub(crate) fn swap(path: &Path) -> Result<(), Cause> {
    fs::rename(path, file::beside(path, PLAIN))?;
    file::sync_directory(path)?;
    fs::rename(file::beside(path, ".new"), path)?;
    file::sync_directory(path)?;
    Ok(())
}

/// Whether each row of one is in the other, and there are as many, read from the disk.
fn is_copy(connection: &Connection) -> Result<bool, Cause> {
    for table in ["identity", "lease", "deck", "outbox", "dead_letter"] {
        let same: bool = connection.query_row(
            &format!(
                "SELECT (SELECT count(*) FROM plain.{table}) = (SELECT count(*) FROM main.{table}) \
                 AND NOT EXISTS (SELECT * FROM plain.{table} EXCEPT SELECT * FROM main.{table})"
            ),
            [],
            |row| row.get(0),
        )?;
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
