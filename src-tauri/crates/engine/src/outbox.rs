//! The outbox: decisions that are durable, until the database has answered for each.
//!
//! HELD (within the undo window) → READY → SENDING → COMMITTED | REFUSED | DEAD. On disk the first three are one: after a crash a
//! decision is sent again, and its key makes that harmless. Decisions of one partition are sent in the order in which they were
//! made; one that cannot be sent yet holds the later ones of its partition, and nobody else's.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use countersign_domain::id::{BatchId, ExceptionId, SignOffKey};

use crate::ANSWERED_SHOWN;
use crate::deck::Slot;
use crate::port::{Entry, Stage};

/// The most decisions the database takes in one call.
const CALL_BOUND: usize = 1_000;

/// A decision that is not done with.
#[derive(Debug, Clone)]
pub struct Pending {
    /// The decision.
    pub entry: Entry,
    /// When the undo window ends, on the monotonic clock.
    pub send_after_ms: u64,
    /// When it may be tried again, on the monotonic clock.
    pub next_attempt_ms: u64,
    /// It is on its way.
    pub sending: bool,
    pub(crate) withdrawing: bool,
    /// Where it was in the deck, to go back there.
    pub(crate) place: Option<u64>,
    pub(crate) since_ms: u64,
}

impl Pending {
    /// Whether it waits for an answer.
    pub fn unanswered(&self) -> bool {
        self.entry.stage == Stage::Ready
    }
}

/// How many decisions are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Within the undo window.
    pub held: usize,
    /// Waiting to be sent.
    pub ready: usize,
    /// On their way.
    pub sending: usize,
    /// Accepted since the program started, and those the journal still showed.
    pub committed: usize,
    /// Refused and not put away.
    pub refused: usize,
    /// Given up.
    pub dead: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    entries: BTreeMap<u64, Pending>,
    by_key: HashMap<SignOffKey, u64>,
    answered: VecDeque<Entry>,
    committed: usize,
    last_ordinal: u64,
}

impl Outbox {
    pub(crate) fn restore(&mut self, entries: Vec<Entry>, last_ordinal: u64) {
        self.last_ordinal = last_ordinal;
        for entry in entries {
            if entry.stage == Stage::Committed {
                self.remember(entry);
            } else {
                self.insert(Pending {
                    entry,
                    send_after_ms: 0,
                    next_attempt_ms: 0,
                    sending: false,
                    withdrawing: false,
                    place: None,
                    since_ms: 0,
                });
            }
        }
    }

    pub(crate) fn next_ordinal(&mut self) -> u64 {
        self.last_ordinal += 1;
        self.last_ordinal
    }

    pub(crate) fn insert(&mut self, pending: Pending) {
        self.by_key.insert(pending.entry.sign_off.key, pending.entry.ordinal);
        self.entries.insert(pending.entry.ordinal, pending);
    }

    pub(crate) fn get_mut(&mut self, key: SignOffKey) -> Option<&mut Pending> {
        self.by_key.get(&key).and_then(|ordinal| self.entries.get_mut(ordinal))
    }

    pub(crate) fn remove(&mut self, key: SignOffKey) -> Option<Pending> {
        self.by_key.remove(&key).and_then(|ordinal| self.entries.remove(&ordinal))
    }

