use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use countersign_domain::hash;
use countersign_domain::id::{Epoch, ExceptionId, PartitionKey, Seq};
use countersign_engine::HEAVY_BYTES;
use tokio::time::timeout;

use super::*;

/// What a scorer that can be held is doing.
#[derive(Default)]
struct Doing {
    /// Being scored now.
    now: BTreeSet<i64>,
    /// As many as there ever were at once.
    most: usize,
    /// In the order in which they began.
    began: Vec<i64>,
    /// These may end; all may, with `open`.
    released: BTreeSet<i64>,
    open: bool,
}

/// A scorer that holds each exception until the test lets it go.
#[derive(Default)]
struct Held {
    doing: Mutex<Doing>,
    changed: Condvar,
}

impl Held {
    fn scorer(self: &Arc<Self>) -> Scorer {
        let held = self.clone();
        Arc::new(move |leased, _| {
            let id = leased.id.0;
            let mut doing = held.doing.lock().expect("no scorer panics here");
            doing.now.insert(id);
            doing.began.push(id);
            doing.most = doing.most.max(doing.now.len());
            held.changed.notify_all();
            let mut doing = held
                .changed
                .wait_while(doing, |doing| !doing.open && !doing.released.contains(&id))
                .expect("no scorer panics here");
            doing.now.remove(&id);
            drop(doing);
            held.changed.notify_all();
            Err(Unscored { class: FailureClass::Structural, reason: String::new(), ids: None })
        })
    }

    fn release(&self, id: Option<i64>) {
        let mut doing = self.doing.lock().expect("no scorer panics here");
        doing.open |= id.is_none();
        doing.released.extend(id);
        drop(doing);
        self.changed.notify_all();
    }

    /// Waits until what is being scored looks a certain way.
    async fn until(self: &Arc<Self>, what: &str, mut seen: impl FnMut(&Doing) -> bool + Send + 'static) {
        let held = self.clone();
        let waiting = tokio::task::spawn_blocking(move || {
            let doing = held.doing.lock().expect("no scorer panics here");
            let (_doing, waited) = held
                .changed
                .wait_timeout_while(doing, Duration::from_secs(20), |doing| !seen(doing))
                .expect("no scorer panics here");
            assert!(!waited.timed_out());
        });
        waiting.await.unwrap_or_else(|_| panic!("it never comes to this: {what}"));
    }
}

fn leased(id: i64, bytes: usize) -> LeasedItem {
    let body = "x".repeat(bytes);
    LeasedItem {
        id: ExceptionId(id),
        partition: PartitionKey("p".to_owned()),
        epoch: Epoch(1),
        seq: Seq(id),
        version: 1,
        content: hash::content_hash(&body),
        body,
        signatures: 0,
        due_on: None,
    }
}

fn light(ids: std::ops::Range<i64>) -> Vec<LeasedItem> {
    ids.map(|id| leased(id, 10)).collect()
}

fn heavy(ids: std::ops::Range<i64>) -> Vec<LeasedItem> {
    ids.map(|id| leased(id, HEAVY_BYTES)).collect()
}

fn settings(concurrency: u32, scoring_prefetch: u32) -> Settings {
    Settings { concurrency, scoring_prefetch, ..Settings::default() }
}

/// Waits for so many results.
async fn results(pool: &mut Pool, count: usize) -> Vec<Scored> {
    let mut scored = Vec::new();
    while scored.len() < count {
        let some = timeout(Duration::from_secs(20), pool.done()).await;
        scored.extend(some.unwrap_or_else(|_| panic!("{} of {count} results came", scored.len())));
    }
    scored
}

