//! Changes: one transaction each.

use countersign_domain::id::SignOffKey;
use countersign_engine::port::{Entry, JournalFault, Settled, Stage, UI_STATE_BYTES, Write};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::contents;
use crate::error::Cause;
use crate::letters;
use crate::row::{ENTRY_COLUMNS, stage_name, to_json, to_signed};

/// How many accepted decisions, and as many dismissed refusals, are kept to look back at; the oldest go first. What counts is in the
/// database.
pub const ACCEPTED_KEPT: u32 = 20_000;
/// How many confirmations are remembered beyond their decisions.
pub(crate) const CONFIRMATIONS_KEPT: u32 = 20_000;
/// How many of those that are too many go in one transaction, so that catching up never makes one long.
const FORGOTTEN_AT_ONCE: u32 = 5_000;

/// What a change is called when it fails.
pub(crate) fn operation(write: &Write) -> &'static str {
    match write {
        Write::Bind { .. } => "bind",
        Write::Standing(_) => "keep policy and rights",
        Write::Leased { .. } => "lease",
        Write::Dropped(_) | Write::Left(_) => "drop",
        Write::Focus(_) => "keep the focus",
        Write::Signed { .. } => "sign",
        Write::Sending(_) => "send",
        Write::Withdrawn(_) => "withdraw",
        Write::Settled(_) => "settle",
        Write::Dismissed(_) => "dismiss",
        Write::DeadLettered(_) | Write::GivenUp(_) => "dead-letter",
        Write::Told(_) => "note what was told",
        Write::UiState(_) => "keep the window's state",
        Write::Cleared => "clear",
    }
}

/// Makes a change durable, or fails and leaves nothing of it, no open transaction either.
pub(crate) fn write(connection: &mut Connection, write: &Write) -> Result<(), Cause> {
    // Dropping a transaction that did not commit rolls it back.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match write {
        Write::Bind { installation, reviewer } => bind(&transaction, *installation, reviewer)?,
        Write::Standing(standing) => {
            transaction.execute("UPDATE identity SET standing = ?1", params![to_json(standing)?])?;
        }
        Write::Leased { leases, items } => contents::leased(&transaction, leases, items)?,
        Write::Dropped(partitions) => contents::dropped(&transaction, partitions)?,
        Write::Focus(focus) => {
            let focus = focus.as_ref().map(to_json).transpose()?;
            transaction.execute("UPDATE identity SET focus = ?1", params![focus])?;
            transaction.execute("UPDATE lease SET after_seq = 0, more = 1", [])?;
        }
        Write::Left(ids) => contents::left(&transaction, ids)?,
        Write::Signed { entries, attestation } => signed(&transaction, entries, attestation)?,
        Write::Sending(keys) => sending(&transaction, keys)?,
        Write::Withdrawn(keys) => withdrawn(&transaction, keys)?,
        Write::Settled(answers) => settled(&transaction, answers)?,
        Write::Dismissed(keys) => dismissed(&transaction, keys)?,
        Write::DeadLettered(letters) => letters::dead_lettered(&transaction, letters)?,
        Write::GivenUp(letters) => letters::given_up(&transaction, letters)?,
        Write::Told(letters) => letters::told(&transaction, letters)?,
        Write::UiState(state) => ui_state(&transaction, state)?,
        Write::Cleared => cleared(&transaction)?,
    }
    if let Err(error) = transaction.commit() {
        // The whole change may be in the log by now, with only its sync failed; a crash before the next change would bring back
        // what the reviewer was told did not happen. Emptying the log prevents that, as far as the disk still obeys.
        drop(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        return Err(error.into());
    }
    if matches!(write, Write::Cleared) {
        scrub(connection)?;
    }
    Ok(())
}

fn cleared(transaction: &Transaction<'_>) -> Result<(), Cause> {
    transaction.execute_batch(
        "DELETE FROM lease; DELETE FROM deck; DELETE FROM dead_letter; DELETE FROM outbox WHERE stage IN ('COMMITTED', 'REFUSED'); \
         DELETE FROM superseded; DELETE FROM previous; DELETE FROM ui_state; UPDATE identity SET focus = NULL; \
         DELETE FROM confirmation WHERE batch NOT IN (SELECT batch FROM outbox)",
    )?;
    Ok(())
}

/// Leaves nothing of deleted rows in the file nor in the log. Encrypted as it is, it would be there for whoever has the key.
fn scrub(connection: &Connection) -> Result<(), Cause> {
    // Rewritten without free pages, through the log; then the log goes.
    let scrubbed = connection
        .execute_batch("VACUUM")
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)));
    match scrubbed {
        Ok(0) => Ok(()),
        Ok(_) => Err("another program is reading it".to_owned()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|reason| {
        Cause::Found(
            JournalFault::Io,
            format!(
                "the journal was cleared, but the file may still hold, encrypted, what was in it ({reason}); free space and clear it again"
            ),
        )
    })
}

