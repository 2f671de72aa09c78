//! The journal's files: the database, its log, its lock, and the damaged ones that were set aside.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use countersign_engine::port::{JournalError, JournalFault};

use crate::SqliteJournal;
use crate::error::Cause;
use crate::schema::{APPLICATION_ID, VERSION};
use crate::upgrade::PLAIN;

/// How many journals can be set aside under the same second before a name is refused.
const SAME_NAME_TRIES: u32 = 100;
/// The bytes that a database begins with unless it is encrypted.
const PLAIN_HEADER: &[u8] = b"SQLite format 3\0";
/// The size of an encrypted journal's pages, in bytes: it never has less than one, nor a part of one.
const PAGE_BYTES: u64 = 4_096;

impl SqliteJournal {
    /// Moves a damaged journal out of the way under a name with the time in it and returns that name. Nothing is deleted: the
    /// database keeps its log beside it, so that what is in both can be recovered together.
    pub fn set_aside(path: &Path, now: DateTime<Utc>) -> Result<PathBuf, JournalError> {
        lock(path).and_then(|_lock| set_aside(path, now)).map_err(|cause| cause.during("set aside", path))
    }
}

fn set_aside(path: &Path, now: DateTime<Utc>) -> Result<PathBuf, Cause> {
    let stem = format!(".corrupt-{}", now.format("%Y%m%dT%H%M%SZ"));
    let aside = (1..=SAME_NAME_TRIES)
        .map(|n| beside(path, &if n == 1 { stem.clone() } else { format!("{stem}-{n}") }))
        .find(|aside| ["", "-wal", "-shm"].iter().all(|suffix| !beside(aside, suffix).exists()))
        .ok_or_else(|| {
            Cause::Found(
                JournalFault::Io,
                format!("{SAME_NAME_TRIES} journals were set aside in this second; try again"),
            )
        })?;
    let mut moved = false;
    // The database goes first. Were the log first and the power cut between the two, the database would open without it and lack,
    // without a sign, the latest decisions; a log without a database is noticed.
    for suffix in ["", "-wal", "-shm"] {
        match fs::rename(beside(path, suffix), beside(&aside, suffix)) {
            Ok(()) => moved = true,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    if !moved {
        return Err(Cause::Found(JournalFault::Io, format!("there is no journal at {}", path.display())));
    }
    sync_directory(path)?;
    Ok(aside)
}

/// What is at a journal's path.
pub(crate) enum Found {
    /// No file, or one without a byte in it.
    Nothing,
    /// A journal of a release that did not encrypt, and that this one reads.
    Plaintext,
    /// What may be a journal; the key will tell.
    Encrypted,
}

/// Looks at the first bytes without `SQLite`, which might write: it replays logs when it opens a file.
pub(crate) fn look(path: &Path) -> Result<Found, Cause> {
    let header = header(path)?;
    if header.is_empty() {
        // SQLite would replay the log of a lost database into the new one.
        if has_log(path)? {
            return Err(Cause::Found(
                JournalFault::Corrupt,
                format!(
                    "{} is gone, but its log is still there and may hold decisions: nothing was read; set the log aside and keep it for support",
                    path.display()
                ),
            ));
        }
        return Ok(Found::Nothing);
    }
    if header.len() == 100 && header.starts_with(PLAIN_HEADER) {
        let number =
            |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_be_bytes);
        // Offsets as in "Database File Format", section 1.3.
        judge(path, number(68), number(60))?;
        return Ok(Found::Plaintext);
    }
    let bytes = fs::metadata(path)?.len();
    // A crash may have cut a page that is whole in the log.
    let has_pages = bytes >= PAGE_BYTES && (bytes.is_multiple_of(PAGE_BYTES) || has_log(path)?);
    // SQLite would roll back what it says before any key is asked for, and a journal of ours never has one.
    let has_rollback = fs::metadata(beside(path, "-journal")).is_ok_and(|file| file.len() > 0);
    if header.starts_with(PLAIN_HEADER) || !has_pages || has_rollback {
        return Err(Cause::Found(
            JournalFault::Corrupt,
            format!(
                "{} is no journal or is damaged: nothing was read and the file was not touched; set it aside, keep it for support, and start a fresh one",
                path.display()
            ),
        ));
    }
    Ok(Found::Encrypted)
}

/// Whether what is here needs a key that was made before: an encrypted journal, or the log of one that is gone.
pub(crate) fn needs_key(path: &Path) -> Result<bool, Cause> {
    let header = header(path)?;
    if header.is_empty() {
        return Ok(!beside(path, PLAIN).exists() && has_log(path)?);
    }
    Ok(!header.starts_with(PLAIN_HEADER) && fs::metadata(path)?.len() >= PAGE_BYTES)
}

/// Whether there is no file, or one without a byte in it.
pub(crate) fn is_empty(path: &Path) -> Result<bool, Cause> {
    Ok(header(path)?.is_empty())
}

fn has_log(path: &Path) -> Result<bool, Cause> {
    match fs::metadata(beside(path, "-wal")) {
        Ok(log) => Ok(log.len() > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The first 100 bytes, or as many as there are.
fn header(path: &Path) -> Result<Vec<u8>, Cause> {
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut header)?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error.into()),
    };
    Ok(header)
}

/// Refuses the files of other applications and of newer releases.
pub(crate) fn judge(path: &Path, application_id: i32, user_version: i32) -> Result<(), Cause> {
    if application_id != APPLICATION_ID {
        return Err(Cause::Found(
            JournalFault::Corrupt,
            format!(
                "{} is a database of another application, not a journal of Countersign: the file was not touched; choose another path, or set it aside",
                path.display()
            ),
        ));
    }
    if user_version > VERSION {
        return Err(Cause::Found(
            JournalFault::Newer,
            format!(
                "a newer release of Countersign wrote {} (layout {user_version}, this one knows {VERSION}): the file was not touched; install that release",
                path.display()
            ),
        ));
    }
    Ok(())
}

/// Takes the lock that keeps a second instance out. It goes with the returned file; the lock's own file stays, because deleting it
/// would let two processes hold locks on two files of one name.
pub(crate) fn lock(path: &Path) -> Result<File, Cause> {
    if let Some(directory) = directory(path) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory)?;
    }
    let file = private().create(true).truncate(false).open(beside(path, ".lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Cause::Found(
            JournalFault::Locked,
            format!("another Countersign has {} open; use its window, or close it first", path.display()),
        )),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Options for a file that is written and that nobody else may read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes from a file that came from elsewhere, such as a backup, whatever rights others have on it.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Overwrites a file and deletes it. The start goes first and alone: `SQLite` takes a log without a header for an empty one, where it
/// would replay the first part of a log whose end is missing over newer pages. (A disk may keep old blocks all the same; that is why
/// the journal is encrypted.)
pub(crate) fn shred(path: &Path) -> Result<(), Cause> {
    let mut file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let bytes = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(bytes.min(PAGE_BYTES)), &mut file)?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
    file.flush()?;
    file.sync_all()?;
    drop(file);
    remove(path)?;
    sync_directory(path)?;
    Ok(())
}

/// Deletes a file that need not be there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A path as `SQLite` takes it in a statement.
pub(crate) fn name(path: &Path) -> Result<&str, Cause> {
    path.to_str().ok_or_else(|| {
        Cause::Found(
            JournalFault::Io,
            format!("{} is not written in UTF-8: nothing was changed; name another data directory", path.display()),
        )
    })
}

/// Makes a rename in the journal's directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory(path).unwrap_or(Path::new(".")))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The journal's path with something behind the file's name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn directory(path: &Path) -> Option<&Path> {
    path.parent().filter(|directory| !directory.as_os_str().is_empty())
}
