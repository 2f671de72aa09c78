//! What the engine shows of itself.

use std::collections::BTreeMap;

use countersign_domain::id::{BatchId, ExceptionId, PartitionKey, SignOffKey, WorkstationId};
use countersign_domain::receipt::Receipt;
use countersign_domain::settings::Settings;
use countersign_domain::standing::Standing;

use super::{DrainState, Engine, LinkState, Now};
use crate::deck::Slot;
use crate::outbox::{Counts, Pending};
use crate::port::{BacklogError, DeckItem, Entry, Failure, JournalError, Problem, Step};

/// Fewer decisions say nothing about the one in a hundred that takes longest.
const DECISIONS_TOLD: usize = 100;

/// What is shown.
impl Engine {
    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// This journal's workstation.
    pub fn workstation(&self) -> WorkstationId {
        self.workstation
    }

    /// Whose journal it is, once that is known.
    pub fn reviewer(&self) -> Option<&str> {
        self.reviewer.as_deref()
    }

    /// The deck in its order, and for each item whether its decision is on its way to the disk.
    pub fn deck(&self) -> impl Iterator<Item = (&Slot, bool)> {
        self.deck.slots().map(|slot| (slot, self.deck.is_signing(slot.item.id)))
    }

    /// One item of the deck.
    pub fn deck_item(&self, id: ExceptionId) -> Option<&DeckItem> {
        self.deck.get(id).map(|slot| &slot.item)
    }

    /// Milliseconds until the lease of a partition lapses.
    pub fn lease_ends_in_ms(&self, partition: &PartitionKey, now: Now) -> u64 {
        self.leases.get(partition).map_or(0, |lease| lease.deadline_ms.saturating_sub(now.mono_ms))
    }

    /// Milliseconds until the first lease lapses.
    pub fn first_lease_ends_in_ms(&self, now: Now) -> Option<u64> {
        self.leases.first_deadline_ms().map(|deadline| deadline.saturating_sub(now.mono_ms))
    }

    /// Decisions that are not done with, in order.
    pub fn outbox(&self) -> impl Iterator<Item = &Pending> {
        self.outbox.entries()
    }

    /// The latest accepted decisions, newest first.
    pub fn answered(&self) -> impl Iterator<Item = &Entry> {
        self.outbox.answered()
    }

    /// How many decisions are where.
    pub fn counts(&self, now: Now) -> Counts {
        self.outbox.counts(now.mono_ms)
    }

    /// The connection.
    pub fn link(&self, now: Now) -> LinkState {
        LinkState {
            online: self.link.online,
            problem: self.link.problem.clone(),
            next_attempt_in_ms: self
                .link
                .next_attempt_ms
                .filter(|_| !self.link.online)
                .map(|at| at.saturating_sub(now.mono_ms)),
            last_contact: self.link.last_contact,
        }
    }

    /// Policy and rights as they were last heard of.
    pub fn standing(&self) -> Option<&Standing> {
        self.standing.as_ref()
    }

    /// The fingerprint of the workstation's key, which a supervisor compares.
    pub fn fingerprint(&self) -> String {
        self.keys.public().fingerprint()
    }

    /// What was done for a decision, oldest first; `None` if only the journal knows.
    pub fn steps(&self, key: SignOffKey) -> Option<Vec<Step>> {
        self.outbox.steps(key).map(<[_]>::to_vec)
    }

    /// How many decisions of each confirmation were certainly never sent.
    pub fn unsent(&self) -> BTreeMap<BatchId, usize> {
        let mut unsent = BTreeMap::new();
        for pending in self.outbox.entries().filter(|pending| pending.never_sent()) {
            *unsent.entry(pending.entry.batch).or_default() += 1;
        }
        unsent
    }

    /// Whether nothing more of what the window shows may be kept: the reviewer is leaving this computer, or was made to.
    pub fn leaves_nothing(&self) -> bool {
        let revoked = |problem: &BacklogError| problem.failure == Failure::Refused(Problem::Revoked);
        self.drain.is_some_and(|drain| drain.leaves_nothing) || self.link.problem.as_ref().is_some_and(revoked)
    }

    /// The receipts of the latest calls, newest first.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter()
    }

    /// Whether leasing pauses because a bound is reached.
    pub fn saturated(&self) -> bool {
        self.saturated
    }

    /// The last journal write failed with this.
    pub fn journal_problem(&self) -> Option<&JournalError> {
        self.journal_problem.as_ref()
    }

    /// Closing, once it has begun.
    pub fn drain(&self, now: Now) -> Option<DrainState> {
        self.drain.map(|drain| {
            let unsent = self.outbox.unanswered();
            DrainState {
                unsent,
                sent: drain.unsent_at_start.saturating_sub(unsent),
                to_release: self.undecided(),
                gives_up_in_ms: drain.deadline_ms.saturating_sub(now.mono_ms),
                online: self.link.online,
                done: drain.done,
            }
        })
    }

    /// Things the reviewer should know.
    pub fn warnings(&self) -> Vec<String> {
        let mut sorted: Vec<u32> = self.decision_times_ms.iter().copied().collect();
        sorted.sort_unstable();
        let p99 = sorted
            .get((sorted.len() * 99).div_ceil(100).saturating_sub(1))
            .filter(|_| sorted.len() >= DECISIONS_TOLD)
            .copied();
        let lease = p99.and_then(|p99| self.settings.lease_too_short(p99));
        let journal = self.journal_problem.as_ref().map(ToString::to_string);
        let trouble = self.trouble.as_ref().map(ToString::to_string);
        lease
            .into_iter()
            .chain(journal)
            .chain(trouble)
            .chain(self.receipt_problem.clone())
            .chain(self.scoring_warning())
            .chain(self.lag_warning())
            .collect()
    }

    /// Versions of the deck, the outbox and the session: each grows with every change.
    pub fn versions(&self) -> (u32, u32, u32) {
        (self.deck_version, self.outbox_version, self.session_version)
    }
}
