//! What is sent in one call, and how.

use std::fmt::Write as _;

use countersign_domain::code::FailureClass;
use countersign_domain::id::Digest;
use sqlx::postgres::PgRow;
use sqlx::{Connection as _, PgConnection, Row as _};

/// The most arrivals or dead letters of one call.
pub(crate) const CHUNK_ITEMS: usize = 1_000;
/// The most bytes of one call; a single arrival may have more.
pub(crate) const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// An arrival that passed the gates.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) line: u64,
    pub(crate) key: String,
    pub(crate) partition: String,
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
    /// Why, as the desk groups by it; the database tells it from the rest where it is not said.
    pub(crate) cause: Option<String>,
}

/// The database's answer to one arrival.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) outcome: String,
    pub(crate) detail: Option<String>,
    pub(crate) field: Option<String>,
    pub(crate) cause: Option<String>,
}

/// How arrivals get to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By COPY into a table of this connection's own, and from there in one call.
    Staged,
    /// As an array, where nobody may make temporary tables.
    Array,
}

/// Makes this connection's table for what is on its way, where that is allowed. Nobody else sees it, and it is empty after each transaction.
pub(crate) async fn prepare(connection: &mut PgConnection) -> Result<Way, sqlx::Error> {
    let allowed: bool = sqlx::query_scalar("SELECT has_database_privilege(current_database(), 'TEMPORARY')")
        .fetch_one(&mut *connection)
        .await?;
    if !allowed {
        return Ok(Way::Array);
    }
    sqlx::raw_sql(
        "CREATE TEMPORARY TABLE countersign_stage (n integer NOT NULL, body text NOT NULL) ON COMMIT DELETE ROWS",
    )
    .execute(connection)
    .await?;
    Ok(Way::Staged)
}

/// Sends arrivals that passed the gates: one answer each, in their order. It is one transaction.
pub(crate) async fn enqueue(
    connection: &mut PgConnection,
    way: Way,
    items: &[Item],
) -> Result<Vec<Answer>, sqlx::Error> {
    const ANSWERS: &str = "SELECT outcome, detail, field, cause FROM countersign.enqueue";
    let rows = match way {
        Way::Array => {
            let sql = format!("{ANSWERS}($1, false) ORDER BY ordinal");
            let bodies: Vec<&str> = items.iter().map(|item| item.body.as_str()).collect();
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(bodies).fetch_all(connection).await?
        }
        Way::Staged => {
            let mut transaction = connection.begin().await?;
            let mut copy = transaction.copy_in_raw("COPY pg_temp.countersign_stage (n, body) FROM STDIN").await?;
            copy.send(copied(items)).await?;
            copy.finish().await?;
            let sql = format!(
                "{ANSWERS}((SELECT array_agg(body ORDER BY n) FROM pg_temp.countersign_stage), false) ORDER BY ordinal"
            );
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *transaction).await?;
            transaction.commit().await?;
            rows
        }
    };
    answered(&rows, items.len())?;
    let answer = |row: &PgRow| {
        Ok(Answer { outcome: row.try_get(0)?, detail: row.try_get(1)?, field: row.try_get(2)?, cause: row.try_get(3)? })
    };
    rows.iter().map(answer).collect()
}

/// Keeps what did not get in; for each, whether it is new.
pub(crate) async fn keep(
    connection: &mut PgConnection,
    origin: &str,
    letters: &[DeadLetter],
) -> Result<Vec<bool>, sqlx::Error> {
    let sql =
        "SELECT fresh FROM countersign.dead_letter($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ORDER BY ordinal";
    let rows = sqlx::query(sql)
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
        .bind(letters.iter().map(|letter| letter.cause.as_deref()).collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    answered(&rows, letters.len())?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

fn answered(rows: &[PgRow], asked: usize) -> Result<(), sqlx::Error> {
    if rows.len() == asked {
        Ok(())
    } else {
        Err(sqlx::Error::Protocol(format!("{} answers to {asked} items", rows.len())))
    }
}

/// Rows in COPY's text form. JSON holds no raw tab or line end, so that only the backslash has to be doubled.
fn copied(items: &[Item]) -> Vec<u8> {
    let mut text = String::with_capacity(items.iter().map(|item| item.body.len() + 32).sum());
    for (number, item) in items.iter().enumerate() {
        let _ = write!(text, "{number}\t");
        let mut parts = item.body.split('\\');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            text.push_str("\\\\");
            text.push_str(part);
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// What describes a dead letter may quote it, and PostgreSQL's text holds no NUL. (Its original is bytes, and stays as it is.)
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
