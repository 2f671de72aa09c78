//! The scoring book: what is leased and not in the deck yet.
//!
//! QUEUED → IN THE POOL → SCORED, or WAITING for its next attempt and then QUEUED again. The engine is the pool's producer: it hands
//! over as many as its two lanes take, and keeps the rest here. While it keeps any, nothing is leased.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use countersign_domain::id::{Epoch, ExceptionId, PartitionKey, Seq};

use crate::port::{DeckItem, LeasedItem};
use crate::{HEAVY_BYTES, HEAVY_LANE, LIGHT_LANE};

/// Small exceptions never wait behind large ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A body of less than [`HEAVY_BYTES`].
    Light,
    /// Anything else.
    Heavy,
}

impl Lane {
    /// Which one an exception takes.
    pub fn of(leased: &LeasedItem) -> Self {
        if leased.body.len() < HEAVY_BYTES { Self::Light } else { Self::Heavy }
    }

    /// How many exceptions it takes: waiting in the pool, or being scored.
    pub fn bound(self) -> usize {
        match self {
            Self::Light => LIGHT_LANE,
            Self::Heavy => HEAVY_LANE,
        }
    }

    fn index(self) -> usize {
        match self {
            Self::Light => 0,
            Self::Heavy => 1,
        }
    }
}

#[derive(Debug)]
enum State {
    /// It waits until its lane has room.
    Queued(LeasedItem),
    /// The pool has it.
    InPool,
    /// It failed, and is tried again then.
    Waiting { leased: LeasedItem, at_ms: u64 },
    /// It is scored; the rest of its group is not.
    Scored { item: Box<DeckItem>, body: String },
}

/// One exception on its way to the deck.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) partition: PartitionKey,
    pub(crate) epoch: Epoch,
    pub(crate) seq: Seq,
    /// Attempts that failed.
    pub(crate) attempts: u32,
    pub(crate) since_ms: u64,
    state: State,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Scoring {
    jobs: BTreeMap<ExceptionId, Job>,
    queued: [VecDeque<ExceptionId>; 2],
    in_pool: [usize; 2],
    /// When the pool last took or gave something.
    heard_at_ms: u64,
}

impl Scoring {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(crate) fn contains(&self, id: ExceptionId) -> bool {
        self.jobs.contains_key(&id)
    }

    pub(crate) fn partitions(&self) -> impl Iterator<Item = &PartitionKey> {
        self.jobs.values().map(|job| &job.partition)
    }

    /// Whether more waits than the pool takes.
    pub(crate) fn is_behind(&self) -> bool {
        self.queued.iter().any(|lane| !lane.is_empty())
    }

    /// Since when the oldest of them is here.
    pub(crate) fn oldest(&self) -> Option<(ExceptionId, u64)> {
        self.jobs.iter().map(|(id, job)| (*id, job.since_ms)).min_by_key(|(_, since_ms)| *since_ms)
    }

    pub(crate) fn enter(&mut self, leased: LeasedItem, now_ms: u64) {
        let (id, lane) = (leased.id, Lane::of(&leased));
        let job = Job {
            partition: leased.partition.clone(),
            epoch: leased.epoch,
            seq: leased.seq,
            attempts: 0,
            since_ms: now_ms,
            state: State::Queued(leased),
        };
        if self.jobs.insert(id, job).is_none_or(|before| !matches!(before.state, State::Queued(_))) {
            self.queued[lane.index()].push_back(id);
        }
    }

    /// What goes to the pool now, small ones first. The pool gives each of them back once.
    pub(crate) fn hand_over(&mut self, now_ms: u64) -> Vec<LeasedItem> {
        let due = |job: &Job| matches!(job.state, State::Waiting { at_ms, .. } if at_ms <= now_ms);
        let due: Vec<ExceptionId> = self.jobs.iter().filter(|(_, job)| due(job)).map(|(id, _)| *id).collect();
        for id in due {
            if let Some(job) = self.jobs.get_mut(&id)
                && let State::Waiting { leased, .. } = std::mem::replace(&mut job.state, State::InPool)
            {
                self.queued[Lane::of(&leased).index()].push_back(id);
                job.state = State::Queued(leased);
            }
        }
        let mut handed = Vec::new();
        for lane in [Lane::Light, Lane::Heavy] {
            while self.in_pool[lane.index()] < lane.bound() {
                let Some(id) = self.queued[lane.index()].pop_front() else { break };
                let Some(job) = self.jobs.get_mut(&id) else { continue };
                match std::mem::replace(&mut job.state, State::InPool) {
                    State::Queued(leased) => {
                        self.in_pool[lane.index()] += 1;
                        handed.push(leased);
                    }
                    other => job.state = other,
                }
            }
        }
        if !handed.is_empty() {
            self.heard_at_ms = now_ms;
        }
        handed
    }

