//! The state machine: what comes in, what goes out, and what is asked for next.

mod answers;
mod commands;
mod enrolment;
mod extending;
mod focus;
mod sealing;
mod shown;
mod sign_offs;
mod types;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use chrono::{DateTime, Utc};
use countersign_domain::code::Code;
use countersign_domain::focus::Focus;
use countersign_domain::id::{ExceptionId, PartitionKey, SignOffKey, WorkstationId};
use countersign_domain::receipt::Receipt;
use countersign_domain::seal::Keys;
use countersign_domain::settings::Settings;
use countersign_domain::standing::Standing;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use crate::deck::Deck;
use crate::leases::Leases;
use crate::link::Link;
use crate::outbox::Outbox;
use crate::port::{
    BacklogError, Entry, Failure, Held, JournalError, LeaseRequest, LeaseRow, Problem, Restored, Settled, Stage, Write,
};
use crate::{OUTBOX_BOUND, POLL_MS};

pub use types::{
    Command, CommandFailure, DrainState, Effect, Event, LinkState, Now, Record, Reply, RequestId, Scored, Token,
};

/// How many decision times the 99th percentile is taken from.
const DECISION_TIMES: usize = 1_000;
/// How many settled exceptions are remembered, so that an answer that was under way does not bring one back.
const SETTLED_REMEMBERED: usize = 20_000;

#[derive(Debug, Clone, Copy)]
struct Draining {
    deadline_ms: u64,
    unsent_at_start: usize,
    done: bool,
    /// It ends with clearing the journal.
    signing_out: bool,
    /// The reviewer signs out: nothing more of the window is kept, to the end.
    leaves_nothing: bool,
}

/// What waits for the disk.
#[derive(Debug)]
enum Writing {
    Sign {
        request: RequestId,
        entries: Vec<Entry>,
    },
    Undo {
        request: RequestId,
        keys: Vec<SignOffKey>,
        too_late: usize,
    },
    Settle(Vec<Settled>),
    /// Decisions that are to be sent once it is durable that they may have been.
    Mark,
    Other,
}

/// Somebody waits for leases to be extended.
#[derive(Debug, Clone, Copy)]
struct Extending {
    request: RequestId,
    /// To how long from now.
    ttl_ms: u32,
    /// The renewal under way is for that.
    asked: bool,
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
    keys: Keys,
    /// Policy and rights as they were last heard of.
    standing: Option<Standing>,
    /// The time of what the journal holds of it, as far as this process wrote it.
    standing_written_at: Option<DateTime<Utc>>,
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
    enrolling: bool,
    /// When to ask again for what is in force.
    refresh_at_ms: u64,
    hand_over: Option<Call<(RequestId, Vec<Held>)>>,
    /// With how often the focus had changed when it was asked.
    lease: Option<Call<u64>>,
    renew: Option<Call<Vec<Held>>>,
    release: Option<Call<Vec<Held>>>,
    sign_off: Option<Call<Vec<SignOffKey>>>,
    /// What fills the deck.
    focus: Option<Focus>,
    focus_changes: u64,
    extending: Option<Extending>,
    /// Renewals shorten nothing before this.
    extended_until_ms: u64,
    /// Since when the window shows that leases run out.
    warned_at_ms: Option<u64>,
    /// Up to when the window has been told of leases that run out or lapsed.
    turned_at_ms: u64,
    renew_at_ms: u64,
    lease_at_ms: u64,
    /// After a lease, renewal or release failed: not before this.
    control_at_ms: u64,
    /// What the last of them failed with, while the connection itself is good.
    trouble: Option<BacklogError>,
    saturated: bool,
    /// Smaller than `commit_batch` while the one decision is looked for that the database cannot read.
    batch_limit: usize,
    /// Smaller than any number while the one partition is looked for that the database cannot serve now.
    partition_limit: usize,
    /// After a call that the database could not serve now: not before this.
    send_at_ms: u64,
    drain: Option<Draining>,
    receipts: VecDeque<Receipt>,
    /// A receipt did not add up.
    receipt_problem: Option<String>,
    writing: BTreeMap<Token, Writing>,
    last_token: u64,
    journal_problem: Option<JournalError>,
    /// Answers that the disk did not take. (What else it did not take, the database tells again after a restart.)
    unsettled: Vec<Settled>,
    settle_at_ms: u64,
    decision_times_ms: VecDeque<u32>,
    decided_at_ms: u64,
    notes: HashMap<ExceptionId, String>,
    /// Lease rows whose items are being scored.
    unjournaled: BTreeMap<PartitionKey, LeaseRow>,
    deck_version: u32,
    outbox_version: u32,
    session_version: u32,
}

