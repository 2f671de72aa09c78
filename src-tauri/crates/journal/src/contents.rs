//! Leases, and the exceptions under them with their contents.

use countersign_domain::id::{ExceptionId, PartitionKey, SignOffKey};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{DeckItem, LeaseRow, Settled};
use rusqlite::{Transaction, params};

use crate::error::Cause;
use crate::row::to_json;

/// What a changed exception said before, unless that is kept already.
const KEEP: &str = "INSERT OR REPLACE INTO previous (exception_id, partition_key, version, body) \
                    SELECT exception_id, partition_key, item ->> 'version', body FROM deck";

pub(crate) fn leased(
    transaction: &Transaction<'_>,
    leases: &[LeaseRow],
    items: &[(DeckItem, String)],
) -> Result<(), Cause> {
    let mut lease = transaction.prepare_cached(
        "INSERT OR REPLACE INTO lease (partition_key, epoch, until_us, after_seq, more) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for row in leases {
        lease.execute(params![row.partition.0, row.epoch.0, row.until.timestamp_micros(), row.after.0, row.more])?;
    }
    let mut previous = transaction.prepare_cached(&format!("{KEEP} WHERE exception_id = ?1 AND content <> ?2"))?;
    let mut deck = transaction.prepare_cached(
        "INSERT OR REPLACE INTO deck (exception_id, partition_key, seq, content, item, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (item, body) in items {
        previous.execute(params![item.id.0, item.content.0.0])?;
        deck.execute(params![item.id.0, item.partition.0, item.seq.0, item.content.0.0, to_json(item)?, body])?;
    }
    Ok(())
}

pub(crate) fn dropped(transaction: &Transaction<'_>, partitions: &[PartitionKey]) -> Result<(), Cause> {
    let mut lease = transaction.prepare_cached("DELETE FROM lease WHERE partition_key = ?1")?;
    let mut deck = transaction.prepare_cached(
        "DELETE FROM deck WHERE exception_id IN (SELECT exception_id FROM undecided WHERE partition_key = ?1)",
    )?;
    let mut previous = transaction.prepare_cached(
        "DELETE FROM previous WHERE partition_key = ?1 \
         AND NOT EXISTS (SELECT 1 FROM deck WHERE deck.exception_id = previous.exception_id)",
    )?;
    for partition in partitions {
        lease.execute(params![partition.0])?;
        deck.execute(params![partition.0])?;
        previous.execute(params![partition.0])?;
    }
    Ok(())
}

/// Undecided exceptions leave the deck, and their leases stay.
pub(crate) fn left(transaction: &Transaction<'_>, ids: &[ExceptionId]) -> Result<(), Cause> {
    let mut deck = transaction.prepare_cached(
        "DELETE FROM deck WHERE exception_id IN (SELECT exception_id FROM undecided WHERE exception_id = ?1)",
    )?;
    for id in ids {
        if deck.execute(params![id.0])? > 0 {
            forget_previous(transaction, id.0)?;
        }
    }
    Ok(())
}

/// A decision is answered, and its exception is about to leave the deck. One that changed comes back, and then somebody wants to
/// know from what.
pub(crate) fn answered(transaction: &Transaction<'_>, answer: &Settled) -> Result<(), Cause> {
    let key = answer.key.0.0;
    let of = "(exception_id, content) IN (SELECT exception_id, content FROM outbox WHERE sign_off_key = ?1)";
    if answer.answer.as_ref().is_some_and(|answer| answer.outcome == Outcome::StaleVersion) {
        transaction.prepare_cached(&format!("{KEEP} WHERE {of}"))?.execute(params![key])?;
    } else {
        let sql = format!("DELETE FROM previous WHERE exception_id IN (SELECT exception_id FROM deck WHERE {of})");
        transaction.prepare_cached(&sql)?.execute(params![key])?;
    }
    Ok(())
}

/// A decision was refused and its exception stays in the deck, if its lease is here; whether it does.
pub(crate) fn returned(transaction: &Transaction<'_>, key: SignOffKey, note: &str) -> Result<bool, Cause> {
    let mut deck = transaction.prepare_cached(
        "UPDATE deck SET item = json_set(item, '$.note', ?2) \
         WHERE (exception_id, content) IN (SELECT exception_id, content FROM outbox WHERE sign_off_key = ?1) \
         AND (partition_key, item ->> 'epoch') IN (SELECT partition_key, epoch FROM lease)",
    )?;
    Ok(deck.execute(params![key.0.0, note])? > 0)
}

pub(crate) fn forget_previous(transaction: &Transaction<'_>, exception: i64) -> Result<(), Cause> {
    transaction.prepare_cached("DELETE FROM previous WHERE exception_id = ?1")?.execute(params![exception])?;
    Ok(())
}
