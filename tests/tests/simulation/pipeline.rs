//! From a lease to the deck, step by step: attempts, lanes, reports, what is lost, what lags, and what is given up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use countersign_domain::code::FailureClass;
use countersign_domain::dead_letter::Cause;
use countersign_engine::port::{Journal as _, LeasedItem};
use countersign_engine::{
    BEHIND_TOLD_MS, Command, Event, HEAVY_BYTES, HEAVY_LANE, Happened, Ids, LAG_WINDOW_MS, LAG_WINDOWS,
    POOL_SILENCE_MS, Reply, Scored, Unscored, deck_item,
};
use countersign_testkit::generate::Arrival;

use super::desk::Desk;

fn fails(class: FailureClass) -> Unscored {
    Unscored { class, reason: "it fell over".to_owned(), ids: None }
}

/// What happened to one exception, in its order.
fn happened(desk: &Desk, id: i64) -> Vec<Happened> {
    let of = desk.traces.iter().filter(|trace| trace.exception.0 == id);
    of.map(|trace| trace.happened.clone()).collect()
}

fn count(desk: &Desk, event: &str) -> usize {
    desk.traces.iter().filter(|trace| trace.happened.event() == event).count()
}

/// The pool keeps what it is handed; the test gives it back.
fn kept_by_the_pool(desk: &mut Desk) -> Rc<RefCell<Vec<LeasedItem>>> {
    let kept = Rc::new(RefCell::new(Vec::new()));
    let pool = kept.clone();
    desk.scorer = Box::new(move |leased, _| {
        pool.borrow_mut().push(leased.clone());
        None
    });
    kept
}

fn done(desk: &mut Desk, leased: LeasedItem) {
    let result = deck_item(&leased, &countersign_domain::scoring::Thresholds::default());
    desk.take(Event::Scored(vec![Scored { result, worker: 0, leased }]));
}

#[test]
fn an_exception_is_given_up_at_exactly_the_last_attempt() {
    for max_attempts in 1..=10 {
        let mut desk = Desk::with(|settings| settings.max_attempts = max_attempts);
        let attempts = Rc::new(RefCell::new(BTreeMap::<i64, Vec<u64>>::new()));
        let (seen, clock) = (attempts.clone(), desk.clock.clone());
        desk.scorer = Box::new(move |leased, thresholds| {
            seen.borrow_mut().entry(leased.id.0).or_default().push(clock.get());
            Some(if leased.id.0 == 2 { Err(fails(FailureClass::Transient)) } else { deck_item(leased, thresholds) })
        });
        desk.arrive("a", 0..3);
        // Longer than ten attempts with the longest pauses.
        for _ in 0..1_000 {
            desk.wait(1_000);
        }
        let attempts = attempts.borrow();
        assert_eq!(attempts[&2].len(), max_attempts as usize, "not one before, not one after");
        assert_eq!((attempts[&1].len(), attempts[&3].len()), (1, 1), "its neighbours have nothing to do with it");
        assert_eq!(desk.deck().len(), 2);
        let mut expected = 1;
        for (pause, at) in attempts[&2].windows(2).zip(1..) {
            let pause_ms = pause[1] - pause[0];
            let least_ms = 2_u64.pow(at).min(60) * 1_000;
            assert!(pause_ms >= least_ms, "{pause_ms} ms after attempt {at}");
            // The desk looks twice a second at least.
            assert!(pause_ms <= least_ms + u64::from(at) * 1_000 + 2_000, "{pause_ms} ms after attempt {at}");
            expected += 1;
        }
        assert_eq!(expected, max_attempts);
        let of_it = happened(&desk, 2);
        let (last, retried) = of_it.split_last().expect("it was recorded");
        let given_up =
            Happened::DeadLettered { operation: "score", attempts: max_attempts, class: FailureClass::Transient };
        assert_eq!(*last, given_up);
        let numbers = retried.iter().map(|happened| match happened {
            Happened::RetryScheduled { operation: "score", attempt, .. } => *attempt,
            other => panic!("{other:?}"),
        });
        assert_eq!(numbers.collect::<Vec<_>>(), (1..max_attempts).collect::<Vec<_>>());
        let letters: Vec<_> = desk.database.letters().map(|(letter, times)| (letter.clone(), times)).collect();
        assert_eq!(letters.len(), 1);
        let (letter, times) = &letters[0];
        assert_eq!((letter.cause, letter.exception.0, letter.attempts, *times), (Cause::Scoring, 2, max_attempts, 1));
    }
}