impl Engine {
    /// A workstation with its keys and what its journal held. `seed` decides every random delay.
    pub fn new(settings: Settings, restored: Restored, keys: Keys, seed: u64, now: Now) -> Self {
        let mut leases = Leases::default();
        for row in &restored.leases {
            leases.restore(row, now.mono_ms, now.wall);
        }
        // A lease that is longer than any renewal makes it was extended.
        let longest_ms = leases.last_deadline_ms().unwrap_or(0);
        let ordinary_ms = now.mono_ms + u64::from(settings.lease_timeout_ms);
        let extended_until_ms = if longest_ms > ordinary_ms { longest_ms } else { 0 };
        let (deck, places) = Deck::restore(restored.deck, &restored.outbox, now.mono_ms);
        let mut outbox = Outbox::default();
        outbox.restore(restored.outbox, &places, restored.last_ordinal);
        let reviewer = restored.identity.bound_to.as_ref().map(|(_, reviewer)| reviewer.clone());
        let mut engine = Self {
            batch_limit: settings.commit_batch as usize,
            partition_limit: usize::MAX,
            send_at_ms: now.mono_ms,
            settings,
            keys,
            standing: restored.standing,
            standing_written_at: None,
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
            enrolling: false,
            refresh_at_ms: now.mono_ms,
            hand_over: None,
            lease: None,
            renew: None,
            release: None,
            sign_off: None,
            focus: restored.focus,
            focus_changes: 0,
            extending: None,
            extended_until_ms,
            warned_at_ms: None,
            turned_at_ms: now.mono_ms,
            renew_at_ms: now.mono_ms,
            lease_at_ms: now.mono_ms,
            control_at_ms: now.mono_ms,
            trouble: None,
            saturated: false,
            drain: None,
            receipts: VecDeque::new(),
            receipt_problem: None,
            writing: BTreeMap::new(),
            last_token: 0,
            journal_problem: None,
            unsettled: Vec::new(),
            settle_at_ms: now.mono_ms,
            decision_times_ms: VecDeque::new(),
            decided_at_ms: now.mono_ms,
            notes: HashMap::new(),
            unjournaled: BTreeMap::new(),
            deck_version: 1,
            outbox_version: 1,
            session_version: 1,
        };
        engine.reseal();
        engine
    }

