//! The outbox: decisions that are durable, until the database has answered for each.
//!
//! HELD (within the undo window) → READY → SENDING → COMMITTED | REFUSED | DEAD. On disk the first three are one: after a crash a
//! decision is sent again, and its key makes that harmless. Decisions of one partition are sent in the order in which they were
//! made; one that cannot be sent yet holds the later ones of its partition, and nobody else's.
//!
//! What was certainly never sent can be withdrawn, also after the undo window. A decision that was made offline is marked on the disk
//! before it is sent for the first time; one that was made online counts as sent for every later start of the program.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use chrono::{DateTime, Utc};
use countersign_domain::id::{BatchId, ContentHash, ExceptionId, SignOffKey};
use countersign_domain::sign_off::Outcome;

use crate::ANSWERED_SHOWN;
use crate::deck::Slot;
use crate::port::{Entry, Stage, Step, What, note_step};

/// The most decisions the database takes in one call.
const CALL_BOUND: usize = 1_000;

/// How many withdrawn decisions are remembered to tell their history.
const WITHDRAWN_REMEMBERED: usize = 1_000;

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
    /// It was sent, or an earlier start of the program may have sent it.
    pub(crate) sent: bool,
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

    /// Whether it was certainly never sent, so that it can be withdrawn.
    pub fn never_sent(&self) -> bool {
        self.unanswered() && !self.sending && !self.withdrawing && !self.sent
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
    withdrawn: VecDeque<(SignOffKey, Vec<Step>)>,
    committed: usize,
    last_ordinal: u64,
}

impl Outbox {
    pub(crate) fn restore(&mut self, entries: Vec<Entry>, places: &HashMap<SignOffKey, u64>, last_ordinal: u64) {
        self.last_ordinal = last_ordinal;
        for entry in entries {
            if entry.stage == Stage::Committed {
                self.remember(entry);
            } else {
                self.insert(Pending {
                    sent: entry.may_be_sent,
                    place: places.get(&entry.sign_off.key).copied(),
                    entry,
                    send_after_ms: 0,
                    next_attempt_ms: 0,
                    sending: false,
                    withdrawing: false,
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

    /// What was done for a decision, if it is not forgotten here.
    pub(crate) fn steps(&self, key: SignOffKey) -> Option<&[Step]> {
        let pending = self.by_key.get(&key).and_then(|ordinal| self.entries.get(ordinal)).map(|pending| &pending.entry);
        let answered = || self.answered.iter().find(|entry| entry.sign_off.key == key);
        let entry = pending.or_else(answered).map(|entry| entry.steps.as_slice());
        let withdrawn = || self.withdrawn.iter().find(|(of, _)| *of == key).map(|(_, steps)| steps.as_slice());
        entry.or_else(withdrawn)
    }

    /// Remembers what was done for a decision that is withdrawn now.
    pub(crate) fn remember_withdrawn(&mut self, mut entry: Entry, at: DateTime<Utc>) {
        note_step(&mut entry.steps, at, What::Withdrawn);
        self.withdrawn.retain(|(key, _)| *key != entry.sign_off.key);
        self.withdrawn.push_front((entry.sign_off.key, entry.steps));
        self.withdrawn.truncate(WITHDRAWN_REMEMBERED);
    }

    pub(crate) fn remove(&mut self, key: SignOffKey) -> Option<Pending> {
        self.by_key.remove(&key).and_then(|ordinal| self.entries.remove(&ordinal))
    }

    /// Takes out what was refused of the exceptions that these decide anew, with the same content.
    pub(crate) fn supersede(&mut self, entries: &[Entry]) {
        let anew: HashSet<(ExceptionId, ContentHash)> = entries.iter().map(content_of).collect();
        let refused = self.entries.values().map(|pending| &pending.entry).filter(|entry| entry.stage == Stage::Refused);
        let keys: Vec<SignOffKey> =
            refused.filter(|entry| anew.contains(&content_of(entry))).map(|entry| entry.sign_off.key).collect();
        for key in keys {
            self.remove(key);
        }
    }

    /// What was refused last of each exception and content.
    pub(crate) fn refused(&self) -> HashMap<(ExceptionId, ContentHash), Outcome> {
        let refused = self.entries.values().map(|pending| &pending.entry).filter(|entry| entry.stage == Stage::Refused);
        refused.filter_map(|entry| Some((content_of(entry), entry.answer.as_ref()?.outcome))).collect()
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
    /// way; whether they are is for the disk to know first.
    pub(crate) fn next_batch(&mut self, now_ms: u64, limit: usize, partitions: usize) -> Vec<SignOffKey> {
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
        let batch: Vec<(u64, SignOffKey)> =
            batch.into_iter().map(|pending| (pending.entry.ordinal, pending.entry.sign_off.key)).collect();
        for (ordinal, _) in &batch {
            if let Some(pending) = self.entries.get_mut(ordinal) {
                pending.sending = true;
            }
        }
        batch.into_iter().map(|(_, key)| key).collect()
    }

    /// Those of which the disk does not know that they may have been sent.
    pub(crate) fn unmarked(&self, keys: &[SignOffKey]) -> Vec<SignOffKey> {
        let of = |key: SignOffKey| self.by_key.get(&key).and_then(|ordinal| self.entries.get(ordinal));
        keys.iter().copied().filter(|key| of(*key).is_some_and(|pending| !pending.entry.may_be_sent)).collect()
    }

    /// They go out now; what is sent.
    pub(crate) fn send(&mut self, keys: &[SignOffKey], at: DateTime<Utc>) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(pending) = self.get_mut(*key) else { continue };
            pending.sent = true;
            pending.entry.may_be_sent = true;
            note_step(&mut pending.entry.steps, at, What::Attempted { problem: None });
            entries.push(pending.entry.clone());
        }
        entries
    }

    /// They do not go out after all, or what came back was no answer.
    pub(crate) fn not_sending(&mut self, keys: &[SignOffKey], problem: Option<&str>) {
        for key in keys {
            let Some(pending) = self.get_mut(*key) else { continue };
            pending.sending = false;
            if let Some(Step { what: What::Attempted { problem: last }, .. }) = pending.entry.steps.last_mut()
                && problem.is_some()
            {
                *last = problem.map(str::to_owned);
            }
        }
    }

    /// How many partitions these decisions are in.
    pub(crate) fn partitions_of(&self, keys: &[SignOffKey]) -> usize {
        let entry = |key| self.by_key.get(key).and_then(|ordinal| self.entries.get(ordinal));
        keys.iter().filter_map(entry).map(|pending| &pending.entry.item.partition).collect::<BTreeSet<_>>().len()
    }

    /// What a batch that can still be withdrawn consists of, and how many decisions of it cannot.
    pub(crate) fn withdrawable(
        &mut self,
        batch: BatchId,
        which: impl Fn(&Pending) -> bool,
    ) -> (Vec<SignOffKey>, usize) {
        let (mut keys, mut too_late) = (Vec::new(), 0);
        for pending in self.entries.values_mut().filter(|pending| pending.entry.batch == batch) {
            if pending.never_sent() && which(pending) {
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
        self.withdrawn.clear();
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

/// What a decision was about, in the version that was seen.
fn content_of(entry: &Entry) -> (ExceptionId, ContentHash) {
    (entry.sign_off.exception, entry.sign_off.content)
}
