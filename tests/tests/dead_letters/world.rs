//! A database with dead letters, remediators at their workstations, and supervisors without one.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use countersign_admin::Database;
use countersign_admin::audit::{Report, Verify, verify};
use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_engine::port::{Desk as _, Letter, LetterAnswer, LetterFilter, LetterId};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::{Installation, Login};
use countersign_tests::admin::Admin;
use countersign_tests::owner;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

pub(crate) struct World {
    pub(crate) installation: Installation,
    pub(crate) admin: Admin,
}

/// A remediator at a workstation.
pub(crate) struct Seat {
    pub(crate) login: Login,
    pub(crate) backlog: Arc<PgBacklog>,
    pub(crate) desk: WorkstationId,
}

impl World {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let installation = Installation::create().await?;
        let admin = Admin::at(installation.database().admin_url())?;
        Ok(Self { installation, admin })
    }

    /// A reviewer with the right to the desk.
    pub(crate) async fn remediator(&self, prefix: &str) -> anyhow::Result<Seat> {
        let seat = self.reviewer(prefix).await?;
        sqlx::query("SELECT countersign.reviewer_remediates($1, true)")
            .bind(&seat.login.user)
            .execute(&self.installation.owner)
            .await?;
        Ok(seat)
    }

    /// A reviewer without it.
    pub(crate) async fn reviewer(&self, prefix: &str) -> anyhow::Result<Seat> {
        let login = self.installation.reviewer(prefix).await?;
        let (backlog, desk) = self.installation.workstation(&login).await?;
        Ok(Seat { login, backlog, desk })
    }

    /// A login that is a supervisor and nothing else: its name, and the command line in its hands.
    pub(crate) async fn supervisor(&self, prefix: &str) -> anyhow::Result<(String, Admin)> {
        let (user, password) = self.installation.database().login(prefix).await?;
        let grant = format!("GRANT countersign_supervisor TO \"{user}\"");
        sqlx::raw_sql(AssertSqlSafe(grant)).execute(&self.installation.owner).await?;
        let admin = Admin::at(self.installation.database().url_for(&user, &password))?;
        Ok((user, admin))
    }

    /// Takes lines in as producers do, through the command line.
    pub(crate) async fn send(&self, lines: &[Vec<u8>]) -> anyhow::Result<Value> {
        let ran = self.admin.run_with(&["enqueue", "-", "--json"], &[], &lines.join(&b'\n')).await?;
        serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
    }

    pub(crate) async fn count(&self, sql: &'static str) -> anyhow::Result<i64> {
        owner::number(&self.installation.owner, sql).await
    }

    /// Verifies the whole audit stream.
    pub(crate) async fn verified(&self) -> anyhow::Result<Report> {
        Ok(verify(&Database::from_url(&self.installation.database().admin_url())?, &Verify::default()).await?)
    }

    /// Everything that was recorded has to hold.
    pub(crate) async fn holds(&self) -> anyhow::Result<()> {
        let report = self.verified().await?;
        ensure!(report.holds(), "{:#?}", report.first);
        Ok(())
    }
}

impl Seat {
    pub(crate) async fn letters(&self) -> anyhow::Result<Vec<Letter>> {
        Ok(self.backlog.letters(self.desk, &LetterFilter { done: true, ..LetterFilter::default() }).await?.0)
    }

    /// The letter of a key.
    pub(crate) async fn letter(&self, key: &str) -> anyhow::Result<Letter> {
        let letters = self.letters().await?;
        letters
            .into_iter()
            .find(|letter| letter.key.as_deref() == Some(key))
            .with_context(|| format!("no letter {key}"))
    }

    pub(crate) async fn take(&self, id: LetterId) -> anyhow::Result<String> {
        outcome(self.backlog.take(self.desk, &[id], false).await?)
    }

    pub(crate) async fn put_back(&self, id: LetterId) -> anyhow::Result<String> {
        outcome(self.backlog.take(self.desk, &[id], true).await?)
    }

    pub(crate) async fn correct(&self, id: LetterId, after: u32, body: &str) -> anyhow::Result<String> {
        Ok(self.backlog.correct(self.desk, id, after, body).await?.outcome)
    }

    pub(crate) async fn rehearse(&self, id: LetterId) -> anyhow::Result<LetterAnswer> {
        only(self.backlog.rehearse(self.desk, &[id]).await?)
    }

    pub(crate) async fn replay(&self, id: LetterId) -> anyhow::Result<LetterAnswer> {
        only(self.backlog.replay(self.desk, &[id]).await?)
    }

    pub(crate) async fn discard(&self, id: LetterId, reason: &str) -> anyhow::Result<String> {
        outcome(self.backlog.discard(self.desk, &[id], reason).await?)
    }

    /// The same login with a plain client.
    pub(crate) async fn client(&self, world: &World) -> anyhow::Result<PgConnection> {
        let database = world.installation.database();
        Ok(PgConnection::connect(&database.url_for(&self.login.user, self.login.password.expose_secret())).await?)
    }
}

pub(crate) fn only(answers: Vec<LetterAnswer>) -> anyhow::Result<LetterAnswer> {
    let [answer] = <[LetterAnswer; 1]>::try_from(answers).map_err(|all| anyhow::anyhow!("one answer: {all:?}"))?;
    Ok(answer)
}

fn outcome(answers: Vec<LetterAnswer>) -> anyhow::Result<String> {
    Ok(only(answers)?.outcome)
}

/// A good arrival, as JSON.
pub(crate) fn good(number: u64, partition: &str) -> Value {
    serde_json::from_str(&Arrival::new(number, partition).line()).expect("a generated arrival is JSON")
}

/// The same in a currency that was withdrawn; with EUR for it, it goes in.
pub(crate) fn withdrawn(number: u64, partition: &str) -> Value {
    let mut arrival = good(number, partition);
    arrival["currency"] = json!("HRK");
    arrival
}

/// Its correction.
pub(crate) fn mended(number: u64, partition: &str) -> String {
    let mut arrival = withdrawn(number, partition);
    arrival["currency"] = json!("EUR");
    arrival.to_string()
}

pub(crate) fn key(number: u64) -> String {
    Arrival::new(number, "").key()
}

pub(crate) fn line(arrival: &Value) -> Vec<u8> {
    arrival.to_string().into_bytes()
}
