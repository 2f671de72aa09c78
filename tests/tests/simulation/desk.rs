//! One workstation whose every call is answered at once, at a time that the test says.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use chrono::{DateTime, TimeDelta, Utc};
use countersign_domain::hash;
use countersign_domain::id::{BatchId, WorkstationId};
use countersign_domain::scoring::Thresholds;
use countersign_domain::settings::Settings;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{
    BacklogError, DeckItem, Failure, GivenUp, Journal as _, LeaseRequest, LeasedItem, Welcome,
};
use countersign_engine::{
    Command, CommandFailure, Effect, Engine, Event, Now, Reply, RequestId, Scored, Trace, Unscored, deck_item,
};
use countersign_testkit::enrolment::{enrolled, keys_of, standing_of};
use countersign_testkit::generate::Arrival;
use countersign_testkit::sim::{Database, MemoryJournal};
use uuid::Uuid;

const WORKSTATION: WorkstationId = WorkstationId(Uuid::from_u128(7));
const REVIEWER: &str = "alice";

/// Scores an exception, or never comes back.
pub(crate) type Scorer = Box<dyn FnMut(&LeasedItem, &Thresholds) -> Option<Result<DeckItem, Unscored>>>;

/// The workstation, its disk, its database and its clock.
pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) journal: MemoryJournal,
    pub(crate) database: Database,
    pub(crate) online: bool,
    /// How long each renewal asked for.
    pub(crate) renewals_ms: Vec<u32>,
    /// How many calls of decisions went out.
    pub(crate) sent: usize,
    /// What the scoring pool makes of an exception; `None` never comes back.
    pub(crate) scorer: Scorer,
    /// Records of single exceptions, in their order.
    pub(crate) traces: Vec<Trace>,
    /// The database forgets how far it handed out what is held, once.
    pub(crate) anew: bool,
    /// How many lease calls went out.
    pub(crate) leases: usize,
    /// The time, for scorers to look at.
    pub(crate) clock: Rc<Cell<u64>>,
    settings: Settings,
    now_ms: u64,
    born_ms: u64,
    requests: u64,
    batches: u128,
}

