//! What every backlog does: the same sentences, held against the simulated one and the real one.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use countersign_domain::dead_letter::Cause;
use countersign_domain::exception::Kind;
use countersign_domain::focus::Focus;
use countersign_domain::hash;
use countersign_domain::id::{ExceptionId, PartitionKey, Seq, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::sign_off::{Answer, Decision, Outcome, SignOff};
use countersign_domain::{figure, gate};
use countersign_engine::port::{Backlog, GivenUp, Held, HeldCursor, LeaseReply, LeaseRequest, LeasedItem};

use crate::enrolment::sealed;
use crate::generate::Arrival;

/// What became of one exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Decided or not.
    pub decided: bool,
    /// The number of its effect.
    pub effect: Option<i64>,
}

/// A backlog under test and what only its owner can do.
pub trait World: Sync {
    /// The backlog.
    type Backlog: Backlog;

    /// A workstation of this reviewer; each call makes another one.
    fn workstation(&self, reviewer: &str) -> impl Future<Output = Seat<Self::Backlog>> + Send;

    /// Takes bodies in.
    fn enqueue(&self, bodies: &[String]) -> impl Future<Output = Vec<String>> + Send;

    /// Makes every lease run out.
    fn lapse(&self) -> impl Future<Output = ()> + Send;

    /// What became of an exception.
    fn facts(&self, key: &str) -> impl Future<Output = Facts> + Send;

    /// Dead letters that workstations gave up: their exceptions and how often it was tried, in that order.
    fn given_up(&self) -> impl Future<Output = Vec<(ExceptionId, u32)>> + Send;
}

/// A reviewer at a workstation.
pub struct Seat<B> {
    /// The way to the database.
    pub backlog: Arc<B>,
    /// The workstation.
    pub workstation: WorkstationId,
    /// The login, as the database knows it.
    pub reviewer: String,
}

impl<B: Backlog> Seat<B> {
    async fn lease(&self, want: u32, held: &[HeldCursor]) -> LeaseReply {
        let request =
            LeaseRequest { want, room: want.max(100), empty: true, ttl_ms: 60_000, held: held.to_vec(), focus: None };
        self.backlog.lease(self.workstation, &request).await.expect("lease")
    }

    async fn lease_in(&self, focus: Focus, held: &[HeldCursor]) -> LeaseReply {
        let held = held.to_vec();
        let request = LeaseRequest { want: 100, room: 100, empty: true, ttl_ms: 60_000, held, focus: Some(focus) };
        self.backlog.lease(self.workstation, &request).await.expect("lease")
    }

    async fn renew(&self, held: &[Held]) -> Vec<Held> {
        let renewed = self.backlog.renew(self.workstation, held, 60_000).await.expect("renew");
        renewed.into_iter().map(|renewed| renewed.held).collect()
    }

    async fn sign(&self, sign_offs: &[SignOff]) -> Vec<Answer> {
        let reply = self.backlog.sign_off(self.workstation, sign_offs).await.expect("sign off");
        let keys: Vec<_> = sign_offs.iter().map(|sign_off| sign_off.key).collect();
        reply.receipt.expect("a call has its receipt").check(&keys).expect("the receipt adds up");
        reply.answers
    }

    async fn outcomes(&self, sign_offs: &[SignOff]) -> Vec<Outcome> {
        self.sign(sign_offs).await.into_iter().map(|answer| answer.outcome).collect()
    }

    fn decide(&self, item: &LeasedItem, decision: Decision) -> SignOff {
        let content = gate::read_body(&item.body).expect("what is handed out passed the gates");
        let figure = figure::outlook(&content).figure.filter(|_| decision == Decision::Approve);
        let sign_off = SignOff {
            key: hash::sign_off_key(&content.idempotency_key, item.content, decision, &self.reviewer),
            exception: item.id,
            content: item.content,
            epoch: item.epoch,
            decision,
            reason: (decision == Decision::Reject).then(|| "OTHER".to_owned()),
            comment: Some("seen".to_owned()),
            decided_at: DateTime::<Utc>::from_timestamp(1_790_000_000, 123_456_000).expect("a good instant"),
            policy_version: 1,
            figure,
            seal: None,
        };
        self.seal(sign_off, &content.idempotency_key)
    }

