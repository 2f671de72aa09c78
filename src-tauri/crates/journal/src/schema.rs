//! The layout of the file and how it gets there.

use countersign_domain::id::WorkstationId;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

/// `CSGN`, in the header of every journal.
pub(crate) const APPLICATION_ID: i32 = 0x4353_474e;

/// Each migration takes a journal from the version that is its index to the next one.
const MIGRATIONS: [&str; 5] = [
    include_str!("../../../../migrations/journal/0001_journal.sql"),
    include_str!("../../../../migrations/journal/0002_bounds.sql"),
    include_str!("../../../../migrations/journal/0003_proof.sql"),
    include_str!("../../../../migrations/journal/0004_review.sql"),
    include_str!("../../../../migrations/journal/0005_refused.sql"),
];

/// The version that this release reads and writes.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a handful of migrations")]
pub(crate) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Makes a journal's tables and its identity: all or nothing.
pub(crate) fn create(connection: &mut Connection, workstation: WorkstationId) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate_within(&transaction, 0)?;
    transaction
        .execute("INSERT INTO identity (singleton, workstation) VALUES (1, ?1)", params![workstation.0.to_string()])?;
    transaction.commit()
}

/// Brings an older journal to this release's version: all or nothing.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let from = user_version(connection)?;
    if from == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate_within(&transaction, from)?;
    transaction.commit()
}

/// The version of an open file.
pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate_within(transaction: &Transaction<'_>, from: i32) -> rusqlite::Result<()> {
    let done = usize::try_from(from).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, i64::from(from)))?;
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}
