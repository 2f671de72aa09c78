//! What is refused comes back to the deck marked, and leaves it only for a reason that the reviewer can see.

use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{DeckItem, Stage};
use countersign_engine::{Command, Reply};
use rust_decimal::Decimal;

use super::desk::Desk;

const NOTE: &str = "Refused: over your limit";

/// Ten exceptions of 0 to 9 in two partitions, and a limit of 6 that comes when they are in the deck.
fn limited() -> Desk {
    let mut desk = Desk::new();
    desk.arrive("a", 0..5);
    desk.arrive("b", 5..10);
    desk.database.largest = Some(Decimal::from(6));
    desk
}

fn notes(desk: &Desk) -> Vec<(i64, Option<String>)> {
    desk.deck().into_iter().map(|item| (item.id.0, item.note)).collect()
}

fn refused(desk: &Desk) -> usize {
    desk.engine.counts(desk.now()).refused
}

#[test]
fn what_is_refused_is_back_in_its_place_with_the_reason_also_after_a_crash() {
    let mut desk = limited();
    let before = desk.deck();
    let chosen: Vec<DeckItem> = before.iter().filter(|item| item.id.0 != 9).cloned().collect();
    desk.approve(&chosen);
    let expected = vec![(8, Some(NOTE.to_owned())), (9, None), (10, Some(NOTE.to_owned()))];
    assert_eq!(notes(&desk), expected, "8 is before 9, where it was");
    assert_eq!(refused(&desk), 2);
    desk.settle();
    assert_eq!(notes(&desk), expected, "nothing of it is leased a second time, nor given back");
    assert_eq!(desk.database.leased(0), 1, "the partition without any of it is free");
    desk.crash();
    assert_eq!(notes(&desk), expected);
    desk.settle();
    assert_eq!(notes(&desk), expected);
}

#[test]
fn what_was_signed_before_a_restart_and_refused_after_it_is_in_its_place_too() {
    let mut desk = limited();
    desk.online = false;
    desk.wait(1_000);
    let chosen: Vec<DeckItem> = desk.deck().into_iter().filter(|item| [8, 10].contains(&item.id.0)).collect();
    desk.approve(&chosen);
    desk.crash();
    desk.online = true;
    desk.settle();
    let back: Vec<_> = notes(&desk).into_iter().filter(|(id, _)| *id > 6).collect();
    let marked = Some(NOTE.to_owned());
    assert_eq!(back, [(7, None), (8, marked.clone()), (9, None), (10, marked)]);
}

#[test]
fn putting_a_refused_decision_away_takes_nothing_out_of_the_deck() {
    let mut desk = limited();
    let items: Vec<DeckItem> = desk.deck().into_iter().filter(|item| item.id.0 == 10).collect();
    desk.approve(&items);
    let key = desk.engine.outbox().next().expect("it was refused").entry.sign_off.key;
    assert_eq!(desk.ask(Command::Dismiss(key)), Ok(Reply::Done));
    assert_eq!(refused(&desk), 0);
    desk.crash();
    assert_eq!(notes(&desk).last(), Some(&(10, Some(NOTE.to_owned()))));
}

#[test]
fn either_decision_made_again_takes_the_place_of_the_refused_one() {
    for decision in [Decision::Approve, Decision::Reject] {
        let mut desk = limited();
        let last = |desk: &Desk| desk.deck().into_iter().filter(|item| item.id.0 == 10).collect::<Vec<_>>();
        let items = last(&desk);
        desk.approve(&items);
        // Refused once more, there is one to look at.
        let items = last(&desk);
        desk.decide(&items, decision);
        assert_eq!((refused(&desk), notes(&desk).last()), (1, Some(&(10, Some(NOTE.to_owned())))), "{decision:?}");
        desk.database.largest = None;
        let items = last(&desk);
        desk.decide(&items, decision);
        let counts = desk.engine.counts(desk.now());
        assert_eq!((counts.refused, counts.committed, last(&desk).len()), (0, 1, 0), "{decision:?}");
        desk.crash();
        assert_eq!(refused(&desk), 0, "{decision:?}");
        let stages: Vec<Stage> = desk.journal.entries().iter().map(|entry| entry.stage).collect();
        assert_eq!(stages, [Stage::Committed], "{decision:?}");
    }
}