    fn seal(&self, sign_off: SignOff, key: &str) -> SignOff {
        sealed(sign_off, key, &self.reviewer, self.workstation)
    }

    fn approve(&self, item: &LeasedItem) -> SignOff {
        self.decide(item, Decision::Approve)
    }

    /// The same decision with another figure, or none, and its own seal.
    fn carrying(&self, item: &LeasedItem, sign_off: SignOff, figure: Option<Money>) -> SignOff {
        let key = gate::read_body(&item.body).expect("what is handed out passed the gates").idempotency_key;
        self.seal(SignOff { figure, ..sign_off }, &key)
    }
}

fn bodies(numbers: std::ops::Range<u64>, partition: &str) -> Vec<String> {
    numbers.map(|number| Arrival::new(number, partition).body()).collect()
}

fn prepared(number: u64, partition: &str, group: Option<&str>, by: &[&str]) -> String {
    Arrival { group, prepared_by: by, ..Arrival::new(number, partition) }.body()
}

fn partitions(reply: &LeaseReply) -> BTreeSet<PartitionKey> {
    reply.items.iter().map(|item| item.partition.clone()).collect()
}

fn held(reply: &LeaseReply) -> Vec<Held> {
    reply.partitions.iter().map(|leased| Held { partition: leased.partition.clone(), epoch: leased.epoch }).collect()
}

fn cursors(reply: &LeaseReply) -> Vec<HeldCursor> {
    reply
        .partitions
        .iter()
        .map(|leased| HeldCursor { partition: leased.partition.clone(), after: leased.after })
        .collect()
}

/// Items come whole partitions at a time, each in the order of its places, each with the content that was sent.
pub async fn a_lease_hands_out_partitions_in_their_order(world: impl World) {
    let arrivals = [bodies(0..4, "a"), bodies(10..13, "b")].concat();
    assert_eq!(world.enqueue(&arrivals).await, ["ENQUEUED"; 7]);
    let seat = world.workstation("alice").await;
    let reply = seat.lease(50, &[]).await;
    assert_eq!(
        reply.items.iter().map(|item| item.body.clone()).collect::<BTreeSet<_>>(),
        arrivals.into_iter().collect()
    );
    for partition in partitions(&reply) {
        let places: Vec<i64> =
            reply.items.iter().filter(|item| item.partition == partition).map(|item| item.seq.0).collect();
        assert_eq!(places, (1..=i64::try_from(places.len()).expect("few")).collect::<Vec<_>>());
    }
    assert!(
        reply.partitions.iter().all(|leased| !leased.more && leased.lease_ms > 50_000 && leased.lease_ms <= 60_000)
    );
}

/// Two workstations never hold the same partition at once.
pub async fn two_workstations_never_hold_one_partition(world: impl World) {
    for number in 0..6 {
        world.enqueue(&bodies(number * 10..number * 10 + 2, &format!("p{number}"))).await;
    }
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let (first, second) = (alice.lease(5, &[]).await, bob.lease(50, &[]).await);
    assert!(partitions(&first).is_disjoint(&partitions(&second)));
    assert_eq!(partitions(&first).len() + partitions(&second).len(), 6);
    assert!(
        alice.lease(50, &cursors(&first)).await.items.iter().all(|item| partitions(&first).contains(&item.partition))
    );
}

/// What is held is handed out to its end before anything new is claimed.
pub async fn what_is_held_comes_first(world: impl World) {
    world.enqueue(&bodies(0..10, "long")).await;
    let seat = world.workstation("alice").await;
    let first = seat.lease(4, &[]).await;
    world.enqueue(&bodies(20..24, "other")).await;
    assert!(first.items.len() == 4 && first.partitions[0].more);
    let second = seat.lease(4, &cursors(&first)).await;
    assert_eq!(partitions(&second), partitions(&first));
    assert_eq!(second.items.iter().map(|item| item.seq.0).collect::<Vec<_>>(), [5, 6, 7, 8]);
    let third = seat.lease(4, &cursors(&second)).await;
    assert_eq!(third.items.len(), 4);
    assert_eq!(partitions(&third).len(), 2);
}

