//! A day with everything in it that leaves a record.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use chrono::DateTime;
use countersign_backlog::PgBacklog;
use countersign_domain::id::{ExceptionId, WorkstationId};
use countersign_domain::reversal;
use countersign_domain::sign_off::{Decision, Outcome, SignOff};
use countersign_engine::port::{Backlog as _, Held, LeaseReply, LeasedItem};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;

/// The day after it happened.
pub(crate) struct Day {
    pub(crate) installation: Installation,
    pub(crate) alice: Login,
    pub(crate) bob: Login,
    pub(crate) her_desk: WorkstationId,
    pub(crate) his_desk: WorkstationId,
}

const POLICY: &str = r#"SELECT countersign.policy_set(p.document || '{"four_eyes": [{"currency": "USD", "at_or_above": "1000"}]}', 'two above a thousand')
                        FROM countersign.policy_version p ORDER BY p.version DESC LIMIT 1"#;
/// More than a thousand, so that two people have to approve it.
const LARGE: i64 = 500_000;

impl Day {
    pub(crate) fn database(&self) -> &TestDatabase {
        self.installation.database()
    }

    /// A copy of its database; nobody may be connected to the original.
    pub(crate) async fn copy(&self) -> anyhow::Result<TestDatabase> {
        TestDatabase::create_from(self.database().name()).await
    }

    /// Goes through it.
    pub(crate) async fn work() -> anyhow::Result<Self> {
        let installation = Installation::create().await?;
        let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
        let (hers, her_desk) = installation.workstation(&alice).await?;
        let (his, his_desk) = installation.workstation(&bob).await?;
        let day = Self { installation, alice, bob, her_desk, his_desk };
        day.arrivals().await?;
        day.orders(&hers).await?;
        day.refusals(&hers, &his).await?;
        day.two_people(&hers, &his).await?;
        day.reversal(&his).await?;
        day.supervision().await?;
        Ok(day)
    }

