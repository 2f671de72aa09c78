//! From the lease to the answer.

use countersign_domain::hash::content_hash;
use countersign_domain::id::{Epoch, ExceptionId};
use countersign_domain::sign_off::{Answer, Decision, OtherDecision, Outcome};
use countersign_engine::port::{Identity, Journal as _, LocalDeadLetter, Settled, Stage, Write};
use uuid::Uuid;

use super::fixture::*;
use crate::{ACCEPTED_KEPT, Counts};

#[test]
fn everything_comes_back_after_a_restart_as_it_was() {
    let place = place();
    let mut journal = place.open();
    let installation = Uuid::from_u128(1);
    let mut rejected = entry(12);
    rejected.sign_off.decision = Decision::Reject;
    rejected.sign_off.reason = Some("OTHER".to_owned());
    apply(
        &mut journal,
        [
            Write::Bind { installation, reviewer: "alice".to_owned() },
            Write::Bind { installation, reviewer: "alice".to_owned() },
            leased(),
            signing(vec![entry(11), rejected.clone()]),
        ],
    );
    let before = restored(&mut journal);
    drop(journal);

    let mut journal = place.open();
    let after = restored(&mut journal);
    assert_eq!(after, before);
    assert_eq!(
        after.identity,
        Identity { workstation: WORKSTATION, bound_to: Some((installation, "alice".to_owned())) }
    );
    assert_eq!(after.leases, (0..3).map(lease).collect::<Vec<_>>());
    assert_eq!(after.deck, (1..30).filter(|n| ![11, 12].contains(n)).map(item).collect::<Vec<_>>());
    assert_eq!(after.outbox, [entry(11), rejected]);
    assert_eq!(after.last_ordinal, 12);
    for n in [1, 11] {
        assert_eq!(journal.body(ExceptionId(n)), Ok(Some(body(n))));
    }
    assert_eq!(journal.body(ExceptionId(77)), Ok(None));
}

#[test]
fn amounts_keep_every_digit_and_the_currency_its_decimals() {
    let place = place();
    let mut journal = place.open();
    let amounts = [
        ("99999999999999999999999999.99", "USD"),
        ("-9999999999999999999999999999", "JPY"),
        ("1234567890123456789012345.678", "BHD"),
        ("0.005", "BHD"),
        ("0.00", "USD"),
        ("-1.5", "USD"),
    ];
    let items: Vec<_> = (1_i64..)
        .zip(amounts)
        .map(|(n, (amount, currency))| {
            let mut item = item(n);
            item.variance = money(amount, currency);
            (item, body(n))
        })
        .collect();
    apply(&mut journal, [Write::Leased { leases: vec![lease(0)], items: items.clone() }]);
    let deck = restored(&mut journal).deck;
    assert_eq!(deck, items.into_iter().map(|(item, _)| item).collect::<Vec<_>>());
    for (item, (amount, _)) in deck.iter().zip(amounts) {
        assert_eq!(item.variance.amount.to_string(), amount, "the scale is kept too");
    }
}

#[test]
fn a_withdrawn_decision_leaves_the_outbox_and_can_be_made_again() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=3)), Write::Withdrawn(vec![key(2), key(3)])]);
    assert_eq!(outbox(&mut journal), [(1, Stage::Ready)]);
    assert!(deck(&mut journal).starts_with(&[2, 3, 4]));
    assert_eq!(restored(&mut journal).last_ordinal, 3, "an ordinal is never given twice");
    apply(&mut journal, [signing(vec![entry(2)])]);
    assert_eq!(outbox(&mut journal), [(1, Stage::Ready), (2, Stage::Ready)]);
}

#[test]
fn a_decision_withdrawn_after_its_lease_ended_is_forgotten() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(vec![entry(1), entry(11)]), Write::Dropped(vec![partition(0)])]);
    assert_eq!(journal.body(ExceptionId(1)), Ok(Some(body(1))), "a decided one outlives its lease");
    assert!(deck(&mut journal).iter().all(|id| *id >= 10));
    apply(&mut journal, [Write::Withdrawn(vec![key(1), key(11)])]);
    assert_eq!(journal.body(ExceptionId(1)), Ok(None));
    assert!(deck(&mut journal).contains(&11));
}

#[test]
fn an_answered_decision_cannot_be_withdrawn() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=2)), settle(2..=2, Stage::Committed, Outcome::Committed)]);
    let error = journal.write(&Write::Withdrawn(vec![key(1), key(2)])).expect_err("the second one is committed");
    assert!(error.message.contains("nothing was withdrawn"), "{error}");
    assert_eq!(outbox(&mut journal), [(1, Stage::Ready), (2, Stage::Committed)]);
}

