//! The state machine: what comes in, what goes out, and what is asked for next.

mod answers;
mod commands;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use chrono::{DateTime, Utc};
use countersign_domain::code::Code;
use countersign_domain::id::{BatchId, Digest, ExceptionId, PartitionKey, SignOffKey, WorkstationId};
use countersign_domain::settings::Settings;
use countersign_domain::sign_off::{Answer, Decision, SignOff};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use crate::deck::{Deck, Slot};
use crate::leases::Leases;
use crate::link::Link;
use crate::outbox::{Counts, Outbox, Pending};
use crate::port::{
    BacklogError, DeckItem, Entry, Failure, Held, JournalError, LeaseReply, LeaseRequest, LeaseRow, LeasedItem,
    Problem, Renewed, Restored, Stage, Welcome, Write,
};
use crate::{OUTBOX_BOUND, POLL_MS};

/// How many decision times the 99th percentile is taken from.
const DECISION_TIMES: usize = 1_000;
/// How many settled exceptions are remembered, so that an answer that was under way does not bring one back.
const SETTLED_REMEMBERED: usize = 20_000;

/// The time: one clock that only goes forward, and one that says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds on a clock that never goes back.
    pub mono_ms: u64,
    /// The workstation's wall clock.
    pub wall: DateTime<Utc>,
}

/// Ties a command to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Ties a journal write to its completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// What the scoring pool made of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scored {
    /// As it was leased.
    pub leased: LeasedItem,
    /// What to show, or why it cannot be shown.
    pub result: Result<DeckItem, String>,
}

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Sign a frozen list. All of it or nothing.
    Sign {
        /// Names the confirmation.
        batch: BatchId,
        /// The exceptions.
        ids: Vec<ExceptionId>,
        /// The decision.
        decision: Decision,
        /// A reason code.
        reason: Option<String>,
        /// Free text.
        comment: Option<String>,
        /// What the dialog showed.
        hash_total: Digest,
    },
    /// Withdraw what is still in its undo window.
    Undo(BatchId),
    /// Give back the partitions of these exceptions.
    Release(Vec<ExceptionId>),
    /// End every wait.
    RetryNow,
    /// Try a given-up decision again.
    RetryDead(SignOffKey),
    /// Put a refused decision away.
    Dismiss(SignOffKey),
    /// Begin to close.
    Drain,
    /// Stop waiting and close.
    CloseNow,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// Time went by.
    Tick,
    /// The answer to [`Effect::Hello`].
    Welcomed(Result<Welcome, BacklogError>),
    /// The answer to [`Effect::Lease`].
    Leased(Result<LeaseReply, BacklogError>),
    /// The answer to [`Effect::Renew`].
    Renewed(Result<Vec<Renewed>, BacklogError>),
    /// The answer to [`Effect::Release`].
    Released(Result<(), BacklogError>),
    /// The answer to [`Effect::SignOff`], in the order of the decisions.
    SignedOff(Result<Vec<Answer>, BacklogError>),
    /// The answer to [`Effect::Score`], in part or whole.
    Scored(Vec<Scored>),
    /// The answer to [`Effect::Journal`].
    Journaled(Token, Result<(), JournalError>),
    /// A person asks for something.
    Command(RequestId, Command),
}

/// What is to be done. Calls to the backlog go side by side, at most one of a kind; journal writes go one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Connect and say hello.
    Hello,
    /// Lease.
    Lease(LeaseRequest),
    /// Renew these leases.
    Renew(Vec<Held>),
    /// Give these leases back.
    Release(Vec<Held>),
    /// Send these decisions.
    SignOff(Vec<SignOff>),
    /// Read and score these.
    Score(Vec<LeasedItem>),
    /// Make this durable.
    Journal(Token, Write),
    /// Answer a command.
    Reply(RequestId, Result<Reply, CommandFailure>),
    /// Write a record to the log.
    Record(Record),
    /// Closing is done; nothing more will be asked for.
    Drained {
        /// `drain_timeout_s` went by, or the person would not wait; what is left is on disk.
        cut_short: bool,
    },
}

/// A line of the structured log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened, such as `lease_lost`.
    pub event: &'static str,
    /// The named code, where it has one.
    pub code: Option<Code>,
    /// What it was about.
    pub item: Option<(Uuid, String, &'static str)>,
    /// The rest, in words.
    pub message: String,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// These decisions are durable.
    Signed {
        /// How many.
        count: usize,
    },
    /// What was withdrawn.
    Undone {
        /// Back in the deck.
        withdrawn: usize,
        /// On their way already.
        too_late: usize,
    },
    /// This many exceptions are given back.
    Released(usize),
    /// Done.
    Done,
}

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFailure {
    /// A stable name.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: String,
}

