//! From a lease to the deck: what the scoring pool is handed, and what comes of it.

use std::collections::{BTreeSet, HashMap};

use countersign_domain::code::FailureClass;
use countersign_domain::id::{ContentHash, ExceptionId, PartitionKey, Seq};
use countersign_domain::sign_off::Outcome;

use super::sign_offs::refused_note;
use super::{Effect, Engine, Happened, Ids, Now, Record, Scored, Tracked, Unscored, Writing};
use crate::BEHIND_TOLD_MS;
use crate::backoff::delay_ms;
use crate::port::{DeckItem, LeaseRow, LeasedItem, LocalDeadLetter, Write};

/// Scoring is behind. That is told only when it lasts: for a moment every large lease is more than the pool takes.
#[derive(Debug, Default)]
pub(super) struct Behind {
    since_ms: Option<u64>,
    told: bool,
}

impl Behind {
    /// Whether what is told changes.
    fn look(&mut self, now_ms: u64, behind: bool) -> bool {
        self.since_ms = behind.then(|| self.since_ms.unwrap_or(now_ms));
        let told = self.since_ms.is_some_and(|since_ms| now_ms >= since_ms + BEHIND_TOLD_MS);
        std::mem::replace(&mut self.told, told) != told
    }

    fn told_at_ms(&self) -> Option<u64> {
        self.since_ms.filter(|_| !self.told).map(|since_ms| since_ms + BEHIND_TOLD_MS)
    }
}

impl Engine {
    /// Leased and not in the deck yet.
    pub fn scoring_count(&self) -> usize {
        self.scoring.len()
    }

    /// Whether leasing pauses because more waits to be scored than the pool takes.
    pub fn scoring_behind(&self) -> bool {
        self.scoring.is_behind()
    }

    /// It has been so for a while, in words.
    pub(super) fn scoring_warning(&self) -> Option<String> {
        self.behind.told.then(|| {
            format!(
                "{} exceptions wait for their suggestions. Leasing goes on once they are in the deck.",
                self.scoring.len()
            )
        })
    }

    /// Takes on an exception that was leased, at its place in the deck.
    pub(super) fn enter_scoring(&mut self, now: Now, leased: LeasedItem) {
        self.deck.reserve(leased.id);
        self.tracked.insert(leased.id, Tracked::of(&leased));
        self.scoring.enter(leased, now.mono_ms);
    }

    /// The pool has room, or something is to be tried again.
    pub(super) fn hand_to_pool(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let handed = self.scoring.hand_over(now.mono_ms);
        if !handed.is_empty() {
            effects.push(Effect::Score(handed, self.thresholds()));
        }
        self.note_behind(now, effects);
    }

    fn note_behind(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if !self.behind.look(now.mono_ms, self.scoring.is_behind()) {
            return;
        }
        self.session_version += 1;
        let message = if self.behind.told {
            format!("{} exceptions wait to be scored: leasing pauses", self.scoring.len())
        } else {
            "the pool takes all there is: leasing goes on".to_owned()
        };
        effects.push(Effect::Record(Record { event: "scoring_behind", code: None, item: None, message }));
    }

    /// When something about scoring is due by itself.
    pub(super) fn scoring_wakeup_ms(&self) -> Option<u64> {
        self.scoring.next_attempt_ms().into_iter().chain(self.behind.told_at_ms()).min()
    }

    pub(super) fn scored(&mut self, now: Now, scored: Vec<Scored>, effects: &mut Vec<Effect>) {
        let (mut touched, mut dead) = (BTreeSet::new(), Vec::new());
        for Scored { leased, worker, result } in scored {
            let Some(job) = self.scoring.came_back(&leased, now.mono_ms) else { continue };
            job.attempts += 1;
            let attempts = job.attempts;
            touched.insert(leased.partition.clone());
            // The lease may have ended while the item was being scored.
            if self.leases.get(&leased.partition).is_none_or(|lease| lease.epoch != leased.epoch || lease.giving_back) {
                self.forget_job(leased.id);
                continue;
            }
            match result {
                Ok(item) => {
                    let route = item.suggestion.route;
                    Self::trace(item.id, Some(Ids::of(&item)), Happened::Evaluated { worker, route }, effects);
                    self.scoring.scored(item, leased.body);
                }
                Err(unscored) => dead.extend(self.unscored(now, leased, attempts, unscored, effects)),
            }
        }
        // No cursor passes what is not in its dead letter yet.
        if !dead.is_empty() {
            self.keep_letters(Write::DeadLettered(dead), effects);
        }
        self.fill_deck(now, touched, effects);
    }