fn ids(scored: &[Scored]) -> BTreeSet<i64> {
    scored.iter().map(|scored| scored.leased.id.0).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_are_scored_at_once_as_workers_times_their_jobs_and_never_more() {
    for (concurrency, prefetch) in [(1, 1), (2, 1), (4, 1), (3, 4), (1, 8)] {
        let held = Arc::new(Held::default());
        let mut pool = Pool::start(&settings(concurrency, prefetch), held.scorer());
        pool.take(light(0..60), Thresholds::default());
        let slots = (concurrency * prefetch) as usize;
        held.until("every slot is taken", move |doing| doing.now.len() == slots).await;
        // One at a time goes on, and the next one begins in its place.
        let first = *held.doing.lock().expect("no scorer panics here").began.first().expect("some began");
        held.release(Some(first));
        held.until("the next one began", move |doing| doing.began.len() == slots + 1).await;
        held.release(None);
        let scored = results(&mut pool, 60).await;
        assert_eq!(ids(&scored), (0..60).collect());
        let workers: BTreeSet<u32> = scored.iter().map(|scored| scored.worker).collect();
        assert_eq!(workers, (0..concurrency).collect(), "every worker had some");
        assert_eq!(held.doing.lock().expect("no scorer panics here").most, slots, "{concurrency} × {prefetch}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_ones_pass_large_ones_and_come_back_first() {
    for (concurrency, prefetch, large_at_once) in [(2, 1, 1), (4, 1, 3), (2, 3, 3), (1, 2, 1)] {
        let held = Arc::new(Held::default());
        let mut pool = Pool::start(&settings(concurrency, prefetch), held.scorer());
        pool.take(heavy(100..108), Thresholds::default());
        held.until("large ones take all they may", move |doing| doing.now.len() == large_at_once).await;
        for id in 0..20 {
            held.release(Some(id));
        }
        pool.take(light(0..20), Thresholds::default());
        let scored = results(&mut pool, 20).await;
        assert_eq!(ids(&scored), (0..20).collect(), "none of the large ones is done");
        held.release(None);
        assert_eq!(ids(&results(&mut pool, 8).await), (100..108).collect());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_worker_takes_small_ones_first_too() {
    let held = Arc::new(Held::default());
    let mut pool = Pool::start(&settings(1, 1), held.scorer());
    pool.take(light(0..1), Thresholds::default());
    held.until("it is busy", |doing| doing.now.len() == 1).await;
    pool.take(heavy(100..103), Thresholds::default());
    pool.take(light(1..6), Thresholds::default());
    held.release(None);
    results(&mut pool, 9).await;
    let began = held.doing.lock().expect("no scorer panics here").began.clone();
    assert_eq!(began, [0, 1, 2, 3, 4, 5, 100, 101, 102]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_one_failed_attempt_of_that_exception_alone() {
    let scorer: Scorer = Arc::new(|leased, _| {
        assert!(leased.id.0 % 5 != 0, "number {} is too much", leased.id.0);
        Err(Unscored { class: FailureClass::Structural, reason: String::new(), ids: None })
    });
    let mut pool = Pool::start(&settings(2, 2), scorer);
    pool.take(light(0..40), Thresholds::default());
    for Scored { leased, result, .. } in results(&mut pool, 40).await {
        let unscored = result.expect_err("none is scored");
        if leased.id.0 % 5 == 0 {
            assert_eq!(unscored.class, FailureClass::Transient);
            assert!(unscored.reason.contains(&format!("number {} is too much", leased.id.0)), "{}", unscored.reason);
        } else {
            assert_eq!(unscored.class, FailureClass::Structural);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_full_lane_does_not_take_has_failed_once_and_is_not_lost() {
    let held = Arc::new(Held::default());
    let mut pool = Pool::start(&settings(2, 1), held.scorer());
    let many = i64::try_from(HEAVY_LANE).expect("few") * 3;
    pool.take(heavy(0..many), Thresholds::default());
    held.release(None);
    let scored = results(&mut pool, HEAVY_LANE * 3).await;
    assert_eq!(ids(&scored), (0..many).collect());
    let refused =
        scored.iter().filter(|scored| scored.result.as_ref().is_err_and(|why| why.class == FailureClass::Transient));
    assert!(refused.count() >= HEAVY_LANE * 2 - 1, "a lane takes no more than its bound, and what is being scored");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_is_dropped_begins_nothing_more() {
    let held = Arc::new(Held::default());
    let mut pool = Pool::start(&settings(1, 1), held.scorer());
    pool.take(light(0..50), Thresholds::default());
    held.until("it is busy", |doing| doing.now.len() == 1).await;
    let Pool { dispatcher, .. } = &mut pool;
    dispatcher.abort();
    assert!(dispatcher.await.is_err_and(|error| error.is_cancelled()));
    held.release(None);
    held.until("it is done with what it had", |doing| doing.now.is_empty()).await;
    assert_eq!(held.doing.lock().expect("no scorer panics here").began.len(), 1);
}
