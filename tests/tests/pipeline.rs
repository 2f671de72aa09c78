//! From the lease to the deck on a real workstation: attempts, workers, closing with work in hand, and what was given up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use countersign_domain::code::FailureClass;
use countersign_domain::settings::Settings;
use countersign_engine::{Command, Unscored, deck_item};
use countersign_station::Scorer;
use countersign_testkit::installation::Installation;
use countersign_tests::desk::Desk;
use countersign_tests::faults;
use countersign_tests::owner::{self, Tally, tally};
use tokio::time::Instant;

const LETTERS: &str = "SELECT count(*) FROM countersign.dead_letter WHERE cause IN ('SCORING', 'SIGN_OFF')";
const HELD: &str = "SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL";

fn failing() -> Unscored {
    Unscored { class: FailureClass::Transient, reason: "it was made to fail".to_owned(), ids: None }
}

/// Fails some exceptions every time, and counts the attempts of all. Every other failure is a panic.
fn failing_scorer(fails: impl Fn(i64) -> bool + Send + Sync + 'static) -> (Scorer, Arc<Mutex<BTreeMap<i64, u32>>>) {
    let attempts = Arc::new(Mutex::new(BTreeMap::new()));
    let counted = attempts.clone();
    let scorer: Scorer = Arc::new(move |leased, thresholds| {
        let id = leased.id.0;
        let attempt = {
            let mut counted = counted.lock().expect("nobody panics while counting");
            *counted.entry(id).and_modify(|count| *count += 1).or_insert(1)
        };
        if !fails(id) {
            return deck_item(leased, thresholds);
        }
        assert!(attempt % 2 == 1, "attempt {attempt} is too much");
        Err(failing())
    });
    (scorer, attempts)
}

/// Holds everything that is scored until it is let go; how many there are now, and were at the most.
#[derive(Default)]
struct Gate {
    state: Mutex<(bool, BTreeSet<i64>, usize)>,
    changed: Condvar,
}

impl Gate {
    fn scorer(self: &Arc<Self>) -> Scorer {
        let gate = self.clone();
        Arc::new(move |leased, thresholds| {
            let mut state = gate.state.lock().expect("nobody panics in here");
            state.1.insert(leased.id.0);
            state.2 = state.2.max(state.1.len());
            gate.changed.notify_all();
            let mut state = gate.changed.wait_while(state, |(open, ..)| !*open).expect("nobody panics in here");
            state.1.remove(&leased.id.0);
            drop(state);
            deck_item(leased, thresholds)
        })
    }

    /// Waits until so many are being scored.
    async fn holds(self: &Arc<Self>, count: usize) {
        let gate = self.clone();
        let waited = tokio::task::spawn_blocking(move || {
            let state = gate.state.lock().expect("nobody panics in here");
            let bound = Duration::from_secs(30);
            let (_state, waited) = gate
                .changed
                .wait_timeout_while(state, bound, |(_, now, _)| now.len() != count)
                .expect("nobody panics in here");
            waited.timed_out()
        });
        assert!(!waited.await.expect("it only waits"), "{count} are being scored");
    }

    fn open(&self) {
        self.state.lock().expect("nobody panics in here").0 = true;
        self.changed.notify_all();
    }