    /// The pool gives one back. `None` if nobody waits for it any more; its place in the pool is free either way.
    pub(crate) fn came_back(&mut self, leased: &LeasedItem, now_ms: u64) -> Option<&mut Job> {
        let in_pool = &mut self.in_pool[Lane::of(leased).index()];
        *in_pool = in_pool.saturating_sub(1);
        self.heard_at_ms = now_ms;
        let job = self.jobs.get_mut(&leased.id)?;
        (matches!(job.state, State::InPool) && job.epoch == leased.epoch).then_some(job)
    }

    pub(crate) fn wait(&mut self, leased: LeasedItem, at_ms: u64) {
        if let Some(job) = self.jobs.get_mut(&leased.id) {
            job.state = State::Waiting { leased, at_ms };
        }
    }

    pub(crate) fn scored(&mut self, item: DeckItem, body: String) {
        if let Some(job) = self.jobs.get_mut(&item.id) {
            job.state = State::Scored { item: Box::new(item), body };
        }
    }

    pub(crate) fn remove(&mut self, id: ExceptionId) -> Option<Job> {
        self.jobs.remove(&id)
    }

    /// Takes out what is scored and need not wait any more: an exception without a group at once, one with a group when nothing of
    /// its partition is left to be scored. Which group that will be in, nobody knows before.
    pub(crate) fn take_ready(&mut self) -> Vec<(DeckItem, String)> {
        let unscored: BTreeSet<&PartitionKey> = self
            .jobs
            .values()
            .filter(|job| !matches!(job.state, State::Scored { .. }))
            .map(|job| &job.partition)
            .collect();
        let ready = |job: &Job| match &job.state {
            State::Scored { item, .. } => item.group.is_none() || !unscored.contains(&job.partition),
            _ => false,
        };
        let ids: Vec<ExceptionId> = self.jobs.iter().filter(|(_, job)| ready(job)).map(|(id, _)| *id).collect();
        let taken = ids.into_iter().filter_map(|id| self.jobs.remove(&id));
        let scored = |job: Job| match job.state {
            State::Scored { item, body } => Some((*item, body)),
            _ => None,
        };
        taken.filter_map(scored).collect()
    }

    /// What of these partitions is here is forgotten; which it was.
    pub(crate) fn forget(&mut self, partitions: &BTreeSet<PartitionKey>) -> Vec<ExceptionId> {
        let gone: Vec<ExceptionId> =
            self.jobs.iter().filter(|(_, job)| partitions.contains(&job.partition)).map(|(id, _)| *id).collect();
        for id in &gone {
            self.jobs.remove(id);
        }
        let jobs = &self.jobs;
        for lane in &mut self.queued {
            lane.retain(|id| jobs.contains_key(id));
        }
        gone
    }

    pub(crate) fn clear(&mut self) {
        self.jobs.clear();
        self.queued.iter_mut().for_each(VecDeque::clear);
    }

    /// The first place of a partition that is not in the deck yet: the cursor on the disk must not pass it.
    pub(crate) fn first_seq(&self, partition: &PartitionKey) -> Option<Seq> {
        self.jobs.values().filter(|job| job.partition == *partition).map(|job| job.seq).min()
    }

    /// When the next one that failed is due.
    pub(crate) fn next_attempt_ms(&self) -> Option<u64> {
        let at = |job: &Job| match job.state {
            State::Waiting { at_ms, .. } => Some(at_ms),
            _ => None,
        };
        self.jobs.values().filter_map(at).min()
    }

    /// Forgets what the pool has had for so long, without taking or giving anything else, that it does not come back.
    pub(crate) fn give_up_on_the_pool(&mut self, now_ms: u64, silence_ms: u64) -> Vec<ExceptionId> {
        if now_ms.saturating_sub(self.heard_at_ms) < silence_ms {
            return Vec::new();
        }
        let in_pool = self.jobs.iter().filter(|(_, job)| matches!(job.state, State::InPool));
        let gone: Vec<ExceptionId> = in_pool.map(|(id, _)| *id).collect();
        for id in &gone {
            self.jobs.remove(id);
        }
        self.in_pool = [0, 0];
        gone
    }
}