/// A lease whose answer was lost is handed out anew, because the workstation does not name it.
pub async fn a_lost_answer_is_handed_out_anew(world: impl World) {
    world.enqueue(&bodies(0..3, "a")).await;
    let seat = world.workstation("alice").await;
    let lost = seat.lease(10, &[]).await;
    let again = seat.lease(10, &[]).await;
    assert_eq!(again.items, lost.items);
    assert!(seat.lease(10, &cursors(&again)).await.items.is_empty());
}

/// Nobody is handed what they prepared, and nobody signs it by any route.
pub async fn preparers_are_shut_out(world: impl World) {
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let mine = prepared(1, "a", None, &[alice.reviewer.as_str()]);
    world
        .enqueue(&[mine, prepared(2, "a", None, &["x"]), prepared(3, "b", None, &[alice.reviewer.as_str(), "x"])])
        .await;
    let reply = alice.lease(10, &[]).await;
    assert_eq!(reply.items.iter().map(|item| item.seq).collect::<Vec<_>>(), [Seq(2)]);
    assert!(!reply.partitions[0].more);
    let stolen = LeasedItem {
        id: ExceptionId(reply.items[0].id.0 - 1),
        body: prepared(1, "a", None, &[alice.reviewer.as_str()]),
        ..reply.items[0].clone()
    };
    let stolen = LeasedItem { content: hash::content_hash(&stolen.body), seq: Seq(1), ..stolen };
    assert_eq!(alice.outcomes(&[alice.approve(&stolen)]).await, [Outcome::Preparer]);
    assert_eq!(alice.outcomes(&[alice.approve(&reply.items[0])]).await, [Outcome::Held]);
    assert_eq!(partitions(&bob.lease(10, &[]).await), BTreeSet::from([PartitionKey("b".into())]));
}

/// A focus hands out what it wants and nothing else, of partitions that are free and of those that are held.
pub async fn a_focus_hands_out_what_it_wants(world: impl World) {
    world.enqueue(&[bodies(0..3, "a"), bodies(10..13, "b")].concat()).await;
    let seat = world.workstation("alice").await;
    let on = |entity: &str| Focus { entities: vec![entity.to_owned()], ..Focus::default() };
    let first = seat.lease_in(on("b"), &[]).await;
    assert_eq!(partitions(&first), BTreeSet::from([PartitionKey("b".into())]));
    assert_eq!(first.items.len(), 3);
    let second = seat.lease_in(on("a"), &cursors(&first)).await;
    assert_eq!(partitions(&second), BTreeSet::from([PartitionKey("a".into())]));
    assert_eq!(second.items.len(), 3);
    let nobodys = Focus { currencies: vec!["EUR".to_owned()], ..Focus::default() };
    assert!(seat.lease_in(nobodys, &[]).await.items.is_empty());
}

/// What a focus passes over is handed out when the cursor starts anew without it.
pub async fn what_a_focus_passes_over_is_not_lost(world: impl World) {
    let body =
        |number| Arrival { cents: 100 + i64::try_from(number).expect("few"), ..Arrival::new(number, "a") }.body();
    world.enqueue(&(0..6).map(body).collect::<Vec<_>>()).await;
    let seat = world.workstation("alice").await;
    let amount = |cents| Some(rust_decimal::Decimal::new(cents, 2));
    let places = |reply: &LeaseReply| reply.items.iter().map(|item| item.seq.0).collect::<Vec<_>>();
    let between = Focus { amount_from: amount(102), amount_to: amount(104), ..Focus::default() };
    let reply = seat.lease_in(between, &[]).await;
    assert_eq!(places(&reply), [3, 4, 5]);
    assert!(!reply.partitions[0].more, "nothing more of it is inside");
    let anew = [HeldCursor { partition: PartitionKey("a".into()), after: Seq(0) }];
    assert_eq!(places(&seat.lease(100, &anew).await), [1, 2, 3, 4, 5, 6]);
}

/// A group of which something is inside a focus comes whole, as it is decided.
pub async fn a_group_comes_into_a_focus_whole(world: impl World) {
    let body = |number, group| {
        Arrival { cents: 100 + i64::try_from(number).expect("few"), group, ..Arrival::new(number, "r") }.body()
    };
    world.enqueue(&[body(0, None), body(1, Some("report")), body(2, Some("report")), body(3, None)]).await;
    let seat = world.workstation("alice").await;
    let only = rust_decimal::Decimal::new(102, 2);
    let focus = Focus { amount_from: Some(only), amount_to: Some(only), ..Focus::default() };
    let reply = seat.lease_in(focus, &[]).await;
    assert_eq!(reply.items.iter().map(|item| item.seq.0).collect::<Vec<_>>(), [2, 3]);
}

