//! Calls of the port as a workstation makes them, one at a time and without a workstation.

use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_domain::sign_off::{Decision, SignOff};
use countersign_domain::{figure, gate, hash};
use countersign_engine::port::{Backlog as _, LeaseReply, LeaseRequest, LeasedItem};
use countersign_testkit::enrolment::sealed;
use countersign_testkit::installation::Login;
use sqlx::types::chrono::DateTime;

/// Leases about `want` exceptions.
pub async fn lease(backlog: &PgBacklog, workstation: WorkstationId, want: u32) -> anyhow::Result<LeaseReply> {
    let request = LeaseRequest { want, room: want, empty: true, ttl_ms: 60_000, held: Vec::new(), focus: None };
    Ok(backlog.lease(workstation, &request).await?)
}

/// What `who` would send from a workstation to decide this.
pub fn decision(item: &LeasedItem, who: &Login, workstation: WorkstationId, decision: Decision) -> SignOff {
    let content = gate::read_body(&item.body).expect("what was handed out had passed its gates");
    let figure = figure::outlook(&content).figure.filter(|_| decision == Decision::Approve);
    let key = content.idempotency_key;
    let sign_off = SignOff {
        key: hash::sign_off_key(&key, item.content, decision, &who.user),
        exception: item.id,
        content: item.content,
        epoch: item.epoch,
        decision,
        reason: (decision == Decision::Reject).then(|| "WRONG_AMOUNT".to_owned()),
        comment: None,
        decided_at: DateTime::UNIX_EPOCH,
        policy_version: 1,
        figure,
        seal: None,
    };
    sealed(sign_off, &key, &who.user, workstation)
}
