//! The workstation's journal: leases, the deck, the outbox and local dead letters in one `SQLite` file, encrypted by `SQLCipher`.
//!
//! One owner, one connection, one thread. Whatever [`Journal::write`] accepted survives a
//! crash or a power cut that follows; whatever it refused left no trace. A journal of a newer release, a file of another program, one
//! that the key does not fit and a damaged one are told apart and told in words, and none of them is changed. Times and randomness come in as arguments.

mod batches;
mod contents;
mod error;
mod export;
mod file;
mod key;
mod letters;
mod open;
mod read;
mod row;
mod schema;
mod upgrade;
mod write;

use std::fs::File;
use std::path::PathBuf;

use countersign_domain::id::{BatchId, ExceptionId, SignOffKey};
use countersign_engine::port::{Batch, Entry, GivenUp, Journal, JournalError, Restored, Write};
use rusqlite::Connection;

pub use export::ExportDigest;
pub use key::JournalKey;
pub use letters::DEAD_LETTERS_KEPT;
pub use read::Counts;
pub use write::ACCEPTED_KEPT;

/// An open journal. While it exists no other process, and no second one in this process, can open the same file.
#[derive(Debug)]
pub struct SqliteJournal {
    // Fields are dropped in this order: the file is closed before the lock goes.
    connection: Connection,
    path: PathBuf,
    _lock: File,
}

impl Journal for SqliteJournal {
    fn restore(&mut self) -> Result<Restored, JournalError> {
        read::restore(&mut self.connection).map_err(|cause| cause.during("restore", &self.path))
    }

    fn write(&mut self, write: &Write) -> Result<(), JournalError> {
        write::write(&mut self.connection, write).map_err(|cause| cause.during(write::operation(write), &self.path))
    }

    fn body(&mut self, id: ExceptionId) -> Result<Option<String>, JournalError> {
        read::body(&self.connection, id).map_err(|cause| cause.during("read content", &self.path))
    }

    fn previous(&mut self, id: ExceptionId) -> Result<Option<(u32, String)>, JournalError> {
        read::previous(&self.connection, id).map_err(|cause| cause.during("read content", &self.path))
    }

    fn entry(&mut self, key: SignOffKey) -> Result<Option<Entry>, JournalError> {
        read::one_entry(&self.connection, key).map_err(|cause| cause.during("report", &self.path))
    }

    fn batches(&mut self) -> Result<Vec<Batch>, JournalError> {
        batches::latest(&self.connection).map_err(|cause| cause.during("report", &self.path))
    }

    fn batch(&mut self, id: BatchId) -> Result<Option<(Batch, Vec<Entry>)>, JournalError> {
        batches::one(&self.connection, id).map_err(|cause| cause.during("report", &self.path))
    }

    fn ui_state(&mut self) -> Result<Option<String>, JournalError> {
        read::ui_state(&self.connection).map_err(|cause| cause.during("report", &self.path))
    }

    fn untold(&mut self, at_most: usize) -> Result<Vec<GivenUp>, JournalError> {
        letters::untold(&self.connection, at_most).map_err(|cause| cause.during("read dead letters", &self.path))
    }
}

#[cfg(test)]
mod tests;
