//! Nobody's backlog keeps anybody else waiting: partitions are claimed in an order that is fair to entities and counterparties, and in
//! which nothing starves.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use countersign_backlog::PgBacklog;
use countersign_domain::gate;
use countersign_domain::hash;
use countersign_domain::id::WorkstationId;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, LeasedItem};
use countersign_testkit::installation::{Installation, Login};
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use serde_json::json;
use uuid::Uuid;

struct Paper {
    number: u128,
    entity: String,
    counterparty: String,
    tier: &'static str,
    submitted: DateTime<Utc>,
    due: Option<DateTime<Utc>>,
}

impl Paper {
    /// Each is a partition of its own.
    fn new(number: u128, entity: &str, counterparty: &str, submitted: DateTime<Utc>) -> Self {
        let (entity, counterparty) = (entity.to_owned(), counterparty.to_owned());
        Self { number, entity, counterparty, tier: "standard", submitted, due: None }
    }

    fn body(&self) -> String {
        let (key, trace) = (format!("{}-{:06}", self.entity, self.number), Uuid::from_u128(self.number));
        let source = hash::recon_break_source_hash(&key, &self.entity, "1.00", "PARTIAL");
        let line = json!({
            "schema_version": 1, "kind": "recon_break", "idempotency_key": key, "trace_id": trace, "correlation_id": trace,
            "partition_key": key, "source_hash": source.to_string(), "group_key": null, "match_decision": "PARTIAL",
            "routing_tier": self.tier, "ledger_entity": self.entity, "counterparty": self.counterparty, "currency": "USD",
            "variance_amount": "1.00", "prepared_by": ["preparer"], "submitted_at": self.submitted.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "due_date": self.due.map(|due| due.date_naive()),
            "payload": {"ledger_entry": {"source_id": "s", "date": "2026-10-04", "amount": "1.00", "currency": "USD"}}
        });
        gate::judge(line.to_string().as_bytes()).expect("it passes the gates").body
    }
}

struct Office {
    installation: Installation,
    login: Login,
    backlog: Arc<PgBacklog>,
    desk: WorkstationId,
}

impl Office {
    async fn open() -> anyhow::Result<Self> {
        let installation = Installation::create().await?;
        let login = installation.reviewer("fair").await?;
        let (backlog, desk) = installation.workstation(&login).await?;
        Ok(Self { installation, login, backlog, desk })
    }

    async fn arrive(&self, papers: impl IntoIterator<Item = Paper>) -> anyhow::Result<()> {
        let bodies: Vec<String> = papers.into_iter().map(|paper| paper.body()).collect();
        let outcomes = self.installation.enqueue(&bodies).await?;
        anyhow::ensure!(outcomes.iter().all(|outcome| outcome == "ENQUEUED"), "{outcomes:?}");
        Ok(())
    }

    async fn sign(&self, items: &[LeasedItem]) -> anyhow::Result<()> {
        let batch: Vec<_> =
            items.iter().map(|item| decision(item, &self.login, self.desk, Decision::Approve)).collect();
        let answers = self.backlog.sign_off(self.desk, &batch).await?.answers;
        anyhow::ensure!(answers.iter().all(|answer| answer.outcome.accepted()), "{answers:?}");
        Ok(())
    }

    /// What is claimed next.
    async fn claim(&self, want: u32) -> anyhow::Result<Vec<LeasedItem>> {
        Ok(lease(&self.backlog, self.desk, want).await?.items)
    }
}