    async fn arrivals(&self) -> anyhow::Result<()> {
        let owner = &self.installation.owner;
        for sql in [
            "SELECT countersign.period_add('*', '2026-10', '2026-10-01', '2026-10-31')",
            "SELECT countersign.period_add('*', '2026-09', '2026-09-01', '2026-09-30')",
            "SELECT countersign.period_move('*', '2026-09', 'closed', 'all is done')",
            POLICY,
        ] {
            owner::run(owner, sql).await?;
        }
        for (numbers, partition) in [(1..7, "a"), (20..24, "c"), (30..33, "d")] {
            owner::enqueue_more(&self.installation, numbers, partition).await?;
        }
        let large: Vec<String> =
            (10..14).map(|number| Arrival { cents: LARGE, ..Arrival::new(number, "b") }.body()).collect();
        self.installation.enqueue(&large).await?;
        let prepared = Arrival { prepared_by: &[&self.alice.user], ..Arrival::new(40, "e") }.body();
        self.installation.enqueue(&[prepared, Arrival::new(41, "e").body()]).await?;
        owner::run(
            owner,
            "SELECT countersign.dead_letter(ARRAY['x'::bytea], ARRAY[sha256('x')], ARRAY[1::bigint], ARRAY['test'], ARRAY[1::bigint],
                ARRAY['POISON_MESSAGE'], ARRAY['STRUCTURAL'], ARRAY[NULL::text], ARRAY['it is no JSON'], ARRAY[NULL::text])",
        )
        .await
    }

    /// Held behind the first, then released by it; rejected; sent twice.
    async fn orders(&self, hers: &Arc<PgBacklog>) -> anyhow::Result<()> {
        let leased = lease(hers, self.her_desk, 50).await?;
        let a = of(&leased, "a");
        let decide = |item: &LeasedItem, what| decision(item, &self.alice, self.her_desk, what);
        self.signed(hers, &[decide(&a[2], Decision::Approve), decide(&a[1], Decision::Reject)], Outcome::Held).await?;
        self.signed(hers, &[decide(&a[0], Decision::Approve)], Outcome::Committed).await?;
        self.signed(hers, &[decide(&a[0], Decision::Approve)], Outcome::Duplicate).await?;
        let b: Vec<SignOff> = of(&leased, "b").iter().map(|item| decide(item, Decision::Approve)).collect();
        self.signed(hers, &b, Outcome::AwaitingSecond).await?;
        let c = of(&leased, "c");
        self.signed(hers, &[decide(&c[0], Decision::Approve), decide(&c[1], Decision::Approve)], Outcome::Committed)
            .await?;
        hers.release(self.her_desk, &held(&leased, &["b", "c", "d", "e"])).await?;
        Ok(())
    }

    async fn refusals(&self, hers: &Arc<PgBacklog>, his: &Arc<PgBacklog>) -> anyhow::Result<()> {
        let again = lease(hers, self.her_desk, 50).await?;
        let a = of(&again, "a");
        let good = decision(&a[0], &self.alice, self.her_desk, Decision::Approve);
        // A period that closed, and was opened again; an exception that is none; a content that changed.
        for (state, outcome) in [("closed", Outcome::PeriodClosed), ("open", Outcome::Committed)] {
            let sql = format!("SELECT countersign.period_move('*', '2026-10', '{state}', 'a test')");
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&self.installation.owner).await?;
            self.signed(hers, std::slice::from_ref(&good), outcome).await?;
        }
        let ghost = SignOff { exception: ExceptionId(i64::MAX), ..good.clone() };
        self.signed(hers, &[ghost], Outcome::NotEligible).await?;
        self.installation.enqueue(&[Arrival { revision: 2, ..Arrival::new(6, "a") }.body()]).await?;
        let changed = a.last().context("something is left")?;
        self.signed(hers, &[decision(changed, &self.alice, self.her_desk, Decision::Approve)], Outcome::StaleVersion)
            .await?;
        hers.release(self.her_desk, &held(&again, &["a", "b", "c", "d", "e"])).await?;
        // What waits in her outbox is no good on his machine; and her workstation answers to her alone.
        let replayed = his.sign_off(self.his_desk, &[good]).await?;
        ensure!(replayed.answers[0].outcome == Outcome::Forged, "{replayed:?}");
        ensure!(lease(his, self.her_desk, 1).await.is_err(), "it is not his");
        Ok(())
    }

    /// The second of two approvals, after one of the first ones lapsed with a correction.
    async fn two_people(&self, hers: &Arc<PgBacklog>, his: &Arc<PgBacklog>) -> anyhow::Result<()> {
        let corrected = Arrival { cents: LARGE, revision: 2, ..Arrival::new(13, "b") }.body();
        ensure!(self.installation.enqueue(&[corrected]).await? == ["CORRECTED"]);
        let leased = lease(his, self.his_desk, 50).await?;
        let decide = |item: &LeasedItem| decision(item, &self.bob, self.his_desk, Decision::Approve);
        let b = of(&leased, "b");
        let first: Vec<SignOff> = b[..3].iter().map(decide).collect();
        self.signed_at(his, self.his_desk, &first, Outcome::Committed).await?;
        self.signed_at(his, self.his_desk, &[decide(&b[3])], Outcome::AwaitingSecond).await?;
        his.release(self.his_desk, &held(&leased, &["a", "b", "c", "d", "e"])).await?;
        let leased = lease(hers, self.her_desk, 50).await?;
        let last = of(&leased, "b");
        self.signed(hers, &[decision(&last[0], &self.alice, self.her_desk, Decision::Approve)], Outcome::Committed)
            .await?;
        hers.release(self.her_desk, &held(&leased, &["a", "b", "c", "d", "e"])).await?;
        Ok(())
    }

    /// What alice approved is undone, by bob.
    async fn reversal(&self, his: &Arc<PgBacklog>) -> anyhow::Result<()> {
        countersign_admin::audit::rotate_key(&self.installation.for_admin()?).await?;
        let now = DateTime::from_timestamp(1_791_190_800, 0).context("a good instant")?;
        let body = Arrival::new(20, "c").body();
        let undone = reversal::of(&body, "somebody", "it was wrong", now)?;
        ensure!(self.installation.enqueue(&[undone.body]).await? == ["ENQUEUED"]);
        let leased = lease(his, self.his_desk, 50).await?;
        let c: Vec<SignOff> =
            of(&leased, "c").iter().map(|item| decision(item, &self.bob, self.his_desk, Decision::Approve)).collect();
        self.signed_at(his, self.his_desk, &c, Outcome::Committed).await?;
        his.release(self.his_desk, &held(&leased, &["a", "b", "c", "d", "e"])).await?;
        Ok(())
    }

    /// A workstation is confirmed with a wrong fingerprint, and then revoked.
    async fn supervision(&self) -> anyhow::Result<()> {
        let (other, desk) = self.installation.workstation(&self.alice).await?;
        drop(other);
        let enrol = "INSERT INTO countersign.workstation_key (workstation, enrolment, public_key, inner_pad, outer_pad, requested_at)
                     VALUES ($1, 2, decode(repeat('07', 32), 'hex'), '', '', clock_timestamp())";
        for sql in [
            enrol,
            "SELECT countersign.workstation_confirm($1, '0000-0000-0000-0000')",
            "SELECT countersign.workstation_revoke($1, 'lost')",
        ] {
            sqlx::query(sql).bind(desk.0).execute(&self.installation.owner).await?;
        }
        Ok(())
    }

    async fn signed(&self, hers: &Arc<PgBacklog>, batch: &[SignOff], outcome: Outcome) -> anyhow::Result<()> {
        self.signed_at(hers, self.her_desk, batch, outcome).await
    }

    async fn signed_at(
        &self,
        backlog: &Arc<PgBacklog>,
        desk: WorkstationId,
        batch: &[SignOff],
        outcome: Outcome,
    ) -> anyhow::Result<()> {
        let reply = backlog.sign_off(desk, batch).await?;
        let outcomes: Vec<Outcome> = reply.answers.iter().map(|answer| answer.outcome).collect();
        ensure!(outcomes.iter().all(|one| *one == outcome), "{outcome:?} was expected, and came {outcomes:?}");
        Ok(())
    }
}

/// The items of a partition, in their order.
pub(crate) fn of(leased: &LeaseReply, partition: &str) -> Vec<LeasedItem> {
    leased.items.iter().filter(|item| item.partition.0 == partition).cloned().collect()
}

/// The leases of some partitions.
fn held(leased: &LeaseReply, partitions: &[&str]) -> Vec<Held> {
    let some = leased.partitions.iter().filter(|one| partitions.contains(&one.partition.0.as_str()));
    some.map(|one| Held { partition: one.partition.clone(), epoch: one.epoch }).collect()
}
