//! The journal's files: the database, its log, its lock, and the damaged ones that were set aside.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use countersign_engine::port::{JournalError, JournalFault};

use crate::SqliteJournal;
use crate::error::Cause;
use crate::schema::{APPLICATION_ID, VERSION};

/// How many journals can be set aside under the same second before a name is refused.
const SAME_NAME_TRIES: u32 = 100;

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
    /// A journal that this release reads.
    Journal,
}

/// Looks at the first bytes without `SQLite`, which might write: it replays logs when it opens a file.
pub(crate) fn look(path: &Path) -> Result<Found, Cause> {
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut header)?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error.into()),
    };
    if header.is_empty() {
        // SQLite would replay the log of a lost database into the new one.
        return match fs::metadata(beside(path, "-wal")) {
            Ok(log) if log.len() > 0 => Err(Cause::Found(
                JournalFault::Corrupt,
                format!(
                    "{} is gone, but its log is still there and may hold decisions: nothing was read; set the log aside and keep it for support",
                    path.display()
                ),
            )),
            _ => Ok(Found::Nothing),
        };
    }
    let number =
        |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_be_bytes);
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(Cause::Found(
            JournalFault::Corrupt,
            format!(
                "{} is no journal or is damaged: nothing was read and the file was not touched; set it aside, keep it for support, and start a fresh one",
                path.display()
            ),
        ));
    }
    // Offsets as in "Database File Format", section 1.3.
    judge(path, number(68), number(60))?;
    Ok(Found::Journal)
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
