//! What fills the deck, how long leases last and what can be taken back, step by step.

use countersign_domain::focus::Focus;
use countersign_domain::id::PartitionKey;
use countersign_engine::port::{Stage, What};
use countersign_engine::{Command, Reply};
use rust_decimal::Decimal;

use super::desk::Desk;

const HOUR_MS: u32 = 3_600_000;

fn on(entity: &str) -> Focus {
    Focus { entities: vec![entity.to_owned()], ..Focus::default() }
}

fn refocus(focus: Option<Focus>, give_back: bool) -> Command {
    Command::SetFocus { focus, give_back }
}

#[test]
fn a_focus_fills_the_deck_with_nothing_else() {
    let mut desk = Desk::new();
    desk.ask(refocus(Some(on("b")), false)).expect("it is taken");
    desk.arrive("a", 0..5);
    desk.arrive("b", 5..10);
    assert_eq!(desk.entities(), ["b"; 5]);
    assert_eq!(desk.engine.outside(), 0);
    desk.crash();
    assert_eq!(desk.engine.focus(), Some(&on("b")), "it outlives the program");
    desk.ask(refocus(Some(on("a")), false)).expect("it is taken");
    desk.settle();
    assert_eq!((desk.deck().len(), desk.engine.outside()), (10, 5), "what is here stays until it is given back");
    assert_eq!(desk.ask(refocus(Some(on("a")), true)), Ok(Reply::Focused { given_back: 5 }));
    desk.settle();
    assert_eq!(desk.entities(), ["a"; 5]);
    assert_eq!(desk.database.leased(0), 1, "a colleague can have the other partition");
}

#[test]
fn what_one_focus_passed_over_comes_with_the_next_and_nothing_comes_twice() {
    let mut desk = Desk::new();
    let from = |amount: i64| Some(Focus { amount_from: Some(Decimal::from(amount)), ..Focus::default() });
    desk.ask(refocus(from(6), false)).expect("it is taken");
    desk.arrive("a", 0..10);
    assert_eq!(desk.deck().len(), 4);
    desk.ask(refocus(from(3), true)).expect("it is taken");
    desk.settle();
    assert_eq!(desk.deck().len(), 7);
    desk.ask(refocus(from(8), true)).expect("it is taken");
    desk.settle();
    assert_eq!((desk.deck().len(), desk.database.leased(0)), (2, 1), "the partition stays for what is inside");
    desk.ask(refocus(None, true)).expect("it is taken");
    desk.settle();
    let mut ids: Vec<i64> = desk.deck().iter().map(|item| item.id.0).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=10).collect::<Vec<_>>());
}

#[test]
fn a_partition_with_unsent_decisions_is_not_given_back() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..4);
    desk.arrive("b", 4..8);
    desk.online = false;
    desk.wait(60_000);
    let first: Vec<_> = desk.deck().into_iter().filter(|item| item.entity == "a").take(1).collect();
    desk.approve(&first);
    assert_eq!(desk.ask(refocus(Some(on("b")), true)), Ok(Reply::Focused { given_back: 3 }));
    assert_eq!(desk.entities(), ["b"; 4]);
    assert!(desk.engine.lease_ends_in_ms(&PartitionKey("a".into()), desk.now()) > 0);
    desk.crash();
    assert_eq!(desk.entities(), ["b"; 4], "the disk knows");
    desk.online = true;
    desk.settle();
    assert_eq!(desk.database.accepted().count(), 1, "it still counts");
    desk.ask(refocus(None, false)).expect("it is taken");
    desk.settle();
    assert_eq!(desk.deck().len(), 7);
}

#[test]
fn a_focus_may_bound_the_deck_and_never_widens_it() {
    let mut desk = Desk::new();
    let most = |at_most| refocus(Some(Focus { at_most: Some(at_most), ..Focus::default() }), false);
    desk.ask(most(3)).expect("it is taken");
    desk.arrive("a", 0..60);
    assert_eq!(desk.deck().len(), 3);
    let items = desk.deck();
    desk.approve(&items);
    desk.settle();
    assert_eq!(desk.deck().len(), 3, "the next ones have their places");
    desk.ask(most(1_000)).expect("it is taken");
    desk.settle();
    assert_eq!(desk.deck().len(), 40, "the setting's bound");
    let failure = desk.ask(most(0)).expect_err("nothing would fit");
    assert_eq!(failure.code, "FOCUS_UNREADABLE");
}

#[test]
fn an_extension_is_shortened_by_no_renewal_nor_restart_and_by_policy_alone() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..2);
    assert_eq!(desk.engine.offline_until(desk.now()), None);
    let reply = desk.ask(Command::Extend { ttl_ms: 2 * HOUR_MS }).expect("it is extended");
    let granted = Reply::Extended { stand: 1, lost: 0, granted_ms: Some(HOUR_MS), at: desk.now().wall };
    assert_eq!(reply, granted);
    let until = desk.engine.offline_until(desk.now()).expect("it is in force");
    for crash in [false, true] {
        desk.wait(600_000);
        if crash {
            desk.crash();
            desk.wait(60_000);
        }
        let left_ms = desk.engine.first_lease_ends_in_ms(desk.now()).expect("a lease");
        let left = chrono::TimeDelta::milliseconds(i64::try_from(left_ms).expect("an hour"));
        assert!(desk.now().wall + left >= until, "crash: {crash}");
        assert!(*desk.renewals_ms.last().expect("it was renewed") > 120_000);
    }
    // A new partition lasts as long as the others.
    desk.arrive("b", 2..4);
    let ends_ms = desk.engine.lease_ends_in_ms(&PartitionKey("b".into()), desk.now());
    assert!(ends_ms > 1_000_000, "{ends_ms}");
    desk.wait(u64::from(HOUR_MS));
    desk.wait(60_000);
    assert_eq!(desk.engine.offline_until(desk.now()), None, "it is over");
    assert_eq!(desk.renewals_ms.last(), Some(&120_000));
}