#[test]
fn what_cannot_be_read_is_given_up_at_the_first_attempt() {
    let mut desk = Desk::with(|settings| settings.max_attempts = 10);
    desk.scorer = Box::new(|leased, thresholds| {
        let unreadable = LeasedItem { body: format!("{} and more", leased.body), ..leased.clone() };
        Some(deck_item(if leased.id.0 == 1 { &unreadable } else { leased }, thresholds))
    });
    desk.arrive("a", 0..2);
    let given_up = Happened::DeadLettered { operation: "score", attempts: 1, class: FailureClass::Structural };
    assert_eq!(happened(&desk, 1), [given_up]);
    assert_eq!(desk.deck().len(), 1);
}

#[test]
fn every_record_of_an_exception_names_it_across_systems() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..2);
    for item in desk.deck() {
        let traces: Vec<_> = desk.traces.iter().filter(|trace| trace.exception == item.id).collect();
        assert_eq!(traces.len(), 2, "{traces:?}");
        assert!(traces.iter().all(|trace| trace.ids == Some(Ids::of(&item))), "{traces:?}");
    }
    let depths = desk.traces.iter().filter_map(|trace| match trace.happened {
        Happened::Enqueued { depth } => Some(depth),
        _ => None,
    });
    assert_eq!(depths.collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn results_come_in_any_order_and_the_deck_keeps_the_order_of_the_lease() {
    let mut desk = Desk::new();
    let pool = kept_by_the_pool(&mut desk);
    desk.arrive("a", 0..5);
    let mut leased = pool.take();
    for place in [3, 0, 2, 0, 0] {
        let next = leased.remove(place);
        done(&mut desk, next);
    }
    assert_eq!(desk.deck().iter().map(|item| item.id.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn a_crash_loses_nothing_of_what_is_being_scored() {
    for scored in 0..=4 {
        let mut desk = Desk::new();
        let pool = kept_by_the_pool(&mut desk);
        desk.arrive("a", 0..4);
        // The last ones are done first: the cursor on the disk must not pass the others.
        let mut leased = pool.take();
        for _ in 0..scored {
            let last = leased.pop().expect("four were handed over");
            done(&mut desk, last);
        }
        desk.wait(45_000);
        let on_disk = |desk: &Desk| desk.journal.clone().restore().expect("it reads").deck.len();
        assert_eq!((desk.deck().len(), on_disk(&desk)), (scored, scored), "renewed meanwhile");
        desk.scorer = Box::new(|leased, thresholds| Some(deck_item(leased, thresholds)));
        desk.crash();
        desk.settle();
        let mut places: Vec<_> = desk.deck().iter().map(|item| item.seq.0).collect();
        places.sort_unstable();
        assert_eq!(places, [1, 2, 3, 4], "{scored}");
    }
}

#[test]
fn what_the_disk_did_not_take_is_handed_out_again_after_a_crash() {
    let mut desk = Desk::new();
    desk.journal.set_full(true);
    desk.arrive("a", 0..4);
    assert_eq!(desk.deck().len(), 4);
    desk.journal.set_full(false);
    // The next renewal is written again.
    desk.wait(60_000);
    desk.crash();
    desk.settle();
    assert_eq!(desk.deck().len(), 4);
}

#[test]
fn a_report_comes_into_the_deck_whole() {
    let mut desk = Desk::new();
    let pool = kept_by_the_pool(&mut desk);
    for number in 0..3 {
        desk.database.enqueue(&Arrival { group: Some("report"), ..Arrival::new(number, "r") }.body());
    }
    desk.database.enqueue(&Arrival::new(3, "r").body());
    desk.arrive("a", 10..11);
    let mut leased = pool.take();
    assert_eq!(leased.len(), 5);
    let slow = leased.iter().position(|leased| leased.id.0 == 2).expect("the second of the report");
    let slow = leased.remove(slow);
    for leased in leased {
        done(&mut desk, leased);
    }
    assert_eq!(desk.deck().iter().map(|item| item.id.0).collect::<Vec<_>>(), [5, 4], "what is in no report is there");
    done(&mut desk, slow);
    assert_eq!(desk.deck().len(), 5);
}

#[test]
fn what_comes_back_for_a_lease_that_went_is_not_taken() {
    let mut desk = Desk::new();
    let pool = kept_by_the_pool(&mut desk);
    desk.arrive("a", 0..2);
    desk.scorer = Box::new(|leased, thresholds| Some(deck_item(leased, thresholds)));
    let mut leased = pool.take();
    let last = leased.remove(0);
    done(&mut desk, leased.remove(0));
    let ids = desk.deck().iter().map(|item| item.id).collect();
    assert_eq!(desk.ask(Command::Release(ids)), Ok(Reply::Released(1)));
    assert_eq!(desk.database.leased(0), 0, "it goes back at once, whatever is still being scored");
    desk.settle();
    assert_eq!(desk.deck().len(), 2, "and is leased anew");
    done(&mut desk, last);
    assert_eq!(desk.deck().len(), 2);
}

#[test]
fn leasing_pauses_while_scoring_is_behind_and_goes_on_by_itself() {
    let mut desk = Desk::new();
    let pool = kept_by_the_pool(&mut desk);
    let long = "x".repeat(HEAVY_BYTES);
    let heavy = |number| Arrival::new(number, "heavy").body().replace("amount differs", &long);
    for number in 0..20 {
        desk.database.enqueue(&heavy(number));
    }
    desk.wait(4_000);
    assert_eq!(pool.borrow().len(), HEAVY_LANE, "the pool takes no more than its lane");
    assert_eq!((desk.engine.scoring_count(), desk.engine.scoring_behind()), (20, true));
    let before = desk.leases;
    for number in 100..103 {
        desk.database.enqueue(&Arrival::new(number, "later").body());
    }
    desk.wait(4_000);
    assert_eq!(desk.leases, before, "nothing is asked for");
    desk.wait(BEHIND_TOLD_MS);
    assert!(desk.engine.warnings().iter().any(|warning| warning.contains("wait for their suggestions")));
    while desk.engine.scoring_count() > 0 {
        let next = pool.borrow_mut().pop().expect("the pool has the next ones");
        done(&mut desk, next);
        desk.wait(1);
        assert!(pool.borrow().len() <= HEAVY_LANE + 3);
        if !desk.engine.scoring_behind() {
            desk.settle();
        }
    }
    assert_eq!(desk.engine.warnings(), Vec::<String>::new());
    assert_eq!(desk.deck().len(), 23, "what came later too");
}

#[test]
fn what_the_pool_never_gives_back_is_recorded_once_and_leased_anew() {
    let mut desk = Desk::new();
    let lost = Rc::new(RefCell::new(1));
    let losing = lost.clone();
    desk.scorer = Box::new(move |leased, thresholds| {
        let loses = leased.id.0 == 2 && *losing.borrow() > 0;
        *losing.borrow_mut() -= i32::from(loses);
        (!loses).then(|| deck_item(leased, thresholds))
    });
    desk.arrive("a", 0..3);
    assert_eq!((desk.deck().len(), desk.engine.scoring_count()), (2, 1));
    for _ in 0..POOL_SILENCE_MS / 1_000 * 2 {
        desk.wait(1_000);
    }
    assert_eq!(desk.deck().iter().map(|item| item.id.0).collect::<Vec<_>>(), [1, 3, 2]);
    assert_eq!(happened(&desk, 2)[0], Happened::LostTask);
    // Lost a second time, it is mended in silence.
    *lost.borrow_mut() = 1;
    let ids = desk.deck().iter().map(|item| item.id).collect();
    desk.ask(Command::Release(ids)).expect("it goes back");
    for _ in 0..POOL_SILENCE_MS / 1_000 * 2 {
        desk.wait(1_000);
    }
    assert_eq!((desk.deck().len(), *lost.borrow(), count(&desk, "lost_task")), (3, 0, 1));
}

#[test]
fn the_oldest_exception_that_grows_older_and_older_is_told_of_until_it_does_not() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..3);
    let lags = |desk: &Desk| desk.engine.warnings().iter().any(|warning| warning.contains("oldest exception"));
    while !lags(&desk) {
        desk.wait(30_000);
        assert!(desk.now().mono_ms < LAG_WINDOW_MS * u64::from(LAG_WINDOWS + 2), "it is never told of");
    }
    assert!(desk.now().mono_ms >= LAG_WINDOW_MS * u64::from(LAG_WINDOWS));
    assert_eq!(count(&desk, "consumer_lag"), 1);
    let oldest: Vec<_> = desk.deck().into_iter().take(1).collect();
    desk.arrive("b", 3..4);
    assert!(lags(&desk));
    desk.approve(&oldest);
    let rest: Vec<_> = desk.deck().into_iter().filter(|item| item.entity == "a").collect();
    desk.approve(&rest);
    desk.wait(1_000);
    assert!(!lags(&desk), "what is the oldest now came later");
    assert_eq!(count(&desk, "consumer_lag"), 1);
}

#[test]
fn whoever_works_through_the_deck_is_never_told_that_it_lags() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..40);
    for round in 1..30 {
        desk.wait(LAG_WINDOW_MS / 3);
        // The front may be left alone for a while.
        if round % 4 != 0 {
            let first: Vec<_> = desk.deck().into_iter().take(2).collect();
            desk.approve(&first);
        }
        desk.arrive("b", 40 + round * 2..42 + round * 2);
    }
    assert_eq!(count(&desk, "consumer_lag"), 0);
}

