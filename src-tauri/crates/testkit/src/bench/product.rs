//! The product's side: the same calls as a workstation makes.

use std::time::{Duration, Instant};

use countersign_backlog::PgBacklog;
use countersign_domain::focus::Focus;
use countersign_domain::id::WorkstationId;
use countersign_domain::sign_off::{Outcome, SignOff};
use countersign_engine::port::{Backlog as _, Held, HeldCursor, Hello, LeaseReply, LeaseRequest};
use uuid::Uuid;

/// The workstation that is measured.
pub(crate) const WORKSTATION: WorkstationId = WorkstationId(Uuid::from_u128(1));
/// The length of a lease.
pub(crate) const TTL_MS: u32 = 900_000;

/// A workstation.
pub(crate) struct Product {
    backlog: PgBacklog,
    workstation: WorkstationId,
}

impl Product {
    pub(crate) async fn connect(backlog: PgBacklog) -> anyhow::Result<Self> {
        let workstation = WORKSTATION;
        let hello = Hello { workstation, name: "bench".into(), app_version: "0".into(), settings: "{}".into() };
        backlog.hello(&hello).await?;
        Ok(Self { backlog, workstation })
    }

    pub(crate) async fn lease(&self, want: u32, held: Vec<HeldCursor>) -> anyhow::Result<(Duration, LeaseReply)> {
        lease(&self.backlog, self.workstation, want, held, None).await
    }

    pub(crate) async fn sign_off(&self, decisions: &[SignOff]) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let answers = self.backlog.sign_off(self.workstation, decisions).await?.answers;
        let took = began.elapsed();
        let committed = answers.iter().filter(|answer| answer.outcome == Outcome::Committed).count();
        anyhow::ensure!(committed == decisions.len(), "{committed} of {} were committed", decisions.len());
        Ok(took)
    }

    pub(crate) async fn release(&self, held: &[Held]) -> anyhow::Result<Duration> {
        let began = Instant::now();
        self.backlog.release(self.workstation, held).await?;
        Ok(began.elapsed())
    }

    pub(crate) async fn close(&self) {
        self.backlog.close().await;
    }
}

/// Leases exactly so many items.
pub(crate) async fn lease(
    backlog: &PgBacklog,
    workstation: WorkstationId,
    want: u32,
    held: Vec<HeldCursor>,
    focus: Option<Focus>,
) -> anyhow::Result<(Duration, LeaseReply)> {
    let request = LeaseRequest { want, room: want, empty: true, ttl_ms: TTL_MS, held, focus };
    let began = Instant::now();
    let reply = backlog.lease(workstation, &request).await?;
    let took = began.elapsed();
    anyhow::ensure!(reply.items.len() == want as usize, "{} of {want} items were leased", reply.items.len());
    Ok((took, reply))
}