#[test]
fn a_decision_that_is_withdrawn_leaves_what_was_refused_before_marked() {
    let mut desk = limited();
    let items: Vec<DeckItem> = desk.deck().into_iter().filter(|item| item.id.0 == 10).collect();
    desk.approve(&items);
    desk.online = false;
    desk.wait(60_000);
    let again: Vec<DeckItem> = desk.deck().into_iter().filter(|item| item.id.0 == 10).collect();
    let batch = desk.approve(&again);
    assert_eq!(desk.ask(Command::CancelUnsent(batch)), Ok(Reply::Undone { withdrawn: 1, too_late: 0 }));
    for _ in 0..2 {
        assert_eq!(notes(&desk).last(), Some(&(10, Some(NOTE.to_owned()))));
        desk.crash();
    }
}

#[test]
fn what_is_refused_takes_room_and_goes_back_with_the_rest_when_the_program_is_closed() {
    let mut desk = Desk::new();
    desk.arrive("a", 1..41);
    desk.arrive("b", 41..61);
    assert_eq!(desk.deck().len(), 40);
    desk.online = false;
    desk.wait(60_000);
    let items = desk.deck();
    desk.approve(&items);
    assert_eq!(desk.deck().len(), 0);
    desk.database.largest = Some(Decimal::ZERO);
    desk.online = true;
    desk.settle();
    assert!(desk.deck().iter().all(|item| item.note.as_deref() == Some(NOTE)));
    assert_eq!((desk.deck().len(), desk.engine.saturated()), (40, true));
    desk.database.largest = None;
    desk.settle();
    assert_eq!(desk.deck().len(), 40, "there is no room for more");
    assert_eq!(desk.ask(Command::Drain), Ok(Reply::Done));
    desk.settle();
    assert!(desk.engine.drain(desk.now()).is_some_and(|drain| drain.done));
    assert_eq!((desk.deck().len(), desk.database.leased(0)), (0, 0), "colleagues can have all of it at once");
    desk.crash();
    assert!(desk.deck().iter().all(|item| item.note.as_deref() == Some(NOTE)), "leased anew, it is still marked");
}

#[test]
fn what_is_decided_or_somebody_elses_does_not_come_back() {
    let leaving = [Outcome::StaleVersion, Outcome::LeaseSuperseded, Outcome::AlreadyDecided];
    for outcome in Outcome::ALL {
        assert_eq!(outcome.leaves_undecided(), !outcome.accepted() && !leaving.contains(&outcome), "{outcome:?}");
    }
    let mut desk = limited();
    let items: Vec<DeckItem> = desk.deck().into_iter().filter(|item| item.id.0 == 10).collect();
    desk.online = false;
    desk.wait(1_000);
    desk.approve(&items);
    // The lease lapses, and a colleague claims the partition.
    desk.wait(3_600_000);
    desk.colleague_claims();
    desk.online = true;
    desk.settle();
    assert_eq!((refused(&desk), notes(&desk)), (1, vec![]));
    desk.crash();
    assert_eq!(notes(&desk), []);
}

#[test]
fn the_window_reads_the_deck_again_when_leases_begin_to_run_out_and_when_they_lapsed() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..3);
    desk.ask(Command::Extend { ttl_ms: 600_000 }).expect("it is longer");
    desk.online = false;
    desk.wait(1_000);
    let lease_ms = |desk: &Desk| desk.engine.first_lease_ends_in_ms(desk.now()).expect("there is one");
    let version = |desk: &Desk| desk.engine.versions().0;
    for left_ms in [120_000, 0] {
        let before = version(&desk);
        let until = lease_ms(&desk) - left_ms;
        desk.wait(until - 1_000);
        assert_eq!(version(&desk), before, "nothing has changed for the rows with {left_ms} ms and a second left");
        // Whatever else it wakes up for.
        while version(&desk) == before {
            let at = desk.engine.next_wakeup_ms(desk.now()).expect("it wakes up by itself");
            desk.wait(at - desk.now().mono_ms);
            assert!(lease_ms(&desk) + 2_000 > left_ms, "it is told in time");
        }
        assert!(lease_ms(&desk) < left_ms.max(1), "the row says it now");
        let told = version(&desk);
        desk.wait(10_000);
        assert_eq!(version(&desk), told, "once is enough");
    }
}
