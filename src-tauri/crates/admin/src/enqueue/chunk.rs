//! What is sent in one call, and how.

use countersign_domain::code::FailureClass;
use countersign_domain::id::Digest;
use sqlx::{PgConnection, Row as _};

/// The most arrivals or dead letters of one call.
pub(crate) const CHUNK_ITEMS: usize = 500;
/// The most bytes of one call; a single arrival may have more.
pub(crate) const CHUNK_BYTES: usize = 8 * 1024 * 1024;

/// An arrival that passed the gates.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) line: u64,
    pub(crate) key: String,
    pub(crate) body: String,
    pub(crate) original: Vec<u8>,
}

/// What did not get in.
#[derive(Debug)]
pub(crate) struct DeadLetter {
    pub(crate) line: u64,
    pub(crate) original: Vec<u8>,
    pub(crate) hash: Digest,
    pub(crate) size: u64,
    pub(crate) code: &'static str,
    pub(crate) class: FailureClass,
    pub(crate) field: Option<String>,
    pub(crate) reason: String,
    pub(crate) key: Option<String>,
}

/// The database's answer to one arrival.
pub(crate) struct Answer {
    pub(crate) outcome: String,
    pub(crate) detail: Option<String>,
}

/// One answer for each item, in their order.
pub(crate) async fn enqueue(connection: &mut PgConnection, items: &[Item]) -> Result<Vec<Answer>, sqlx::Error> {
    let bodies: Vec<&str> = items.iter().map(|item| item.body.as_str()).collect();
    let rows = sqlx::query("SELECT outcome, detail FROM countersign.enqueue($1) ORDER BY ordinal")
        .bind(bodies)
        .fetch_all(connection)
        .await?;
    complete(rows.len(), items.len())?;
    rows.iter().map(|row| Ok(Answer { outcome: row.try_get(0)?, detail: row.try_get(1)? })).collect()
}

/// For each dead letter, whether it is new.
pub(crate) async fn dead_letter(
    connection: &mut PgConnection,
    origin: &str,
    letters: &[DeadLetter],
) -> Result<Vec<bool>, sqlx::Error> {
    let origin = storable(origin);
    let rows = sqlx::query(
        "SELECT fresh FROM countersign.dead_letter($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ORDER BY ordinal",
    )
    .bind(letters.iter().map(|letter| letter.original.as_slice()).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| &letter.hash.0[..]).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| signed(letter.size)).collect::<Vec<_>>())
    .bind(letters.iter().map(|_| origin.as_str()).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| signed(letter.line)).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| letter.code).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| letter.class.as_str()).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| letter.field.as_deref().map(storable)).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| storable(&letter.reason)).collect::<Vec<_>>())
    .bind(letters.iter().map(|letter| letter.key.as_deref().map(storable)).collect::<Vec<_>>())
    .fetch_all(connection)
    .await?;
    complete(rows.len(), letters.len())?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

fn complete(answers: usize, asked: usize) -> Result<(), sqlx::Error> {
    if answers == asked { Ok(()) } else { Err(sqlx::Error::Protocol(format!("{answers} answers to {asked} items"))) }
}

/// What describes a dead letter may quote it, and PostgreSQL's text holds no NUL. (Its original is bytes, and stays as it is.)
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
