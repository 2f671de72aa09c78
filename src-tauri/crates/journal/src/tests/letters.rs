//! What was given up is kept until the backlog was told of it.

use countersign_domain::dead_letter::Cause;
use countersign_domain::id::ExceptionId;
use countersign_engine::port::{GivenUp, Journal as _, LETTERS_A_CALL, LocalDeadLetter, Stage, UNTOLD_BYTES, Write};

use super::fixture::*;
use crate::{DEAD_LETTERS_KEPT, SqliteJournal};

fn letter(n: i64) -> LocalDeadLetter {
    LocalDeadLetter {
        id: ExceptionId(n),
        version: 1,
        body: body(n),
        reason: "it fell over".to_owned(),
        attempts: 3,
        at: time(n),
    }
}

fn of_decision(n: i64) -> GivenUp {
    GivenUp {
        cause: Cause::SignOff,
        exception: ExceptionId(n),
        version: 1,
        key: Some(key(n)),
        original: format!("{{\"decision\":{n}}}"),
        reason: "it can never be taken".to_owned(),
        attempts: 1,
        at: time(n),
    }
}

fn untold(journal: &mut SqliteJournal, at_most: usize) -> Vec<GivenUp> {
    journal.untold(at_most).expect("the journal reads")
}

fn numbers(letters: &[GivenUp]) -> Vec<i64> {
    letters.iter().map(|letter| letter.exception.0).collect()
}

#[test]
fn what_was_given_up_is_told_once_in_its_order_also_after_a_restart() {
    let place = place();
    let mut journal = place.open();
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=4)),
            Write::DeadLettered(vec![letter(9), letter(7)]),
            Write::GivenUp(vec![of_decision(3)]),
        ],
    );
    drop(journal);
    let mut journal = place.open();
    let letters = untold(&mut journal, 100);
    assert_eq!(numbers(&letters), [3, 7, 9]);
    assert_eq!(letters[0], of_decision(3));
    assert_eq!((letters[1].cause, &letters[1].original, letters[1].key), (Cause::Scoring, &body(7), None));
    assert_eq!(numbers(&untold(&mut journal, 2)), [3, 7]);
    apply(&mut journal, [Write::Told(vec![letters[0].letter(), letters[2].letter()])]);
    drop(journal);
    let mut journal = place.open();
    assert_eq!(numbers(&untold(&mut journal, 100)), [7]);
    assert_eq!(journal.counts().expect("it reads").dead_letters, 2, "what was told is kept all the same");
    // Given up anew, it is told anew; the database knows that it is the same.
    apply(&mut journal, [Write::DeadLettered(vec![letter(9)])]);
    assert_eq!(numbers(&untold(&mut journal, 100)), [7, 9]);
}

#[test]
fn a_decision_that_is_tried_again_before_it_was_told_is_not_told() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=2)), Write::GivenUp(vec![of_decision(1), of_decision(2)])]);
    let dead = (1..=2).map(|n| answered(n, Stage::Dead, None)).collect();
    apply(&mut journal, [Write::Settled(dead), Write::Settled(vec![answered(1, Stage::Ready, None)])]);
    assert_eq!(numbers(&untold(&mut journal, 100)), [2]);
}

#[test]
fn what_is_told_at_once_is_bounded_and_its_oldest_always_goes() {
    let place = place();
    let mut journal = place.open();
    let long = |n| LocalDeadLetter { body: "x".repeat(UNTOLD_BYTES * 2 / 3), ..letter(n) };
    apply(&mut journal, [Write::DeadLettered(vec![long(1), long(2), letter(3)])]);
    assert_eq!(numbers(&untold(&mut journal, LETTERS_A_CALL)), [1]);
    let first = untold(&mut journal, 1)[0].letter();
    apply(&mut journal, [Write::Told(vec![first])]);
    assert_eq!(numbers(&untold(&mut journal, LETTERS_A_CALL)), [2, 3]);
}

#[test]
fn of_too_many_those_that_were_told_go_first() {
    let place = place();
    let mut journal = place.open();
    let kept = i64::from(DEAD_LETTERS_KEPT);
    apply(&mut journal, [Write::DeadLettered((1..=kept).map(letter).collect())]);
    let last = GivenUp { cause: Cause::Scoring, key: None, ..of_decision(kept) };
    apply(&mut journal, [Write::Told(vec![last.letter()]), Write::DeadLettered(vec![letter(kept + 1)])]);
    let left = numbers(&untold(&mut journal, 5_000));
    assert_eq!((left.len(), left[0], left.contains(&kept), *left.last().unwrap_or(&0)), (1_000, 1, false, kept + 1));
}

#[test]
fn signing_out_forgets_contents_and_keeps_decisions_that_nobody_was_told_of() {
    let place = place();
    let mut journal = place.open();
    apply(
        &mut journal,
        [leased(), signing(entries(1..=1)), Write::GivenUp(vec![of_decision(1)]), Write::DeadLettered(vec![letter(5)])],
    );
    apply(&mut journal, [Write::Cleared]);
    assert_eq!(untold(&mut journal, 100), [of_decision(1)]);
}
