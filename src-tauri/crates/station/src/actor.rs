//! The task that owns the engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use chrono::Utc;
use countersign_domain::id::WorkstationId;
use countersign_domain::seal::{Enrolment, Keys};
use countersign_domain::settings::Settings;
use countersign_engine::port::{Backlog, BacklogError, Failure, GivenUp, Hello, Journal, JournalError, Problem};
use countersign_engine::{CommandFailure, Effect, Engine, Event, Now, Reply, RequestId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::handle::{COMMANDS, Message, StationHandle, Versions};
use crate::journal_thread::{self, Job, WRITES};
use crate::records;
use crate::scoring::{Pool, Scorer};

/// How many answers may wait for the engine.
const EVENTS: usize = 1_024;

/// Keeps what was agreed at an enrolment. It may block.
pub type KeepEnrolment = Arc<dyn Fn(&Enrolment) -> Result<(), String> + Send + Sync>;

/// What a workstation is made of.
pub struct Parts<B> {
    /// The settings in force.
    pub settings: Settings,
    /// The opened journal.
    pub journal: Box<dyn Journal>,
    /// The way to the shared database.
    pub backlog: Arc<B>,
    /// The machine's name.
    pub machine: String,
    /// The application's version.
    pub app_version: String,
    /// The keys of this workstation.
    pub keys: Keys,
    /// Scores what was leased; [`scorer`](crate::scorer) outside of tests.
    pub scorer: Scorer,
    /// Keeps what was agreed at an enrolment, durably, or says why not.
    pub keep_enrolment: KeepEnrolment,
    /// Decides every random delay.
    pub seed: u64,
}

/// Starts a workstation on the current runtime. The join handle ends after the drain, when everything is durable.
pub fn start<B: Backlog + 'static>(
    mut parts: Parts<B>,
) -> Result<(StationHandle<B>, tokio::task::JoinHandle<()>), JournalError> {
    let restored = parts.journal.restore()?;
    let began = Instant::now();
    let now = Now { mono_ms: 0, wall: Utc::now() };
    let hello = Hello {
        workstation: restored.identity.workstation,
        name: parts.machine,
        app_version: parts.app_version,
        settings: serde_json::to_string(&parts.settings).expect("plain numbers always serialize"),
    };
    let (message_sender, messages) = mpsc::channel(COMMANDS);
    let (event_sender, events) = mpsc::channel(EVENTS);
    let (version_sender, versions) = watch::channel(Versions::default());
    let (job_sender, jobs) = mpsc::channel(WRITES);
    let thread = journal_thread::spawn(parts.journal, jobs, event_sender.clone()).map_err(|error| JournalError {
        operation: "start",
        fault: countersign_engine::port::JournalFault::Io,
        message: format!("the journal's thread could not be started: {error}"),
    })?;
    let actor = Actor {
        pool: Pool::start(&parts.settings, parts.scorer),
        engine: Engine::new(parts.settings, restored, parts.keys, parts.seed, now),
        backlog: parts.backlog,
        hello: Arc::new(hello),
        keep_enrolment: parts.keep_enrolment,
        began,
        events: event_sender,
        jobs: job_sender,
        versions: version_sender,
        replies: HashMap::new(),
        last_request: 0,
        done: false,
    };
    let task = tokio::spawn(actor.run(messages, events, thread));
    Ok((StationHandle { messages: message_sender, versions }, task))
}

struct Actor<B> {
    engine: Engine,
    backlog: Arc<B>,
    hello: Arc<Hello>,
    keep_enrolment: KeepEnrolment,
    pool: Pool,
    began: Instant,
    events: mpsc::Sender<Event>,
    jobs: mpsc::Sender<Job>,
    versions: watch::Sender<Versions>,
    replies: HashMap<RequestId, oneshot::Sender<Result<Reply, CommandFailure>>>,
    last_request: u64,
    done: bool,
}

