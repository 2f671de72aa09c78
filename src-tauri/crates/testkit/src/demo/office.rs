//! A database, migrated, with reviewers and exceptions in it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_admin::enqueue::{EnqueueReport, enqueue_reader};
use countersign_admin::{Database, attach, migrate, reviewer};
use secrecy::SecretString;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::io::BufReader;
use uuid::Uuid;

use crate::postgres::{PostgresOptions, PrivatePostgres};

const DATABASE: &str = "close";
const NAMES: [&str; 8] = ["avery", "blake", "casey", "devon", "ellis", "frankie", "gray", "harper"];

/// A reviewer with a login.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// The login.
    pub login: String,
    /// Its password, made for this run.
    pub password: SecretString,
}

/// A running database and everything a workstation needs to reach it.
pub struct Office {
    /// The server.
    pub postgres: PrivatePostgres,
    /// The owner's connections.
    pub owner: PgPool,
    /// Who may sign.
    pub reviewers: Vec<Reviewer>,
    /// What became of the input.
    pub enqueued: EnqueueReport,
    /// The input.
    pub input: PathBuf,
}

impl Office {
    /// Starts PostgreSQL, migrates, adds reviewers and the vendors that the input names, and takes it in, with the pictures beside it.
    pub async fn open(input: &Path, reviewers: usize) -> anyhow::Result<Self> {
        anyhow::ensure!((1..=64).contains(&reviewers), "expected 1 to 64 workstations, not {reviewers}");
        let file = tokio::fs::File::open(input).await.with_context(|| format!("open {}", input.display()))?;
        let lines = tokio::fs::read(input).await.with_context(|| format!("read {}", input.display()))?;
        let postgres = PrivatePostgres::start(PostgresOptions { durable: true }).await?;
        postgres.create_database(DATABASE).await?;
        let url = postgres.admin_url(DATABASE);
        let database = Database::from_url(&url)?;
        migrate::migrate(&database).await?;
        let mut known = Vec::new();
        for number in 0..reviewers {
            let name = NAMES[number % NAMES.len()];
            let login =
                if number < NAMES.len() { name.to_owned() } else { format!("{name}-{}", number / NAMES.len() + 1) };
            let password = SecretString::from(Uuid::new_v4().simple().to_string());
            reviewer::add(&database, &login, None, Some(&password)).await?;
            known.push(Reviewer { login, password });
        }
        crate::vendors::register(&database, &String::from_utf8_lossy(&lines)).await?;
        drop(lines);
        let origin =
            input.file_name().map_or_else(|| input.display().to_string(), |name| name.to_string_lossy().into_owned());
        let enqueued = enqueue_reader(&database, BufReader::new(file), &origin).await?;
        let pictures = input.with_file_name("pictures").join("manifest.tsv");
        if pictures.exists() {
            attach::attach(&database, &attach::manifest(&pictures).await?).await?;
        }
        let owner = PgPoolOptions::new().max_connections(3).connect(&url).await.context("connect as the owner")?;
        Ok(Self { postgres, owner, reviewers: known, enqueued, input: input.to_owned() })
    }

    /// The database's name.
    pub fn database(&self) -> &'static str {
        DATABASE
    }

    /// Whether nothing is left that anybody here may sign.
    pub async fn done(&self) -> anyhow::Result<bool> {
        let logins: Vec<&str> = self.reviewers.iter().map(|reviewer| reviewer.login.as_str()).collect();
        let sql =
            "SELECT NOT EXISTS (SELECT FROM countersign.partition p WHERE p.pending > 0 AND (p.lease_until IS NOT NULL
                       OR EXISTS (SELECT FROM unnest($1::text[]) AS r (login) WHERE NOT r.login = ANY (p.shut_out))))";
        Ok(sqlx::query_scalar(sql).bind(logins).fetch_one(&self.owner).await?)
    }

    /// Whether partitions wait that this reviewer may claim.
    pub async fn claimable(&self, login: &str) -> anyhow::Result<bool> {
        let sql = "SELECT EXISTS (SELECT FROM countersign.partition WHERE ready AND NOT $1 = ANY (shut_out))";
        Ok(sqlx::query_scalar(sql).bind(login).fetch_one(&self.owner).await?)
    }

    /// How many decisions the database has accepted.
    pub async fn signed(&self) -> anyhow::Result<i64> {
        Ok(sqlx::query_scalar("SELECT count(*) FROM countersign.sign_off").fetch_one(&self.owner).await?)
    }
}
