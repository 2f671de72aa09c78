//! The bench's server: templates, fresh copies of them, and what a stretch of work has written.

use std::time::Instant;

use anyhow::Context as _;
use countersign_admin::Database;
use countersign_backlog::{PgBacklog, Target, Tls};
use secrecy::SecretString;
use sqlx::{Connection as _, PgConnection};

use super::fill::{Backlog, fill};
use crate::postgres::{PostgresOptions, PrivatePostgres};

/// The reviewer whose calls are measured.
pub(crate) const REVIEWER: &str = "bench_reviewer";
/// Any password will do: the server is gone after the bench.
const PASSWORD: &str = "bench";

/// A private server with every commit synced.
pub(crate) struct Server {
    postgres: PrivatePostgres,
}

/// A database of its own.
pub(crate) struct Copy<'a> {
    server: &'a Server,
    name: String,
    /// The owner's connection.
    pub(crate) owner: PgConnection,
}

/// What a stretch of work has written to the log.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    /// Bytes of the write-ahead log.
    pub(crate) wal_bytes: u64,
    /// How many of them are images of whole pages, written when a page is touched first after a checkpoint.
    pub(crate) image_bytes: u64,
    /// Committed transactions.
    pub(crate) commits: u64,
}

impl Server {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let postgres = PrivatePostgres::start(PostgresOptions { durable: true }).await?;
        let mut connection = PgConnection::connect(&postgres.admin_url("postgres")).await?;
        // When it comes depends on the time that has passed; it would disturb some runs and not others.
        for sql in ["ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"] {
            sqlx::raw_sql(sql).execute(&mut connection).await?;
        }
        connection.close().await?;
        Ok(Self { postgres })
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.postgres.stop().await
    }

    /// Makes a migrated database with the reviewer and these backlogs.
    pub(crate) async fn template(&self, name: &str, backlogs: &[Backlog]) -> anyhow::Result<()> {
        let began = Instant::now();
        self.postgres.create_database(name).await?;
        let url = self.postgres.admin_url(name);
        let database = Database::from_url(&url)?;
        countersign_admin::migrate::migrate(&database).await?;
        let mut connection = PgConnection::connect(&url).await?;
        let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
            .bind(REVIEWER)
            .fetch_one(&mut connection)
            .await?;
        let password = SecretString::from(PASSWORD);
        let password = (!known).then_some(&password);
        countersign_admin::reviewer::add(&database, REVIEWER, None, password).await?;
        crate::enrolment::enrol(&mut connection, REVIEWER, super::product::WORKSTATION).await?;
        // Reads its commits and page images back out of the log; part of PostgreSQL's own contributions.
        sqlx::raw_sql("CREATE EXTENSION pg_walinspect").execute(&mut connection).await?;
        for backlog in backlogs {
            fill(&mut connection, backlog).await?;
        }
        sqlx::raw_sql("VACUUM (ANALYZE)").execute(&mut connection).await?;
        sqlx::raw_sql("CHECKPOINT").execute(&mut connection).await?;
        connection.close().await?;
        super::progress(&format!("filled the template {name} in {:?}", began.elapsed()));
        Ok(())
    }

    /// Copies a template.
    pub(crate) async fn copy(&self, template: &str, number: usize) -> anyhow::Result<Copy<'_>> {
        let name = format!("{template}_{number}");
        self.postgres.create_database_from(template, &name).await?;
        self.open(&name).await
    }

    /// Opens a database as it is.
    pub(crate) async fn open(&self, name: &str) -> anyhow::Result<Copy<'_>> {
        let owner = PgConnection::connect(&self.postgres.admin_url(name)).await?;
        Ok(Copy { server: self, name: name.to_owned(), owner })
    }
}

impl Copy<'_> {
    /// What the product drives, over the local socket.
    pub(crate) fn backlog(&self) -> PgBacklog {
        let target = Target {
            host: self.server.postgres.socket_dir().to_string_lossy().into_owned(),
            port: self.server.postgres.port(),
            database: self.name.clone(),
            user: REVIEWER.to_owned(),
            tls: Tls::Disable,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
            application_name: "bench".to_owned(),
        };
        PgBacklog::new(target, Some(PASSWORD.into()))
    }

    /// As the operators' command line sees it.
    pub(crate) fn for_admin(&self) -> anyhow::Result<Database> {
        Ok(Database::from_url(&self.server.postgres.admin_url(&self.name))?)
    }

    /// A connection of the owner over the local socket.
    pub(crate) async fn connect(&self) -> anyhow::Result<PgConnection> {
        let options = sqlx::postgres::PgConnectOptions::new_without_pgpass()
            .socket(self.server.postgres.socket_dir())
            .port(self.server.postgres.port())
            .username("postgres")
            .password(self.server.postgres.password())
            .database(&self.name);
        PgConnection::connect_with(&options).await.context("connect to the copy")
    }

    /// Puts a checkpoint behind everything before, and says where the log stands.
    pub(crate) async fn checkpoint(&mut self) -> anyhow::Result<String> {
        sqlx::raw_sql("CHECKPOINT").execute(&mut self.owner).await?;
        Ok(sqlx::query_scalar("SELECT pg_current_wal_insert_lsn()::text").fetch_one(&mut self.owner).await?)
    }

    /// What was written since.
    pub(crate) async fn written_since(&mut self, start: &str) -> anyhow::Result<Written> {
        let sql = "
            SELECT pg_wal_lsn_diff(l.until, l.since)::bigint, sum(s.fpi_size)::bigint,
                   sum(s.count) FILTER (WHERE s.\"resource_manager/record_type\" = 'Transaction/COMMIT')::bigint
            FROM (SELECT $1::pg_lsn AS since, least(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn()) AS until) AS l
            CROSS JOIN pg_get_wal_stats(l.since, l.until, true) AS s GROUP BY 1";
        let (wal, images, commits): (i64, i64, Option<i64>) =
            sqlx::query_as(sql).bind(start).fetch_one(&mut self.owner).await.context("read the log back")?;
        Ok(Written {
            wal_bytes: u64::try_from(wal)?,
            image_bytes: u64::try_from(images)?,
            commits: u64::try_from(commits.unwrap_or_default())?,
        })
    }

    /// Removes it, after everybody has disconnected.
    pub(crate) async fn remove(self) -> anyhow::Result<()> {
        self.owner.close().await?;
        let mut connection = PgConnection::connect(&self.server.postgres.admin_url("postgres")).await?;
        // Names of the bench's own, which need no quoting.
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }
}
