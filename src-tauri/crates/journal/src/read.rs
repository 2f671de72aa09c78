//! What the journal holds.

use countersign_domain::id::{Epoch, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId};
use countersign_engine::port::{DeckItem, Entry, Identity, JournalError, LeaseRow, Restored};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::SqliteJournal;
use crate::error::Cause;
use crate::row::{self, ENTRY_COLUMNS, entry, unsigned};

/// How many accepted decisions a restored outbox shows.
const ACCEPTED_SHOWN: u32 = 500;

/// How many decisions are where, for reports. Accepted ones beyond [`ACCEPTED_KEPT`](crate::ACCEPTED_KEPT) are forgotten and not
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Durable and unanswered.
    pub ready: u64,
    /// Accepted.
    pub committed: u64,
    /// Refused, dismissed ones included.
    pub refused: u64,
    /// Given up until the reviewer says otherwise.
    pub dead: u64,
    /// Of the accepted, those that the database had accepted before: their first answer was lost.
    pub duplicates: u64,
    /// Of all, those decided while the database could not be reached.
    pub signed_offline: u64,
    /// Exceptions that could not be scored here.
    pub dead_letters: u64,
    /// Exceptions in the deck without a decision.
    pub undecided: u64,
}

impl SqliteJournal {
    /// Counts every decision in the outbox.
    pub fn counts(&self) -> Result<Counts, JournalError> {
        counts(&self.connection).map_err(|cause| cause.during("report", &self.path))
    }

    /// Visits every decision in the outbox, answered and dismissed ones too, by ordinal. They are read one at a time.
    pub fn for_each_entry(&self, visit: impl FnMut(Entry)) -> Result<(), JournalError> {
        for_each_entry(&self.connection, visit).map_err(|cause| cause.during("report", &self.path))
    }
}

pub(crate) fn restore(connection: &mut Connection) -> Result<Restored, Cause> {
    let connection = connection.transaction()?;
    let (identity, last_ordinal, standing, focus) = connection.query_row(
        "SELECT workstation, installation, reviewer, last_ordinal, standing, focus FROM identity",
        [],
        |row| {
            // What another release kept is heard of again with the next connection.
            let standing = row.get::<_, Option<String>>(4)?.and_then(|text| serde_json::from_str(&text).ok());
            let focus = row.get::<_, Option<String>>(5)?.and_then(|text| serde_json::from_str(&text).ok());
            Ok((identity(row)?, unsigned(row, 3)?, standing, focus))
        },
    )?;
    let leases = rows(
        &connection,
        "SELECT partition_key, epoch, until_us, after_seq, more FROM lease ORDER BY partition_key",
        lease,
    )?;
    let deck: Vec<DeckItem> =
        rows(&connection, "SELECT item FROM undecided ORDER BY partition_key, seq, exception_id", |row| {
            row::json(row, 0)
        })?;
    let mut outbox = rows(
        &connection,
        &format!("SELECT {ENTRY_COLUMNS} FROM outbox WHERE stage <> 'COMMITTED' AND dismissed = 0 ORDER BY ordinal"),
        entry,
    )?;
    outbox.extend(rows(
        &connection,
        &format!(
            "SELECT {ENTRY_COLUMNS} FROM outbox WHERE ordinal IN (SELECT ordinal FROM outbox WHERE stage = 'COMMITTED' \
             ORDER BY settled_at_us DESC, ordinal DESC LIMIT {ACCEPTED_SHOWN}) ORDER BY ordinal"
        ),
        entry,
    )?);
    Ok(Restored { identity, leases, deck, outbox, last_ordinal, standing, focus })
}

pub(crate) fn body(connection: &Connection, id: ExceptionId) -> Result<Option<String>, Cause> {
    let mut statement = connection.prepare_cached("SELECT body FROM deck WHERE exception_id = ?1")?;
    Ok(statement.query_row(params![id.0], |row| row.get(0)).optional()?)
}

pub(crate) fn previous(connection: &Connection, id: ExceptionId) -> Result<Option<(u32, String)>, Cause> {
    let mut statement = connection.prepare_cached("SELECT version, body FROM previous WHERE exception_id = ?1")?;
    Ok(statement.query_row(params![id.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

pub(crate) fn one_entry(connection: &Connection, key: SignOffKey) -> Result<Option<Entry>, Cause> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM outbox WHERE sign_off_key = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row(params![key.0.0], entry).optional()?)
}

pub(crate) fn ui_state(connection: &Connection) -> Result<Option<String>, Cause> {
    Ok(connection.query_row("SELECT state FROM ui_state", [], |row| row.get(0)).optional()?)
}

fn counts(connection: &Connection) -> Result<Counts, Cause> {
    let sql = "SELECT count(*) FILTER (WHERE stage = 'READY'), count(*) FILTER (WHERE stage = 'COMMITTED'), \
               count(*) FILTER (WHERE stage = 'REFUSED'), count(*) FILTER (WHERE stage = 'DEAD'), \
               count(*) FILTER (WHERE answer ->> 'outcome' = 'DUPLICATE'), count(*) FILTER (WHERE offline = 1), \
               (SELECT count(*) FROM dead_letter), (SELECT count(*) FROM undecided) FROM outbox";
    Ok(connection.query_row(sql, [], |row| {
        Ok(Counts {
            ready: unsigned(row, 0)?,
            committed: unsigned(row, 1)?,
            refused: unsigned(row, 2)?,
            dead: unsigned(row, 3)?,
            duplicates: unsigned(row, 4)?,
            signed_offline: unsigned(row, 5)?,
            dead_letters: unsigned(row, 6)?,
            undecided: unsigned(row, 7)?,
        })
    })?)
}

fn for_each_entry(connection: &Connection, mut visit: impl FnMut(Entry)) -> Result<(), Cause> {
    let mut statement = connection.prepare(&format!("SELECT {ENTRY_COLUMNS} FROM outbox ORDER BY ordinal"))?;
    for entry in statement.query_map([], entry)? {
        visit(entry?);
    }
    Ok(())
}

pub(crate) fn rows<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(sql)?.query_map([], read)?.collect()
}

fn identity(row: &Row<'_>) -> rusqlite::Result<Identity> {
    let bound_to = match row.get::<_, Option<String>>(2)? {
        Some(reviewer) => Some((row::parsed(row, 1)?, reviewer)),
        None => None,
    };
    Ok(Identity { workstation: WorkstationId(row::parsed(row, 0)?), bound_to })
}

fn lease(row: &Row<'_>) -> rusqlite::Result<LeaseRow> {
    Ok(LeaseRow {
        partition: PartitionKey(row.get(0)?),
        epoch: Epoch(row.get(1)?),
        until: row::time(row, 2)?,
        after: Seq(row.get(3)?),
        more: row.get(4)?,
    })
}