fn bind(transaction: &Transaction<'_>, installation: Uuid, reviewer: &str) -> Result<(), Cause> {
    let installation = installation.to_string();
    let bound = transaction.execute(
        "UPDATE identity SET installation = ?1, reviewer = ?2 WHERE installation IS NULL OR (installation = ?1 AND reviewer = ?2)",
        params![installation, reviewer],
    )?;
    if bound == 0 {
        return Err(Cause::Found(
            JournalFault::Io,
            "the journal holds the decisions of another reviewer or installation: nothing was changed; use a journal of your own".to_owned(),
        ));
    }
    Ok(())
}

fn signed(transaction: &Transaction<'_>, entries: &[Entry], attestation: &str) -> Result<(), Cause> {
    // A refused decision did not happen; made again on the same content, it has the same key, and the other decision has its place.
    let of = "exception_id = ?1 AND content = ?2 AND stage = 'REFUSED'";
    let mut superseded = transaction.prepare_cached(&format!(
        "INSERT INTO superseded ({ENTRY_COLUMNS}) SELECT {ENTRY_COLUMNS} FROM outbox WHERE {of}"
    ))?;
    let mut again = transaction.prepare_cached(&format!("DELETE FROM outbox WHERE {of}"))?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO outbox (ordinal, batch, sign_off_key, exception_id, content, epoch, decision, reason, comment, decided_at_us, \
         item, stage, attempts, answer, problem, offline, settled_at_us, policy_version, seal, may_be_sent, receipt, steps, \
         figure) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
    )?;
    let mut confirmation = transaction.prepare_cached(
        "INSERT INTO confirmation (batch, last_ordinal, signed, attestation) VALUES (?1, ?2, 1, ?3) \
         ON CONFLICT (batch) DO UPDATE SET last_ordinal = excluded.last_ordinal, signed = signed + 1",
    )?;
    let mut last_ordinal = 0;
    for entry in entries {
        let (sign_off, ordinal) = (&entry.sign_off, to_signed(entry.ordinal)?);
        if sign_off.decided_at.timestamp_subsec_nanos() % 1_000 != 0 {
            // The time is part of what is signed: cut off here, the same decision would have another hash after a restart.
            return Err(Cause::Found(
                JournalFault::Io,
                format!("the decision on {} is not timed in whole microseconds: nothing was signed", entry.item.key),
            ));
        }
        if superseded.execute(params![sign_off.exception.0, sign_off.content.0.0])? > 0 {
            again.execute(params![sign_off.exception.0, sign_off.content.0.0])?;
        }
        let inserted = insert.execute(params![
            ordinal,
            entry.batch.0.to_string(),
            sign_off.key.0.0,
            sign_off.exception.0,
            sign_off.content.0.0,
            sign_off.epoch.0,
            sign_off.decision.as_str(),
            sign_off.reason,
            sign_off.comment,
            sign_off.decided_at.timestamp_micros(),
            to_json(&entry.item)?,
            stage_name(entry.stage),
            entry.attempts,
            entry.answer.as_ref().map(to_json).transpose()?,
            entry.problem,
            entry.offline,
            entry.settled_at.map(|at| at.timestamp_micros()),
            sign_off.policy_version,
            sign_off.seal.as_ref().map(to_json).transpose()?,
            entry.may_be_sent,
            entry.receipt,
            to_json(&entry.steps)?,
            sign_off.figure.as_ref().map(to_json).transpose()?,
        ]);
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(Cause::Found(
                    JournalFault::Io,
                    format!(
                        "{} was signed before and is not settled as refused: nothing was signed ({error})",
                        entry.item.key
                    ),
                ));
            }
            other => other?,
        };
        confirmation.execute(params![entry.batch.0.to_string(), ordinal, attestation])?;
        last_ordinal = last_ordinal.max(ordinal);
    }
    transaction.execute("UPDATE identity SET last_ordinal = max(last_ordinal, ?1)", params![last_ordinal])?;
    transaction.execute(
        "DELETE FROM superseded WHERE ordinal IN (SELECT ordinal FROM superseded ORDER BY ordinal \
         LIMIT min(?1, max(0, (SELECT count(*) FROM superseded) - ?2)))",
        params![FORGOTTEN_AT_ONCE, ACCEPTED_KEPT],
    )?;
    // Those whose decisions are all forgotten are the oldest.
    transaction.execute(
        "DELETE FROM confirmation WHERE batch IN (SELECT batch FROM confirmation ORDER BY last_ordinal \
         LIMIT max(0, (SELECT count(*) FROM confirmation) - ?1)) AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.batch = confirmation.batch)",
        params![CONFIRMATIONS_KEPT],
    )?;
    Ok(())
}

/// They go out next. Whoever reads this journal after a crash cannot tell how far they came.
fn sending(transaction: &Transaction<'_>, keys: &[SignOffKey]) -> Result<(), Cause> {
    let mut mark = transaction.prepare_cached("UPDATE outbox SET may_be_sent = 1 WHERE sign_off_key = ?1")?;
    for key in keys {
        mark.execute(params![key.0.0])?;
    }
    Ok(())
}

