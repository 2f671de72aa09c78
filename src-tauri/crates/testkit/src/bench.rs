//! The bench: how fast the database's protocol is, each part beside its *roof*, which is the same rows written by a bare SQL
//! script without any rule. `docs/bench.md` says how to read it.
//!
//! Everything but time is determined: the same rows in the same order on every run, on a copy of a filled template of its own.

mod audit;
mod claim;
mod cycle;
mod fill;
mod intake;
mod product;
mod report;
mod roof;
mod server;
mod sides;
mod sign;

pub use claim::ClaimRow;
pub use fill::{Backlog, fill};
pub use intake::{FlowRow, IntakeRow};
pub use report::{Report, Row};

use server::Server;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Runs of each side, in turns; the median counts.
    pub runs: usize,
    /// Partitions of 100 items in the template of the cycles and sign-offs.
    pub partitions: u32,
    /// Partitions of one item in the other template.
    pub single_partitions: u32,
    /// Cycles of 500 items over whole partitions, in each run.
    pub cycles: u32,
    /// The same over partitions of one item.
    pub single_cycles: u32,
    /// Calls with 1, 50 and 500 decisions, in each run.
    pub sign_offs: [u32; 3],
    /// Pending items in the larger of the two backlogs that are claimed from; the smaller one has 10,000.
    pub pending: u32,
    /// Partitions in front of the ready ones in which the caller may sign nothing.
    pub shut_out: u32,
    /// Rounds of 100 claims from each backlog.
    pub claim_rounds: u32,
    /// Partitions of 100 items that are signed and then verified: 202 audit records each.
    pub audited_partitions: u32,
    /// Arrivals that are taken in.
    pub arrivals: u64,
    /// Lines of the claim that loads beside small work.
    pub claim_lines: u64,
    /// Rounds of that work without it.
    pub flow_rounds: usize,
}

impl Load {
    /// What is quoted.
    pub const FULL: Self = Self {
        runs: 5,
        partitions: 2_000,
        single_partitions: 25_000,
        cycles: 160,
        single_cycles: 40,
        sign_offs: [992, 392, 92],
        pending: 1_000_000,
        shut_out: 100_000,
        claim_rounds: 5,
        audited_partitions: 5_000,
        arrivals: 1_000_000,
        claim_lines: 500_000,
        flow_rounds: 200,
    };
    /// A first impression.
    pub const QUICK: Self = Self {
        runs: 3,
        partitions: 500,
        single_partitions: 12_000,
        cycles: 40,
        single_cycles: 12,
        sign_offs: [292, 92, 32],
        pending: 200_000,
        shut_out: 100_000,
        claim_rounds: 3,
        audited_partitions: 100,
        arrivals: 100_000,
        claim_lines: 500_000,
        flow_rounds: 100,
    };
}

/// What is measured besides the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Lease, sign off, give back; over whole partitions and over partitions of one item.
    Cycles,
    /// The sign-off transaction alone.
    SignOffs,
    /// The claim, over backlogs of different sizes.
    Claims,
    /// Verifying the audit stream.
    Audit,
    /// Taking arrivals in.
    Enqueue,
    /// Small work while a large claim loads.
    Flow,
}

/// Runs the parts that are asked for on a private server with every commit synced.
pub async fn run(load: &Load, parts: &[Part]) -> anyhow::Result<Report> {
    let server = Server::start().await?;
    let mut report = Report::default();
    if parts.contains(&Part::Cycles) || parts.contains(&Part::SignOffs) || parts.contains(&Part::Flow) {
        server.template("whole", &[Backlog::of(load.partitions, 100)]).await?;
    }
    if parts.contains(&Part::Cycles) {
        report.rows.extend(cycle::measure(&server, "whole", 100, load.cycles, load.runs).await?);
        server.template("single", &[Backlog::of(load.single_partitions, 1)]).await?;
        report.rows.extend(cycle::measure(&server, "single", 1, load.single_cycles, load.runs).await?);
    }
    if parts.contains(&Part::SignOffs) {
        report.rows.extend(sign::measure(&server, "whole", load.sign_offs, load.runs).await?);
    }
    if parts.contains(&Part::Audit) {
        server.template("audited", &[Backlog::of(load.audited_partitions, 100)]).await?;
        report.rows.push(audit::measure(&server, "audited", load.audited_partitions, load.runs).await?);
    }
    if parts.contains(&Part::Claims) {
        report.claims = claim::measure(&server, load).await?;
    }
    if parts.contains(&Part::Flow) {
        report.flow = Some(intake::flow(&server, "whole", load.claim_lines, load.flow_rounds).await?);
    }
    if parts.contains(&Part::Enqueue) {
        report.intake = Some(intake::measure(&server, load.arrivals).await?);
    }
    server.stop().await?;
    Ok(report)
}

/// Says how far the bench is; the table goes to the standard output.
fn progress(what: &str) {
    use std::io::Write as _;
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{what}");
}
