//! One look at the database: everything is read from the same moment, while others go on working.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat};
use countersign_backlog::failure::Step;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Connection as _, Decode, PgConnection, Postgres, Type};

use crate::{AdminError, Database};

/// PostgreSQL counts from the year 2000, everything here from 1970.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// An instant in microseconds since 1970, whatever a row holds: also one that no calendar has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

impl Type<Postgres> for Micros {
    fn type_info() -> PgTypeInfo {
        <DateTime<chrono::Utc> as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for Micros {
    fn decode(value: PgValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
        let since_2000 = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        Ok(Self(since_2000.saturating_add(EPOCH_MICROS)))
    }
}

/// An instant for people.
pub(crate) fn instant(micros: i64) -> String {
    DateTime::from_timestamp_micros(micros)
        .map_or_else(|| format!("{micros} µs"), |at| at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

/// A connection in a transaction that only reads.
pub(crate) struct Session<'a> {
    pub(crate) connection: PgConnection,
    database: &'a Database,
    operation: &'static str,
}

impl<'a> Session<'a> {
    /// Connects and takes the moment.
    pub(crate) async fn begin(database: &'a Database, operation: &'static str) -> Result<Self, AdminError> {
        let mut connection = database.connect().await?;
        let begin = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
                     SET LOCAL jit = off; SET LOCAL work_mem = '64MB';
                     SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL cursor_tuple_fraction = 1.0";
        sqlx::raw_sql(begin)
            .execute(&mut connection)
            .await
            .map_err(|error| database.error(operation, Step::Version, &error))?;
        Ok(Self { connection, database, operation })
    }

    /// What an error of a statement means for the operator.
    pub(crate) fn refused(&self) -> impl Fn(sqlx::Error) -> AdminError + use<'a> {
        let (database, operation) = (self.database, self.operation);
        move |error| {
            let refused = database.error(operation, Step::Version, &error);
            match refused {
                // What cannot be read proves nothing: it is no answer, and told apart from one by its exit code.
                AdminError::Refused { place: origin, cause, .. } => {
                    let hint = if denied(&error) { ". Connect as a member of countersign_auditor" } else { "" };
                    AdminError::Unreadable { origin, source: io::Error::other(format!("{cause}{hint}")) }
                }
                other => other,
            }
        }
    }

    /// How the statements that follow join their tables.
    pub(crate) async fn join(&mut self, how: Join) -> Result<(), AdminError> {
        let sql = match how {
            Join::InOrder => "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = on",
            Join::ByKey => "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off",
            Join::Whole => "SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on",
        };
        let refused = self.refused();
        sqlx::raw_sql(sql).execute(&mut self.connection).await.map_err(refused)?;
        Ok(())
    }

    /// Asks for one number.
    pub(crate) async fn number(&mut self, sql: &'static str) -> Result<i64, AdminError> {
        let refused = self.refused();
        sqlx::query_scalar(sql).fetch_one(&mut self.connection).await.map_err(refused)
    }

    /// Leaves.
    pub(crate) async fn end(self) {
        // Nothing was changed: how the goodbye goes changes nothing either.
        let _ = self.connection.close().await;
    }
}

/// However many rows there are, they come in the order of an index: a hash join would lose that order and sort them all again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Join {
    /// Side by side, each in its order.
    InOrder,
    /// Row by row, by their keys: for wide rows, which are not worth sorting.
    ByKey,
    /// As the planner likes it: for few rows that come of many.
    Whole,
}

fn denied(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some("42501")
}

/// Says once a second how far it is, where somebody watches.
pub(crate) struct Progress {
    watched: bool,
    began: Instant,
    last: Instant,
    what: &'static str,
    of: u64,
}

impl Progress {
    pub(crate) fn new(what: &'static str, of: u64) -> Self {
        let now = Instant::now();
        Self { watched: io::stderr().is_terminal(), began: now, last: now, what, of }
    }

    pub(crate) fn at(&mut self, done: u64) {
        if self.watched && self.last.elapsed() >= Duration::from_secs(1) {
            self.last = Instant::now();
            let percent = done.saturating_mul(100) / self.of.max(1);
            let rate = done / self.began.elapsed().as_secs().max(1);
            // Whoever watched may have gone.
            let _ = write!(io::stderr(), "\r{}: {percent:3} %, {done} of {}, {rate}/s  ", self.what, self.of);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.watched && self.last > self.began {
            let _ = writeln!(io::stderr());
        }
    }
}
