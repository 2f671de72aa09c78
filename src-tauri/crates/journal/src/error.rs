//! What went wrong, in the words of whoever has to act on it.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use countersign_engine::port::{JournalError, JournalFault};
use rusqlite::ErrorCode;

use crate::file;

/// How much is written to find out whether a disk error is a used-up quota: more than a file system keeps inline or rounds up.
const PROBE_BYTES: usize = 256 * 1024;

/// Why an operation failed, before it is known which operation it was.
#[derive(Debug)]
pub(crate) enum Cause {
    /// `SQLite` refused, or a stored value does not read.
    Sqlite(rusqlite::Error),
    /// The file system refused.
    Io(io::Error),
    /// A condition that this crate found; the text is the message.
    Found(JournalFault, String),
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Cause {
    /// The error a reviewer sees.
    pub(crate) fn during(self, operation: &'static str, journal: &Path) -> JournalError {
        let (fault, detail) = match self {
            Self::Found(fault, message) => return JournalError { operation, fault, message },
            Self::Sqlite(error) => {
                let fault = match fault_of(&error) {
                    JournalFault::Io if is_failed_write(&error) => probe(journal),
                    fault => fault,
                };
                (fault, error.to_string())
            }
            Self::Io(error) => (fault_of_io(&error), error.to_string()),
        };
        JournalError { operation, fault, message: message(operation, fault, journal, &detail) }
    }
}

/// The kind of trouble behind an error of `SQLite`.
pub(crate) fn fault_of(error: &rusqlite::Error) -> JournalFault {
    use rusqlite::Error as E;
    match error {
        E::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => JournalFault::Full,
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => JournalFault::ReadOnly,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                JournalFault::Locked
            }
            // SQLCipher says the last of these, the plain error, when a page does not decrypt; the SQL of this crate gives it no other
            // reason.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => JournalFault::Corrupt,
            _ => JournalFault::Io,
        },
        // A value that this crate wrote and cannot read back, or a row that must be there and is not.
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::InvalidColumnType(..)
        | E::QueryReturnedNoRows => JournalFault::Corrupt,
        _ => JournalFault::Io,
    }
}

/// The kind of trouble behind an error of the file system.
pub(crate) fn fault_of_io(error: &io::Error) -> JournalFault {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => JournalFault::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => JournalFault::ReadOnly,
        ErrorKind::WouldBlock => JournalFault::Locked,
        _ => JournalFault::Io,
    }
}

fn is_failed_write(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// `SQLite` says FULL when the disk is full and IOERR when the user's quota is, and does not pass the reason on. Writing beside the
/// journal asks the file system itself.
fn probe(journal: &Path) -> JournalFault {
    let path = file::beside(journal, ".probe");
    let result = OpenOptions::new().write(true).create(true).truncate(true).open(&path).and_then(|mut probe| {
        probe.write_all(&vec![0; PROBE_BYTES])?;
        probe.sync_all()
    });
    // An empty or short file that stays is overwritten by the next probe.
    drop(fs::remove_file(&path));
    result.map_or_else(|error| fault_of_io(&error), |()| JournalFault::Io)
}

fn message(operation: &str, fault: JournalFault, journal: &Path, detail: &str) -> String {
    let nothing = match operation {
        "sign" => "nothing was signed",
        "withdraw" => "nothing was withdrawn",
        "set aside" => "nothing was moved",
        "destroy" => "not everything was deleted",
        "open" | "restore" | "read content" | "report" | "export" => "nothing was read",
        _ => "nothing was changed",
    };
    let again = if operation == "sign" { "sign again" } else { "try again" };
    let journal = journal.display();
    match fault {
        JournalFault::Full => format!("the disk is full: {nothing}; free space and {again} ({journal})"),
        JournalFault::ReadOnly => format!(
            "{journal} cannot be written: {nothing}; make the file and its folder writable and {again} ({detail})"
        ),
        JournalFault::Locked => format!("another program has {journal} open: {nothing}; close it and {again}"),
        JournalFault::Corrupt => format!(
            "{journal} is damaged: {nothing}; set it aside, keep it for support, who may recover decisions from it, and start a fresh one ({detail})"
        ),
        JournalFault::Key => format!(
            "the key does not fit {journal}: {nothing}; unlock the keyring or restore the key file, and {again} ({detail})"
        ),
        JournalFault::Newer => format!("a newer release wrote {journal}: {nothing}; install that release"),
        JournalFault::Io => format!("{journal} failed: {nothing}; {again}, and ask support if it stays so ({detail})"),
    }
}