/// The connection, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Whether the last call succeeded.
    pub online: bool,
    /// What is wrong.
    pub problem: Option<BacklogError>,
    /// Until the next attempt.
    pub next_attempt_in_ms: Option<u64>,
    /// When the database last answered.
    pub last_contact: Option<DateTime<Utc>>,
}

/// Closing, to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainState {
    /// Decisions that are not answered.
    pub unsent: usize,
    /// Decisions answered since closing began.
    pub sent: usize,
    /// Exceptions to be given back.
    pub to_release: usize,
    /// Until closing gives up waiting.
    pub gives_up_in_ms: u64,
    /// Whether the database can be reached.
    pub online: bool,
    /// Closing is over.
    pub done: bool,
}

#[derive(Debug, Clone, Copy)]
struct Draining {
    deadline_ms: u64,
    unsent_at_start: usize,
    done: bool,
}

/// What waits for the disk.
#[derive(Debug)]
enum Writing {
    Sign { request: RequestId, entries: Vec<Entry> },
    Undo { request: RequestId, keys: Vec<SignOffKey>, too_late: usize },
    Other,
}

/// A call that is under way, with when it began.
#[derive(Debug)]
struct Call<T> {
    what: T,
    at: Now,
}

/// The workstation.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    workstation: WorkstationId,
    reviewer: Option<String>,
    bound_to: Option<(Uuid, String)>,
    random: ChaCha8Rng,
    link: Link,
    deck: Deck,
    leases: Leases,
    outbox: Outbox,
    /// Leased and not scored yet, with the attempts so far.
    scoring: BTreeMap<ExceptionId, u32>,
    scoring_partitions: HashMap<ExceptionId, PartitionKey>,
    /// Exceptions this workstation cannot read; they are not taken again.
    unreadable: BTreeSet<ExceptionId>,
    settled: HashMap<ExceptionId, u32>,
    settled_order: VecDeque<ExceptionId>,
    hello: bool,
    lease: Option<Call<()>>,
    renew: Option<Call<Vec<Held>>>,
    release: Option<Call<Vec<Held>>>,
    sign_off: Option<Call<Vec<SignOffKey>>>,
    renew_at_ms: u64,
    lease_at_ms: u64,
    /// After a lease, renewal or release failed: not before this.
    control_at_ms: u64,
    /// What the last of them failed with, while the connection itself is good.
    trouble: Option<BacklogError>,
    saturated: bool,
    /// Smaller than `commit_batch` while the one decision is looked for that the database cannot read.
    batch_limit: usize,
    drain: Option<Draining>,
    writing: BTreeMap<Token, Writing>,
    last_token: u64,
    journal_problem: Option<JournalError>,
    decision_times_ms: VecDeque<u32>,
    notes: HashMap<ExceptionId, String>,
    /// Lease rows whose items are being scored.
    unjournaled: BTreeMap<PartitionKey, LeaseRow>,
    deck_version: u32,
    outbox_version: u32,
    session_version: u32,
}

impl Engine {
    /// A workstation with what its journal held. `seed` decides every random delay.
    pub fn new(settings: Settings, restored: Restored, seed: u64, now: Now) -> Self {
        let mut leases = Leases::default();
        for row in &restored.leases {
            leases.restore(row, now.mono_ms, now.wall);
        }
        let mut deck = Deck::default();
        for item in restored.deck {
            deck.put(item, now.mono_ms);
        }
        let mut outbox = Outbox::default();
        outbox.restore(restored.outbox, restored.last_ordinal);
        let reviewer = restored.identity.bound_to.as_ref().map(|(_, reviewer)| reviewer.clone());
        Self {
            batch_limit: settings.commit_batch as usize,
            settings,
            workstation: restored.identity.workstation,
            reviewer,
            bound_to: restored.identity.bound_to,
            random: ChaCha8Rng::seed_from_u64(seed),
            link: Link::new(now.mono_ms),
            deck,
            leases,
            outbox,
            scoring: BTreeMap::new(),
            scoring_partitions: HashMap::new(),
            unreadable: BTreeSet::new(),
            settled: HashMap::new(),
            settled_order: VecDeque::new(),
            hello: false,
            lease: None,
            renew: None,
            release: None,
            sign_off: None,
            renew_at_ms: now.mono_ms,
            lease_at_ms: now.mono_ms,
            control_at_ms: now.mono_ms,
            trouble: None,
            saturated: false,
            drain: None,
            writing: BTreeMap::new(),
            last_token: 0,
            journal_problem: None,
            decision_times_ms: VecDeque::new(),
            notes: HashMap::new(),
            unjournaled: BTreeMap::new(),
            deck_version: 1,
            outbox_version: 1,
            session_version: 1,
        }
    }

