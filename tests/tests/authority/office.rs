//! A supervisor, reviewers at their workstations, and what they are given to decide.

use std::sync::Arc;

use countersign_admin::{Database, policy, reviewer};
use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_domain::policy::{FourEyesRule, Policy};
use countersign_domain::receipt::Receipt;
use countersign_domain::sign_off::{Answer, Decision, Outcome, SignOff};
use countersign_domain::{gate, hash};
use countersign_engine::port::{Backlog as _, LeasedItem};
use countersign_testkit::enrolment::sealed;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::{Installation, Login};
use countersign_tests::calls::{decision, lease};
use rust_decimal::Decimal;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// An installation with a supervisor who has that role and no other.
pub(crate) struct Office {
    pub(crate) installation: Installation,
    /// The supervisor, as the command line sees the database.
    pub(crate) supervisor: Database,
}

/// A reviewer at a workstation.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) login: Login,
    pub(crate) backlog: Arc<PgBacklog>,
    pub(crate) desk: WorkstationId,
}

impl Office {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let installation = Installation::create().await?;
        let supervisor = supervisor(&installation).await?;
        Ok(Self { installation, supervisor })
    }

    /// A new reviewer at a workstation.
    pub(crate) async fn seat(&self, prefix: &str) -> anyhow::Result<Seat> {
        self.desk(&self.installation.reviewer(prefix).await?).await
    }

    /// One more workstation of somebody.
    pub(crate) async fn desk(&self, login: &Login) -> anyhow::Result<Seat> {
        let (backlog, desk) = self.installation.workstation(login).await?;
        Ok(Seat { login: login.clone(), backlog, desk })
    }

    /// Puts rules for a second approver in force.
    pub(crate) async fn four_eyes(&self, rules: &[(&str, &str)]) -> anyhow::Result<u32> {
        let rule = |(currency, at_or_above): &(&str, &str)| FourEyesRule {
            currency: (*currency).to_owned(),
            kind: None,
            tier: None,
            at_or_above: at_or_above.parse().expect("a decimal"),
        };
        self.policy(&Policy { four_eyes: rules.iter().map(rule).collect(), ..Policy::default() }).await
    }

    pub(crate) async fn policy(&self, document: &Policy) -> anyhow::Result<u32> {
        Ok(policy::set(&self.supervisor, document, "a test").await?)
    }

    pub(crate) async fn limit(
        &self,
        who: &Seat,
        currency: &str,
        largest: Option<&str>,
        per_period: Option<&str>,
    ) -> anyhow::Result<()> {
        let decimal = |text: &str| text.parse::<Decimal>().expect("a decimal");
        Ok(reviewer::limit(&self.supervisor, who.user(), currency, largest.map(decimal), per_period.map(decimal))
            .await?)
    }

    /// Takes these in, each as new.
    pub(crate) async fn take_in(&self, papers: &[Paper<'_>]) -> anyhow::Result<()> {
        let outcomes = self.send(papers).await?;
        anyhow::ensure!(outcomes.iter().all(|outcome| outcome == "ENQUEUED"), "{outcomes:?}");
        Ok(())
    }

    pub(crate) async fn send(&self, papers: &[Paper<'_>]) -> anyhow::Result<Vec<String>> {
        self.installation.enqueue(&papers.iter().map(Paper::body).collect::<Vec<_>>()).await
    }

    /// One value of the first row.
    pub(crate) async fn ask<T>(&self, sql: &'static str) -> anyhow::Result<T>
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        Ok(sqlx::query_scalar(sql).fetch_one(&self.installation.owner).await?)
    }

    /// How often something is on record.
    pub(crate) async fn recorded(&self, event: &str) -> anyhow::Result<i64> {
        let sql = "SELECT count(*) FROM countersign.audit_event WHERE event = $1";
        Ok(sqlx::query_scalar(sql).bind(event).fetch_one(&self.installation.owner).await?)
    }
}

/// One more supervisor.
pub(crate) async fn supervisor(installation: &Installation) -> anyhow::Result<Database> {
    let (user, password) = installation.database().login("sue").await?;
    grant(installation, "supervisor", &user).await?;
    Ok(Database::from_url(&installation.database().url_for(&user, &password))?)
}

/// Gives a login one more role.
pub(crate) async fn grant(installation: &Installation, role: &str, user: &str) -> anyhow::Result<()> {
    let grant = format!("GRANT countersign_{role} TO \"{user}\"");
    sqlx::raw_sql(AssertSqlSafe(grant)).execute(&installation.owner).await?;
    Ok(())
}

impl Seat {
    pub(crate) fn user(&self) -> &str {
        &self.login.user
    }

    /// Everything that can be had.
    pub(crate) async fn lease(&self) -> anyhow::Result<Vec<LeasedItem>> {
        Ok(lease(&self.backlog, self.desk, 1_000).await?.items)
    }

    pub(crate) fn approval(&self, item: &LeasedItem) -> SignOff {
        decision(item, &self.login, self.desk, Decision::Approve)
    }

    pub(crate) fn rejection(&self, item: &LeasedItem) -> SignOff {
        decision(item, &self.login, self.desk, Decision::Reject)
    }

    /// A decision that says something else, sealed anew.
    pub(crate) fn resealed(&self, item: &LeasedItem, sign_off: SignOff) -> SignOff {
        let key = gate::read_body(&item.body).expect("it passed its gates").idempotency_key;
        sealed(sign_off, &key, self.user(), self.desk)
    }

    pub(crate) async fn answers(&self, batch: &[SignOff]) -> anyhow::Result<(Vec<Answer>, Receipt)> {
        let reply = self.backlog.sign_off(self.desk, batch).await?;
        let receipt = reply.receipt.ok_or_else(|| anyhow::anyhow!("no receipt came"))?;
        let keys: Vec<_> = batch.iter().map(|sign_off| sign_off.key).collect();
        receipt.check(&keys).map_err(anyhow::Error::msg)?;
        Ok((reply.answers, receipt))
    }

    pub(crate) async fn send(&self, batch: &[SignOff]) -> anyhow::Result<Vec<Outcome>> {
        Ok(self.answers(batch).await?.0.iter().map(|answer| answer.outcome).collect())
    }

    /// Approves these in one call.
    pub(crate) async fn approve(&self, items: &[LeasedItem]) -> anyhow::Result<Vec<Outcome>> {
        self.send(&items.iter().map(|item| self.approval(item)).collect::<Vec<_>>()).await
    }

    /// A plain client of the same login.
    pub(crate) async fn client(&self, installation: &Installation) -> anyhow::Result<PgConnection> {
        let url = installation.database().url_for(self.user(), self.login.password.expose_secret());
        Ok(PgConnection::connect(&url).await?)
    }
}

/// An arrival whose every trait that rules look at can be chosen.
#[derive(Debug, Clone)]
pub(crate) struct Paper<'a> {
    pub(crate) number: u64,
    pub(crate) partition: &'a str,
    pub(crate) entity: &'a str,
    /// The variance in hundredths.
    pub(crate) cents: i64,
    pub(crate) currency: &'a str,
    pub(crate) tier: &'a str,
    /// The business date.
    pub(crate) day: &'a str,
    pub(crate) group: Option<&'a str>,
    pub(crate) prepared_by: Vec<String>,
    /// From 1 to 3: each has another source hash.
    pub(crate) revision: usize,
    pub(crate) reverses: Option<String>,
}

