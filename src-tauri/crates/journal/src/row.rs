//! Values as they are stored, and back.

use chrono::{DateTime, Utc};
use countersign_domain::id::{BatchId, ContentHash, Digest, Epoch, ExceptionId, SignOffKey};
use countersign_domain::sign_off::SignOff;
use countersign_engine::port::{Entry, Stage};
use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Every column of an [`Entry`], in the order in which [`entry`] reads them.
pub(crate) const ENTRY_COLUMNS: &str = "ordinal, batch, sign_off_key, exception_id, content, epoch, decision, reason, comment, \
     decided_at_us, item, stage, attempts, answer, problem, offline, settled_at_us, policy_version, seal, may_be_sent, receipt, steps, \
     figure";

/// Reads a row of [`ENTRY_COLUMNS`].
pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        ordinal: unsigned(row, 0)?,
        batch: BatchId(parsed(row, 1)?),
        sign_off: SignOff {
            key: SignOffKey(digest(row, 2)?),
            exception: ExceptionId(row.get(3)?),
            content: ContentHash(digest(row, 4)?),
            epoch: Epoch(row.get(5)?),
            decision: parsed(row, 6)?,
            reason: row.get(7)?,
            comment: row.get(8)?,
            decided_at: time(row, 9)?,
            policy_version: row.get(17)?,
            figure: row.get::<_, Option<String>>(22)?.map(|_| json(row, 22)).transpose()?,
            seal: row.get::<_, Option<String>>(18)?.map(|_| json(row, 18)).transpose()?,
        },
        item: json(row, 10)?,
        stage: stage(row, 11)?,
        attempts: row.get(12)?,
        answer: row.get::<_, Option<String>>(13)?.map(|_| json(row, 13)).transpose()?,
        problem: row.get(14)?,
        offline: row.get(15)?,
        settled_at: row.get::<_, Option<i64>>(16)?.map(|_| time(row, 16)).transpose()?,
        may_be_sent: row.get(19)?,
        receipt: row.get(20)?,
        steps: json(row, 21)?,
    })
}

/// The name of a stage in the file.
pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Ready => "READY",
        Stage::Committed => "COMMITTED",
        Stage::Refused => "REFUSED",
        Stage::Dead => "DEAD",
    }
}

/// A document as text.
pub(crate) fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// An ordinal as `SQLite` holds it.
pub(crate) fn to_signed(ordinal: u64) -> rusqlite::Result<i64> {
    i64::try_from(ordinal).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// A document in a column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(column, error))
}

/// A time in a column of microseconds.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<DateTime<Utc>> {
    let us = row.get(column)?;
    DateTime::from_timestamp_micros(us).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, us))
}

/// A text in a column that names something.
pub(crate) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| unreadable(column, error))
}

/// A whole number in a column that is never negative.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// A SHA-256.
pub(crate) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    Ok(Digest(row.get(column)?))
}

fn stage(row: &Row<'_>, column: usize) -> rusqlite::Result<Stage> {
    let name = row.get_ref(column)?.as_str()?;
    [Stage::Ready, Stage::Committed, Stage::Refused, Stage::Dead]
        .into_iter()
        .find(|stage| stage_name(*stage) == name)
        .ok_or_else(|| unreadable(column, format!("`{name}` is no stage")))
}

fn unreadable(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
