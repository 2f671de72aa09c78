//! The state machine: what comes in, what goes out, and what is asked for next.

mod answers;
mod commands;
mod drain;
mod enrolment;
mod extending;
mod focus;
mod given_up;
mod lag;
mod leasing;
mod lost;
mod pump;
mod scoring;
mod sealing;
mod shown;
mod sign_offs;
mod trace;
mod types;
mod writing;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use chrono::{DateTime, Utc};
use countersign_domain::focus::Focus;
use countersign_domain::id::{ExceptionId, PartitionKey, SignOffKey, WorkstationId};
use countersign_domain::receipt::Receipt;
use countersign_domain::seal::Keys;
use countersign_domain::settings::Settings;
use countersign_domain::standing::Standing;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use crate::deck::Deck;
use crate::leases::Leases;
use crate::link::Link;
use crate::outbox::Outbox;
use crate::port::{BacklogError, Entry, Failure, Held, JournalError, Problem, Restored, Settled, Write};
use crate::scoring::Scoring;
use given_up::Telling;
use lag::Lag;
use lost::{Tracked, Watch};
use scoring::Behind;

pub use trace::{Happened, Ids, Trace, Unscored};
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
    /// Leases, and items of these partitions.
    Leased(BTreeSet<PartitionKey>),
    /// What the backlog is to be told of.
    Letters(Write),
    /// What it was told of.
    Told,
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
    scoring: Scoring,
    /// More waits than the scoring pool takes.
    behind: Behind,
    /// What leases brought and what is not brought to an end yet.
    tracked: BTreeMap<ExceptionId, Tracked>,
    watch: Watch,
    lag: Lag,
    telling: Telling,
    /// Partitions of which the disk did not take an item: after a crash they are handed out from their beginning.
    unsaved: BTreeSet<PartitionKey>,
    /// Exceptions this workstation cannot read; they are not taken again.
    unreadable: BTreeSet<ExceptionId>,
    settled: HashMap<ExceptionId, (u32, Ids)>,
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
    /// Letters that the disk did not take.
    unkept: Vec<Write>,
    settle_at_ms: u64,
    decision_times_ms: VecDeque<u32>,
    decided_at_ms: u64,
    notes: HashMap<ExceptionId, String>,
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
        let tracked = restored.deck.iter().map(|item| (item.id, Tracked::in_deck(item))).collect();
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
            scoring: Scoring::default(),
            behind: Behind::default(),
            tracked,
            watch: Watch::default(),
            lag: Lag::new(now.mono_ms),
            telling: Telling::new(now.mono_ms),
            unsaved: BTreeSet::new(),
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
            unkept: Vec::new(),
            settle_at_ms: now.mono_ms,
            decision_times_ms: VecDeque::new(),
            decided_at_ms: now.mono_ms,
            notes: HashMap::new(),
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
        if !matches!(event, Event::Tick) {
            self.watch.stir();
        }
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
            Event::GaveUp(letters, result) => self.gave_up(now, letters, result, &mut effects),
            Event::Journaled(token, result) => self.journaled(now, token, result, &mut effects),
            Event::Command(request, command) => self.command(now, request, command, &mut effects),
        }
        self.pump(now, &mut effects);
        effects
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
}

fn unknown_workstation(error: &BacklogError) -> bool {
    error.failure == Failure::Refused(Problem::UnknownWorkstation)
}
