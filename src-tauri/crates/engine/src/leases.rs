//! The lease book: which partitions this workstation holds, until when, and how far their items were handed out.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use countersign_domain::id::{Epoch, PartitionKey, Seq};
use countersign_domain::review::LEASE_SHORT_MS;

use crate::port::{Held, HeldCursor, LeaseRow, LeasedPartition, Renewed};

/// One lease.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    pub(crate) epoch: Epoch,
    /// When it lapses on the monotonic clock, counted from before it was asked for.
    pub(crate) deadline_ms: u64,
    /// The same on the wall clock, for the journal.
    pub(crate) until: DateTime<Utc>,
    pub(crate) after: Seq,
    pub(crate) more: bool,
    /// The reviewer gave it back; it goes as soon as no decision of it is unanswered.
    pub(crate) giving_back: bool,
    /// It is on its way to a colleague.
    pub(crate) handing_over: bool,
}

/// All leases, by partition.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    book: BTreeMap<PartitionKey, Lease>,
}

impl Leases {
    pub(crate) fn is_empty(&self) -> bool {
        self.book.is_empty()
    }

    pub(crate) fn get(&self, partition: &PartitionKey) -> Option<&Lease> {
        self.book.get(partition)
    }

    pub(crate) fn restore(&mut self, row: &LeaseRow, now_ms: u64, now: DateTime<Utc>) {
        let left_ms = (row.until - now).num_milliseconds().try_into().unwrap_or(0);
        let lease = Lease {
            epoch: row.epoch,
            deadline_ms: now_ms.saturating_add(left_ms),
            until: row.until,
            after: row.after,
            more: row.more,
            giving_back: false,
            handing_over: false,
        };
        self.book.insert(row.partition.clone(), lease);
    }

    /// Notes what a lease call answered. `asked_at` is when the call began.
    pub(crate) fn leased(&mut self, partition: &LeasedPartition, asked_at_ms: u64, asked_at: DateTime<Utc>) {
        let same = self.book.get(&partition.partition).filter(|lease| lease.epoch == partition.epoch);
        let giving_back = same.is_some_and(|lease| lease.giving_back);
        let handing_over = same.is_some_and(|lease| lease.handing_over);
        let lease = Lease {
            epoch: partition.epoch,
            deadline_ms: asked_at_ms + u64::from(partition.lease_ms),
            until: asked_at + chrono::Duration::milliseconds(i64::from(partition.lease_ms)),
            after: partition.after,
            more: partition.more,
            giving_back,
            handing_over,
        };
        self.book.insert(partition.partition.clone(), lease);
    }

    /// Notes which of the leases that were asked for still stand; returns what to remember and what was lost.
    pub(crate) fn renewed(
        &mut self,
        asked: &[Held],
        answer: &[Renewed],
        asked_at_ms: u64,
        asked_at: DateTime<Utc>,
    ) -> (Vec<LeaseRow>, BTreeSet<PartitionKey>) {
        let stands: BTreeMap<&Held, u32> = answer.iter().map(|renewed| (&renewed.held, renewed.lease_ms)).collect();
        let (mut rows, mut lost) = (Vec::new(), BTreeSet::new());
        for held in asked {
            let Some(lease) = self.book.get_mut(&held.partition).filter(|lease| lease.epoch == held.epoch) else {
                continue;
            };
            if let Some(lease_ms) = stands.get(held) {
                lease.deadline_ms = asked_at_ms + u64::from(*lease_ms);
                lease.until = asked_at + chrono::Duration::milliseconds(i64::from(*lease_ms));
                rows.push(row(&held.partition, lease));
            } else {
                lost.insert(held.partition.clone());
            }
        }
        (rows, lost)
    }

    pub(crate) fn remove(&mut self, partitions: &BTreeSet<PartitionKey>) {
        self.book.retain(|partition, _| !partitions.contains(partition));
    }

    pub(crate) fn give_back(&mut self, partition: &PartitionKey) {
        if let Some(lease) = self.book.get_mut(partition) {
            lease.giving_back = true;
        }
    }

