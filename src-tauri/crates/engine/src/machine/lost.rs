//! The search for what is neither here nor there: `LOST_TASK`, a defect that must never appear, and that mends itself if it does.
//!
//! What a lease brought is remembered until it is decided, given up or given back, beside the places where it ought to be. The look is
//! bounded by the deck and the outbox, and comes at most once a second.

use std::collections::BTreeSet;

use countersign_domain::id::{Epoch, ExceptionId, PartitionKey, Seq};

use super::{Effect, Engine, Happened, Ids, Now};
use crate::port::{DeckItem, LeasedItem};
use crate::{LOST_CHECK_MS, LOST_CHECK_PAUSE_MS, LOST_REMEMBERED, POOL_SILENCE_MS};

/// An exception that is this workstation's to bring to an end.
#[derive(Debug, Clone)]
pub(super) struct Tracked {
    pub(super) partition: PartitionKey,
    epoch: Epoch,
    seq: Seq,
    ids: Option<Ids>,
}

impl Tracked {
    pub(super) fn of(leased: &LeasedItem) -> Self {
        Self { partition: leased.partition.clone(), epoch: leased.epoch, seq: leased.seq, ids: None }
    }

    pub(super) fn in_deck(item: &DeckItem) -> Self {
        Self { partition: item.partition.clone(), epoch: item.epoch, seq: item.seq, ids: Some(Ids::of(item)) }
    }
}

/// What is wrong with one exception.
#[derive(Debug)]
struct Lost {
    id: ExceptionId,
    why: &'static str,
}

/// The next look, and what was found before.
#[derive(Debug, Default)]
pub(super) struct Watch {
    looked_at_ms: u64,
    /// Something came, went or was decided since.
    stirred: bool,
    told: BTreeSet<ExceptionId>,
}

impl Watch {
    pub(super) fn stir(&mut self) {
        self.stirred = true;
    }

    fn due_ms(&self) -> u64 {
        self.looked_at_ms + if self.stirred { LOST_CHECK_PAUSE_MS } else { LOST_CHECK_MS }
    }
}

impl Engine {
    /// Exceptions that are in two places or in none, in words.
    pub fn lost_tasks(&self) -> Vec<String> {
        self.find_lost().into_iter().map(|lost| format!("exception {} {}", lost.id, lost.why)).collect()
    }

    pub(super) fn watch_wakeup_ms(&self) -> Option<u64> {
        (!self.tracked.is_empty()).then(|| self.watch.due_ms())
    }

    /// Looks, records what it finds, and has it leased anew.
    pub(super) fn look_for_lost(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if now.mono_ms < self.watch.due_ms() {
            return;
        }
        self.watch.looked_at_ms = now.mono_ms;
        self.watch.stirred = false;
        // What a pool that is gone had is nowhere.
        self.scoring.give_up_on_the_pool(now.mono_ms, POOL_SILENCE_MS);
        let (leases, deck) = (&self.leases, &self.deck);
        self.tracked.retain(|id, tracked| {
            deck.get(*id).is_some()
                || leases
                    .get(&tracked.partition)
                    .is_some_and(|lease| lease.epoch == tracked.epoch && !lease.giving_back)
        });
        for Lost { id, .. } in self.find_lost() {
            let tracked = self.tracked.remove(&id);
            let in_deck = self.deck.get(id).map(|slot| Tracked::in_deck(&slot.item));
            let Some(lost) = in_deck.or(tracked) else { continue };
            // A decision stands; whatever else there is of it comes anew.
            self.scoring.remove(id);
            self.deck.take(id);
            self.deck.unreserve(id);
            self.leases.rewind(&lost.partition, lost.seq);
            self.lease_at_ms = now.mono_ms;
            self.deck_version += 1;
            self.session_version += 1;
            if self.watch.told.len() >= LOST_REMEMBERED {
                self.watch.told.pop_first();
            }
            if self.watch.told.insert(id) {
                Self::trace(id, lost.ids, Happened::LostTask, effects);
            }
        }
    }

    fn find_lost(&self) -> Vec<Lost> {
        let decided = self.outbox.exceptions();
        let mut found = Vec::new();
        for slot in self.deck.slots() {
            let id = slot.item.id;
            let signing = self.deck.is_signing(id);
            let why = if decided.contains(&id) && !signing {
                "is in the deck and in the outbox"
            } else if self.scoring.contains(id) {
                "is in the deck and being scored"
            } else if self.leases.get(&slot.item.partition).is_none() && !signing {
                "is in the deck without a lease"
            } else {
                continue;
            };
            found.push(Lost { id, why });
        }
        for (id, tracked) in &self.tracked {
            let stands = self
                .leases
                .get(&tracked.partition)
                .is_some_and(|lease| lease.epoch == tracked.epoch && !lease.giving_back);
            let here = self.deck.get(*id).is_some() || self.scoring.contains(*id) || decided.contains(id);
            if stands && !here {
                found.push(Lost { id: *id, why: "is neither in the deck nor worked on nor decided" });
            }
        }
        found
    }
}
