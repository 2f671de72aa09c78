//! The scoring pool: two bounded lanes, and a fixed number of workers on the blocking pool, never on the event loop.
//!
//! `concurrency` workers have at most `scoring_prefetch` jobs each in hand. A small exception never waits behind a large one: light
//! ones go first, and large ones take at most as many jobs as leave one worker to the light lane (with one worker, one of its jobs
//! where it has more). What is done comes back at once, whatever came before it. A scorer that panics has failed with that exception
//! alone. Dropping the pool forgets what waits and whatever is still being scored: its leases go back, or stand in the journal.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use countersign_domain::code::FailureClass;
use countersign_domain::scoring::Thresholds;
use countersign_domain::settings::Settings;
use countersign_engine::port::{DeckItem, LeasedItem};
use countersign_engine::{HEAVY_LANE, Ids, LIGHT_LANE, Lane, Scored, Unscored, deck_item};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

/// Reads and scores one exception. It may take its time, and it may panic.
pub type Scorer = Arc<dyn Fn(&LeasedItem, &Thresholds) -> Result<DeckItem, Unscored> + Send + Sync>;

/// The scorer of this release.
pub fn scorer() -> Scorer {
    Arc::new(deck_item)
}

/// How many results come back in one event at the most; more of them gather only while the engine is busy.
const RESULTS: usize = LIGHT_LANE + HEAVY_LANE;

struct Job {
    leased: LeasedItem,
    thresholds: Arc<Thresholds>,
}

/// The pool. It ends when it is dropped.
pub(crate) struct Pool {
    light: mpsc::Sender<Job>,
    heavy: mpsc::Sender<Job>,
    results: mpsc::Receiver<Scored>,
    /// What no lane took.
    refused: Vec<Scored>,
    dispatcher: JoinHandle<()>,
}

impl Pool {
    /// Starts the workers on the current runtime.
    pub(crate) fn start(settings: &Settings, scorer: Scorer) -> Self {
        let (light, light_jobs) = mpsc::channel(LIGHT_LANE);
        let (heavy, heavy_jobs) = mpsc::channel(HEAVY_LANE);
        let (done, results) = mpsc::channel(RESULTS);
        let workers = Workers::new(settings.concurrency, settings.scoring_prefetch);
        let dispatcher = tokio::spawn(dispatch(light_jobs, heavy_jobs, workers, scorer, done));
        Self { light, heavy, results, refused: Vec::new(), dispatcher }
    }

    /// Takes these on, each in its lane. The engine hands over no more than the lanes take; what one does not take all the same has
    /// failed once.
    pub(crate) fn take(&mut self, items: Vec<LeasedItem>, thresholds: Thresholds) {
        let thresholds = Arc::new(thresholds);
        for leased in items {
            let lane = match Lane::of(&leased) {
                Lane::Light => &self.light,
                Lane::Heavy => &self.heavy,
            };
            if let Err(error) = lane.try_send(Job { leased, thresholds: thresholds.clone() }) {
                let reason = format!("the scoring pool did not take it: {error}");
                let (mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) = error;
                self.refused.push(failed(job.leased, 0, reason));
            }
        }
    }

    /// What is done, as soon as anything is. It may be cancelled, and loses nothing then.
    pub(crate) async fn done(&mut self) -> Vec<Scored> {
        if !self.refused.is_empty() {
            return std::mem::take(&mut self.refused);
        }
        let mut scored = Vec::new();
        if self.results.recv_many(&mut scored, RESULTS).await == 0 {
            // Nothing comes any more. The engine notices that by itself.
            std::future::pending::<()>().await;
        }
        scored
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.dispatcher.abort();
    }
}

/// Who has how much in hand.
#[derive(Debug)]
struct Workers {
    /// Jobs of each.
    busy: Vec<u32>,
    prefetch: u32,
    heavy: u32,
    heavy_bound: u32,
}

impl Workers {
    fn new(concurrency: u32, prefetch: u32) -> Self {
        let left_to_light = if concurrency > 1 { prefetch } else { 1 };
        let heavy_bound = (concurrency * prefetch).saturating_sub(left_to_light).max(1);
        Self { busy: vec![0; concurrency as usize], prefetch, heavy: 0, heavy_bound }
    }

    fn is_free(&self, lane: Lane) -> bool {
        self.busy.iter().any(|jobs| *jobs < self.prefetch) && (lane == Lane::Light || self.heavy < self.heavy_bound)
    }

    /// The least busy one takes a job.
    fn begin(&mut self, lane: Lane) -> usize {
        self.heavy += u32::from(lane == Lane::Heavy);
        let worker = (0..self.busy.len()).min_by_key(|worker| self.busy[*worker]).unwrap_or_default();
        self.busy[worker] += 1;
        worker
    }

    fn end(&mut self, worker: usize, lane: Lane) {
        self.heavy -= u32::from(lane == Lane::Heavy);
        self.busy[worker] -= 1;
    }
}

/// Gives jobs to workers that are free, and results back, until the pool is dropped.
async fn dispatch(
    mut light: mpsc::Receiver<Job>,
    mut heavy: mpsc::Receiver<Job>,
    mut workers: Workers,
    scorer: Scorer,
    done: mpsc::Sender<Scored>,
) {
    let mut running: JoinSet<(usize, Lane, Scored)> = JoinSet::new();
    loop {
        let job = tokio::select! {
            // In this order: what is done makes room, and light ones go first.
            biased;
            Some(ended) = running.join_next(), if !running.is_empty() => {
                match ended {
                    Ok((worker, lane, result)) => {
                        workers.end(worker, lane);
                        if done.send(result).await.is_err() {
                            return;
                        }
                    }
                    // A scorer's panic is caught where it happens: only a runtime that ends gets here.
                    Err(error) => tracing::error!(%error, "a scoring job ended without a result"),
                }
                continue;
            }
            job = light.recv(), if workers.is_free(Lane::Light) => job,
            job = heavy.recv(), if workers.is_free(Lane::Heavy) => job,
        };
        let Some(Job { leased, thresholds }) = job else { return };
        let lane = Lane::of(&leased);
        let worker = workers.begin(lane);
        let scorer = scorer.clone();
        running.spawn_blocking(move || (worker, lane, score(&scorer, leased, worker, &thresholds)));
    }
}

fn score(scorer: &Scorer, leased: LeasedItem, worker: usize, thresholds: &Thresholds) -> Scored {
    let worker = u32::try_from(worker).unwrap_or(u32::MAX);
    match catch_unwind(AssertUnwindSafe(|| scorer(&leased, thresholds))) {
        Ok(result) => Scored { leased, worker, result },
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            failed(leased, worker, format!("the scorer fell over: {}", said.unwrap_or("it did not say why")))
        }
    }
}

/// One failed attempt, which may go well the next time.
fn failed(leased: LeasedItem, worker: u32, reason: String) -> Scored {
    let ids = Ids::read(&leased.body);
    Scored { leased, worker, result: Err(Unscored { class: FailureClass::Transient, reason, ids }) }
}

#[cfg(test)]
mod tests;