#[test]
fn without_a_database_nothing_is_extended_and_without_leases_there_is_nothing_to_extend() {
    let mut desk = Desk::new();
    let nothing = Reply::Extended { stand: 0, lost: 0, granted_ms: None, at: desk.now().wall };
    assert_eq!(desk.ask(Command::Extend { ttl_ms: HOUR_MS }), Ok(nothing));
    desk.arrive("a", 0..2);
    desk.online = false;
    let failure = desk.ask(Command::Extend { ttl_ms: HOUR_MS }).expect_err("the call is lost");
    assert_eq!(failure.code, "UNREACHABLE");
    let failure = desk.ask(Command::Extend { ttl_ms: HOUR_MS }).expect_err("now it is known");
    assert_eq!(failure.code, "OFFLINE");
}

#[test]
fn the_reviewer_is_warned_when_half_of_a_lease_is_over_and_nobody_renews_it() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..2);
    desk.wait(39_000);
    assert_eq!(desk.engine.lease_warning_in_ms(desk.now()), None, "it is renewed by itself");
    desk.online = false;
    desk.wait(45_000);
    let left_ms = desk.engine.first_lease_ends_in_ms(desk.now()).expect("a lease");
    assert_eq!(desk.engine.lease_warning_in_ms(desk.now()), (left_ms <= 60_000).then_some(left_ms));
    let before = desk.engine.versions().2;
    desk.wait(40_000);
    let left_ms = desk.engine.first_lease_ends_in_ms(desk.now()).expect("a lease");
    assert_eq!(desk.engine.lease_warning_in_ms(desk.now()), Some(left_ms));
    assert!(left_ms <= 60_000 && desk.engine.versions().2 > before, "the window is told");
    desk.online = true;
    desk.wait(60_000);
    assert_eq!(desk.engine.lease_warning_in_ms(desk.now()), None);
}

#[test]
fn what_was_made_offline_can_be_taken_back_after_a_crash_until_it_is_sent() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..6);
    desk.online = false;
    desk.wait(60_000);
    let items = desk.deck();
    let (kept, cancelled) = (desk.approve(&items[..3]), desk.approve(&items[3..]));
    desk.crash();
    assert_eq!(desk.engine.unsent().get(&cancelled), Some(&3));
    let reply = desk.ask(Command::CancelUnsent(cancelled));
    assert_eq!(reply, Ok(Reply::Undone { withdrawn: 3, too_late: 0 }));
    assert_eq!((desk.deck().len(), desk.journal.entries().len()), (3, 3));
    desk.online = true;
    desk.settle();
    assert_eq!(desk.database.accepted().count(), 3);
    assert_eq!(desk.ask(Command::CancelUnsent(kept)), Ok(Reply::Undone { withdrawn: 0, too_late: 3 }));
    // Withdrawn, the same decisions can be made again, and tell what was before.
    let items = desk.deck();
    desk.approve(&items);
    let key = desk.engine.answered().next().expect("it is accepted").sign_off.key;
    let steps: Vec<What> = desk.engine.steps(key).expect("it is known").into_iter().map(|step| step.what).collect();
    assert_eq!(steps[..2], [What::Signed { offline: true }, What::Withdrawn]);
    assert!(matches!(steps.last(), Some(What::Answered(_))), "{steps:?}");
}

#[test]
fn what_may_have_been_sent_is_not_taken_back() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..4);
    desk.online = false;
    // It is not known yet that the database cannot be reached: the first decision is sent, and its answer never comes.
    let items = desk.deck();
    let sent = desk.approve(&items[..2]);
    assert_eq!(desk.ask(Command::CancelUnsent(sent)), Ok(Reply::Undone { withdrawn: 0, too_late: 2 }));
    let unsent = desk.approve(&items[2..]);
    desk.crash();
    assert_eq!(desk.ask(Command::CancelUnsent(sent)), Ok(Reply::Undone { withdrawn: 0, too_late: 2 }));
    assert_eq!(desk.engine.unsent().get(&unsent), Some(&2));
    // On its way, and then unanswered again: from now on it may have arrived.
    desk.online = true;
    desk.journal.set_full(true);
    let before = desk.sent;
    desk.settle();
    assert_eq!(desk.sent, before, "what the disk cannot know is not sent");
    assert!(desk.engine.outbox().all(|pending| pending.entry.stage == Stage::Ready));
    desk.journal.set_full(false);
    desk.settle();
    assert_eq!(desk.database.accepted().count(), 4);
}

#[test]
fn nothing_is_signed_under_another_policy_than_was_shown() {
    let mut desk = Desk::new();
    desk.arrive("a", 0..2);
    let items = desk.deck();
    let (_, command) = desk.confirmation(&items, 2);
    let failure = desk.ask(command).expect_err("the dialog showed another policy");
    assert_eq!(failure.code, "POLICY_CHANGED");
    assert!(failure.message.contains("nothing was signed"), "{}", failure.message);
    assert_eq!(desk.journal.entries(), []);
    desk.approve(&items);
}