/// A group goes whole or not at all, and not to anybody who prepared a part of it.
pub async fn a_group_is_never_cut(world: impl World) {
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let by = [["x"], ["x"], ["x"]];
    let group: Vec<String> =
        (0..3).map(|n| prepared(n, "r", Some("report"), &by[usize::try_from(n).expect("few")])).collect();
    world.enqueue(&group).await;
    world
        .enqueue(&[
            prepared(10, "s", Some("mixed"), &["x"]),
            prepared(11, "s", Some("mixed"), &[alice.reviewer.as_str()]),
        ])
        .await;
    let reply = alice.lease(2, &[]).await;
    assert_eq!(reply.items.len(), 3, "the whole report, although only two were asked for");
    assert_eq!(partitions(&reply), BTreeSet::from([PartitionKey("r".into())]));
    assert!(alice.lease(10, &cursors(&reply)).await.items.is_empty(), "a report with a part of her own is not hers");
    assert_eq!(bob.lease(10, &[]).await.items.len(), 2);
}

/// Who prepared a part of a group signs none of it, also without having been handed it.
pub async fn a_preparer_signs_nothing_of_the_group(world: impl World) {
    let alice = world.workstation("alice").await;
    let arrivals = [
        prepared(0, "g", Some("report"), &[alice.reviewer.as_str()]),
        prepared(1, "g", Some("report"), &["x"]),
        prepared(2, "g", None, &["x"]),
    ];
    world.enqueue(&arrivals).await;
    let free = alice.lease(10, &[]).await.items.remove(0);
    assert_eq!(free.seq, Seq(3));
    let body = arrivals[1].clone();
    let stolen =
        LeasedItem { id: ExceptionId(free.id.0 - 1), content: hash::content_hash(&body), seq: Seq(2), body, ..free };
    assert_eq!(alice.outcomes(&[alice.approve(&stolen)]).await, [Outcome::Preparer]);
}

/// What was never leased to anybody cannot be signed under a made-up epoch.
pub async fn what_was_never_leased_cannot_be_signed(world: impl World) {
    let arrivals = bodies(0..1, "a");
    world.enqueue(&arrivals).await;
    let alice = world.workstation("alice").await;
    let guessed = LeasedItem {
        id: ExceptionId(1),
        partition: PartitionKey("a".into()),
        epoch: countersign_domain::id::Epoch(0),
        seq: Seq(1),
        version: 1,
        content: hash::content_hash(&arrivals[0]),
        body: arrivals[0].clone(),
        signatures: 0,
        due_on: None,
    };
    assert_eq!(alice.outcomes(&[alice.approve(&guessed)]).await, [Outcome::LeaseSuperseded]);
    assert_eq!(world.facts(&Arrival::new(0, "a").key()).await, Facts { decided: false, effect: None });
}

/// A lease that lapsed and that nobody took is still good.
pub async fn a_lapsed_but_untaken_lease_still_commits(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let alice = world.workstation("alice").await;
    let reply = alice.lease(10, &[]).await;
    world.lapse().await;
    assert_eq!(alice.outcomes(&[alice.approve(&reply.items[0])]).await, [Outcome::Committed]);
}

/// A lease that lapsed and was taken is superseded, and the other decision is told.
pub async fn a_lapsed_and_taken_lease_is_superseded(world: impl World) {
    world.enqueue(&bodies(0..2, "a")).await;
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let hers = alice.lease(10, &[]).await;
    world.lapse().await;
    let his = bob.lease(10, &[]).await;
    assert_eq!(his.items.len(), 2);
    assert_eq!(bob.outcomes(&[bob.decide(&his.items[0], Decision::Reject)]).await, [Outcome::Committed]);
    let answers = alice.sign(&[alice.approve(&hers.items[0]), alice.approve(&hers.items[1])]).await;
    assert_eq!(answers.iter().map(|answer| answer.outcome).collect::<Vec<_>>(), [Outcome::LeaseSuperseded; 2]);
    let other = answers[0].other.as_ref().expect("the decision that stands");
    assert_eq!((other.reviewer.as_str(), other.decision), (bob.reviewer.as_str(), Decision::Reject));
    assert!(answers[1].other.is_none());
    assert!(alice.renew(&held(&hers)).await.is_empty());
}

