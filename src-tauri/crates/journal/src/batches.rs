//! Confirmations, from what is left of their decisions.

use countersign_domain::id::BatchId;
use countersign_engine::port::{BATCHES_TOLD, Batch, Entry};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::Cause;
use crate::row::{self, ENTRY_COLUMNS, entry};

/// What a confirmation came to. `min(ordinal)` makes the columns that are not counted those of its first decision.
const SUMMARY: &str = "\
    SELECT min(ordinal), decided_at_us, decision, reason, comment, policy_version, count(*), \
           count(*) FILTER (WHERE stage = 'COMMITTED' AND said NOT IN ('HELD', 'AWAITING_SECOND')), \
           count(*) FILTER (WHERE stage = 'COMMITTED' AND said = 'HELD'), \
           count(*) FILTER (WHERE stage = 'COMMITTED' AND said = 'AWAITING_SECOND'), \
           count(*) FILTER (WHERE stage = 'REFUSED'), count(*) FILTER (WHERE stage IN ('READY', 'DEAD')), \
           count(*) FILTER (WHERE stage = 'READY' AND may_be_sent = 0), json_group_array(DISTINCT receipt) \
    FROM (SELECT *, coalesce(answer ->> 'first_outcome', answer ->> 'outcome', '') AS said \
          FROM (SELECT ordinal, decided_at_us, decision, reason, comment, policy_version, stage, answer, may_be_sent, receipt \
                FROM outbox WHERE batch = ?1 UNION ALL \
                SELECT ordinal, decided_at_us, decision, reason, comment, policy_version, stage, answer, may_be_sent, receipt \
                FROM superseded WHERE batch = ?1)) HAVING count(*) > 0";

/// The latest confirmations of which every decision is still here, newest first.
pub(crate) fn latest(connection: &Connection) -> Result<Vec<Batch>, Cause> {
    let mut statement = connection.prepare_cached(
        "SELECT batch, signed, attestation FROM confirmation WHERE signed > 0 ORDER BY last_ordinal DESC LIMIT ?1",
    )?;
    let limit = u32::try_from(BATCHES_TOLD).unwrap_or(u32::MAX);
    let told: Vec<Confirmation> = statement.query_map(params![limit], confirmation)?.collect::<Result<_, _>>()?;
    let mut batches = Vec::with_capacity(told.len());
    for confirmation in &told {
        batches.extend(whole(connection, confirmation)?);
    }
    Ok(batches)
}

/// A confirmation with its decisions.
pub(crate) fn one(connection: &Connection, id: BatchId) -> Result<Option<(Batch, Vec<Entry>)>, Cause> {
    let name = id.0.to_string();
    let mut statement = connection
        .prepare_cached("SELECT batch, signed, attestation FROM confirmation WHERE batch = ?1 AND signed > 0")?;
    let Some(of) = statement.query_row(params![name], confirmation).optional()? else { return Ok(None) };
    let Some(batch) = whole(connection, &of)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {ENTRY_COLUMNS} FROM outbox WHERE batch = ?1 UNION ALL \
         SELECT {ENTRY_COLUMNS} FROM superseded WHERE batch = ?1 ORDER BY 1"
    ))?;
    let entries: Vec<Entry> = statement.query_map(params![name], entry)?.collect::<Result<_, _>>()?;
    Ok(Some((batch, entries)))
}

struct Confirmation {
    id: BatchId,
    signed: u32,
    attestation: String,
}

fn confirmation(row: &Row<'_>) -> rusqlite::Result<Confirmation> {
    Ok(Confirmation { id: BatchId(row::parsed(row, 0)?), signed: row.get(1)?, attestation: row.get(2)? })
}

/// `None` when some of its decisions were forgotten: what is left would not add up.
fn whole(connection: &Connection, of: &Confirmation) -> Result<Option<Batch>, Cause> {
    let mut statement = connection.prepare_cached(SUMMARY)?;
    let batch = statement
        .query_row(params![of.id.0.to_string()], |row| {
            let mut receipts: Vec<i64> = row::json::<Vec<Option<i64>>>(row, 13)?.into_iter().flatten().collect();
            receipts.sort_unstable();
            Ok(Batch {
                id: of.id,
                decided_at: row::time(row, 1)?,
                decision: row::parsed(row, 2)?,
                reason: row.get(3)?,
                comment: row.get(4)?,
                policy_version: row.get(5)?,
                attestation: of.attestation.clone(),
                signed: row.get(6)?,
                committed: row.get(7)?,
                held: row.get(8)?,
                awaiting: row.get(9)?,
                refused: row.get(10)?,
                waiting: row.get(11)?,
                unsent: row.get(12)?,
                receipts,
            })
        })
        .optional()?;
    Ok(batch.filter(|batch| batch.signed == of.signed))
}
