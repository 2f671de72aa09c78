//! Brings a database to this release's schema: all that is missing in one transaction, or nothing.

use countersign_domain::hash;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use thiserror::Error;

/// The oldest server whose SQL the migrations are written in, as `server_version_num`.
const SERVER_VERSION: i32 = 150_000;
/// Names the advisory lock that keeps a second run waiting: "counters" in ASCII.
const LOCK: i64 = 0x636f_756e_7465_7273;

/// One migration, as it is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// Its number, from 1, without gaps.
    pub version: i32,
    /// Its file's name without the ending.
    pub name: &'static str,
    sql: &'static str,
}

impl Migration {
    /// Its statements.
    pub fn sql(&self) -> &'static str {
        self.sql
    }

    /// SHA-256 of its statements, the same on every platform, also where a checkout ends lines with CR LF.
    pub fn sha256(&self) -> Vec<u8> {
        sha256(self.sql)
    }
}

macro_rules! migration {
    ($version:literal, $name:literal) => {
        Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../../../../migrations/postgres/", $name, ".sql")),
        }
    };
}

/// Every migration, in order.
pub const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001_tables"),
    migration!(2, "0002_audit_and_arrivals"),
    migration!(3, "0003_leases"),
    migration!(4, "0004_sign_off"),
    migration!(5, "0005_access"),
    migration!(6, "0006_roles"),
    migration!(7, "0007_proof"),
    migration!(8, "0008_authority"),
    migration!(9, "0009_arrivals"),
    migration!(10, "0010_leases"),
    migration!(11, "0011_sign_off"),
    migration!(12, "0012_access"),
    migration!(13, "0013_review"),
    migration!(14, "0014_pending"),
    migration!(15, "0015_arrivals"),
    migration!(16, "0016_focus"),
    migration!(17, "0017_reading"),
    migration!(18, "0018_access"),
    migration!(19, "0019_focus_claim"),
    migration!(20, "0020_effects"),
    migration!(21, "0021_arrivals"),
    migration!(22, "0022_dead_letters"),
];

/// What remembers the migrations. Made here and not by one of them, because it is read before the first one ran; and made again
/// after each run, because a migration may have revoked rights on every function.
const BOOKKEEPING: &str = "
    CREATE TABLE IF NOT EXISTS countersign.schema_migration (
        version     integer     PRIMARY KEY,
        name        text        NOT NULL,
        sha256      bytea       NOT NULL,
        applied_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
        applied_by  text        NOT NULL DEFAULT session_user
    );
    REVOKE ALL ON TABLE countersign.schema_migration FROM PUBLIC;
    CREATE OR REPLACE FUNCTION countersign.schema_version() RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS 'SELECT max(m.version) FROM countersign.schema_migration m';
    GRANT EXECUTE ON FUNCTION countersign.schema_version() TO PUBLIC;
    ALTER TABLE countersign.schema_migration OWNER TO countersign_owner;
    ALTER FUNCTION countersign.schema_version() OWNER TO countersign_owner;";

/// Names this release's migrations by what is in them: another text, another name.
pub fn fingerprint() -> String {
    let all: String = MIGRATIONS.iter().map(|migration| migration.sql).collect();
    hash::sha256(all.as_bytes()).to_string()[..16].to_owned()
}

/// The version that this release works with.
pub fn latest() -> i32 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What was applied, in order; nothing if the database was up to date.
    pub applied: Vec<Migration>,
    /// The version the database is at now.
    pub version: i32,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum MigrateError {
    /// The server is too old.
    #[error("the server is PostgreSQL {found}, Countersign needs 15 or newer")]
    ServerTooOld {
        /// Its version.
        found: String,
    },
    /// The database cannot hold every text.
    #[error("the database's encoding is {found}, Countersign needs UTF8: create the database with ENCODING 'UTF8'")]
    Encoding {
        /// Its encoding.
        found: String,
    },
    /// The database does not know which letters are the same.
    #[error(
        "the database's LC_CTYPE knows no letters beyond ASCII, by which people are told apart: create the database with a UTF-8 locale, \
         such as LOCALE 'C.UTF-8'"
    )]
    Letters,
    /// A newer release was here.
    #[error(
        "the database is at version {found}, this release knows {known}: use the countersign-admin of the newer release"
    )]
    Newer {
        /// The database's version.
        found: i32,
        /// This release's.
        known: i32,
    },
    /// A migration that was applied is not the one this release carries.
    #[error(
        "migration {name} was applied with another content than this release carries: the database was made by a different build; \
         nothing was changed"
    )]
    Changed {
        /// Which.
        name: String,
    },
    /// A migration is missing below one that was applied.
    #[error(
        "migration {name} was never applied, although later ones were: the table countersign.schema_migration was changed by hand"
    )]
    Missing {
        /// Which.
        name: &'static str,
    },
    /// There is a schema of that name, made by something else.
    #[error(
        "the database has a schema `countersign` that no countersign-admin made: use another database, or remove that schema"
    )]
    Foreign,
    /// A migration failed.
    #[error("migration {name} failed, nothing was changed")]
    Failed {
        /// Which.
        name: &'static str,
        /// Why.
        source: sqlx::Error,
    },
    /// Something around the migrations failed.
    #[error("{operation} failed, nothing was changed")]
    Database {
        /// What was being done.
        operation: &'static str,
        /// Why.
        source: sqlx::Error,
    },
}