/// A renewal takes up what lapsed and was not taken.
pub async fn a_renewal_takes_up_what_nobody_took(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let hers = alice.lease(10, &[]).await;
    world.lapse().await;
    assert_eq!(alice.renew(&held(&hers)).await, held(&hers));
    assert!(bob.lease(10, &[]).await.items.is_empty());
}

/// What is given back can be claimed at once, and its old epoch is good until it is.
pub async fn what_is_given_back_can_be_claimed_at_once(world: impl World) {
    world.enqueue(&bodies(0..2, "a")).await;
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let hers = alice.lease(10, &[]).await;
    alice.backlog.release(alice.workstation, &held(&hers)).await.expect("release");
    let his = bob.lease(10, &[]).await;
    assert_eq!(his.items.len(), 2);
    // A late release of the old lease does not touch the new one.
    alice.backlog.release(alice.workstation, &held(&hers)).await.expect("release");
    assert_eq!(bob.renew(&held(&his)).await, held(&his));
}

/// The same decision sent twice has one effect and the first answer; another one under its key is refused.
pub async fn a_decision_sent_twice_has_one_effect(world: impl World) {
    world.enqueue(&bodies(0..3, "a")).await;
    let alice = world.workstation("alice").await;
    let reply = alice.lease(10, &[]).await;
    let batch: Vec<SignOff> = reply.items.iter().map(|item| alice.approve(item)).collect();
    assert_eq!(alice.outcomes(&batch).await, [Outcome::Committed; 3]);
    let first = world.facts(&Arrival::new(0, "a").key()).await;
    let again = alice.sign(&batch).await;
    assert!(
        again
            .iter()
            .all(|answer| answer.outcome == Outcome::Duplicate && answer.first_outcome == Some(Outcome::Committed))
    );
    assert_eq!(world.facts(&Arrival::new(0, "a").key()).await, first);
    let other_words = SignOff { comment: Some("other words".to_owned()), ..batch[0].clone() };
    assert_eq!(alice.outcomes(std::slice::from_ref(&other_words)).await, [Outcome::Forged]);
    let other_words = alice.seal(other_words, &Arrival::new(0, "a").key());
    assert_eq!(alice.outcomes(&[other_words]).await, [Outcome::KeyReused]);
    let wrong_key = SignOff { key: batch[1].key, ..alice.decide(&reply.items[0], Decision::Reject) };
    assert_eq!(alice.outcomes(&[wrong_key]).await, [Outcome::KeyReused]);
}

/// Effects follow the places: an item behind an undecided one is held until that one is decided.
pub async fn effects_follow_the_order_of_places(world: impl World) {
    world.enqueue(&bodies(0..4, "a")).await;
    let alice = world.workstation("alice").await;
    let items = alice.lease(10, &[]).await.items;
    assert_eq!(
        alice.outcomes(&[alice.approve(&items[2]), alice.decide(&items[1], Decision::Reject)]).await,
        [Outcome::Held; 2]
    );
    let facts = |number| Arrival::new(number, "a").key();
    assert_eq!(world.facts(&facts(2)).await, Facts { decided: true, effect: None });
    assert_eq!(alice.outcomes(&[alice.approve(&items[0])]).await, [Outcome::Committed]);
    let mut effects = Vec::new();
    for number in 0..3 {
        effects.push(world.facts(&facts(number)).await.effect.expect("it has taken effect"));
    }
    assert!(effects.is_sorted(), "{effects:?}");
    assert_eq!(world.facts(&facts(3)).await, Facts { decided: false, effect: None });
    let held_again = alice.sign(&[alice.approve(&items[2])]).await;
    assert_eq!((held_again[0].outcome, held_again[0].first_outcome), (Outcome::Duplicate, Some(Outcome::Held)));
}

