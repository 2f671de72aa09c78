//! The layout of the file and how it gets there.

use countersign_domain::id::WorkstationId;
use countersign_domain::{figure, gate};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::row::to_json;

/// `CSGN`, in the header of every journal.
pub(crate) const APPLICATION_ID: i32 = 0x4353_474e;

/// Each migration takes a journal from the version that is its index to the next one.
const MIGRATIONS: [&str; 7] = [
    include_str!("../../../../migrations/journal/0001_journal.sql"),
    include_str!("../../../../migrations/journal/0002_bounds.sql"),
    include_str!("../../../../migrations/journal/0003_proof.sql"),
    include_str!("../../../../migrations/journal/0004_review.sql"),
    include_str!("../../../../migrations/journal/0005_refused.sql"),
    include_str!("../../../../migrations/journal/0006_figures.sql"),
    include_str!("../../../../migrations/journal/0007_told.sql"),
];

/// The version from which on what is kept says what deciding does.
const FIGURES: usize = 6;

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

/// What deciding does follows from the content; an earlier release did not say it with what it kept. What cannot be read stays as it is.
fn say_outlooks(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let contents = "SELECT exception_id, content, body FROM deck WHERE item ->> 'kind' IN ('sales_claim', 'receipt')";
    let mut deck =
        transaction.prepare("UPDATE deck SET item = json_set(item, '$.outlook', json(?2)) WHERE exception_id = ?1")?;
    let mut outbox = transaction.prepare(
        "UPDATE outbox SET item = json_set(item, '$.outlook', json(?2)) WHERE exception_id = ?1 AND content = ?3 AND stage <> 'COMMITTED'",
    )?;
    let mut contents = transaction.prepare(contents)?;
    let mut rows = contents.query([])?;
    while let Some(row) = rows.next()? {
        let (id, content): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let Ok(read) = gate::read_body(row.get_ref(2)?.as_str()?) else { continue };
        let outlook = to_json(&figure::outlook(&read))?;
        deck.execute(params![id, outlook])?;
        outbox.execute(params![id, outlook, content])?;
    }
    Ok(())
}

fn migrate_within(transaction: &Transaction<'_>, from: i32) -> rusqlite::Result<()> {
    let done = usize::try_from(from).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, i64::from(from)))?;
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if done < FIGURES {
        say_outlooks(transaction)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}
