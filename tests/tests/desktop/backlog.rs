//! A backlog with the demonstration's exceptions and one reviewer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, ensure};
use chrono::{NaiveDate, TimeDelta, Utc};
use countersign_admin::{Database, attach, enqueue, migrate, period, policy, reviewer};
use countersign_domain::exception::Content;
use countersign_domain::gate;
use countersign_domain::kind::receipt::capture;
use countersign_domain::policy::{ANY_CURRENCY, FourEyesRule, Policy};
use countersign_domain::scoring::Thresholds;
use countersign_testkit::enrolment;
use countersign_testkit::postgres::TestDatabase;
use sqlx::{Connection as _, PgConnection};

const EXCEPTIONS: &str = include_str!("../../../demo/exceptions.jsonl");
/// So many exceptions are a close.
pub(crate) const CLOSE: usize = 500;
/// In which currencies.
const CLOSE_CURRENCIES: [&str; 3] = ["EUR", "GBP", "USD"];
/// From here on a close needs two signatures.
const SECOND_FROM: i64 = 1_000_000;
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../demo/pictures/manifest.tsv");
/// So many good ones lie beside the bad ones.
const BESIDE_BAD_ONES: usize = 60;
/// So many of each partition, so that a deck shows a bit of everything.
const OF_EACH: usize = 2;

fn day(text: &str) -> anyhow::Result<NaiveDate> {
    text.parse().with_context(|| format!("{text} is no day"))
}

pub(crate) struct Backlog {
    database: TestDatabase,
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Backlog {
    /// 500 exceptions in three currencies, and a policy by which the largest need a second signature.
    pub(crate) async fn with_a_close() -> anyhow::Result<Self> {
        let thresholds = Thresholds::default();
        let good: Vec<(&str, Content)> = EXCEPTIONS
            .lines()
            .filter_map(|line| gate::judge(line.as_bytes()).ok().map(|arrival| (line, arrival.content)))
            .filter(|(_, content)| CLOSE_CURRENCIES.contains(&content.variance.currency.code()))
            // A receipt may need no reviewer, and then is in no deck.
            .filter(|(_, content)| capture(content, &thresholds).is_none_or(|capture| capture.needs_person))
            // One of which no amount was read is approved only with one that the reviewer enters.
            .filter(|(_, content)| {
                content.payload.json.get("extracted_amount").is_none_or(serde_json::Value::is_string)
            })
            .collect();
        // Reports are signed whole: they come first.
        let (reports, others): (Vec<_>, Vec<_>) =
            good.into_iter().partition(|(_, content)| content.group_key.is_some());
        let mut each: Vec<Vec<&str>> = vec![Vec::new(); CLOSE_CURRENCIES.len()];
        for (line, content) in &others {
            let place = CLOSE_CURRENCIES.iter().position(|code| *code == content.variance.currency.code());
            each[place.context("one of the three")?].push(line);
        }
        let turns = (0..others.len()).flat_map(|turn| each.iter().filter_map(move |lines| lines.get(turn).copied()));
        let lines: Vec<&str> = reports.iter().map(|(line, _)| *line).chain(turns).take(CLOSE).collect();
        let backlog = Self::with(&lines).await?;
        let rule =
            FourEyesRule { currency: ANY_CURRENCY.into(), kind: None, tier: None, at_or_above: SECOND_FROM.into() };
        let policy = Policy { four_eyes: vec![rule], ..Policy::default() };
        policy::set(&Database::from_url(&backlog.database.admin_url())?, &policy, "two from a million on").await?;
        Ok(backlog)
    }

    pub(crate) async fn with_demo_exceptions() -> anyhow::Result<Self> {
        let mut taken = BTreeMap::new();
        let mut few_of_each = |line: &&str| {
            let arrival: serde_json::Value = serde_json::from_str(line).expect("the demonstration's lines are JSON");
            let count = taken.entry(arrival["partition_key"].to_string()).or_insert(0);
            *count += 1;
            *count <= OF_EACH
        };
        let lines: Vec<&str> = EXCEPTIONS.lines().filter(|line| few_of_each(line)).collect();
        let backlog = Self::with(&lines).await?;
        let (first, last) = (day("2026-10-01")?, day("2026-10-31")?);
        let closes_at = Utc::now() + TimeDelta::hours(52);
        let admin = Database::from_url(&backlog.database.admin_url())?;
        period::add(&admin, "*", "2026-10", first, last, Some(closes_at)).await?;
        backlog.let_remediate().await?;
        Ok(backlog)
    }

    /// Everything in the shipped exceptions that passes no gate, and some that does; the reviewer may work at the desk of dead letters.
    pub(crate) async fn with_bad_records() -> anyhow::Result<Self> {
        let (bad, good): (Vec<&str>, Vec<&str>) =
            EXCEPTIONS.lines().partition(|line| gate::judge(line.as_bytes()).is_err());
        ensure!(!bad.is_empty(), "nothing in the shipped exceptions is bad");
        let backlog = Self::with(&[bad.as_slice(), &good[..BESIDE_BAD_ONES]].concat()).await?;
        backlog.let_remediate().await?;
        Ok(backlog)
    }

    /// Gives the reviewer the right to the desk of dead letters.
    pub(crate) async fn let_remediate(&self) -> anyhow::Result<()> {
        let given = reviewer::remediates(&Database::from_url(&self.database.admin_url())?, &self.user, true).await?;
        ensure!(given, "the reviewer had the right before");
        Ok(())
    }

    /// One more arrival, after everything else.
    pub(crate) async fn one_more(&self) -> anyhow::Result<()> {
        let mut good = EXCEPTIONS.lines().filter(|line| gate::judge(line.as_bytes()).is_ok());
        let line = good.nth(BESIDE_BAD_ONES).context("the shipped exceptions have more good ones")?;
        let admin = Database::from_url(&self.database.admin_url())?;
        enqueue::enqueue_reader(&admin, line.as_bytes(), "one more").await?;
        Ok(())
    }

    /// How many exceptions are pending that the reviewer did not prepare.
    pub(crate) async fn pending_for_me(&self) -> anyhow::Result<i64> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let count = sqlx::query_scalar(
            "SELECT count(*) FROM countersign.exception e
             JOIN countersign.exception_content c ON c.exception_id = e.id AND c.version = e.version
             WHERE e.state = 'PENDING' AND NOT c.body::jsonb -> 'prepared_by' ? $1",
        )
        .bind(&self.user)
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        Ok(count)
    }