/// Of two decisions on one exception the first stands, also within one call.
pub async fn the_first_decision_stands(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let alice = world.workstation("alice").await;
    let item = alice.lease(10, &[]).await.items.remove(0);
    let (approve, reject) = (alice.approve(&item), alice.decide(&item, Decision::Reject));
    let outcomes = alice.outcomes(&[approve.clone(), reject.clone()]).await;
    assert_eq!(outcomes, [Outcome::Committed, Outcome::AlreadyDecided]);
    let later = alice.sign(&[reject]).await;
    assert_eq!(later[0].outcome, Outcome::AlreadyDecided);
    assert_eq!(later[0].other.as_ref().map(|other| other.decision), Some(Decision::Approve));
}

/// A reviewer approves what they saw: what changed since comes back, and can be decided anew.
pub async fn a_changed_exception_is_not_signed(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let alice = world.workstation("alice").await;
    let reply = alice.lease(10, &[]).await;
    let corrected = Arrival { revision: 2, ..Arrival::new(0, "a") }.body();
    assert_eq!(world.enqueue(std::slice::from_ref(&corrected)).await, ["CORRECTED"]);
    let stale = alice.sign(&[alice.approve(&reply.items[0])]).await.remove(0);
    assert_eq!(stale.outcome, Outcome::StaleVersion);
    assert_eq!(stale.now.map(|now| (now.version, now.body)), Some((2, corrected.clone())));
    let again = alice.lease(10, &[HeldCursor { partition: PartitionKey("a".into()), after: Seq(0) }]).await;
    assert_eq!((again.items[0].version, &again.items[0].body), (2, &corrected));
    assert_eq!(alice.outcomes(&[alice.approve(&again.items[0])]).await, [Outcome::Committed]);
}

/// A decision that was changed after it was made, or that another workstation made, is not taken.
pub async fn a_decision_is_good_as_its_workstation_sealed_it(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let (alice, elsewhere) = (world.workstation("alice").await, world.workstation("alice").await);
    let item = alice.lease(10, &[]).await.items.remove(0);
    let good = alice.approve(&item);
    for changed in [
        SignOff { decision: Decision::Reject, reason: Some("OTHER".to_owned()), ..good.clone() },
        SignOff { comment: None, ..good.clone() },
        SignOff { decided_at: good.decided_at + chrono::Duration::seconds(1), ..good.clone() },
        SignOff { seal: elsewhere.approve(&item).seal, ..good.clone() },
    ] {
        assert_eq!(alice.outcomes(&[changed]).await, [Outcome::Forged]);
    }
    assert_eq!(elsewhere.outcomes(std::slice::from_ref(&good)).await, [Outcome::Forged]);
    assert_eq!(alice.outcomes(&[good]).await, [Outcome::Committed]);
}

/// What is handed over is the colleague's at once, and nothing decided under the old lease counts any more.
pub async fn a_lease_can_be_handed_to_a_colleague(world: impl World) {
    world.enqueue(&bodies(0..2, "a")).await;
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    assert!(bob.lease(10, &[]).await.items.len() == 2, "he has worked before");
    bob.backlog.release(bob.workstation, &held(&bob.lease(10, &[]).await)).await.expect("release");
    let hers = alice.lease(10, &[]).await;
    let to = &bob.reviewer;
    let handed = alice.backlog.hand_over(alice.workstation, &held(&hers), to, 60_000).await.expect("hand over");
    assert_eq!(handed, [PartitionKey("a".into())]);
    assert!(alice.renew(&held(&hers)).await.is_empty());
    assert_eq!(alice.outcomes(&[alice.approve(&hers.items[0])]).await, [Outcome::LeaseSuperseded]);
    let his = bob.lease(10, &[]).await;
    assert_eq!(his.items.len(), 2);
    assert_eq!(bob.outcomes(&[bob.approve(&his.items[0])]).await, [Outcome::Committed]);
    let again = alice.backlog.hand_over(alice.workstation, &held(&hers), to, 60_000).await.expect("hand over");
    assert!(again.is_empty(), "it is not hers any more");
}

/// A redelivery changes nothing; a correction of what is decided is a conflict.
pub async fn a_redelivery_changes_nothing(world: impl World) {
    let first = bodies(0..1, "a");
    assert_eq!(world.enqueue(&first).await, ["ENQUEUED"]);
    assert_eq!(world.enqueue(&first).await, ["DUPLICATE"]);
    let alice = world.workstation("alice").await;
    let reply = alice.lease(10, &[]).await;
    alice.sign(&[alice.approve(&reply.items[0])]).await;
    assert_eq!(world.enqueue(&first).await, ["DUPLICATE"]);
    assert_eq!(world.enqueue(&[Arrival { revision: 2, ..Arrival::new(0, "a") }.body()]).await, ["CONFLICT"]);
    assert_eq!(world.enqueue(&[Arrival { revision: 2, ..Arrival::new(0, "b") }.body()]).await, ["CONFLICT"]);
}