fn of<'a>(items: &'a [LeasedItem], entity: &str) -> Vec<&'a str> {
    items.iter().map(|item| item.partition.0.as_str()).filter(|key| key.starts_with(entity)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_with_thousands_of_older_partitions_keeps_nobody_waiting() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let now = Utc::now();
    let hour_ago = now - TimeDelta::hours(1);
    office.arrive((0..5_000).map(|n| Paper::new(n, "large", &format!("C{}", n % 1_000), hour_ago))).await?;
    office.arrive((0..10).map(|n| Paper::new(n, "small", &format!("C{n}"), now))).await?;
    let first = office.claim(50).await?;
    assert_eq!(of(&first, "small").len(), 10, "all of the small entity's are among the first {}", first.len());
    assert!(of(&first, "large").len() >= 12, "and the large one's share of the hour before");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_counterparty_of_an_entity_keeps_no_other_waiting() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let now = Utc::now();
    office.arrive((0..500).map(|n| Paper::new(n, "a", "large", now - TimeDelta::hours(1)))).await?;
    office.arrive((500..505).map(|n| Paper::new(n, "a", "small", now))).await?;
    let first = office.claim(20).await?;
    let small = first.iter().filter(|item| item.body.contains("\"counterparty\":\"small\"")).count();
    assert_eq!(small, 5, "{:?}", of(&first, "a"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tiers_and_due_dates_come_first_and_within_them_what_was_submitted_first() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let now = Utc::now();
    let mut papers = vec![
        Paper::new(1, "late-standard", "C", now),
        Paper::new(2, "early-standard", "C", now - TimeDelta::days(1)),
        Paper { due: Some(now + TimeDelta::days(1)), ..Paper::new(3, "due-tomorrow", "C", now) },
        Paper { tier: "priority", ..Paper::new(4, "priority", "C", now) },
        Paper { tier: "escalated", ..Paper::new(5, "escalated", "C", now) },
        // Long overdue is as urgent as the priority tier, and no more.
        Paper { due: Some(now - TimeDelta::days(900)), ..Paper::new(6, "overdue", "C", now - TimeDelta::hours(1)) },
    ];
    papers.reverse();
    office.arrive(papers).await?;
    let claimed = office.claim(50).await?;
    let order: Vec<&str> =
        claimed.iter().filter_map(|item| item.partition.0.as_str().rsplit_once('-')).map(|(e, _)| e).collect();
    assert_eq!(order, ["escalated", "overdue", "priority", "due-tomorrow", "early-standard", "late-standard"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_item_of_the_lowest_tier_is_claimed_while_more_urgent_ones_keep_coming() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let began = Utc::now() - TimeDelta::days(20);
    office.arrive([Paper::new(0, "old", "C", began)]).await?;
    let mut claimed_on = None;
    for day in 0..12_u32 {
        // Each day brings as much as is claimed, from others.
        let submitted = began + TimeDelta::days(i64::from(day)) + TimeDelta::hours(1);
        let urgent = (0..10).map(|n| Paper {
            tier: "priority",
            ..Paper::new(u128::from(day) * 10 + n, &format!("day-{day}-{n}"), "C", submitted)
        });
        office.arrive(urgent).await?;
        let claimed = office.claim(10).await?;
        office.sign(&claimed).await?;
        if !of(&claimed, "old").is_empty() {
            claimed_on = Some(day);
            break;
        }
    }
    assert_eq!(claimed_on, Some(7), "seven days are the headstart of the priority tier");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_nothing_waiting_starts_anew_and_who_has_is_put_off_for_seven_days_at_most() -> anyhow::Result<()> {
    const LAG: &str = "SELECT (extract(epoch FROM max(e.claim_rank - e.submitted_at)) / 60)::bigint FROM countersign.exception e WHERE e.ledger_entity = 'a'";
    let office = Office::open().await?;
    let now = Utc::now();
    office.arrive((0..20).map(|n| Paper::new(n, "a", &format!("C{n}"), now))).await?;
    assert_eq!(owner::number(&office.installation.owner, LAG).await?, 19 * 5, "five minutes for each before it");
    let items = office.claim(50).await?;
    assert_eq!(items.len(), 20);
    office.sign(&items).await?;
    office.arrive([Paper::new(20, "a", "C0", now)]).await?;
    let anew = "SELECT (extract(epoch FROM e.claim_rank - e.submitted_at) / 60)::bigint FROM countersign.exception e WHERE e.state = 'PENDING'";
    assert_eq!(owner::number(&office.installation.owner, anew).await?, 0, "what nobody else wanted costs nothing");

    office.arrive((100..4_100).map(|n| Paper::new(n, "a", &format!("D{n}"), now))).await?;
    assert_eq!(owner::number(&office.installation.owner, LAG).await?, 7 * 24 * 60);
    Ok(())
}
