//! The claim over backlogs of different sizes: it must not grow with them.

use std::time::{Duration, Instant};

use countersign_backlog::PgBacklog;
use countersign_domain::focus::Focus;
use countersign_domain::id::WorkstationId;
use countersign_engine::port::{Backlog as _, Held, Reading as _};
use rust_decimal::Decimal;
use serde::Serialize;
use uuid::Uuid;

use super::fill::Backlog;
use super::product::lease;
use super::server::{Copy, REVIEWER, Server};
use super::sides::held;
use super::{Load, report};

/// Items in a claim, and in a partition.
const ITEMS: u32 = 50;
/// Claims in a round, each by a workstation of its own that holds nothing.
const CLAIMS: u32 = 100;
/// Pending items in the smaller backlog.
const FEW: u32 = 10_000;
/// Overviews that are timed.
const OVERVIEWS: u32 = 50;

/// How long claims took.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimRow {
    /// From what.
    pub name: String,
    /// How many claims were measured.
    pub claims: usize,
    /// The median, in microseconds.
    pub p50_us: u64,
    /// The 99th percentile, in microseconds.
    pub p99_us: u64,
    /// The median as a multiple of that of the first row, in hundredths.
    pub ratio_percent: u64,
}

pub(crate) async fn measure(server: &Server, load: &Load) -> anyhow::Result<Vec<ClaimRow>> {
    let unaudited = |partitions| Backlog { audited: false, ..Backlog::of(partitions, ITEMS) };
    let shut_out = Backlog {
        // Before the others in every order.
        prefix: "behind",
        preparer: REVIEWER.to_owned(),
        audited: false,
        ..Backlog::of(load.shut_out, 1)
    };
    let outside = Backlog { prefix: "beside", currency: "EUR", audited: false, ..Backlog::of(load.shut_out, 1) };
    let backlogs = [
        ("few", format!("{} pending", thousands(FEW)), vec![unaudited(FEW / ITEMS)], None),
        ("many", format!("{} pending", thousands(load.pending)), vec![unaudited(load.pending / ITEMS)], None),
        (
            "focused",
            format!("{} pending, with a focus on currency and amount", thousands(load.pending)),
            vec![unaudited(load.pending / ITEMS)],
            Some(Focus { amount_from: Some(Decimal::ZERO), ..dollars() }),
        ),
        (
            "outside",
            format!("{} pending behind {} partitions outside of the focus", thousands(FEW), thousands(load.shut_out)),
            vec![outside, unaudited(FEW / ITEMS)],
            Some(dollars()),
        ),
        (
            "shut_out",
            format!("{} pending behind {} closed partitions", thousands(FEW), thousands(load.shut_out)),
            vec![shut_out, unaudited(FEW / ITEMS)],
            None,
        ),
    ];
    let mut opened = Vec::new();
    for (name, _, backlogs, _) in &backlogs {
        server.template(name, backlogs).await?;
        let mut copy = server.open(name).await?;
        workstations(&mut copy).await?;
        without_disk(&mut copy, name).await?;
        opened.push((copy.backlog(), copy, Vec::new()));
    }
    for round in 0..=load.claim_rounds {
        for ((.., focus), (backlog, copy, samples)) in backlogs.iter().zip(&mut opened) {
            copy.checkpoint().await?;
            let took = claims(backlog, focus.as_ref()).await?;
            // The first round makes the connection and the plans.
            if round > 0 {
                samples.extend(took);
            }
        }
        super::progress(&format!("claim: round {round} of {}", load.claim_rounds));
    }
    let mut rows: Vec<ClaimRow> = Vec::new();
    for ((_, name, ..), (backlog, copy, samples)) in backlogs.iter().zip(opened) {
        backlog.close().await;
        copy.remove().await?;
        rows.push(row(name, samples, rows.first()));
    }
    server.template("overview", &[unaudited(load.pending / ITEMS)]).await?;
    rows.push(overview(server, load).await?);
    Ok(rows)
}

/// Claims by one workstation after the other, and then gives all of it back.
async fn claims(backlog: &PgBacklog, focus: Option<&Focus>) -> anyhow::Result<Vec<Duration>> {
    let mut samples = Vec::new();
    let mut leases: Vec<(WorkstationId, Vec<Held>)> = Vec::new();
    for number in 1..=CLAIMS {
        let workstation = WorkstationId(Uuid::from_u128(u128::from(number)));
        let (took, reply) = lease(backlog, workstation, ITEMS, Vec::new(), focus.cloned()).await?;
        samples.push(took);
        leases.push((workstation, held(&reply)));
    }
    for (workstation, leases) in leases {
        backlog.release(workstation, &leases).await?;
    }
    Ok(samples)
}

fn dollars() -> Focus {
    Focus { currencies: vec!["USD".to_owned()], ..Focus::default() }
}

/// How long the overview takes, of the larger backlog, while each of the workstations holds something.
pub(crate) async fn overview(server: &Server, load: &Load) -> anyhow::Result<ClaimRow> {
    let mut copy = server.open("overview").await?;
    workstations(&mut copy).await?;
    let backlog = copy.backlog();
    let mut leases = Vec::new();
    for number in 1..=CLAIMS {
        let workstation = WorkstationId(Uuid::from_u128(u128::from(number)));
        leases.push(lease(&backlog, workstation, ITEMS, Vec::new(), None).await?);
    }
    let (mut samples, mut lines) = (Vec::new(), 0);
    for _ in 0..OVERVIEWS {
        let began = Instant::now();
        let overview = backlog.overview(WorkstationId(Uuid::from_u128(1))).await?;
        samples.push(began.elapsed());
        lines = overview.lines.len() + overview.more as usize;
    }
    backlog.close().await;
    copy.remove().await?;
    let name = format!("(overview of {} pending in {lines} lines)", thousands(load.pending));
    Ok(row(&name, samples, None))
}

async fn workstations(copy: &mut Copy<'_>) -> anyhow::Result<()> {
    for number in 1..=CLAIMS {
        let workstation = WorkstationId(Uuid::from_u128(u128::from(number)));
        crate::enrolment::enrol(&mut copy.owner, REVIEWER, workstation).await?;
    }
    Ok(())
}

/// The wait for the disk at each commit is as long for every backlog, and would hide what differs.
async fn without_disk(copy: &mut Copy<'_>, database: &str) -> anyhow::Result<()> {
    let sql = format!("ALTER ROLE {REVIEWER} IN DATABASE {database} SET synchronous_commit = off");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut copy.owner).await?;
    Ok(())
}

fn row(name: &str, mut samples: Vec<Duration>, first: Option<&ClaimRow>) -> ClaimRow {
    samples.sort_unstable();
    let at = |percent: usize| report::micros(samples[(samples.len() - 1) * percent / 100]);
    let (p50_us, p99_us) = (at(50), at(99));
    let ratio_percent = p50_us * 100 / first.map_or(p50_us, |first| first.p50_us).max(1);
    ClaimRow { name: name.to_owned(), claims: samples.len(), p50_us, p99_us, ratio_percent }
}

fn thousands(number: u32) -> String {
    report::grouped(u64::from(number))
}