impl<B: Backlog + 'static> Actor<B> {
    async fn run(
        mut self,
        mut messages: mpsc::Receiver<Message<B>>,
        mut events: mpsc::Receiver<Event>,
        thread: JoinHandle<()>,
    ) {
        self.step(Event::Tick).await;
        while !self.done {
            let now = self.now();
            let wakeup = self
                .engine
                .next_wakeup_ms(now)
                .map_or(Duration::from_hours(1), |at| Duration::from_millis(at.saturating_sub(now.mono_ms)));
            tokio::select! {
                Some(event) = events.recv() => self.step(event).await,
                scored = self.pool.done() => self.step(Event::Scored(scored)).await,
                message = messages.recv() => match message {
                    Some(message) => self.message(message).await,
                    // Every handle is gone: nobody can ask for a drain any more.
                    None => break,
                },
                () = tokio::time::sleep(wakeup) => self.step(Event::Tick).await,
            }
        }
        // The journal's thread ends when its last job is done.
        drop(self.jobs);
        drop(events);
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the journal's thread did not end well");
        }
    }

    fn now(&self) -> Now {
        let mono_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now { mono_ms, wall: Utc::now() }
    }

    async fn message(&mut self, message: Message<B>) {
        match message {
            Message::Command(command, reply) => {
                self.last_request += 1;
                let request = RequestId(self.last_request);
                self.replies.insert(request, reply);
                self.step(Event::Command(request, command)).await;
            }
            Message::Look(look) => look(&self.engine, self.now()),
            // Its sender goes with it, which tells whoever waits.
            Message::Keep(_) if self.engine.leaves_nothing() => {}
            Message::Use(work) | Message::Keep(work) => self.job(Job::Use(work)).await,
            Message::AskBacklog(reply) => {
                // Whoever asked may have gone.
                let _ = reply.send(self.backlog.clone());
            }
            Message::Backlog(backlog) => {
                self.backlog = backlog;
                self.last_request += 1;
                self.step(Event::Command(RequestId(self.last_request), countersign_engine::Command::RetryNow)).await;
            }
        }
    }

    async fn step(&mut self, event: Event) {
        for effect in self.engine.step(self.now(), event) {
            self.effect(effect).await;
        }
        let (deck, outbox, session) = self.engine.versions();
        let versions = Versions { deck, outbox, session, drained: self.done };
        self.versions.send_if_modified(|last| std::mem::replace(last, versions) != versions);
    }

    async fn job(&mut self, job: Job) {
        if self.jobs.send(job).await.is_err() {
            tracing::error!("the journal's thread is gone; closing");
            self.done = true;
        }
    }

    async fn effect(&mut self, effect: Effect) {
        let (backlog, hello) = (self.backlog.clone(), self.hello.clone());
        let (workstation, ttl_ms) = (self.engine.workstation(), self.engine.settings().lease_timeout_ms);
        match effect {
            Effect::Hello => self.call(async move { Event::Welcomed(backlog.hello(&hello).await) }),
            Effect::Enrol(key) => {
                let keep = self.keep_enrolment.clone();
                self.call(async move {
                    match backlog.enrol(workstation, key).await {
                        Ok(enrolment) => Event::Enrolled(keep_enrolment(keep, enrolment).await),
                        Err(error) => Event::Enrolled(Err(error)),
                    }
                });
            }
            Effect::HandOver(held, to) => {
                self.call(async move { Event::HandedOver(backlog.hand_over(workstation, &held, &to, ttl_ms).await) });
            }
            Effect::Lease(request) => {
                self.call(async move { Event::Leased(backlog.lease(workstation, &request).await) });
            }
            Effect::Renew(held, ttl_ms) => {
                self.call(async move { Event::Renewed(backlog.renew(workstation, &held, ttl_ms).await) });
            }
            Effect::Release(held) => {
                self.call(async move { Event::Released(backlog.release(workstation, &held).await) });
            }
            Effect::SignOff(sign_offs) => {
                self.call(async move { Event::SignedOff(backlog.sign_off(workstation, &sign_offs).await) });
            }
            Effect::Score(items, thresholds) => self.pool.take(items, thresholds),
            Effect::GiveUp(at_most) => self.give_up(backlog, workstation, at_most).await,
            Effect::Journal(token, write) => self.job(Job::Write(token, write)).await,
            Effect::Reply(request, reply) => {
                if let Some(waiting) = self.replies.remove(&request) {
                    // Whoever asked may have gone.
                    let _ = waiting.send(reply);
                }
            }
            Effect::Record(record) => records::write(&record),
            Effect::Trace(trace) => records::trace(&trace),
            Effect::Drained { cut_short } => {
                tracing::info!(event = "drained", cut_short);
                self.done = true;
            }
        }
    }

    /// Tells the backlog of what the journal holds of it.
    async fn give_up(&mut self, backlog: Arc<B>, workstation: WorkstationId, at_most: usize) {
        let (sender, receiver) = oneshot::channel();
        let read = Box::new(move |journal: &mut dyn Journal| {
            // After the drain nobody waits for it any more.
            let _ = sender.send(journal.untold(at_most));
        });
        self.job(Job::Use(read)).await;
        self.call(async move {
            let letters = match receiver.await {
                Ok(Ok(letters)) => letters,
                Ok(Err(error)) => return Event::GaveUp(Vec::new(), Err(unread(error.to_string()))),
                Err(_) => return Event::GaveUp(Vec::new(), Err(unread("the journal's thread is gone".to_owned()))),
            };
            let told = letters.iter().map(GivenUp::letter).collect::<Vec<_>>();
            let result = if letters.is_empty() { Ok(()) } else { backlog.give_up(workstation, &letters).await };
            Event::GaveUp(told, result)
        });
    }

    /// Runs beside the engine; what comes of it is an event.
    fn call(&self, call: impl Future<Output = Event> + Send + 'static) {
        let events = self.events.clone();
        tokio::spawn(async move {
            // After the drain nobody waits for answers any more.
            let _ = events.send(call.await).await;
        });
    }
}

/// What was agreed and cannot be kept is as good as not agreed.
async fn keep_enrolment(keep: KeepEnrolment, enrolment: Enrolment) -> Result<Enrolment, BacklogError> {
    let copy = enrolment.clone();
    let kept = tokio::task::spawn_blocking(move || keep(&copy)).await.unwrap_or_else(|error| Err(error.to_string()));
    kept.map(|()| enrolment).map_err(|reason| BacklogError {
        operation: "enrol",
        failure: Failure::Refused(Problem::NotEnrolled),
        message: format!("the keys of this workstation could not be kept: {reason}"),
    })
}

/// What cannot be read from the disk now may be later.
fn unread(message: String) -> BacklogError {
    BacklogError { operation: "give up", failure: Failure::Transient, message }
}