    /// An attempt failed: it is tried again later, or it was the last one.
    fn unscored(
        &mut self,
        now: Now,
        leased: LeasedItem,
        attempts: u32,
        Unscored { class, reason, ids }: Unscored,
        effects: &mut Vec<Effect>,
    ) -> Option<LocalDeadLetter> {
        const OPERATION: &str = "score";
        let id = leased.id;
        if class != FailureClass::Structural && attempts < self.settings.max_attempts {
            let delay_ms = delay_ms(attempts, &mut self.random);
            let happened = Happened::RetryScheduled { operation: OPERATION, attempt: attempts, delay_ms };
            Self::trace(id, ids, happened, effects);
            self.scoring.wait(leased, now.mono_ms + delay_ms);
            return None;
        }
        self.forget_job(id);
        self.unreadable.insert(id);
        // The reason may quote the content, which belongs into the dead letter and not into a log.
        Self::trace(id, ids, Happened::DeadLettered { operation: OPERATION, attempts, class }, effects);
        Some(LocalDeadLetter { id, version: leased.version, body: leased.body, reason, attempts, at: now.wall })
    }

    /// What is scored and need not wait for others comes into the deck, and with it onto the disk.
    fn fill_deck(&mut self, now: Now, mut touched: BTreeSet<PartitionKey>, effects: &mut Vec<Effect>) {
        let ready = self.scoring.take_ready();
        let refused = self.outbox.refused();
        let mut items = Vec::with_capacity(ready.len());
        for (item, body) in ready {
            let item = self.with_note(item, &refused);
            touched.insert(item.partition.clone());
            self.deck.put(item.clone(), now.mono_ms);
            let depth = self.deck.len();
            Self::trace(item.id, Some(Ids::of(&item)), Happened::Enqueued { depth }, effects);
            items.push((item, body));
        }
        if !items.is_empty() {
            self.deck_version += 1;
        }
        self.session_version += 1;
        let leases = self.durable(self.leases.rows(touched));
        if !leases.is_empty() || !items.is_empty() {
            self.journal_leased(leases, items, effects);
        }
    }

    /// What the reviewer should know of an item that was here before goes with it.
    fn with_note(&mut self, mut item: DeckItem, refused: &HashMap<(ExceptionId, ContentHash), Outcome>) -> DeckItem {
        let changed = || {
            let before = self.deck.get(item.id).filter(|slot| slot.item.version != item.version);
            before.map(|_| format!("Changed upstream: version {}", item.version))
        };
        let refused = || refused.get(&(item.id, item.content)).map(|outcome| refused_note(*outcome));
        item.note = self.notes.remove(&item.id).or_else(changed).or_else(refused);
        item
    }

    /// Leases as the disk may know them: none of their cursors passes what is not in the deck, and so not on the disk either. After
    /// a crash it is handed out again.
    pub(super) fn durable(&self, mut rows: Vec<LeaseRow>) -> Vec<LeaseRow> {
        for row in &mut rows {
            let unsaved = self.unsaved.contains(&row.partition).then_some(Seq(1));
            let first = self.scoring.first_seq(&row.partition).into_iter().chain(unsaved).min();
            if let Some(first) = first.filter(|first| *first <= row.after) {
                (row.after, row.more) = (Seq(first.0 - 1), true);
            }
        }
        rows
    }

    pub(super) fn journal_leased(
        &mut self,
        leases: Vec<LeaseRow>,
        items: Vec<(DeckItem, String)>,
        effects: &mut Vec<Effect>,
    ) {
        let partitions: BTreeSet<PartitionKey> = items.iter().map(|(item, _)| item.partition.clone()).collect();
        let writing = Writing::Leased(partitions);
        self.journal(Write::Leased { leases, items }, writing, effects);
    }

    /// It does not come into the deck.
    pub(super) fn forget_job(&mut self, id: ExceptionId) {
        self.scoring.remove(id);
        self.tracked.remove(&id);
        self.deck.unreserve(id);
    }

    /// What of these partitions is undecided leaves: out of the deck, and out of the pool's sight. How many left the deck.
    pub(super) fn drop_partitions(&mut self, partitions: &BTreeSet<PartitionKey>) -> usize {
        for id in self.scoring.forget(partitions) {
            self.deck.unreserve(id);
        }
        self.tracked.retain(|_, tracked| !partitions.contains(&tracked.partition));
        self.unsaved.retain(|partition| !partitions.contains(partition));
        self.deck.drop_partitions(partitions)
    }
}