    /// Takes one event at one time, and says what is to be done.
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Tick => {}
            Event::Welcomed(result) => self.welcomed(now, result, &mut effects),
            Event::Enrolled(result) => self.enrolled(now, result, &mut effects),
            Event::Leased(result) => self.leased(now, result, &mut effects),
            Event::Renewed(result) => self.renewed(now, result, &mut effects),
            Event::Released(result) => self.released(now, result, &mut effects),
            Event::HandedOver(result) => self.handed_over(now, result, &mut effects),
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
            self.link.next_attempt_ms.filter(|_| !self.hello && !self.enrolling)
        } else if self.lease.is_some() || self.renew.is_some() || self.release.is_some() {
            None
        } else {
            let renew = (!self.leases.is_empty()).then_some(self.renew_at_ms);
            let lease = self.wants_lease(now).then_some(self.lease_at_ms);
            let pause = (self.control_at_ms > now.mono_ms).then_some(self.control_at_ms);
            [renew, lease].into_iter().flatten().map(|at| at.max(self.control_at_ms)).chain(pause).min()
        };
        let pause = (self.send_at_ms > now.mono_ms).then_some(self.send_at_ms);
        let sending =
            self.outbox.next_wakeup_ms(now.mono_ms).into_iter().chain(pause).min().filter(|_| self.link.online);
        let refresh = (self.link.online && !self.hello).then_some(self.refresh_at_ms);
        let settling = (!self.unsettled.is_empty()).then_some(self.settle_at_ms);
        let warning = self.next_warning_ms();
        let turn = self.leases.next_turn_ms(now.mono_ms);
        [drain, work, sending, settling, refresh, warning, turn]
            .into_iter()
            .flatten()
            .filter(|at| *at > now.mono_ms)
            .min()
    }

    /// Decides what to ask for next.
    fn pump(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.note_saturation(now, effects);
        self.note_lease_warning(now);
        self.note_lease_turns(now);
        if !self.unsettled.is_empty() && now.mono_ms >= self.settle_at_ms {
            let settled = std::mem::take(&mut self.unsettled);
            self.settle(settled, effects);
        }
        if self.drain.is_some_and(|drain| drain.done) || self.finish_drain(now, effects) {
            return;
        }
        if !self.link.online {
            if !self.hello && !self.enrolling && self.link.next_attempt_ms.is_some_and(|at| at <= now.mono_ms) {
                self.hello = true;
                effects.push(Effect::Hello);
            }
            return;
        }
        if !self.hello && now.mono_ms >= self.refresh_at_ms {
            self.hello = true;
            effects.push(Effect::Hello);
        }
        if self.sign_off.is_none() && now.mono_ms >= self.send_at_ms {
            let keys = self.outbox.next_batch(now.mono_ms, self.batch_limit, self.partition_limit);
            if !keys.is_empty() {
                let unmarked = self.outbox.unmarked(&keys);
                self.sign_off = Some(Call { what: keys, at: now });
                self.outbox_version += 1;
                if unmarked.is_empty() {
                    self.send(now, effects);
                } else {
                    self.journal(Write::Sending(unmarked), Writing::Mark, effects);
                }
            }
        }
        if self.lease.is_some() || self.renew.is_some() || self.release.is_some() || now.mono_ms < self.control_at_ms {
            return;
        }
        self.nothing_to_extend(now, effects);
        if !self.leases.is_empty() && (now.mono_ms >= self.renew_at_ms || self.extending.is_some()) {
            let held = self.leases.held();
            self.renew = Some(Call { what: held.clone(), at: now });
            if let Some(extending) = &mut self.extending {
                extending.asked = true;
            }
            effects.push(Effect::Renew(held, self.renewal_ms(now)));
            return;
        }
        let idle = self.leases.idle(&self.partitions_in_use());
        if !idle.is_empty() {
            self.release = Some(Call { what: idle.clone(), at: now });
            effects.push(Effect::Release(idle));
            return;
        }
        if let Some(request) = self.next_lease(now) {
            self.lease = Some(Call { what: self.focus_changes, at: now });
            effects.push(Effect::Lease(request));
        }
    }

    /// Whether the deck has room for a call to be worth its while.
    fn wants_lease(&self, now: Now) -> bool {
        let enough = (self.settings.lease_prefetch.min(self.bound()) / 2).max(1) as usize;
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
            ttl_ms: self.ordinary_ttl_ms(now),
            held: self.leases.cursors(),
            focus: self.focus.clone(),
        })
    }

    /// Leased and undecided exceptions, scored or not.
    fn undecided(&self) -> usize {
        self.deck.len() + self.scoring.len()
    }

    /// What can still be withdrawn keeps its place: it may come back. What is refused comes back over the bound if it has to, and
    /// nothing is leased until there is room again.
    fn room(&self, now: Now) -> usize {
        let held = self.outbox.counts(now.mono_ms).held;
        let room = (self.settings.queue_maxsize as usize).saturating_sub(self.undecided() + held);
        room.min(self.room_in_focus(held))
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
        let calls = self.sign_off.is_some()
            || self.lease.is_some()
            || self.renew.is_some()
            || self.release.is_some()
            || self.hand_over.is_some();
        // Offline nothing can be given back; leases lapse by themselves. A given-up decision keeps its lease.
        let given_back =
            !self.link.online || (self.undecided() == 0 && self.leases.idle(&self.partitions_in_use()).is_empty());
        let nothing_left = unsent == 0 && self.unsettled.is_empty() && !calls && !writes_wait && given_back;
        let timed_out = now.mono_ms >= drain.deadline_ms && !writes_wait;
        if !nothing_left && !timed_out {
            return false;
        }
        if drain.signing_out {
            self.drain = Some(Draining { signing_out: false, ..drain });
            self.clear(effects);
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

    /// Forgets everything but unanswered decisions, on the disk too.
    fn clear(&mut self, effects: &mut Vec<Effect>) {
        self.deck.clear();
        self.leases.clear();
        self.scoring.clear();
        self.scoring_partitions.clear();
        self.unjournaled.clear();
        self.notes.clear();
        self.outbox.forget_answered();
        self.receipts.clear();
        (self.focus, self.extended_until_ms) = (None, 0);
        self.focus_changes += 1;
        self.deck_version += 1;
        self.outbox_version += 1;
        self.session_version += 1;
        self.journal(Write::Cleared, Writing::Other, effects);
    }

    /// Sends what was chosen.
    fn send(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let Some(call) = &mut self.sign_off else { return };
        call.at = now;
        let batch = self.outbox.send(&call.what, now.wall);
        let sign_offs = batch.into_iter().map(|entry| self.sealed(&entry.item.key, entry.sign_off)).collect();
        effects.push(Effect::SignOff(sign_offs));
    }

    /// What was chosen is not sent after all.
    fn do_not_send(&mut self) {
        if let Some(call) = self.sign_off.take() {
            self.outbox.not_sending(&call.what, None);
        }
        self.outbox_version += 1;
    }

    fn settle(&mut self, settled: Vec<Settled>, effects: &mut Vec<Effect>) {
        self.journal(Write::Settled(settled.clone()), Writing::Settle(settled), effects);
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
        // What is under way fails by itself.
        if !self.is_extending() {
            self.not_extended(&error, effects);
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

fn unknown_workstation(error: &BacklogError) -> bool {
    error.failure == Failure::Refused(Problem::UnknownWorkstation)
}
