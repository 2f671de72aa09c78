//! How many exceptions are asked for, when, and what becomes of those that come.

use std::collections::{BTreeSet, HashMap};

use countersign_domain::code::Code;
use countersign_domain::id::{ExceptionId, PartitionKey};
use rand::Rng as _;

use super::{Effect, Engine, Happened, Ids, Now, Record};
use crate::port::{BacklogError, LeaseReply, LeaseRequest, Stage};
use crate::{OUTBOX_BOUND, POLL_MS};

impl Engine {
    pub(super) fn leased(&mut self, now: Now, result: Result<LeaseReply, BacklogError>, effects: &mut Vec<Effect>) {
        let Some(call) = self.lease.take() else { return };
        let reply = match result {
            Ok(reply) => reply,
            Err(error) => return self.call_failed(now, error, effects),
        };
        self.link.answered(now.wall);
        self.trouble = None;
        // Asked for under another focus: what it left out would be passed over. The same items come again.
        let outdated = call.what != self.focus_changes;
        if self.leases.is_empty() {
            self.renew_at_ms = call.at.mono_ms + u64::from(self.settings.lease_timeout_ms) / 3;
        }
        // A lease that a colleague handed over, or that outlived a restart, may end sooner than the others.
        let soonest_ms = reply.partitions.iter().map(|partition| u64::from(partition.lease_ms)).min();
        let soonest_ms = soonest_ms.unwrap_or(u64::from(self.settings.lease_timeout_ms));
        self.renew_at_ms = self.renew_at_ms.min(call.at.mono_ms + soonest_ms / 3);
        for partition in &reply.partitions {
            self.leases.leased(partition, call.at.mono_ms, call.at.wall);
        }
        if outdated {
            self.leases.restart();
        }
        let partitions: Vec<PartitionKey> =
            reply.partitions.iter().map(|partition| partition.partition.clone()).collect();
        // More of what is known already may hide what is new: there is no pause until it is passed.
        let passing = outdated || (!reply.items.is_empty() && reply.partitions.iter().any(|partition| partition.more));
        if self.drain.is_some() {
            self.give_everything_back();
        }
        let decided: HashMap<ExceptionId, (u32, Ids)> = self
            .outbox
            .entries()
            .filter(|pending| pending.entry.stage != Stage::Refused)
            .map(|pending| (pending.entry.item.id, (pending.entry.item.version, Ids::of(&pending.entry.item))))
            .collect();
        let mut fresh = Vec::new();
        for item in reply.items {
            let before = decided.get(&item.id).or_else(|| self.settled.get(&item.id));
            if let Some((_, ids)) = before.filter(|(version, _)| *version == item.version) {
                // Its decision stands, or is on its way.
                Self::trace(item.id, Some(ids.clone()), Happened::DuplicateSkipped, effects);
                continue;
            }
            let known = self
                .deck
                .get(item.id)
                .is_some_and(|slot| slot.item.version == item.version && slot.item.epoch == item.epoch)
                || self.deck.is_signing(item.id)
                || self.scoring.contains(item.id)
                || decided.contains_key(&item.id)
                || self.unreadable.contains(&item.id);
            if !known && !outdated && self.leases.get(&item.partition).is_some_and(|lease| !lease.giving_back) {
                fresh.push(item);
            }
        }
        if fresh.is_empty() && !passing {
            self.poll_later(now);
        } else {
            self.lease_at_ms = now.mono_ms;
        }
        for item in fresh {
            // What is shown of it must not be decided any more.
            if self.deck.outdate(item.id) {
                self.deck_version += 1;
            }
            self.enter_scoring(now, item);
        }
        self.session_version += 1;
        // The cursors become durable as far as the items before them are.
        let leases = self.durable(self.leases.rows(partitions));
        if !leases.is_empty() {
            self.journal_leased(leases, Vec::new(), effects);
        }
    }

    /// Whether the deck has room for a call to be worth its while, and the scoring pool is not behind with the last one.
    pub(super) fn wants_lease(&self, now: Now) -> bool {
        let enough = (self.settings.lease_prefetch.min(self.bound()) / 2).max(1) as usize;
        self.drain.is_none()
            && !self.saturated
            && !self.scoring_behind()
            && (self.room(now) >= enough || self.undecided() == 0)
    }

    pub(super) fn next_lease(&self, now: Now) -> Option<LeaseRequest> {
        if !self.wants_lease(now) || now.mono_ms < self.lease_at_ms {
            return None;
        }
        let room = u32::try_from(self.room(now)).unwrap_or(u32::MAX);
        Some(LeaseRequest {
            want: self.settings.lease_prefetch.min(room),
            room,
            empty: self.undecided() == 0,
            ttl_ms: self.ordinary_ttl_ms(now),
            held: self.leases.cursors(),
            focus: self.focus.clone(),
        })
    }

    /// Leased and undecided exceptions, scored or not.
    pub(super) fn undecided(&self) -> usize {
        self.deck.len() + self.scoring.len()
    }

    /// What can still be withdrawn keeps its place: it may come back. What is refused comes back over the bound if it has to, and
    /// nothing is leased until there is room again.
    fn room(&self, now: Now) -> usize {
        let held = self.outbox.counts(now.mono_ms).held;
        let room = (self.settings.queue_maxsize as usize).saturating_sub(self.undecided() + held);
        room.min(self.room_in_focus(held))
    }

    pub(super) fn note_saturation(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let saturated = self.room(now) == 0 || self.outbox.len() >= OUTBOX_BOUND;
        if saturated != self.saturated {
            self.saturated = saturated;
            self.session_version += 1;
            let message = if saturated {
                format!("{} undecided and {} unanswered: leasing pauses", self.undecided(), self.outbox.len())
            } else {
                "there is room again: leasing goes on".to_owned()
            };
            effects.push(Effect::Record(Record {
                event: "saturation",
                code: Some(Code::QueueSaturated),
                item: None,
                message,
            }));
        }
    }

    pub(super) fn partitions_in_use(&self) -> BTreeSet<&PartitionKey> {
        let deck = self.deck.slots().map(|slot| &slot.item.partition);
        let outbox = self
            .outbox
            .entries()
            .filter(|pending| pending.entry.stage != Stage::Refused)
            .map(|pending| &pending.entry.item.partition);
        deck.chain(outbox).chain(self.scoring.partitions()).collect()
    }

    fn poll_later(&mut self, now: Now) {
        self.lease_at_ms = now.mono_ms + POLL_MS + self.random.random_range(0..=POLL_MS / 2);
    }
}