#[test]
fn what_is_handed_out_again_although_it_is_decided_is_skipped_and_recorded() {
    let mut desk = Desk::with(|settings| settings.undo_window_ms = 60_000);
    desk.arrive("a", 0..3);
    let items = desk.deck();
    desk.approve(&items[..1]);
    let before = desk.deck();
    desk.anew = true;
    desk.wait(10_000);
    assert!(!desk.anew, "it was asked for more");
    assert_eq!(desk.deck(), before);
    let skipped: Vec<_> =
        desk.traces.iter().filter(|trace| trace.happened == Happened::DuplicateSkipped).cloned().collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!((skipped[0].exception, skipped[0].ids.clone()), (items[0].id, Some(Ids::of(&items[0]))));
}

#[test]
fn what_was_given_up_offline_is_told_once_there_is_a_database_also_after_a_crash() {
    let mut desk = Desk::with(|settings| settings.max_attempts = 1);
    let pool = kept_by_the_pool(&mut desk);
    desk.arrive("a", 0..3);
    desk.online = false;
    desk.wait(60_000);
    for leased in pool.take() {
        let result = Err(fails(FailureClass::Transient));
        desk.take(Event::Scored(vec![Scored { leased, worker: 1, result }]));
    }
    desk.settle();
    assert_eq!(desk.database.letters().count(), 0);
    assert_eq!(desk.journal.letters().len(), 3);
    desk.crash();
    desk.online = true;
    desk.settle();
    let told: Vec<_> = desk.database.letters().map(|(letter, times)| (letter.exception.0, times)).collect();
    assert_eq!(told, [(1, 1), (2, 1), (3, 1)]);
    assert!(desk.journal.untold(100).expect("it reads").is_empty());
}