/// A late delivery of an earlier version does not undo its correction.
pub async fn an_old_delivery_does_not_undo_a_correction(world: impl World) {
    let revision = |revision| vec![Arrival { revision, ..Arrival::new(0, "a") }.body()];
    assert_eq!(
        world.enqueue(&[revision(1), revision(2), revision(1)].concat()).await,
        ["ENQUEUED", "CORRECTED", "DUPLICATE"]
    );
    let alice = world.workstation("alice").await;
    let reply = alice.lease(10, &[]).await;
    assert_eq!((reply.items[0].version, &reply.items[0].body), (2, &revision(2)[0]));
    alice.sign(&[alice.approve(&reply.items[0])]).await;
    assert_eq!(world.enqueue(&[revision(1), revision(2)].concat()).await, ["DUPLICATE"; 2]);
}

/// What does not exist cannot be signed, and does not stop the rest of its batch.
pub async fn what_does_not_exist_is_not_eligible(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let alice = world.workstation("alice").await;
    let item = alice.lease(10, &[]).await.items.remove(0);
    let ghost = SignOff { exception: ExceptionId(i64::MAX), ..alice.approve(&item) };
    assert_eq!(alice.outcomes(&[ghost, alice.approve(&item)]).await, [Outcome::NotEligible, Outcome::Committed]);
}

/// An epoch is good for the workstation it was given to, and for no other, not even one of the same person.
pub async fn an_epoch_belongs_to_its_workstation(world: impl World) {
    world.enqueue(&bodies(0..1, "a")).await;
    let (alice, bob) = (world.workstation("alice").await, world.workstation("bob").await);
    let item = alice.lease(10, &[]).await.items.remove(0);
    assert_eq!(bob.outcomes(&[bob.approve(&item)]).await, [Outcome::LeaseSuperseded]);
    assert_eq!(alice.outcomes(&[alice.approve(&item)]).await, [Outcome::Committed]);
}

/// With a focus only what is inside is handed out, and nothing is claimed that has nothing inside.
pub async fn a_focus_hands_out_what_is_inside(world: impl World) {
    world.enqueue(&[bodies(0..4, "a"), bodies(10..13, "b"), bodies(20..22, "c")].concat()).await;
    let alice = world.workstation("alice").await;
    let lease = async |focus: Focus| {
        let request =
            LeaseRequest { want: 50, room: 50, empty: true, ttl_ms: 60_000, held: Vec::new(), focus: Some(focus) };
        alice.backlog.lease(alice.workstation, &request).await.expect("lease")
    };
    let only = lease(Focus { entities: vec!["b".to_owned()], ..Focus::default() }).await;
    assert_eq!((only.items.len(), only.partitions.len()), (3, 1));
    let named = vec!["Counterparty 2".to_owned(), "Counterparty 12".to_owned()];
    let named = lease(Focus { counterparties: named, ..Focus::default() }).await;
    assert_eq!(named.items.iter().map(|item| item.seq).collect::<BTreeSet<_>>(), BTreeSet::from([Seq(3)]));
    assert_eq!(partitions(&named), BTreeSet::from([PartitionKey("a".into()), PartitionKey("b".into())]));
    assert_eq!(lease(Focus::default()).await.items.len(), 9, "what was passed is not lost");
}

fn usd(amount: &str) -> Money {
    Money::parse(amount, "USD".parse().expect("a currency")).expect("an amount")
}