    /// Moves an accepted decision to the ones that are only shown.
    pub(crate) fn remember(&mut self, entry: Entry) {
        self.committed += 1;
        self.answered.push_front(entry);
        self.answered.truncate(ANSWERED_SHOWN);
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Pending> {
        self.entries.values()
    }

    pub(crate) fn answered(&self) -> impl Iterator<Item = &Entry> {
        self.answered.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn unanswered(&self) -> usize {
        self.entries.values().filter(|pending| pending.unanswered()).count()
    }

    /// Exceptions with a decision that is not settled.
    pub(crate) fn exceptions(&self) -> BTreeSet<ExceptionId> {
        self.entries
            .values()
            .filter(|pending| pending.entry.stage != Stage::Refused)
            .map(|pending| pending.entry.sign_off.exception)
            .collect()
    }

    pub(crate) fn counts(&self, now_ms: u64) -> Counts {
        let mut counts = Counts { committed: self.committed, ..Counts::default() };
        for pending in self.entries.values() {
            match pending.entry.stage {
                Stage::Ready if pending.sending => counts.sending += 1,
                Stage::Ready if pending.send_after_ms > now_ms => counts.held += 1,
                Stage::Ready => counts.ready += 1,
                Stage::Refused => counts.refused += 1,
                Stage::Dead => counts.dead += 1,
                Stage::Committed => {}
            }
        }
        counts
    }

    /// The next decisions to send, at most about `limit` of at most so many partitions, a group whole. They are marked as on their
    /// way.
    pub(crate) fn next_batch(&mut self, now_ms: u64, limit: usize, partitions: usize) -> Vec<Entry> {
        let (mut waiting, mut chosen) = (BTreeSet::new(), BTreeSet::new());
        let mut batch: Vec<&Pending> = Vec::new();
        for pending in self.entries.values().filter(|pending| pending.entry.stage != Stage::Refused) {
            let partition = &pending.entry.item.partition;
            let sendable = pending.unanswered()
                && !pending.sending
                && !pending.withdrawing
                && pending.send_after_ms.max(pending.next_attempt_ms) <= now_ms;
            if waiting.contains(partition) || !sendable {
                waiting.insert(partition);
                continue;
            }
            if chosen.len() >= partitions && !chosen.contains(partition) {
                continue;
            }
            if batch.len() >= limit {
                let group = (partition, &pending.entry.item.group);
                let last = batch.last().map(|last| (&last.entry.item.partition, &last.entry.item.group));
                if pending.entry.item.group.is_none() || last != Some(group) {
                    break;
                }
                // The limit falls into a group: it goes with the next call, or with this one when it is all there is.
                let before = batch
                    .iter()
                    .position(|other| (&other.entry.item.partition, &other.entry.item.group) == group)
                    .unwrap_or(0);
                if before > 0 {
                    batch.truncate(before);
                    break;
                }
                if batch.len() >= CALL_BOUND {
                    break;
                }
            }
            batch.push(pending);
            chosen.insert(partition);
        }
        let batch: Vec<Entry> = batch.into_iter().map(|pending| pending.entry.clone()).collect();
        for entry in &batch {
            if let Some(pending) = self.entries.get_mut(&entry.ordinal) {
                pending.sending = true;
            }
        }
        batch
    }

    /// How many partitions these decisions are in.
    pub(crate) fn partitions_of(&self, keys: &[SignOffKey]) -> usize {
        let entry = |key| self.by_key.get(key).and_then(|ordinal| self.entries.get(ordinal));
        keys.iter().filter_map(entry).map(|pending| &pending.entry.item.partition).collect::<BTreeSet<_>>().len()
    }

    /// What a batch that can still be withdrawn consists of, and how many decisions of it cannot.
    pub(crate) fn withdrawable(&mut self, batch: BatchId, now_ms: u64) -> (Vec<SignOffKey>, usize) {
        let (mut keys, mut too_late) = (Vec::new(), 0);
        for pending in self.entries.values_mut().filter(|pending| pending.entry.batch == batch) {
            if pending.unanswered() && !pending.sending && !pending.withdrawing && pending.send_after_ms > now_ms {
                pending.withdrawing = true;
                keys.push(pending.entry.sign_off.key);
            } else {
                too_late += 1;
            }
        }
        too_late += self.answered.iter().filter(|entry| entry.batch == batch).count();
        (keys, too_late)
    }

    /// Forgets what was answered, one way or the other.
    pub(crate) fn forget_answered(&mut self) {
        self.answered.clear();
        let refused: Vec<SignOffKey> = self
            .entries
            .values()
            .filter(|pending| pending.entry.stage == Stage::Refused)
            .map(|pending| pending.entry.sign_off.key)
            .collect();
        for key in refused {
            self.remove(key);
        }
    }

    /// Ends every undo window and every wait between attempts.
    pub(crate) fn hurry(&mut self, now_ms: u64, undo_too: bool) {
        for pending in self.entries.values_mut() {
            pending.next_attempt_ms = pending.next_attempt_ms.min(now_ms);
            if undo_too {
                pending.send_after_ms = pending.send_after_ms.min(now_ms);
            }
        }
    }

    /// When something becomes ready by itself.
    pub(crate) fn next_wakeup_ms(&self, now_ms: u64) -> Option<u64> {
        self.entries
            .values()
            .filter(|pending| pending.unanswered() && !pending.sending)
            .map(|pending| pending.send_after_ms.max(pending.next_attempt_ms))
            .filter(|at| *at > now_ms)
            .min()
    }

    pub(crate) fn slot(pending: &Pending) -> Slot {
        Slot { item: pending.entry.item.clone(), since_ms: pending.since_ms }
    }
}