impl<'a> Paper<'a> {
    pub(crate) fn new(number: u64, partition: &'a str, cents: i64) -> Self {
        Self {
            number,
            partition,
            entity: "acme",
            cents,
            currency: "USD",
            tier: "standard",
            day: "2026-10-05",
            group: None,
            prepared_by: vec!["preparer".to_owned()],
            revision: 1,
            reverses: None,
        }
    }

    pub(crate) fn key(&self) -> String {
        Arrival::new(self.number, self.partition).key()
    }

    pub(crate) fn body(&self) -> String {
        let line = Arrival { group: self.group, cents: self.cents, ..Arrival::new(self.number, self.partition) }.line();
        let mut document: Value = serde_json::from_str(&line).expect("a line is JSON");
        let amount = Decimal::new(self.cents, 2).to_string();
        let found = ["PARTIAL", "UNMATCHED", "MATCHED"][self.revision - 1];
        let source_hash = hash::recon_break_source_hash(&self.key(), self.entity, &amount, found).to_string();
        for (field, value) in [
            ("ledger_entity", json!(self.entity)),
            ("currency", json!(self.currency)),
            ("routing_tier", json!(self.tier)),
            ("business_date", json!(self.day)),
            ("prepared_by", json!(self.prepared_by)),
            ("match_decision", json!(found)),
            ("source_hash", json!(source_hash)),
        ] {
            document[field] = value;
        }
        document["payload"]["statement_line"]["currency"] = json!(self.currency);
        if let Some(original) = &self.reverses {
            document["reverses"] = json!(original);
        }
        gate::judge(document.to_string().as_bytes()).expect("it passes its gates").body
    }
}