    fn most(&self) -> usize {
        self.state.lock().expect("nobody panics in here").2
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forced_failure_is_a_dead_letter_at_exactly_the_last_attempt() -> anyhow::Result<()> {
    for max_attempts in [1, 3] {
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 8, 2).await?;
        let mut desk = Desk::of(&installation, "alice").await?;
        let (scorer, attempts) = failing_scorer(|id| id % 4 == 0);
        desk.scorer = scorer;
        desk.settings.max_attempts = max_attempts;
        let seat = desk.start()?;
        seat.until_deck(6).await?;
        owner::until(
            &installation.owner,
            "both are on the desk of dead letters",
            "SELECT count(*) = 2 FROM countersign.dead_letter WHERE cause = 'SCORING'",
        )
        .await?;
        let counted = attempts.lock().expect("nobody panics while counting").clone();
        let expected = (1..=8).map(|id| (id, if id % 4 == 0 { max_attempts } else { 1 })).collect();
        assert_eq!(counted, expected, "not one before, not one after");
        let told: Vec<(i64, i32, String)> = sqlx::query_as(
            "SELECT exception_id, attempts, reason FROM countersign.dead_letter WHERE cause = 'SCORING' ORDER BY 1",
        )
        .fetch_all(&installation.owner)
        .await?;
        assert_eq!(told.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [4, 8]);
        assert!(
            told.iter().all(|(_, attempts, reason)| *attempts == i32::try_from(max_attempts).unwrap_or(0)
                && reason.contains("it was made to fail")),
            "{told:?}"
        );

        // Nothing happened to the exceptions themselves.
        seat.approve(&seat.deck().await?).await?;
        seat.until_committed(6).await?;
        let stands = tally(&installation.owner).await?;
        assert_eq!((stands.pending, stands.sign_offs), (2, 6));
        seat.ask(Command::Drain).await?;
        seat.closed().await?;
        // This release scores them.
        desk.scorer = countersign_station::scorer();
        let seat = desk.start()?;
        seat.until_deck(2).await?;
        seat.approve(&seat.deck().await?).await?;
        seat.until_committed(8).await?;
        assert_eq!(owner::number(&installation.owner, LETTERS).await?, 2);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_are_scored_at_once_as_the_settings_say() -> anyhow::Result<()> {
    for (concurrency, scoring_prefetch) in [(1, 1), (2, 3)] {
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 20, 2).await?;
        let mut desk = Desk::of(&installation, "alice").await?;
        let gate = Arc::new(Gate::default());
        desk.scorer = gate.scorer();
        desk.settings = Settings { concurrency, scoring_prefetch, ..desk.settings };
        let seat = desk.start()?;
        let slots = (concurrency * scoring_prefetch) as usize;
        gate.holds(slots).await;
        seat.until("all of them wait to be scored", |engine, _| engine.scoring_count() == 20).await?;
        gate.open();
        seat.until_deck(20).await?;
        assert_eq!(gate.most(), slots);
    }
    Ok(())
}

/// With exceptions being scored, more of them waiting, decisions unsent and a network that is gone or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_with_work_in_hand_ends_in_its_time_and_loses_nothing() -> anyhow::Result<()> {
    for cut in [false, true] {
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 6, 1).await?;
        let network = owner::network(&installation).await?;
        let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
        desk.settings = Settings { undo_window_ms: 60_000, drain_timeout_s: 5, ..desk.settings };
        let gate = Arc::new(Gate::default());
        let held = gate.scorer();
        // The first six are scored at once.
        desk.scorer = Arc::new(
            move |leased, thresholds| {
                if leased.id.0 <= 6 { deck_item(leased, thresholds) } else { held(leased, thresholds) }
            },
        );
        let seat = desk.start()?;
        seat.until_deck(6).await?;
        seat.approve(&seat.deck().await?[..4]).await?;
        owner::enqueue_more(&installation, 100..140, "more").await?;
        gate.holds(4).await;
        seat.until("the rest waits", |engine, _| engine.scoring_count() == 40).await?;
        if cut {
            network.cut();
        }
        let began = Instant::now();
        seat.ask(Command::Drain).await?;
        seat.closed().await?;
        assert!(began.elapsed() < Duration::from_secs(5 + 5), "{:?}", began.elapsed());
        gate.open();
        let counts = desk.journal()?.counts()?;
        if cut {
            assert_eq!((counts.ready, counts.undecided), (4, 2));
            assert_eq!(tally(&installation.owner).await?, Tally { pending: 46, ..Tally::default() });
            network.pass();
        } else {
            assert_eq!((counts.committed, counts.ready, counts.undecided), (4, 0, 0));
            assert_eq!(owner::number(&installation.owner, HELD).await?, 0, "colleagues can have the rest at once");
        }
        desk.settings.undo_window_ms = 0;
        let seat = desk.start()?;
        seat.until_deck(42).await?;
        seat.approve(&seat.deck().await?).await?;
        seat.until("everything is accepted", |engine, now| {
            let counts = engine.counts(now);
            counts.ready + counts.sending + counts.held == 0 && counts.committed >= 42
        })
        .await?;
        assert_eq!(tally(&installation.owner).await?, Tally::all_approved(46));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_given_up_without_a_network_is_on_the_desk_after_a_restart_with_one() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 5, 1).await?;
    let network = owner::network(&installation).await?;
    let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
    desk.settings.max_attempts = 1;
    let gate = Arc::new(Gate::default());
    let held = gate.scorer();
    desk.scorer = Arc::new(move |leased, thresholds| {
        let result = held(leased, thresholds);
        if leased.id.0 == 3 { Err(failing()) } else { result }
    });
    let seat = desk.start()?;
    gate.holds(4).await;
    network.cut();
    seat.ask(Command::RetryNow).await?;
    seat.until_online(false).await?;
    gate.open();
    seat.until_deck(4).await?;
    seat.leave().await?;
    assert_eq!(desk.journal()?.counts()?.dead_letters, 1);
    assert_eq!(owner::number(&installation.owner, LETTERS).await?, 0);

    network.pass();
    for _ in 0..2 {
        let seat = desk.start()?;
        owner::until(
            &installation.owner,
            "it is told",
            "SELECT count(*) = 1 FROM countersign.dead_letter WHERE cause = 'SCORING' AND exception_id = 3",
        )
        .await?;
        seat.until("the journal knows", |engine, _| engine.warnings().is_empty() && engine.scoring_count() == 0)
            .await?;
        seat.leave().await?;
    }
    assert_eq!(owner::number(&installation.owner, LETTERS).await?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_the_database_can_never_take_is_on_the_desk_without_its_comment() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 4, 2).await?;
    faults::arm(&installation.owner).await?;
    let desk = Desk::of(&installation, "alice").await?;
    let seat = desk.start()?;
    seat.until_deck(4).await?;
    let items = seat.deck().await?;
    faults::on(&installation.owner, items[0].id, "22000").await?;
    seat.approve(&items).await?;
    let sql = "SELECT count(*) = 1 FROM countersign.dead_letter WHERE cause = 'SIGN_OFF'";
    owner::until(&installation.owner, "it is told", sql).await?;
    let (exception, key, original): (i64, Vec<u8>, Vec<u8>) = sqlx::query_as(
        "SELECT exception_id, sign_off_key, original FROM countersign.dead_letter WHERE cause = 'SIGN_OFF'",
    )
    .fetch_one(&installation.owner)
    .await?;
    let dead = seat.outbox().await?.remove(0);
    assert_eq!((exception, key), (items[0].id.0, dead.sign_off.key.0.0.to_vec()));
    let original: serde_json::Value = serde_json::from_slice(&original)?;
    assert_eq!((&original["decision"], original.get("comment")), (&serde_json::json!("APPROVE"), None));

    faults::off(&installation.owner).await?;
    seat.ask(Command::RetryDead(dead.sign_off.key)).await?;
    seat.until_committed(4).await?;
    assert_eq!(owner::number(&installation.owner, LETTERS).await?, 1, "the letter stays for who looks at the desk");
    Ok(())
}