fn ui_state(transaction: &Transaction<'_>, state: &str) -> Result<(), Cause> {
    if state.len() > UI_STATE_BYTES {
        return Err(Cause::Found(
            JournalFault::Io,
            format!(
                "the window wants to keep {} bytes of itself, more than {UI_STATE_BYTES}: nothing was changed",
                state.len()
            ),
        ));
    }
    transaction.execute("INSERT OR REPLACE INTO ui_state (singleton, state) VALUES (1, ?1)", params![state])?;
    Ok(())
}

fn withdrawn(transaction: &Transaction<'_>, keys: &[SignOffKey]) -> Result<(), Cause> {
    let mut stage = transaction.prepare_cached("SELECT stage FROM outbox WHERE sign_off_key = ?1")?;
    let mut outbox =
        transaction.prepare_cached("DELETE FROM outbox WHERE sign_off_key = ?1 RETURNING exception_id, batch")?;
    let mut confirmation =
        transaction.prepare_cached("UPDATE confirmation SET signed = signed - 1 WHERE batch = ?1")?;
    // The item is undecided again, unless its lease ended meanwhile.
    let mut deck = transaction.prepare_cached(
        "DELETE FROM deck WHERE exception_id IN (SELECT exception_id FROM undecided WHERE exception_id = ?1) \
         AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.partition_key = deck.partition_key)",
    )?;
    for key in keys {
        match stage.query_row(params![key.0.0], |row| row.get::<_, String>(0)).optional()?.as_deref() {
            None => continue,
            Some("READY") => {}
            Some(stage) => {
                return Err(Cause::Found(
                    JournalFault::Io,
                    format!("the decision {} is {stage} and cannot be withdrawn: nothing was withdrawn", key.0),
                ));
            }
        }
        let (exception, batch): (i64, String) =
            outbox.query_row(params![key.0.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        confirmation.execute(params![batch])?;
        if deck.execute(params![exception])? > 0 {
            contents::forget_previous(transaction, exception)?;
        }
    }
    transaction.execute("DELETE FROM confirmation WHERE signed = 0", [])?;
    Ok(())
}

fn settled(transaction: &Transaction<'_>, answers: &[Settled]) -> Result<(), Cause> {
    // The first answer stands: what is answered is not answered again.
    let mut outbox = transaction.prepare_cached(
        "UPDATE outbox SET stage = ?2, attempts = ?3, answer = ?4, problem = ?5, settled_at_us = ?6, receipt = ?7, steps = ?8 \
         WHERE sign_off_key = ?1 AND stage IN ('READY', 'DEAD')",
    )?;
    let mut deck = transaction.prepare_cached(
        "DELETE FROM deck WHERE (exception_id, content) IN (SELECT exception_id, content FROM outbox WHERE sign_off_key = ?1)",
    )?;
    for answer in answers {
        let key = answer.key.0.0;
        let at = (answer.stage != Stage::Ready).then(|| answer.at.timestamp_micros());
        let document = answer.answer.as_ref().map(to_json).transpose()?;
        let changed = outbox.execute(params![
            key,
            stage_name(answer.stage),
            answer.attempts,
            document,
            answer.problem,
            at,
            answer.receipt,
            to_json(&answer.steps)?
        ])?;
        if changed == 0 {
            tracing::warn!(key = %answer.key.0, stage = ?answer.stage, "an answer came for a decision that is not waiting for one");
            continue;
        }
        if answer.stage == Stage::Ready {
            letters::taken_up_again(transaction, answer.key)?;
        }
        if matches!(answer.stage, Stage::Committed | Stage::Refused) {
            if let Some(note) = &answer.returned
                && contents::returned(transaction, answer.key, note)?
            {
                continue;
            }
            contents::answered(transaction, answer)?;
            deck.execute(params![key])?;
        }
    }
    transaction.execute(
        "DELETE FROM outbox WHERE ordinal IN (SELECT ordinal FROM outbox WHERE stage = 'COMMITTED' ORDER BY settled_at_us, ordinal \
         LIMIT min(?1, max(0, (SELECT count(*) FROM outbox WHERE stage = 'COMMITTED') - ?2)))",
        params![FORGOTTEN_AT_ONCE, ACCEPTED_KEPT],
    )?;
    Ok(())
}

fn dismissed(transaction: &Transaction<'_>, keys: &[SignOffKey]) -> Result<(), Cause> {
    let mut outbox =
        transaction.prepare_cached("UPDATE outbox SET dismissed = 1 WHERE sign_off_key = ?1 AND stage = 'REFUSED'")?;
    for key in keys {
        outbox.execute(params![key.0.0])?;
    }
    transaction.execute(
        "DELETE FROM outbox WHERE ordinal IN (SELECT ordinal FROM outbox WHERE dismissed = 1 ORDER BY settled_at_us, ordinal \
         LIMIT min(?1, max(0, (SELECT count(*) FROM outbox WHERE dismissed = 1) - ?2)))",
        params![FORGOTTEN_AT_ONCE, ACCEPTED_KEPT],
    )?;
    Ok(())
}
