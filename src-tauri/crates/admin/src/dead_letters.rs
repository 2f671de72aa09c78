//! What did not get in.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A dead letter, without its original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadLetter {
    /// Its identifier.
    pub id: i64,
    /// When it came first.
    pub first_at: DateTime<Utc>,
    /// When it came last.
    pub last_at: DateTime<Utc>,
    /// How often it came.
    pub times: i32,
    /// Where it came from the first time.
    pub origin: String,
    /// The line there.
    pub line: Option<i64>,
    /// The named code.
    pub code: String,
    /// The failure class.
    pub class: String,
    /// The field at fault.
    pub field: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// Its key, where it could be read.
    pub idempotency_key: Option<String>,
    /// How many bytes it has.
    pub size: i64,
}

impl FromRow<'_, PgRow> for DeadLetter {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            first_at: row.try_get("first_at")?,
            last_at: row.try_get("last_at")?,
            times: row.try_get("times")?,
            origin: row.try_get("origin")?,
            line: row.try_get("line")?,
            code: row.try_get("code")?,
            class: row.try_get("class")?,
            field: row.try_get("field")?,
            reason: row.try_get("reason")?,
            idempotency_key: row.try_get("idempotency_key")?,
            size: row.try_get("original_size")?,
        })
    }
}

/// The latest dead letters, the newest first.
pub async fn list(database: &Database, limit: u32) -> Result<Vec<DeadLetter>, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_as(
        "SELECT id, first_at, last_at, times, origin, line, code, class, field, reason, idempotency_key, original_size \
         FROM countersign.dead_letters ORDER BY last_at DESC, id DESC LIMIT $1",
    )
    .bind(i64::from(limit))
    .fetch_all(&mut connection)
    .await
    .map_err(database.refused("list dead letters"))
}

/// The list as a table.
pub fn describe(letters: &[DeadLetter]) -> String {
    if letters.is_empty() {
        return "No dead letters.\n".to_owned();
    }
    let head =
        ["id", "first", "last", "times", "origin", "code", "bytes", "field", "reason"].map(str::to_owned).to_vec();
    let rows = letters.iter().map(|letter| {
        let origin = letter.line.map_or_else(|| letter.origin.clone(), |line| format!("{}:{line}", letter.origin));
        vec![
            letter.id.to_string(),
            instant(letter.first_at),
            instant(letter.last_at),
            letter.times.to_string(),
            shown(&origin),
            shown(&letter.code),
            letter.size.to_string(),
            shown(letter.field.as_deref().unwrap_or("-")),
            shown(&letter.reason),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn instant(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}