impl Desk {
    /// Online, with an empty backlog.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let journal = MemoryJournal::new(WORKSTATION);
        let mut settings = Settings {
            queue_maxsize: 40,
            lease_prefetch: 20,
            lease_timeout_ms: 120_000,
            undo_window_ms: 0,
            ..Settings::default()
        };
        change(&mut settings);
        let mut desk = Self {
            engine: engine(&journal, &settings, 0),
            journal,
            database: Database::default(),
            online: true,
            renewals_ms: Vec::new(),
            sent: 0,
            scorer: Box::new(|leased, thresholds| Some(deck_item(leased, thresholds))),
            traces: Vec::new(),
            anew: false,
            leases: 0,
            clock: Rc::default(),
            settings,
            now_ms: 0,
            born_ms: 0,
            requests: 0,
            batches: 0,
        };
        desk.run(Event::Tick);
        desk
    }

    /// Takes in so many exceptions of one partition, whose variances grow, and waits until all that is wanted is here.
    pub(crate) fn arrive(&mut self, partition: &str, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let cents = i64::try_from(number).expect("few") * 100;
            self.database.enqueue(&Arrival { cents, ..Arrival::new(number, partition) }.body());
        }
        self.settle();
    }

    /// Lets time go by until nothing more is asked for by itself within a minute.
    pub(crate) fn settle(&mut self) {
        for _ in 0..30 {
            self.wait(2_000);
        }
    }

    pub(crate) fn wait(&mut self, by_ms: u64) {
        self.now_ms += by_ms;
        self.clock.set(self.now_ms);
        self.run(Event::Tick);
    }

    /// Ends the program as a crash does, and starts it again.
    pub(crate) fn crash(&mut self) {
        self.born_ms = self.now_ms;
        self.engine = engine(&self.journal, &self.settings, self.now_ms);
        self.run(Event::Tick);
    }

    pub(crate) fn ask(&mut self, command: Command) -> Result<Reply, CommandFailure> {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.run(Event::Command(request, command)).expect("every command is replied to")
    }

    /// Something comes back that was under way.
    pub(crate) fn take(&mut self, event: Event) {
        self.run(event);
    }

    pub(crate) fn deck(&self) -> Vec<DeckItem> {
        self.engine.deck().map(|(slot, _)| slot.item.clone()).collect()
    }

    /// The entities of the deck, one for each of its exceptions.
    pub(crate) fn entities(&self) -> Vec<String> {
        let mut entities: Vec<String> = self.deck().into_iter().map(|item| item.entity).collect();
        entities.sort();
        entities
    }

    pub(crate) fn approve(&mut self, items: &[DeckItem]) -> BatchId {
        self.decide(items, Decision::Approve)
    }

    pub(crate) fn decide(&mut self, items: &[DeckItem], decided: Decision) -> BatchId {
        let (batch, mut command) = self.confirmation(items, 1);
        if let Command::Sign { decision, reason, .. } = &mut command {
            *decision = decided;
            *reason = (decided == Decision::Reject).then(|| "OTHER".to_owned());
        }
        assert_eq!(self.ask(command), Ok(Reply::Signed { count: items.len() }));
        batch
    }

    /// Somebody else leases all there is.
    pub(crate) fn colleague_claims(&mut self) {
        let request =
            LeaseRequest { want: 100, room: 100, empty: true, ttl_ms: 3_600_000, held: Vec::new(), focus: None };
        self.database.lease(self.now_ms, WorkstationId(Uuid::from_u128(8)), "bob", &request);
    }

    pub(crate) fn confirmation(&mut self, items: &[DeckItem], policy_version: u32) -> (BatchId, Command) {
        self.batches += 1;
        let batch = BatchId(Uuid::from_u128(self.batches));
        let command = Command::Sign {
            batch,
            ids: items.iter().map(|item| item.id).collect(),
            decision: Decision::Approve,
            reason: None,
            comment: None,
            hash_total: hash::hash_total(items.iter().map(|item| (item.key.as_str(), item.content))),
            policy_version,
            figures: BTreeMap::new(),
        };
        (batch, command)
    }

    pub(crate) fn now(&self) -> Now {
        Now { mono_ms: self.now_ms - self.born_ms, wall: wall(self.now_ms) }
    }

    /// Takes an event and everything that follows from it; the reply to a command, if there was one.
    fn run(&mut self, event: Event) -> Option<Result<Reply, CommandFailure>> {
        let (mut events, mut reply) = (VecDeque::from([event]), None);
        while let Some(event) = events.pop_front() {
            for effect in self.engine.step(self.now(), event) {
                match effect {
                    Effect::Reply(_, answer) => reply = Some(answer),
                    effect => events.extend(self.answer(effect)),
                }
            }
            assert_eq!(self.engine.lost_tasks(), Vec::<String>::new());
        }
        reply
    }

    fn answer(&mut self, effect: Effect) -> Option<Event> {
        let offline =
            || BacklogError { operation: "call", failure: Failure::Offline, message: "the cable is out".to_owned() };
        let (now_ms, database) = (self.now_ms, &mut self.database);
        let event = match effect {
            Effect::Score(items, thresholds) => {
                let mut scored = Vec::new();
                for leased in items {
                    if let Some(result) = (self.scorer)(&leased, &thresholds) {
                        scored.push(Scored { result, worker: 0, leased });
                    }
                }
                Event::Scored(scored)
            }
            Effect::Trace(trace) => {
                self.traces.push(trace);
                return None;
            }
            Effect::GiveUp(at_most) => {
                let letters = self.journal.untold(at_most).expect("reading a simulated disk never fails");
                let told: Vec<_> = letters.iter().map(GivenUp::letter).collect();
                if self.online || letters.is_empty() {
                    self.database.give_up(&letters);
                    Event::GaveUp(told, Ok(()))
                } else {
                    Event::GaveUp(told, Err(offline()))
                }
            }
            Effect::Journal(token, write) => Event::Journaled(token, self.journal.write(&write)),
            Effect::Hello if self.online => Event::Welcomed(Ok(Welcome {
                installation: Uuid::from_u128(1),
                reviewer: REVIEWER.to_owned(),
                display_name: REVIEWER.to_owned(),
                server_now: wall(now_ms),
                enrolment: Some(enrolled(WORKSTATION)),
                standing: Box::new(standing_of(REVIEWER, wall(now_ms))),
            })),
            Effect::Hello => Event::Welcomed(Err(offline())),
            Effect::Lease(mut request) => {
                self.leases += 1;
                if std::mem::take(&mut self.anew) {
                    request.held.clear();
                }
                let online = self.online;
                Event::Leased(if online {
                    Ok(database.lease(now_ms, WORKSTATION, REVIEWER, &request))
                } else {
                    Err(offline())
                })
            }
            Effect::Renew(held, ttl_ms) => {
                self.renewals_ms.push(ttl_ms);
                let online = self.online;
                Event::Renewed(if online {
                    Ok(database.renew(now_ms, WORKSTATION, REVIEWER, &held, ttl_ms))
                } else {
                    Err(offline())
                })
            }
            Effect::Release(held) => Event::Released(if self.online {
                database.release(WORKSTATION, REVIEWER, &held);
                Ok(())
            } else {
                Err(offline())
            }),
            Effect::SignOff(sign_offs) => {
                self.sent += 1;
                Event::SignedOff(if self.online {
                    Ok(database.sign_off(wall(now_ms), WORKSTATION, REVIEWER, &sign_offs))
                } else {
                    Err(offline())
                })
            }
            Effect::Record(_) | Effect::Drained { .. } | Effect::Reply(..) => return None,
            Effect::Enrol(_) | Effect::HandOver(..) => unreachable!("no test here asks for it"),
        };
        Some(event)
    }
}

fn engine(journal: &MemoryJournal, settings: &Settings, now_ms: u64) -> Engine {
    let restored = journal.clone().restore().expect("reading a simulated disk never fails");
    Engine::new(settings.clone(), restored, keys_of(WORKSTATION), 7, Now { mono_ms: 0, wall: wall(now_ms) })
}

fn wall(now_ms: u64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds(i64::try_from(now_ms).expect("a short day"))
}