    /// What became of the exceptions that went in with this key: how many are pending, with the reviewer among who prepared them.
    pub(crate) async fn pending_prepared_by_me(&self, keys: &[&str]) -> anyhow::Result<i64> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let count = sqlx::query_scalar(
            "SELECT count(*) FROM countersign.exception e
             JOIN countersign.exception_content c ON c.exception_id = e.id AND c.version = e.version
             WHERE e.idempotency_key = ANY ($1) AND e.state = 'PENDING' AND c.body::jsonb -> 'prepared_by' ? $2",
        )
        .bind(keys)
        .bind(&self.user)
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        Ok(count)
    }

    async fn with(lines: &[&str]) -> anyhow::Result<Self> {
        let database = TestDatabase::create().await?;
        let (user, password) = database.login("dana").await?;
        let admin = Database::from_url(&database.admin_url())?;
        migrate::migrate(&admin).await?;
        reviewer::add(&admin, &user, Some("Dana"), None).await?;
        countersign_testkit::vendors::register(&admin, EXCEPTIONS).await?;
        enqueue::enqueue_reader(&admin, lines.join("\n").as_bytes(), "demo/exceptions.jsonl").await?;
        attach::attach(&admin, &attach::manifest(Path::new(PICTURES)).await?).await?;
        Ok(Self { database, user, password })
    }

    /// How many decisions took effect or will in their turn, and how many wait for a second signature.
    pub(crate) async fn outcomes(&self) -> anyhow::Result<(usize, usize)> {
        let awaiting =
            self.count("SELECT count(*) FROM countersign.sign_off WHERE outcome = 'AWAITING_SECOND'").await?;
        let all = self.count("SELECT count(*) FROM countersign.sign_off").await?;
        Ok((usize::try_from(all - awaiting)?, usize::try_from(awaiting)?))
    }

    pub(crate) async fn addr(&self) -> anyhow::Result<SocketAddr> {
        self.database.server().addr().await
    }

    pub(crate) fn name(&self) -> &str {
        self.database.name()
    }

    /// The exceptions that were signed, each as often as it was.
    pub(crate) async fn signed(&self) -> anyhow::Result<Vec<i64>> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let ids = sqlx::query_scalar(
            "SELECT exception_id FROM countersign.sign_off WHERE reviewer = $1 AND decision = 'APPROVE' ORDER BY exception_id",
        )
        .bind(&self.user)
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        Ok(ids)
    }

    /// How many exceptions have more than one decision or effect.
    pub(crate) async fn decided_twice(&self) -> anyhow::Result<i64> {
        self.count(
            "SELECT (SELECT count(*) FROM (SELECT FROM countersign.sign_off GROUP BY exception_id HAVING count(*) > 1) twice) \
                  + (SELECT count(*) FROM (SELECT FROM countersign.posting GROUP BY exception_id HAVING count(*) > 1) twice)",
        )
        .await
    }

    /// The workstation that asks to be confirmed, and the fingerprint of its key as the database computes it.
    pub(crate) async fn asking(&self) -> anyhow::Result<(String, String)> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let asking = sqlx::query_as(
            "SELECT k.workstation::text, left(encode(sha256(k.public_key), 'hex'), 16)
             FROM countersign.workstation_key k WHERE k.confirmed_at IS NULL",
        )
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        Ok(asking)
    }

    /// Confirms the workstation that asks for it, as a supervisor who compared its fingerprint.
    pub(crate) async fn confirm(&self) -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let confirmed = enrolment::confirm_all(&mut connection).await?;
        connection.close().await?;
        ensure!(confirmed == 1, "{confirmed} workstations were confirmed");
        Ok(())
    }

    /// Revokes the reviewer's workstation, as a supervisor who was told that it is lost.
    pub(crate) async fn revoke(&self) -> anyhow::Result<()> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let revoked: bool = sqlx::query_scalar(
            "SELECT countersign.workstation_revoke(w.id, 'It was left on a train.') FROM countersign.workstation w
             WHERE w.reviewer = $1",
        )
        .bind(&self.user)
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        ensure!(revoked, "the workstation was revoked before");
        Ok(())
    }

    pub(crate) async fn leases_held(&self) -> anyhow::Result<i64> {
        self.count("SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL").await
    }

    async fn count(&self, query: &'static str) -> anyhow::Result<i64> {
        let mut connection = PgConnection::connect(&self.database.admin_url()).await?;
        let count = sqlx::query_scalar(query).fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok(count)
    }
}
