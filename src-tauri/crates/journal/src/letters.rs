//! What was given up here, until the backlog was told of it.

use countersign_domain::dead_letter::Cause as LetterCause;
use countersign_domain::id::{ExceptionId, SignOffKey};
use countersign_engine::port::{GivenUp, JournalFault, LetterRef, LocalDeadLetter, UNTOLD_BYTES};
use rusqlite::{Connection, Row, Transaction, params};

use crate::contents;
use crate::error::Cause;
use crate::row;

/// How many exceptions that could not be scored are kept; the oldest go first, and those that the backlog knows before others.
pub const DEAD_LETTERS_KEPT: u32 = 1_000;

pub(crate) fn dead_lettered(transaction: &Transaction<'_>, letters: &[LocalDeadLetter]) -> Result<(), Cause> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO dead_letter (exception_id, version, body, reason, attempts, at_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    // A decided one stays until it is answered, as ever.
    let mut deck = transaction.prepare_cached(
        "DELETE FROM deck WHERE exception_id IN (SELECT exception_id FROM undecided WHERE exception_id = ?1)",
    )?;
    for letter in letters {
        let LocalDeadLetter { id, version, body, reason, attempts, at } = letter;
        insert.execute(params![id.0, version, body, reason, attempts, at.timestamp_micros()])?;
        contents::forget_previous(transaction, id.0)?;
        deck.execute(params![id.0])?;
    }
    transaction.execute(
        "DELETE FROM dead_letter WHERE rowid IN (SELECT rowid FROM dead_letter ORDER BY told DESC, at_us, rowid \
         LIMIT max(0, (SELECT count(*) FROM dead_letter) - ?1))",
        params![DEAD_LETTERS_KEPT],
    )?;
    Ok(())
}

pub(crate) fn given_up(transaction: &Transaction<'_>, letters: &[GivenUp]) -> Result<(), Cause> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR REPLACE INTO given_up (sign_off_key, exception_id, version, original, reason, attempts, at_us) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for letter in letters {
        let GivenUp { exception, version, key, original, reason, attempts, at, .. } = letter;
        let Some(key) = key else {
            let message = format!("exception {exception} was given up without a decision: nothing was kept of it");
            return Err(Cause::Found(JournalFault::Io, message));
        };
        let at_us = at.timestamp_micros();
        insert.execute(params![key.0.0, exception.0, version, original, reason, attempts, at_us])?;
    }
    Ok(())
}

/// The reviewer tries a given-up decision again: there is nothing to tell any more, unless it fails once more.
pub(crate) fn taken_up_again(transaction: &Transaction<'_>, key: SignOffKey) -> Result<(), Cause> {
    transaction.prepare_cached("DELETE FROM given_up WHERE sign_off_key = ?1")?.execute(params![key.0.0])?;
    Ok(())
}

pub(crate) fn told(transaction: &Transaction<'_>, letters: &[LetterRef]) -> Result<(), Cause> {
    let mut exception =
        transaction.prepare_cached("UPDATE dead_letter SET told = 1 WHERE exception_id = ?1 AND version = ?2")?;
    for LetterRef { exception: id, version, key } in letters {
        match key {
            Some(key) => taken_up_again(transaction, *key)?,
            None => drop(exception.execute(params![id.0, version])?),
        }
    }
    Ok(())
}

pub(crate) fn untold(connection: &Connection, at_most: usize) -> Result<Vec<GivenUp>, Cause> {
    let mut statement = connection.prepare_cached(
        "SELECT exception_id, version, NULL, body, reason, attempts, at_us FROM dead_letter WHERE told = 0 \
         UNION ALL SELECT exception_id, version, sign_off_key, original, reason, attempts, at_us FROM given_up \
         ORDER BY 7, 1, 2",
    )?;
    let (mut letters, mut bytes) = (Vec::new(), 0);
    for letter in statement.query_map([], letter)? {
        let letter = letter?;
        bytes += letter.original.len();
        if letters.len() >= at_most || (bytes > UNTOLD_BYTES && !letters.is_empty()) {
            break;
        }
        letters.push(letter);
    }
    Ok(letters)
}

fn letter(row: &Row<'_>) -> rusqlite::Result<GivenUp> {
    let key = row.get::<_, Option<[u8; 32]>>(2)?.map(|_| row::digest(row, 2)).transpose()?.map(SignOffKey);
    Ok(GivenUp {
        cause: if key.is_some() { LetterCause::SignOff } else { LetterCause::Scoring },
        exception: ExceptionId(row.get(0)?),
        version: row.get(1)?,
        key,
        original: row.get(3)?,
        reason: row.get(4)?,
        attempts: row.get(5)?,
        at: row::time(row, 6)?,
    })
}
