//! Both sides behind one door, so that they are driven and timed alike.

use std::time::Duration;

use chrono::{DateTime, Utc};
use countersign_domain::hash;
use countersign_domain::sign_off::{Decision, SignOff};
use countersign_engine::port::{Held, HeldCursor, LeaseReply, LeasedItem};

use super::fill::Backlog;
use super::product::{Product, WORKSTATION};
use super::roof::Roof;
use super::server::{Copy, REVIEWER};
use crate::enrolment::sealed;

/// Which of the two is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The product's calls.
    Product,
    /// The bare script.
    Roof,
}

pub(crate) enum Side {
    Product(Box<Product>),
    Roof(Box<Roof>),
}

impl Side {
    pub(crate) async fn connect(which: Which, copy: &Copy<'_>, items: u32) -> anyhow::Result<Self> {
        Ok(match which {
            Which::Product => Self::Product(Box::new(Product::connect(copy.backlog()).await?)),
            Which::Roof => Self::Roof(Box::new(Roof::new(copy.connect().await?, Backlog::of(0, items)))),
        })
    }

    /// Leases items besides those of `held`.
    pub(crate) async fn lease(&mut self, want: u32, held: Vec<HeldCursor>) -> anyhow::Result<(Duration, LeaseReply)> {
        match self {
            Self::Product(product) => product.lease(want, held).await,
            Self::Roof(roof) => roof.lease(want).await,
        }
    }

    pub(crate) async fn sign_off(&mut self, decisions: &[SignOff]) -> anyhow::Result<Duration> {
        match self {
            Self::Product(product) => product.sign_off(decisions).await,
            Self::Roof(roof) => roof.sign_off(decisions).await,
        }
    }

    pub(crate) async fn release(&mut self, held: &[Held]) -> anyhow::Result<Duration> {
        match self {
            Self::Product(product) => product.release(held).await,
            Self::Roof(roof) => roof.release(held).await,
        }
    }

    pub(crate) async fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Product(product) => {
                product.close().await;
                Ok(())
            }
            Self::Roof(roof) => roof.close().await,
        }
    }
}

/// Approves every item, in their order.
pub(crate) fn approve(items: &[LeasedItem]) -> Vec<SignOff> {
    let decided_at: DateTime<Utc> = DateTime::from_timestamp(1_791_190_800, 0).unwrap_or_default();
    items
        .iter()
        .map(|item| {
            // The key that `fill` gave it.
            let key = format!("{}-{:04}", item.partition.0, item.seq.0);
            let sign_off = SignOff {
                key: hash::sign_off_key(&key, item.content, Decision::Approve, REVIEWER),
                exception: item.id,
                content: item.content,
                epoch: item.epoch,
                decision: Decision::Approve,
                reason: None,
                comment: None,
                decided_at,
                policy_version: 1,
                figure: None,
                seal: None,
            };
            sealed(sign_off, &key, REVIEWER, WORKSTATION)
        })
        .collect()
}

/// The leases of an answer.
pub(crate) fn held(reply: &LeaseReply) -> Vec<Held> {
    let held = |leased: &countersign_engine::port::LeasedPartition| Held {
        partition: leased.partition.clone(),
        epoch: leased.epoch,
    };
    reply.partitions.iter().map(held).collect()
}
