//! A migrated database with reviewers, for tests, demo and bench.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use countersign_admin::Database;
use countersign_backlog::{PgBacklog, Target, Tls};
use countersign_domain::id::WorkstationId;
use countersign_engine::port::{Backlog as _, Hello};
use secrecy::SecretString;
use sqlx::{PgPool, postgres::PgPoolOptions};
use uuid::Uuid;

use crate::postgres::{TestDatabase, TestServer};

/// A migrated database of its own.
pub struct Installation {
    database: TestDatabase,
    /// Connections of the owner, who may see everything.
    pub owner: PgPool,
}

/// A reviewer's login.
#[derive(Debug, Clone)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

impl Installation {
    /// Copies a migrated template, which the first caller on a server makes.
    pub async fn create() -> anyhow::Result<Self> {
        let server = TestServer::acquire().await?;
        let template = format!("countersign_template_{}", countersign_backlog::migrate::fingerprint());
        server
            .template(&template, |url| async move {
                countersign_admin::migrate::migrate(&Database::from_url(&url)?).await?;
                Ok(())
            })
            .await?;
        Self::of(TestDatabase::create_from(&template).await?).await
    }

    /// What is in a database that was migrated by somebody else.
    pub async fn of(database: TestDatabase) -> anyhow::Result<Self> {
        let owner = PgPoolOptions::new()
            .max_connections(4)
            .connect(&database.admin_url())
            .await
            .context("connect as the owner")?;
        sqlx::query("UPDATE countersign.installation SET id = gen_random_uuid()").execute(&owner).await?;
        Ok(Self { database, owner })
    }

    /// The database.
    pub fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// As the operators' command line sees it.
    pub fn for_admin(&self) -> anyhow::Result<Database> {
        Ok(Database::from_url(&self.database.admin_url())?)
    }

    /// A login that is an active reviewer.
    pub async fn reviewer(&self, prefix: &str) -> anyhow::Result<Login> {
        let (user, password) = self.database.login(prefix).await?;
        countersign_admin::reviewer::add(&self.for_admin()?, &user, None, None).await?;
        Ok(Login { user, password: password.into() })
    }

    /// The way of a reviewer to the database, straight or through a proxy.
    pub async fn target(&self, login: &Login, through: Option<SocketAddr>) -> anyhow::Result<Target> {
        let address = match through {
            Some(address) => address,
            None => self.database.server().addr().await?,
        };
        Ok(Target {
            host: address.ip().to_string(),
            port: address.port(),
            database: self.database.name().to_owned(),
            user: login.user.clone(),
            tls: Tls::Disable,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
            application_name: "countersign".to_owned(),
        })
    }

    /// A backlog that has said hello as a new workstation, whose keys are [`keys_of`](crate::enrolment::keys_of) it.
    pub async fn workstation(&self, login: &Login) -> anyhow::Result<(Arc<PgBacklog>, WorkstationId)> {
        let backlog = Arc::new(PgBacklog::new(self.target(login, None).await?, Some(login.password.clone())));
        let workstation = WorkstationId(Uuid::new_v4());
        let hello =
            Hello { workstation, name: "test".to_owned(), app_version: "0".to_owned(), settings: "{}".to_owned() };
        crate::enrolment::enrol(&self.owner, &login.user, workstation).await?;
        backlog.hello(&hello).await?;
        Ok((backlog, workstation))
    }

    /// Registers the vendors that claims among these lines name.
    pub async fn register_vendors(&self, lines: &str) -> anyhow::Result<()> {
        Ok(crate::vendors::register(&self.for_admin()?, lines).await?)
    }

    /// Takes canonical bodies in, and says what became of each. The vendors that they name are registered first.
    pub async fn enqueue(&self, bodies: &[String]) -> anyhow::Result<Vec<String>> {
        let lines = bodies.join("\n");
        if lines.contains("vendor_id") {
            self.register_vendors(&lines).await?;
        }
        drop(lines);
        let mut outcomes = Vec::with_capacity(bodies.len());
        for chunk in bodies.chunks(1_000) {
            let mut rows: Vec<(i32, String)> = sqlx::query_as("SELECT ordinal, outcome FROM countersign.enqueue($1)")
                .bind(chunk)
                .fetch_all(&self.owner)
                .await?;
            rows.sort_unstable();
            outcomes.extend(rows.into_iter().map(|(_, outcome)| outcome));
        }
        Ok(outcomes)
    }

    /// Makes every lease run out.
    pub async fn lapse(&self) -> anyhow::Result<()> {
        let sql = "UPDATE countersign.partition SET lease_until = clock_timestamp() - interval '1 second' WHERE lease_until IS NOT NULL";
        sqlx::query(sql).execute(&self.owner).await?;
        Ok(())
    }
}