    /// Takes one event at one time, and says what is to be done.
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Tick => {}
            Event::Welcomed(result) => self.welcomed(now, result, &mut effects),
            Event::Leased(result) => self.leased(now, result, &mut effects),
            Event::Renewed(result) => self.renewed(now, result, &mut effects),
            Event::Released(result) => self.released(now, result, &mut effects),
            Event::SignedOff(result) => self.signed_off(now, result, &mut effects),
            Event::Scored(scored) => self.scored(now, scored, &mut effects),
            Event::Journaled(token, result) => self.journaled(now, token, result, &mut effects),
            Event::Command(request, command) => self.command(now, request, command, &mut effects),
        }
        self.pump(now, &mut effects);
        effects
    }

    /// When to call again with [`Event::Tick`] if nothing else happens, on the monotonic clock.
    pub fn next_wakeup_ms(&self, now: Now) -> Option<u64> {
        let drain = self.drain.filter(|drain| !drain.done).map(|drain| drain.deadline_ms);
        let work = if !self.link.online {
            self.link.next_attempt_ms.filter(|_| !self.hello)
        } else if self.lease.is_some() || self.renew.is_some() || self.release.is_some() {
            None
        } else {
            let renew = (!self.leases.is_empty()).then_some(self.renew_at_ms);
            let lease = self.wants_lease(now).then_some(self.lease_at_ms);
            let pause = (self.control_at_ms > now.mono_ms).then_some(self.control_at_ms);
            [renew, lease].into_iter().flatten().map(|at| at.max(self.control_at_ms)).chain(pause).min()
        };
        let sending = self.outbox.next_wakeup_ms(now.mono_ms).filter(|_| self.link.online);
        [drain, work, sending].into_iter().flatten().filter(|at| *at > now.mono_ms).min()
    }

    /// Decides what to ask for next.
    fn pump(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.note_saturation(now, effects);
        if self.drain.is_some_and(|drain| drain.done) || self.finish_drain(now, effects) {
            return;
        }
        if !self.link.online {
            if !self.hello && self.link.next_attempt_ms.is_some_and(|at| at <= now.mono_ms) {
                self.hello = true;
                effects.push(Effect::Hello);
            }
            return;
        }
        if self.sign_off.is_none() {
            let batch = self.outbox.next_batch(now.mono_ms, self.batch_limit);
            if !batch.is_empty() {
                let keys = batch.iter().map(|entry| entry.sign_off.key).collect();
                self.sign_off = Some(Call { what: keys, at: now });
                self.outbox_version += 1;
                effects.push(Effect::SignOff(batch.into_iter().map(|entry| entry.sign_off).collect()));
            }
        }
        if self.lease.is_some() || self.renew.is_some() || self.release.is_some() || now.mono_ms < self.control_at_ms {
            return;
        }
        if !self.leases.is_empty() && now.mono_ms >= self.renew_at_ms {
            let held = self.leases.held();
            self.renew = Some(Call { what: held.clone(), at: now });
            effects.push(Effect::Renew(held));
            return;
        }
        let idle = self.leases.idle(&self.partitions_in_use());
        if !idle.is_empty() {
            self.release = Some(Call { what: idle.clone(), at: now });
            effects.push(Effect::Release(idle));
            return;
        }
        if let Some(request) = self.next_lease(now) {
            self.lease = Some(Call { what: (), at: now });
            effects.push(Effect::Lease(request));
        }
    }

    /// Whether the deck has room for a call to be worth its while.
    fn wants_lease(&self, now: Now) -> bool {
        let enough = (self.settings.lease_prefetch / 2).max(1) as usize;
        self.drain.is_none() && !self.saturated && (self.room(now) >= enough || self.undecided() == 0)
    }

    fn next_lease(&self, now: Now) -> Option<LeaseRequest> {
        if !self.wants_lease(now) || now.mono_ms < self.lease_at_ms {
            return None;
        }
        let room = u32::try_from(self.room(now)).unwrap_or(u32::MAX);
        Some(LeaseRequest {
            want: self.settings.lease_prefetch.min(room),
            room,
            empty: self.undecided() == 0,
            ttl_ms: self.settings.lease_timeout_ms,
            held: self.leases.cursors(),
        })
    }

    /// Leased and undecided exceptions, scored or not.
    fn undecided(&self) -> usize {
        self.deck.len() + self.scoring.len()
    }

    /// What can still be withdrawn keeps its place: it may come back.
    fn room(&self, now: Now) -> usize {
        (self.settings.queue_maxsize as usize).saturating_sub(self.undecided() + self.outbox.counts(now.mono_ms).held)
    }

    fn note_saturation(&mut self, now: Now, effects: &mut Vec<Effect>) {
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

    fn partitions_in_use(&self) -> BTreeSet<&PartitionKey> {
        let deck = self.deck.slots().map(|slot| &slot.item.partition);
        let outbox = self
            .outbox
            .entries()
            .filter(|pending| pending.entry.stage != Stage::Refused)
            .map(|pending| &pending.entry.item.partition);
        deck.chain(outbox).chain(self.scoring_partitions.values()).collect()
    }

    fn finish_drain(&mut self, now: Now, effects: &mut Vec<Effect>) -> bool {
        let Some(drain) = self.drain else { return false };
        let writes_wait = !self.writing.is_empty();
        let unsent = self.outbox.unanswered();
        let calls = self.sign_off.is_some() || self.lease.is_some() || self.renew.is_some() || self.release.is_some();
        // Offline nothing can be given back; leases lapse by themselves. A given-up decision keeps its lease.
        let given_back =
            !self.link.online || (self.undecided() == 0 && self.leases.idle(&self.partitions_in_use()).is_empty());
        let nothing_left = unsent == 0 && !calls && !writes_wait && given_back;
        let timed_out = now.mono_ms >= drain.deadline_ms && !writes_wait;
        if !nothing_left && !timed_out {
            return false;
        }
        self.drain = Some(Draining { done: true, ..drain });
        self.session_version += 1;
        if timed_out && !nothing_left {
            let message = format!("{unsent} decisions stay on disk and are sent next time");
            effects.push(Effect::Record(Record {
                event: "drain_timeout",
                code: Some(Code::DrainTimeout),
                item: None,
                message,
            }));
        }
        effects.push(Effect::Drained { cut_short: !nothing_left });
        true
    }

    fn journal(&mut self, write: Write, what: Writing, effects: &mut Vec<Effect>) {
        self.last_token += 1;
        let token = Token(self.last_token);
        self.writing.insert(token, what);
        effects.push(Effect::Journal(token, write));
    }

    fn lost(&mut self, now: Now, error: BacklogError, effects: &mut Vec<Effect>) {
        if self.link.online || self.link.problem.as_ref() != Some(&error) {
            effects.push(Effect::Record(Record {
                event: "offline",
                code: None,
                item: None,
                message: error.to_string(),
            }));
        }
        self.link.lost(error, now.mono_ms, &mut self.random);
        self.session_version += 1;
    }

    /// Whether this failure says that the connection, not the request, is at fault.
    fn is_about_the_link(error: &BacklogError) -> bool {
        matches!(error.failure, Failure::Offline | Failure::Refused(_))
    }

    fn poll_later(&mut self, now: Now) {
        self.lease_at_ms = now.mono_ms + POLL_MS + self.random.random_range(0..=POLL_MS / 2);
    }
}

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
        let p99 = sorted.get((sorted.len() * 99).div_ceil(100).saturating_sub(1)).copied();
        let lease = p99.and_then(|p99| self.settings.lease_too_short(p99));
        let journal = self.journal_problem.as_ref().map(ToString::to_string);
        let trouble = self.trouble.as_ref().map(ToString::to_string);
        lease.into_iter().chain(journal).chain(trouble).collect()
    }

    /// Versions of the deck, the outbox and the session: each grows with every change.
    pub fn versions(&self) -> (u32, u32, u32) {
        (self.deck_version, self.outbox_version, self.session_version)
    }

    /// Looks for items that are in two places, and for deck items without a lease: defects that must never appear.
    pub fn lost_tasks(&self) -> Vec<String> {
        let decided = self.outbox.exceptions();
        let mut defects = Vec::new();
        for slot in self.deck.slots() {
            let id = slot.item.id;
            if decided.contains(&id) && !self.deck.is_signing(id) {
                defects.push(format!("exception {id} is in the deck and in the outbox"));
            }
            if self.scoring.contains_key(&id) {
                defects.push(format!("exception {id} is in the deck and being scored"));
            }
            if self.leases.get(&slot.item.partition).is_none() && !self.deck.is_signing(id) {
                defects.push(format!("exception {id} is in the deck without a lease of {}", slot.item.partition));
            }
        }
        defects
    }
}

fn unknown_workstation(error: &BacklogError) -> bool {
    error.failure == Failure::Refused(Problem::UnknownWorkstation)
}
