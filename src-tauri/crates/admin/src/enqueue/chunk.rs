//! What is sent in one call, and how.

use countersign_domain::code::FailureClass;
use countersign_domain::id::Digest;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row as _};

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

/// A call of one of the two functions that take things in.
#[derive(Clone, Copy)]
pub(crate) enum Call<'a> {
    /// Arrivals that passed the gates.
    Enqueue(&'a [Item]),
    /// What did not get in, and where it came from.
    DeadLetter(&'a str, &'a [DeadLetter]),
}

impl Call<'_> {
    /// One row for each, in their order.
    pub(crate) async fn send(self, connection: &mut PgConnection) -> Result<Vec<PgRow>, sqlx::Error> {
        let (query, asked) = match self {
            Self::Enqueue(items) => (enqueue(items), items.len()),
            Self::DeadLetter(origin, letters) => (dead_letter(origin, letters), letters.len()),
        };
        let rows = query.fetch_all(connection).await?;
        if rows.len() == asked {
            Ok(rows)
        } else {
            Err(sqlx::Error::Protocol(format!("{} answers to {asked} items", rows.len())))
        }
    }
}

/// Reads the answers to [`Call::Enqueue`].
pub(crate) fn answers(rows: &[PgRow]) -> Result<Vec<Answer>, sqlx::Error> {
    rows.iter().map(|row| Ok(Answer { outcome: row.try_get(0)?, detail: row.try_get(1)? })).collect()
}

/// Reads the answers to [`Call::DeadLetter`]: for each, whether it is new.
pub(crate) fn new_ones(rows: &[PgRow]) -> Result<Vec<bool>, sqlx::Error> {
    rows.iter().map(|row| row.try_get(0)).collect()
}

fn enqueue(items: &[Item]) -> Query<'_, Postgres, PgArguments> {
    sqlx::query("SELECT outcome, detail FROM countersign.enqueue($1) ORDER BY ordinal")
        .bind(items.iter().map(|item| item.body.as_str()).collect::<Vec<_>>())
}

fn dead_letter<'a>(origin: &str, letters: &'a [DeadLetter]) -> Query<'a, Postgres, PgArguments> {
    sqlx::query("SELECT fresh FROM countersign.dead_letter($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ORDER BY ordinal")
        .bind(letters.iter().map(|letter| letter.original.as_slice()).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| &letter.hash.0[..]).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| signed(letter.size)).collect::<Vec<_>>())
        .bind(vec![storable(origin); letters.len()])
        .bind(letters.iter().map(|letter| signed(letter.line)).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| letter.code).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| letter.class.as_str()).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| letter.field.as_deref().map(storable)).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| storable(&letter.reason)).collect::<Vec<_>>())
        .bind(letters.iter().map(|letter| letter.key.as_deref().map(storable)).collect::<Vec<_>>())
}

/// What describes a dead letter may quote it, and PostgreSQL's text holds no NUL. (Its original is bytes, and stays as it is.)
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