    /// Marks leases as on their way to a colleague, and names them.
    pub(crate) fn hand_over(&mut self, partitions: &BTreeSet<PartitionKey>) -> Vec<Held> {
        for partition in partitions {
            if let Some(lease) = self.book.get_mut(partition) {
                (lease.giving_back, lease.handing_over) = (true, true);
            }
        }
        self.held().into_iter().filter(|held| partitions.contains(&held.partition)).collect()
    }

    /// They stay: what is left of them is handed out anew.
    pub(crate) fn keep(&mut self, held: &[Held]) {
        for held in held {
            if let Some(lease) = self.book.get_mut(&held.partition) {
                (lease.giving_back, lease.handing_over) = (false, false);
                (lease.after, lease.more) = (Seq(0), true);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.book.clear();
    }

    pub(crate) fn give_back_all(&mut self) {
        self.book.values_mut().for_each(|lease| lease.giving_back = true);
    }

    /// All of them are handed out from their beginning again. Answers that are under way may not know of it.
    pub(crate) fn restart(&mut self) {
        self.book.values_mut().for_each(|lease| (lease.after, lease.more) = (Seq(0), true));
    }

    /// What of these the journal is to remember.
    pub(crate) fn rows(&self, partitions: impl IntoIterator<Item = PartitionKey>) -> Vec<LeaseRow> {
        let of = |partition: PartitionKey| self.book.get(&partition).map(|lease| row(&partition, lease));
        partitions.into_iter().filter_map(of).collect()
    }

    /// Makes the item at `seq` be handed out once more.
    pub(crate) fn rewind(&mut self, partition: &PartitionKey, seq: Seq) {
        if let Some(lease) = self.book.get_mut(partition) {
            lease.after = lease.after.min(Seq(seq.0 - 1));
            lease.more = true;
        }
    }

    /// How far each lease was handed out. One that is given back is named with the end of all places, so that nothing of it comes.
    pub(crate) fn cursors(&self) -> Vec<HeldCursor> {
        let cursor = |(partition, lease): (&PartitionKey, &Lease)| HeldCursor {
            partition: partition.clone(),
            after: if lease.giving_back { Seq(i64::MAX - 1) } else { lease.after },
        };
        self.book.iter().map(cursor).collect()
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        self.book.iter().map(|(partition, lease)| Held { partition: partition.clone(), epoch: lease.epoch }).collect()
    }

    /// Leases that nothing is left to do under: given back or handed out to the end, and not in use.
    pub(crate) fn idle(&self, in_use: &BTreeSet<&PartitionKey>) -> Vec<Held> {
        self.book
            .iter()
            .filter(|(partition, lease)| {
                (lease.giving_back || !lease.more) && !lease.handing_over && !in_use.contains(partition)
            })
            .map(|(partition, lease)| Held { partition: partition.clone(), epoch: lease.epoch })
            .collect()
    }

    pub(crate) fn first_deadline_ms(&self) -> Option<u64> {
        self.book.values().map(|lease| lease.deadline_ms).min()
    }

    /// The first moment after `after_ms` at which a lease begins to run out or has lapsed, rounded up to a whole second: however
    /// many there are, that is at most once a second.
    pub(crate) fn next_turn_ms(&self, after_ms: u64) -> Option<u64> {
        let turns = |lease: &Lease| [(lease.deadline_ms + 1).checked_sub(LEASE_SHORT_MS), Some(lease.deadline_ms)];
        let whole_s = |at_ms: u64| at_ms.div_ceil(1_000) * 1_000;
        self.book.values().flat_map(turns).flatten().map(whole_s).filter(|at_ms| *at_ms > after_ms).min()
    }

    pub(crate) fn last_deadline_ms(&self) -> Option<u64> {
        self.book.values().map(|lease| lease.deadline_ms).max()
    }

    /// Until when the first one stands, on the wall clock.
    pub(crate) fn first_until(&self) -> Option<DateTime<Utc>> {
        self.book.values().map(|lease| lease.until).min()
    }
}

fn row(partition: &PartitionKey, lease: &Lease) -> LeaseRow {
    LeaseRow {
        partition: partition.clone(),
        epoch: lease.epoch,
        until: lease.until,
        after: lease.after,
        more: lease.more,
    }
}