#[test]
fn closing_that_takes_too_long_names_what_it_left_and_the_next_start_sends_it() {
    let mut desk = Desk::with(|settings| settings.drain_timeout_s = 5);
    desk.arrive("a", 0..3);
    desk.online = false;
    desk.wait(1_000);
    let items = desk.deck();
    desk.approve(&items[..2]);
    assert_eq!(desk.ask(Command::Drain), Ok(Reply::Done));
    desk.wait(4_900);
    assert_eq!(count(&desk, "drain_timeout"), 0);
    desk.wait(200);
    assert!(desk.engine.drain(desk.now()).is_some_and(|drain| drain.done));
    let left: Vec<_> = desk.traces.iter().filter(|trace| trace.happened == Happened::DrainTimeout).collect();
    let named: Vec<_> = left.iter().map(|trace| (trace.exception, trace.ids.clone())).collect();
    let expected: Vec<_> = items[..2].iter().map(|item| (item.id, Some(Ids::of(item)))).collect();
    assert_eq!(named, expected);
    desk.online = true;
    desk.crash();
    desk.settle();
    assert_eq!(desk.database.accepted().count(), 2);
}

#[test]
fn closing_drops_what_is_being_scored_and_its_leases_go_back_at_once() {
    let mut desk = Desk::new();
    let pool = kept_by_the_pool(&mut desk);
    desk.arrive("a", 0..3);
    assert_eq!(desk.ask(Command::Drain), Ok(Reply::Done));
    assert!(desk.engine.drain(desk.now()).is_some_and(|drain| drain.done), "nobody waits for the pool");
    assert_eq!((desk.engine.scoring_count(), desk.database.leased(0)), (0, 0));
    for leased in pool.take() {
        done(&mut desk, leased);
    }
    assert_eq!(desk.deck().len(), 0);
}