#[test]
fn an_answer_takes_the_item_out_of_the_deck_and_stays() {
    let place = place();
    let mut journal = place.open();
    let other = OtherDecision { reviewer: "bob".to_owned(), decision: Decision::Reject, at: time(5) };
    let first_outcome = Some(Outcome::Held);
    let figure = Some(money("21.60", "USD"));
    let conflict = Answer { first_outcome, other: Some(other), figure, ..Answer::plain(Outcome::AlreadyDecided) };
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=4)),
            Write::Settled(vec![
                answered(1, Stage::Committed, Some(Outcome::Duplicate)),
                Settled { answer: Some(conflict.clone()), ..answered(2, Stage::Refused, None) },
                answered(3, Stage::Dead, None),
            ]),
        ],
    );
    drop(journal);
    let mut journal = place.open();
    assert_eq!(
        outbox(&mut journal),
        [(2, Stage::Refused), (3, Stage::Dead), (4, Stage::Ready), (1, Stage::Committed)],
        "what needs the reviewer comes before what is done"
    );
    let refused = &restored(&mut journal).outbox[0];
    assert_eq!(
        (refused.answer.as_ref(), refused.attempts, refused.settled_at),
        (Some(&conflict), 2, Some(time(1_000_002)))
    );
    let bodies = [1, 2, 3, 4].map(|n| journal.body(ExceptionId(n)).expect("the journal reads").is_some());
    assert_eq!(bodies, [false, false, true, true]);
    assert_eq!(deck(&mut journal)[0], 5, "a dead decision is still a decision");

    apply(
        &mut journal,
        [Write::Settled(vec![Settled { problem: None, attempts: 0, ..answered(3, Stage::Ready, None) }])],
    );
    let again = restored(&mut journal).outbox[1].clone();
    assert_eq!(again, entry(3), "a dead decision that is tried again is as good as new");
    apply(&mut journal, [Write::Dismissed(vec![key(2), key(4)])]);
    assert_eq!(outbox(&mut journal), [(3, Stage::Ready), (4, Stage::Ready), (1, Stage::Committed)]);
    assert_eq!(
        journal.counts(),
        Ok(Counts {
            ready: 2,
            committed: 1,
            refused: 1,
            dead: 0,
            duplicates: 1,
            signed_offline: 2,
            dead_letters: 0,
            undecided: 25
        })
    );
    let mut seen = Vec::new();
    journal.for_each_entry(|entry| seen.push(entry.ordinal)).expect("the journal reads");
    assert_eq!(seen, [1, 2, 3, 4], "reports see the dismissed one too");
}

#[test]
fn the_first_answer_stands() {
    let place = place();
    let mut journal = place.open();
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=1)),
            settle(1..=1, Stage::Committed, Outcome::Committed),
            settle(1..=1, Stage::Refused, Outcome::AlreadyDecided),
            settle(9..=9, Stage::Committed, Outcome::Committed),
        ],
    );
    assert_eq!(outbox(&mut journal), [(1, Stage::Committed)]);
}

#[test]
fn a_refused_decision_can_be_made_again_on_the_same_content() {
    let place = place();
    let mut journal = place.open();
    let again = |ordinal| {
        let mut entry = entry(1);
        entry.ordinal = ordinal;
        entry.sign_off.epoch = Epoch(4);
        entry
    };
    apply(
        &mut journal,
        [
            leased(),
            signing(entries(1..=1)),
            settle(1..=1, Stage::Refused, Outcome::LeaseSuperseded),
            leased(),
            signing(vec![again(2)]),
        ],
    );
    assert_eq!(outbox(&mut journal), [(2, Stage::Ready)]);
    let error = journal.write(&signing(vec![again(3)])).expect_err("this one is waiting for its answer");
    assert!(error.message.contains("key-1 was signed before"), "{error}");
}

#[test]
fn a_signed_item_that_is_leased_again_stays_signed_unless_its_content_changed() {
    let place = place();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(entries(1..=2))]);
    let mut newer = item(2);
    newer.content = content_hash("newer");
    newer.version = 2;
    apply(
        &mut journal,
        [Write::Leased {
            leases: vec![lease(0)],
            items: vec![(item(1), body(1)), (newer.clone(), "newer".to_owned())],
        }],
    );
    assert_eq!(restored(&mut journal).deck[0], newer);
    apply(&mut journal, [settle(1..=2, Stage::Refused, Outcome::StaleVersion)]);
    assert_eq!(restored(&mut journal).deck[0], newer, "the answer was to the older version");
    assert_eq!(journal.body(ExceptionId(2)), Ok(Some("newer".to_owned())));
    assert_eq!(journal.body(ExceptionId(1)), Ok(None));
}

#[test]
fn a_dead_letter_leaves_the_deck_and_is_kept() {
    let place = place();
    let mut journal = place.open();
    let letter = LocalDeadLetter {
        id: ExceptionId(5),
        version: 1,
        body: body(5),
        reason: "PoisonMessage".to_owned(),
        attempts: 3,
        at: time(0),
    };
    apply(&mut journal, [leased(), Write::DeadLettered(vec![letter.clone()]), Write::DeadLettered(vec![letter])]);
    assert!(!deck(&mut journal).contains(&5));
    assert_eq!(journal.counts().expect("the journal reads").dead_letters, 1);
}

#[test]
fn only_the_latest_accepted_decisions_are_shown_and_kept() {
    let place = place();
    let mut journal = place.open();
    let last = i64::from(ACCEPTED_KEPT) + 3;
    apply(&mut journal, [signing(entries(1..=last)), settle(1..=last, Stage::Committed, Outcome::Committed)]);
    let shown = outbox(&mut journal);
    assert_eq!((shown.len(), shown.last()), (500, Some(&(20_003, Stage::Committed))));
    let mut kept = Vec::new();
    journal.for_each_entry(|entry| kept.push(entry.ordinal)).expect("the journal reads");
    assert_eq!((kept.len(), kept[0]), (20_000, 4), "the oldest are forgotten");
    assert_eq!(restored(&mut journal).last_ordinal, 20_003);
    assert_eq!(journal.batches(), Ok(Vec::new()), "what is left of the confirmation would not add up");
}

#[test]
fn a_journal_belongs_to_one_reviewer_of_one_installation() {
    let place = place();
    let mut journal = place.open();
    let bind = |installation, reviewer: &str| Write::Bind {
        installation: Uuid::from_u128(installation),
        reviewer: reviewer.to_owned(),
    };
    apply(&mut journal, [bind(1, "alice")]);
    for other in [bind(2, "alice"), bind(1, "bob")] {
        journal.write(&other).expect_err("it is bound");
    }
    assert_eq!(restored(&mut journal).identity.bound_to, Some((Uuid::from_u128(1), "alice".to_owned())));
}