/// Applies what is missing. Another run at the same time waits for this one and then finds nothing to do.
pub async fn migrate(connection: &mut PgConnection) -> Result<Report, MigrateError> {
    check_server(connection).await?;
    let mut transaction = connection.begin().await.map_err(failed("starting the transaction"))?;
    // Nothing in a migration may be captured by an object of the same name in a schema that others can write to.
    sqlx::raw_sql("SET LOCAL search_path = pg_catalog, pg_temp")
        .execute(&mut *transaction)
        .await
        .map_err(failed("setting the search path"))?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await
        .map_err(failed("waiting for another migration"))?;
    let pending = pending(&applied(&mut transaction).await?)?;
    for migration in pending {
        sqlx::raw_sql(AssertSqlSafe(migration.sql))
            .execute(&mut *transaction)
            .await
            .map_err(|source| MigrateError::Failed { name: migration.name, source })?;
    }
    if !pending.is_empty() {
        record(&mut transaction, pending).await?;
    }
    transaction.commit().await.map_err(failed("committing"))?;
    Ok(Report { applied: pending.to_vec(), version: latest() })
}

async fn check_server(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let row = sqlx::query(
        "SELECT current_setting('server_version_num')::integer, current_setting('server_version'), current_setting('server_encoding'), lower('É') = 'é' AND upper('ς') = 'Σ'",
    )
    .fetch_one(connection)
    .await
    .map_err(failed("asking the server for its version"))?;
    let read = failed("reading the server's version");
    let number: i32 = row.try_get(0).map_err(&read)?;
    if number < SERVER_VERSION {
        return Err(MigrateError::ServerTooOld { found: row.try_get(1).map_err(&read)? });
    }
    let found: String = row.try_get(2).map_err(&read)?;
    if found != "UTF8" {
        return Err(MigrateError::Encoding { found });
    }
    let letters: bool = row.try_get(3).map_err(&read)?;
    if letters { Ok(()) } else { Err(MigrateError::Letters) }
}

/// A migration that the database remembers.
struct Applied {
    version: i32,
    name: String,
    sha256: Vec<u8>,
}

async fn applied(connection: &mut PgConnection) -> Result<Vec<Applied>, MigrateError> {
    let look = failed("looking for earlier migrations");
    let row = sqlx::query(
        "SELECT to_regnamespace('countersign') IS NOT NULL, to_regclass('countersign.schema_migration') IS NOT NULL",
    )
    .fetch_one(&mut *connection)
    .await
    .map_err(&look)?;
    let (schema, bookkeeping): (bool, bool) = (row.try_get(0).map_err(&look)?, row.try_get(1).map_err(&look)?);
    if !bookkeeping {
        return if schema { Err(MigrateError::Foreign) } else { Ok(Vec::new()) };
    }
    let rows = sqlx::query_as("SELECT version, name, sha256 FROM countersign.schema_migration ORDER BY version")
        .fetch_all(connection)
        .await
        .map_err(&look)?;
    Ok(rows.into_iter().map(|(version, name, sha256)| Applied { version, name, sha256 }).collect())
}

/// What is left to do: a tail of [`MIGRATIONS`].
fn pending(applied: &[Applied]) -> Result<&'static [Migration], MigrateError> {
    if let Some(newest) = applied.last().filter(|newest| newest.version > latest()) {
        return Err(MigrateError::Newer { found: newest.version, known: latest() });
    }
    for (known, applied) in MIGRATIONS.iter().zip(applied) {
        if applied.version != known.version {
            return Err(MigrateError::Missing { name: known.name });
        }
        if applied.sha256 != known.sha256() {
            return Err(MigrateError::Changed { name: applied.name.clone() });
        }
    }
    Ok(MIGRATIONS.get(applied.len()..).unwrap_or_default())
}

async fn record(connection: &mut PgConnection, applied: &[Migration]) -> Result<(), MigrateError> {
    sqlx::raw_sql(BOOKKEEPING).execute(&mut *connection).await.map_err(failed("making the table of migrations"))?;
    for migration in applied {
        sqlx::query("INSERT INTO countersign.schema_migration (version, name, sha256) VALUES ($1, $2, $3)")
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.sha256())
            .execute(&mut *connection)
            .await
            .map_err(failed("remembering a migration"))?;
    }
    Ok(())
}

fn sha256(sql: &str) -> Vec<u8> {
    hash::sha256(sql.replace("\r\n", "\n").as_bytes()).0.to_vec()
}

fn failed(operation: &'static str) -> impl Fn(sqlx::Error) -> MigrateError {
    move |source| MigrateError::Database { operation, source }
}

#[cfg(test)]
mod tests;