/// An approval of a claim carries what its units come to, and nothing else is taken; a rejection carries nothing.
pub async fn a_claim_is_approved_with_its_accrual_and_no_other_figure(world: impl World) {
    // 1,234 × 0.0175 is 21.595.
    let claim = Arrival { kind: Kind::SalesClaim, ..Arrival::new(1_233, "a") };
    world.enqueue(&[claim.body(), Arrival { number: 1, ..claim.clone() }.body()]).await;
    let alice = world.workstation("alice").await;
    let items = alice.lease(10, &[]).await.items;
    let good = alice.approve(&items[0]);
    assert_eq!(good.figure, Some(usd("21.60")));
    for wrong in [
        None,
        Some(usd("21.59")),
        Some(usd("-21.60")),
        Some(Money { currency: "EUR".parse().expect("a currency"), ..usd("21.60") }),
    ] {
        let answer = alice.sign(&[alice.carrying(&items[0], good.clone(), wrong)]).await.remove(0);
        assert_eq!((answer.outcome, answer.figure), (Outcome::FigureDiffers, Some(usd("21.60"))), "{wrong:?}");
    }
    let unsealed = SignOff { figure: Some(usd("21.59")), ..good.clone() };
    assert_eq!(alice.outcomes(&[unsealed]).await, [Outcome::Forged]);
    let rejection = alice.decide(&items[1], Decision::Reject);
    let answer = alice.sign(&[alice.carrying(&items[1], rejection.clone(), Some(usd("1.00")))]).await.remove(0);
    assert_eq!((answer.outcome, answer.figure), (Outcome::FigureDiffers, None));
    assert_eq!(world.facts(&claim.key()).await, Facts { decided: false, effect: None }, "a refusal changes nothing");
    assert_eq!(alice.outcomes(&[good.clone(), rejection]).await, [Outcome::Committed; 2]);
    let other = alice.carrying(&items[0], good, Some(usd("21.59")));
    assert_eq!(alice.outcomes(&[other]).await, [Outcome::KeyReused], "the key is bound to the figure");
}

/// A receipt may be approved with any amount that its currency has, and a break with none.
pub async fn a_receipt_may_be_corrected_and_a_break_may_not(world: impl World) {
    let receipt = Arrival { kind: Kind::Receipt, ..Arrival::new(0, "a") };
    world.enqueue(&[receipt.body(), Arrival { number: 1, ..receipt }.body(), Arrival::new(2, "a").body()]).await;
    let alice = world.workstation("alice").await;
    let items = alice.lease(10, &[]).await.items;
    let corrected = alice.carrying(&items[0], alice.approve(&items[0]), Some(usd("12.34")));
    let as_read = alice.approve(&items[1]);
    let broken = alice.carrying(&items[2], alice.approve(&items[2]), Some(usd("12.34")));
    let answers = alice.outcomes(&[corrected.clone(), as_read, broken]).await;
    assert_eq!(answers, [Outcome::Committed, Outcome::Committed, Outcome::FigureDiffers]);
    assert_eq!(alice.outcomes(&[corrected, alice.approve(&items[2])]).await, [Outcome::Duplicate, Outcome::Committed]);
}

/// What a workstation gives up is one letter, however often it is told and by however many calls; another version, or another
/// decision, is another one. The exception itself stays as it is.
pub async fn what_is_given_up_twice_is_one_letter(world: impl World) {
    world.enqueue(&bodies(0..2, "a")).await;
    let alice = world.workstation("alice").await;
    let items = alice.lease(10, &[]).await.items;
    let scoring = |item: &LeasedItem, attempts| GivenUp {
        cause: Cause::Scoring,
        exception: item.id,
        version: item.version,
        key: None,
        original: item.body.clone(),
        reason: "it fell over".to_owned(),
        attempts,
        at: DateTime::<Utc>::from_timestamp(1_790_000_000, 0).expect("a good instant"),
    };
    let decided = GivenUp {
        cause: Cause::SignOff,
        key: Some(alice.approve(&items[1]).key),
        original: "{}".to_owned(),
        ..scoring(&items[1], 4)
    };
    let tell = async |letters: &[GivenUp]| alice.backlog.give_up(alice.workstation, letters).await.expect("give up");
    tell(&[scoring(&items[0], 3)]).await;
    tell(&[scoring(&items[0], 3), scoring(&items[1], 1), decided.clone()]).await;
    tell(&[decided]).await;
    let mut given_up = world.given_up().await;
    given_up.sort_unstable();
    assert_eq!(given_up, [(items[0].id, 3), (items[1].id, 1), (items[1].id, 4)]);
    let approvals: Vec<SignOff> = items.iter().map(|item| alice.approve(item)).collect();
    assert!(alice.outcomes(&approvals).await.into_iter().all(Outcome::accepted));
}
