//! Workstations, people, a network and a clock: a day as a sequence of events in the order of their time.

mod check;
mod people;
mod pipeline;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use chrono::{DateTime, Utc};
use countersign_domain::exception::Kind;
use countersign_domain::id::{BatchId, SignOffKey, WorkstationId};
use countersign_domain::settings::Settings;
use countersign_engine::port::{BacklogError, Failure, Journal, Welcome, Write};
use countersign_engine::{Effect, Engine, Event, Now, RequestId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use super::database::Database;
use super::journal::MemoryJournal;
use crate::enrolment::{enrolled, keys_of, standing_of};
use crate::generate::Arrival;

/// How long people work and things break, then how long the world has to heal.
const WORK_MS: u64 = 4 * 3_600_000;
const HEAL_MS: u64 = 2 * 3_600_000;
/// Exceptions arrive in so many portions over the day.
const ARRIVALS: u64 = 50;
/// A day with more events than this runs away.
const EVENTS: u64 = 3_000_000;

/// What a day is like.
#[derive(Debug, Clone)]
pub struct Day {
    /// Decides everything else.
    pub seed: u64,
    /// Workstations, each with a reviewer of its own.
    pub workstations: usize,
    /// Exceptions.
    pub exceptions: u64,
    /// Partitions they are in.
    pub partitions: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DayReport {
    /// Decisions that were durable when the window said "signed", and were not withdrawn.
    pub signed: usize,
    /// Accepted by the database.
    pub accepted: usize,
    /// Refused by the database.
    pub refused: usize,
    /// Answers of DUPLICATE.
    pub duplicates: usize,
    /// Crashes of workstations.
    pub crashes: usize,
    /// Calls whose request or answer was lost.
    pub lost_calls: usize,
    /// Corrections from upstream.
    pub corrections: usize,
    /// Decisions withdrawn, within the undo window and after it.
    pub withdrawn: usize,
    /// Of these, how many after it.
    pub cancelled: usize,
    /// Changes of a focus.
    pub focused: usize,
    /// Leases that an extension made longer.
    pub extended: usize,
    /// Refused exceptions that were in the deck with their note, and still were after a crash.
    pub returned: usize,
    /// Attempts to score that failed and were made again.
    pub retried: usize,
    /// Exceptions that no attempt scored.
    pub given_up: usize,
    /// Exceptions handed out again although they were decided.
    pub redelivered: usize,
}

#[derive(Debug)]
enum What {
    /// An event for the engine of this life of the workstation.
    Engine(usize, u32, Box<Event>),
    /// The timer of this life.
    Wakeup(usize, u32),
    /// The person looks at the deck.
    Person(usize),
    Crash(usize),
    Outage(usize, bool),
    DiskFull(usize, bool),
    Correction,
    Arrivals,
    /// What people may sign changes.
    Limit,
}

struct Station {
    engine: Engine,
    journal: MemoryJournal,
    reviewer: String,
    life: u32,
    born_ms: u64,
    wakeup_ms: Option<u64>,
    disk_free_ms: u64,
    online: bool,
    lossy: bool,
    last_request: u64,
    signing: BTreeMap<RequestId, BatchId>,
    cancelling: BTreeSet<RequestId>,
    batches: Vec<BatchId>,
}

struct World {
    day: Day,
    random: ChaCha8Rng,
    now_ms: u64,
    order: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, What>,
    database: Database,
    stations: Vec<Station>,
    revisions: BTreeMap<u64, u32>,
    arrived: u64,
    crash_ms: u64,
    promised: BTreeSet<SignOffKey>,
    /// Decisions that were withdrawn: the database has not seen them, and never does.
    withdrawn: BTreeSet<(SignOffKey, DateTime<Utc>)>,
    sent_although_withdrawn: bool,
    report: DayReport,
    healing: bool,
}

/// Runs a day. `Err` names the invariant that broke, with the seed that replays it.
pub fn run_day(day: &Day) -> Result<DayReport, String> {
    let mut world = World::new(day.clone());
    let mut steps = 0;
    let end = WORK_MS + HEAL_MS;
    while let Some(Reverse((at, order))) = world.queue.pop() {
        if at > end {
            break;
        }
        steps += 1;
        if steps > EVENTS {
            return Err(format!(
                "seed {}: more than {EVENTS} events in a day; something runs in a circle at {} ms",
                day.seed, world.now_ms
            ));
        }
        if at >= WORK_MS && !world.healing {
            world.heal(at);
        }
        world.now_ms = at;
        let what = world.events.remove(&order).expect("queued with its event");
        world.happen(what)?;
    }
    world.check()
}

impl World {
    fn new(day: Day) -> Self {
        let mut world = Self {
            random: ChaCha8Rng::seed_from_u64(day.seed),
            now_ms: 0,
            order: 0,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            database: Database::default(),
            stations: Vec::new(),
            revisions: BTreeMap::new(),
            arrived: 0,
            crash_ms: 0,
            promised: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            sent_although_withdrawn: false,
            report: DayReport::default(),
            healing: false,
            day,
        };
        // On half of the days some exceptions need two people.
        if world.random.random_range(0..2) == 0 {
            world.database.two_from = Some(rust_decimal::Decimal::from(10));
        }
        world.at(0, What::Arrivals);
        // On some days workstations crash all the time, on others never: a crash heals what a workstation has forgotten.
        let crash_ms = [600_000, 3_600_000, u64::MAX / 4][world.random.random_range(0..3)];
        world.crash_ms = crash_ms;
        for index in 0..world.day.workstations {
            let journal = MemoryJournal::new(WorkstationId(Uuid::from_u128(1_000 + index as u128)));
            let engine = world.engine(&journal);
            world.stations.push(Station {
                engine,
                journal,
                reviewer: format!("reviewer-{index}"),
                life: 0,
                born_ms: 0,
                wakeup_ms: None,
                disk_free_ms: 0,
                online: true,
                lossy: true,
                last_request: 0,
                signing: BTreeMap::new(),
                cancelling: BTreeSet::new(),
                batches: Vec::new(),
            });
            world.at(1, What::Wakeup(index, 0));
            world.at(1_000, What::Person(index));
            for (mean_ms, what) in [
                (crash_ms, What::Crash(index)),
                (900_000, What::Outage(index, true)),
                (2_700_000, What::DiskFull(index, true)),
            ] {
                let first = world.random.random_range(0..mean_ms * 2);
                world.at(first, what);
            }
        }
        world.at(600_000, What::Correction);
        world.at(900_000, What::Limit);
        world
    }

    fn engine(&mut self, journal: &MemoryJournal) -> Engine {
        let settings = Settings {
            queue_maxsize: 40,
            lease_prefetch: 20,
            lease_timeout_ms: 120_000,
            commit_batch: self.random.random_range(1..=30),
            ..Settings::default()
        };
        let restored = journal.clone().restore().expect("reading a simulated disk never fails");
        let seed = self.random.random();
        let keys = keys_of(restored.identity.workstation);
        Engine::new(settings, restored, keys, seed, Now { mono_ms: 0, wall: self.wall() })
    }

    fn arrival(&self, number: u64) -> (u64, String) {
        let partition = format!("partition-{}", number % self.day.partitions);
        let preparers = [format!("reviewer-{}", number % 7), "somebody".to_owned()];
        // A fifth of the partitions hold groups of three.
        let group = (number % self.day.partitions)
            .is_multiple_of(5)
            .then(|| format!("group-{}", number / self.day.partitions / 3));
        let mut arrival = Arrival::new(number, &partition);
        let prepared_by: Vec<&str> =
            if number.is_multiple_of(4) { preparers.iter().map(String::as_str).collect() } else { vec!["somebody"] };
        arrival.prepared_by = &prepared_by;
        arrival.group = group.as_deref();
        arrival.kind = match number % 7 {
            _ if group.is_some() => Kind::Receipt,
            1 | 4 => Kind::SalesClaim,
            2 => Kind::Receipt,
            _ => Kind::ReconBreak,
        };
        arrival.revision = self.revisions.get(&number).copied().unwrap_or(1);
        (number, arrival.body())
    }

    fn wall(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_790_000_000_000 + i64::try_from(self.now_ms).unwrap_or(0)).unwrap_or_default()
    }

    fn now_of(&self, index: usize) -> Now {
        Now { mono_ms: self.now_ms - self.stations[index].born_ms, wall: self.wall() }
    }

    fn at(&mut self, in_ms: u64, what: What) {
        self.order += 1;
        self.events.insert(self.order, what);
        self.queue.push(Reverse((self.now_ms + in_ms, self.order)));
    }

    fn heal(&mut self, at: u64) {
        self.healing = true;
        self.now_ms = at;
        for index in 0..self.stations.len() {
            self.stations[index].lossy = false;
            self.stations[index].online = true;
            self.stations[index].journal.set_full(false);
        }
    }

    fn happen(&mut self, what: What) -> Result<(), String> {
        match what {
            What::Engine(index, life, event) if life == self.stations[index].life => self.step(index, *event),
            What::Wakeup(index, life)
                if life == self.stations[index].life
                    && self.stations[index].wakeup_ms.is_none_or(|at| at <= self.now_ms) =>
            {
                self.stations[index].wakeup_ms = None;
                self.step(index, Event::Tick)
            }
            What::Engine(..) | What::Wakeup(..) => Ok(()),
            What::Person(index) => self.person(index),
            What::Crash(_) | What::Outage(_, true) | What::DiskFull(_, true) | What::Correction if self.healing => {
                Ok(())
            }
            What::Crash(index) => {
                self.report.crashes += 1;
                let engine = self.engine(&self.stations[index].journal.clone());
                self.stays_refused(index, &engine)?;
                let station = &mut self.stations[index];
                station.engine = engine;
                station.life += 1;
                station.born_ms = self.now_ms;
                station.wakeup_ms = None;
                station.signing.clear();
                let life = station.life;
                self.at(0, What::Wakeup(index, life));
                let next = self.random.random_range(60_000..self.crash_ms * 2);
                self.at(next, What::Crash(index));
                Ok(())
            }
            What::Outage(index, begins) => {
                self.stations[index].online = !begins;
                let next = self.random.random_range(1_000..if begins { 400_000 } else { 1_800_000 });
                self.at(next, What::Outage(index, !begins));
                Ok(())
            }
            What::DiskFull(index, begins) => {
                self.stations[index].journal.set_full(begins);
                let next = self.random.random_range(1_000..if begins { 60_000 } else { 3_600_000 });
                self.at(next, What::DiskFull(index, !begins));
                Ok(())
            }
            What::Arrivals => {
                let until = (self.arrived + self.day.exceptions.div_ceil(ARRIVALS)).min(self.day.exceptions);
                for number in self.arrived..until {
                    let body = self.arrival(number).1;
                    self.database.enqueue(&body);
                }
                self.arrived = until;
                if until < self.day.exceptions {
                    self.at(WORK_MS / ARRIVALS, What::Arrivals);
                }
                Ok(())
            }
            What::Limit => {
                let most = (!self.healing).then(|| self.random.random_range(1..60));
                self.database.largest = most.filter(|most| *most < 40).map(rust_decimal::Decimal::from);
                let next = self.random.random_range(300_000..1_500_000);
                self.at(next, What::Limit);
                Ok(())
            }
            What::Correction => {
                let number = self.random.random_range(0..self.arrived.max(1));
                *self.revisions.entry(number).or_insert(1) += 1;
                let body = self.arrival(number).1;
                if self.database.enqueue(&body) == "CORRECTED" {
                    self.report.corrections += 1;
                }
                self.at(300_000, What::Correction);
                Ok(())
            }
        }
    }

    /// What came back refused is in the deck of the next start with its note, as far as it is on the disk.
    fn stays_refused(&mut self, index: usize, next: &Engine) -> Result<(), String> {
        let refused = |note: &Option<String>| note.as_ref().is_some_and(|note| note.starts_with("Refused"));
        for (slot, _) in self.stations[index].engine.deck().filter(|(slot, _)| refused(&slot.item.note)) {
            match next.deck_item(slot.item.id).filter(|item| item.content == slot.item.content) {
                Some(item) if item.note != slot.item.note => {
                    return Err(format!(
                        "seed {}: {} is back after a crash with {:?} for {:?}",
                        self.day.seed, item.key, item.note, slot.item.note
                    ));
                }
                Some(_) => self.report.returned += 1,
                None => {}
            }
        }
        Ok(())
    }

    fn step(&mut self, index: usize, event: Event) -> Result<(), String> {
        let now = self.now_of(index);
        let effects = self.stations[index].engine.step(now, event);
        for effect in effects {
            self.effect(index, effect);
        }
        if self.sent_although_withdrawn {
            return Err(format!("seed {}: a decision was withdrawn that the database saw", self.day.seed));
        }
        let defects = self.stations[index].engine.lost_tasks();
        if let Some(defect) = defects.first() {
            return Err(format!(
                "seed {}: LOST_TASK at {} ms on workstation {index}: {defect}",
                self.day.seed, self.now_ms
            ));
        }
        let station = &self.stations[index];
        // What is refused comes back whatever else has come meanwhile.
        let returned = station.engine.deck().filter(|(slot, _)| slot.item.note.is_some()).count();
        let bound = station.engine.settings().queue_maxsize as usize + 3 + returned;
        if station.engine.deck().count() > bound {
            return Err(format!("seed {}: the deck of workstation {index} is over its bound", self.day.seed));
        }
        if let Some(at) = station.engine.next_wakeup_ms(now) {
            let (at, life) = (station.born_ms + at, station.life);
            if station.wakeup_ms.is_none_or(|set| at < set) {
                self.stations[index].wakeup_ms = Some(at);
                self.at(at - self.now_ms, What::Wakeup(index, life));
            }
        }
        Ok(())
    }

    fn effect(&mut self, index: usize, effect: Effect) {
        let life = self.stations[index].life;
        match effect {
            Effect::Score(items, thresholds) => self.score(index, life, items, &thresholds),
            Effect::Trace(trace) => self.report.note(&trace),
            Effect::GiveUp(at_most) => {
                let letters =
                    self.stations[index].journal.untold(at_most).expect("reading a simulated disk never fails");
                self.give_up(index, &letters);
            }
            Effect::Journal(token, write) => {
                let decisions = self.withdrawn_by(index, &write);
                let result = self.stations[index].journal.write(&write);
                if result.is_ok() {
                    self.note_withdrawn(decisions);
                }
                // One after the other, as a disk does; what is durable may still be lost on its way to the engine.
                let free_ms = self.stations[index].disk_free_ms.max(self.now_ms) + self.random.random_range(1..100);
                self.stations[index].disk_free_ms = free_ms;
                self.at(free_ms - self.now_ms, What::Engine(index, life, Box::new(Event::Journaled(token, result))));
            }
            Effect::Reply(request, reply) => self.replied(index, request, &reply),
            Effect::Record(record) => {
                self.report.refused += usize::from(record.event == "refused");
                self.report.duplicates += usize::from(record.event == "duplicate_skipped");
            }
            Effect::Drained { .. } => {}
            Effect::Hello
            | Effect::Enrol(_)
            | Effect::Lease(_)
            | Effect::Renew(..)
            | Effect::Release(_)
            | Effect::HandOver(..)
            | Effect::SignOff(_) => {
                self.call(index, effect);
            }
        }
    }

    /// The decisions that a change of the journal withdraws.
    fn withdrawn_by(&self, index: usize, write: &Write) -> Vec<(SignOffKey, DateTime<Utc>)> {
        let Write::Withdrawn(keys) = write else { return Vec::new() };
        let entries = self.stations[index].journal.entries();
        let decisions = entries.iter().map(|entry| (entry.sign_off.key, entry.sign_off.decided_at));
        decisions.filter(|(key, _)| keys.contains(key)).collect()
    }

    fn note_withdrawn(&mut self, decisions: Vec<(SignOffKey, DateTime<Utc>)>) {
        self.report.withdrawn += decisions.len();
        self.sent_although_withdrawn |= decisions.iter().any(|(key, at)| self.database.has_received(*key, *at));
        self.withdrawn.extend(decisions);
    }

    /// A call to the database: it, or its answer, may get lost, and either way the workstation cannot tell.
    fn call(&mut self, index: usize, effect: Effect) {
        let lossy = self.stations[index].lossy;
        let request_lost = !self.stations[index].online || (lossy && self.random.random_range(0..40) == 0);
        let answer_lost = lossy && self.random.random_range(0..40) == 0;
        let busy = lossy && self.random.random_range(0..40) == 0;
        let error = |failure| BacklogError { operation: "call", failure, message: "simulated".to_owned() };
        let failed = (request_lost || answer_lost)
            .then(|| error(Failure::Offline))
            .or_else(|| busy.then(|| error(Failure::Transient)));
        if request_lost || answer_lost {
            self.report.lost_calls += 1;
        }
        // What did not arrive, and what the server was too busy for, did not happen.
        let happened = !request_lost && (answer_lost || !busy);
        let (now_ms, wall, reviewer) = (self.now_ms, self.wall(), self.stations[index].reviewer.clone());
        let workstation = self.stations[index].engine.workstation();
        let ttl_ms = self.stations[index].engine.settings().lease_timeout_ms;
        let database = &mut self.database;
        macro_rules! answered {
            ($event:path, $result:expr) => {{
                let result = if happened { Some($result) } else { None };
                match failed {
                    Some(error) => $event(Err(error)),
                    None => $event(Ok(result.expect("a call that did not fail happened"))),
                }
            }};
        }
        let event = match effect {
            Effect::Lease(request) => {
                answered!(Event::Leased, database.lease(now_ms, workstation, &reviewer, &request))
            }
            Effect::Renew(held, ttl_ms) => {
                answered!(Event::Renewed, database.renew(now_ms, workstation, &reviewer, &held, ttl_ms))
            }
            Effect::Release(held) => answered!(Event::Released, database.release(workstation, &reviewer, &held)),
            Effect::SignOff(sign_offs) => {
                if happened {
                    self.sent_although_withdrawn |=
                        sign_offs.iter().any(|sent| self.withdrawn.contains(&(sent.key, sent.decided_at)));
                }
                answered!(Event::SignedOff, database.sign_off(wall, workstation, &reviewer, &sign_offs))
            }
            Effect::HandOver(held, to) => {
                answered!(Event::HandedOver, database.hand_over(now_ms, workstation, &reviewer, &held, &to, ttl_ms))
            }
            Effect::Enrol(_) => {
                answered!(Event::Enrolled, keys_of(workstation).enrolment().expect("they are enrolled").clone())
            }
            _ => answered!(
                Event::Welcomed,
                Welcome {
                    installation: Uuid::from_u128(1),
                    reviewer: reviewer.clone(),
                    display_name: reviewer.clone(),
                    server_now: wall,
                    enrolment: Some(enrolled(workstation)),
                    standing: Box::new(standing_of(&reviewer, wall)),
                }
            ),
        };
        let life = self.stations[index].life;
        let takes = self.random.random_range(1..if self.stations[index].online { 200 } else { 30_000 });
        self.at(takes, What::Engine(index, life, Box::new(event)));
    }
}
