//! A lease with a focus.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::NaiveDate;
use countersign_domain::exception::{Kind, RoutingTier};
use countersign_domain::focus::{Focus, Seen};
use countersign_domain::gate;
use countersign_domain::id::ExceptionId;
use countersign_engine::port::{Backlog as _, Held, HeldCursor, LeaseReply, LeaseRequest, LeasedItem, LeasedPartition};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rust_decimal::Decimal;
use sqlx::AssertSqlSafe;

use crate::office::{Office, Paper, Seat};

async fn lease(seat: &Seat, want: u32, held: &[HeldCursor], focus: Option<&Focus>) -> anyhow::Result<LeaseReply> {
    let request =
        LeaseRequest { want, room: want, empty: true, ttl_ms: 60_000, held: held.to_vec(), focus: focus.cloned() };
    Ok(seat.backlog.lease(seat.desk, &request).await?)
}

async fn give_back(seat: &Seat, reply: &LeaseReply) -> anyhow::Result<()> {
    let held: Vec<Held> =
        reply.partitions.iter().map(|one| Held { partition: one.partition.clone(), epoch: one.epoch }).collect();
    Ok(seat.backlog.release(seat.desk, &held).await?)
}

fn holds(focus: &Focus, item: &LeasedItem) -> bool {
    let content = gate::read_body(&item.body).expect("it passed its gates");
    focus.holds(Seen {
        entity: &content.ledger_entity,
        kind: content.kind,
        tier: content.routing_tier,
        counterparty: &content.counterparty,
        variance: content.variance,
        due_on: item.due_on,
    })
}

/// What a focus lets through: of a group that has something inside, all.
fn inside(focus: &Focus, everything: &LeaseReply) -> BTreeSet<ExceptionId> {
    let group_of = |item: &LeasedItem| {
        let group = gate::read_body(&item.body).expect("it passed its gates").group_key;
        group.map(|group| (item.partition.clone(), group))
    };
    let groups: BTreeSet<_> = everything.items.iter().filter(|item| holds(focus, item)).filter_map(group_of).collect();
    let wanted = |item: &&LeasedItem| holds(focus, item) || group_of(item).is_some_and(|group| groups.contains(&group));
    everything.items.iter().filter(wanted).map(|item| item.id).collect()
}

/// Exceptions of every trait, some in groups.
fn papers(random: &mut ChaCha8Rng, count: u64, partitions: u32) -> Vec<String> {
    let partitions: Vec<String> = (0..partitions).map(|number| format!("p{number}")).collect();
    (0..count)
        .map(|number| {
            let partition = partitions.choose(random).expect("there are some");
            let group = random.random_ratio(1, 10).then_some("report");
            let paper = Paper {
                entity: ["DE01", "FR01", "US01"].choose(random).expect("there are some"),
                currency: ["USD", "EUR"].choose(random).expect("there are some"),
                tier: ["standard", "priority", "escalated"].choose(random).expect("there are some"),
                day: ["2026-10-05", "2026-10-20"].choose(random).expect("there are some"),
                group,
                ..Paper::new(number, partition, random.random_range(-2_000_000..2_000_000))
            };
            paper.body()
        })
        .collect()
}

fn any_focus(random: &mut ChaCha8Rng) -> Focus {
    let day = |text: &str| text.parse::<NaiveDate>().ok();
    let some = |random: &mut ChaCha8Rng| random.random_ratio(1, 3);
    let mut focus = Focus::default();
    if some(random) {
        focus.entities = vec!["DE01".into(), "NONE".into()];
    }
    if some(random) {
        focus.kinds = vec![Kind::ReconBreak, Kind::Receipt];
    }
    if some(random) {
        focus.tiers = vec![RoutingTier::Escalated, RoutingTier::Priority];
    }
    if some(random) {
        focus.counterparties = (0..60).map(|number| format!("Counterparty {number}")).collect();
    }
    if some(random) {
        focus.currencies = vec!["EUR".into()];
    }
    if some(random) {
        focus.amount_from = Some(Decimal::from(random.random_range(0..20_000)));
    }
    if some(random) {
        focus.amount_to = Some(focus.amount_from.unwrap_or_default() + Decimal::from(random.random_range(0..9_000)));
    }
    if some(random) {
        focus.due_from = day("2026-10-23");
    }
    if some(random) {
        focus.due_to = day("2026-11-04");
    }
    focus
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_what_is_inside_is_handed_out_and_nothing_else_is_claimed() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let bodies = papers(&mut random, 300, 8);
    office.installation.enqueue(&bodies).await?;
    let everything = lease(&alice, 1_000, &[], None).await?;
    assert_eq!(everything.items.len(), bodies.len());
    give_back(&alice, &everything).await?;
    let mut matched = 0;
    for _ in 0..60 {
        let focus = any_focus(&mut random);
        let expected = inside(&focus, &everything);
        let reply = lease(&alice, 1_000, &[], Some(&focus)).await?;
        let found: BTreeSet<_> = reply.items.iter().map(|item| item.id).collect();
        assert_eq!(found, expected, "{focus:?}");
        let partitions: BTreeSet<_> = reply.items.iter().map(|item| &item.partition).collect();
        assert_eq!(partitions.len(), reply.partitions.len(), "each was claimed for something: {focus:?}");
        assert!(reply.partitions.iter().all(|partition| !partition.more), "{focus:?}");
        for partition in partitions {
            let places = reply.items.iter().filter(|item| item.partition == *partition).map(|item| item.seq);
            assert!(places.is_sorted(), "{focus:?}");
        }
        matched += found.len();
        give_back(&alice, &reply).await?;
    }
    assert!(matched > 500, "the foci let something through");
    Ok(())
}

/// Among more partitions than a claim tries by rank: every way to what is inside finds all of it, also for somebody who has limits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_inside_is_found_among_many_partitions() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let mut random = ChaCha8Rng::seed_from_u64(19);
    office.installation.enqueue(&papers(&mut random, 700, 250)).await?;
    let mut matched = 0;
    for limit in [None, Some("9000.00")] {
        office.limit(&alice, "USD", limit, None).await?;
        let everything = lease(&alice, 1_000, &[], None).await?;
        give_back(&alice, &everything).await?;
        let narrow = (0..20).map(|_| any_focus(&mut random)).collect::<Vec<_>>();
        for focus in each_way().into_iter().chain(narrow) {
            let (mut held, mut found) = (Vec::new(), BTreeSet::new());
            let last = loop {
                let reply = lease(&alice, 20, &held, Some(&focus)).await?;
                let cursor = |one: &LeasedPartition| HeldCursor { partition: one.partition.clone(), after: one.after };
                held = reply.partitions.iter().map(cursor).collect();
                if reply.items.is_empty() {
                    break reply;
                }
                found.extend(reply.items.iter().map(|item| item.id));
            };
            assert_eq!(found, inside(&focus, &everything), "limit {limit:?}, {focus:?}");
            let keys: BTreeSet<_> =
                everything.items.iter().filter(|item| found.contains(&item.id)).map(|item| &item.partition).collect();
            assert_eq!(held.len(), keys.len(), "each was claimed for something: limit {limit:?}, {focus:?}");
            matched += found.len();
            give_back(&alice, &last).await?;
        }
    }
    assert!(matched > 500, "the foci let something through");
    Ok(())
}

/// One focus for each way, each on a small part.
fn each_way() -> Vec<Focus> {
    let day = |text: &str| text.parse::<NaiveDate>().ok();
    let named = (0..25).map(|number| format!("Counterparty {number}")).collect();
    vec![
        Focus { counterparties: named, ..Focus::default() },
        Focus { due_from: day("2026-11-01"), ..Focus::default() },
        Focus { amount_from: Some(Decimal::from(19_000)), ..Focus::default() },
        Focus { tiers: vec![RoutingTier::Escalated], currencies: vec!["EUR".into()], ..Focus::default() },
        Focus { entities: vec!["FR01".into()], amount_to: Some(Decimal::from(900)), ..Focus::default() },
    ]
}

/// A few at a time, from the cursors, until there is no more: all of it, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_focus_is_handed_out_in_portions_and_another_one_begins_anew() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let currency = |number: u64| if number.is_multiple_of(3) { "EUR" } else { "USD" };
    let papers: Vec<Paper<'_>> =
        (0..90).map(|number| Paper { currency: currency(number), ..Paper::new(number, "long", 100) }).collect();
    office.take_in(&papers).await?;
    let focus = Focus { currencies: vec!["EUR".into()], ..Focus::default() };
    let (mut held, mut seen) = (Vec::new(), Vec::new());
    loop {
        let reply = lease(&alice, 7, &held, Some(&focus)).await?;
        seen.extend(reply.items.iter().map(|item| item.seq.0));
        held = reply
            .partitions
            .iter()
            .map(|one| HeldCursor { partition: one.partition.clone(), after: one.after })
            .collect();
        if reply.partitions.iter().all(|one| !one.more) {
            break;
        }
    }
    assert_eq!(seen, (0..30).map(|number| number * 3 + 1).collect::<Vec<_>>());
    // A change of mind starts the cursors anew, and nothing that was passed is lost.
    assert_eq!(lease(&alice, 100, &[], None).await?.items.len(), 90);
    Ok(())
}

/// The few that match are found behind many that do not, in partitions of their own and in one long partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_few_that_match_are_found_behind_many() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let keys: Vec<String> = (0..600).map(|number| format!("p{number:04}")).collect();
    let mut papers: Vec<Paper<'_>> = (0..).zip(&keys).map(|(number, key)| Paper::new(number, key, 100)).collect();
    papers.extend((1_000..3_000).map(|number| Paper::new(number, "long", 100)));
    for (number, key) in [(4_000, "long"), (4_001, "zz")] {
        papers.push(Paper { day: "2026-12-01", ..Paper::new(number, key, 123_456_789) });
    }
    office.take_in(&papers).await?;
    let day = "2026-12-31".parse().ok();
    for focus in [
        Focus { amount_from: Some(Decimal::from(1_000_000)), ..Focus::default() },
        Focus { due_from: day, due_to: day, ..Focus::default() },
        Focus { due_from: day, amount_from: Some(Decimal::new(123_456_789, 2)), ..Focus::default() },
    ] {
        let reply = lease(&alice, 50, &[], Some(&focus)).await?;
        let keys: BTreeSet<_> = reply.items.iter().map(|item| item.partition.0.as_str()).collect();
        assert_eq!((reply.items.len(), keys), (2, BTreeSet::from(["long", "zz"])), "{focus:?}");
        give_back(&alice, &reply).await?;
    }
    Ok(())
}

/// Who may sign stays what it was: a focus opens nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_focus_opens_nothing() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", Some("50.00"), None).await?;
    let mine = vec![alice.user().to_owned()];
    office
        .take_in(&[
            Paper { prepared_by: mine, ..Paper::new(1, "mine", 100) },
            Paper::new(2, "large", 1_000_000),
            Paper::new(3, "open", 100),
        ])
        .await?;
    let reply = lease(&alice, 50, &[], Some(&Focus { currencies: vec!["USD".into()], ..Focus::default() })).await?;
    let keys: Vec<_> = reply.partitions.iter().map(|one| one.partition.0.as_str()).collect();
    assert_eq!(keys, ["open"], "what she may not sign is not claimed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_focus_that_cannot_be_is_refused_in_words() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let names: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let error = lease(&alice, 5, &[], Some(&Focus { entities: names, ..Focus::default() })).await;
    let error = error.expect_err("too many names").to_string();
    assert!(error.contains("entities is a list of at most 100 names"), "{error}");
    let mut client = alice.client(&office.installation).await?;
    for (focus, words) in [
        ("[]", "an object is expected"),
        (r#"{"entity": []}"#, "no field entity"),
        (r#"{"kinds": ["x"]}"#, "kinds are"),
        (r#"{"tiers": ["x"]}"#, "tiers are"),
        (r#"{"currencies": ["usd"]}"#, "three capital letters"),
        (r#"{"counterparties": [1]}"#, "counterparties is a list"),
        (r#"{"amount_from": 5}"#, "amount_from is a decimal in a string"),
        (r#"{"amount_to": "-5"}"#, "amount_to is a decimal in a string"),
        (r#"{"due_from": "soon"}"#, "due_from is a date"),
        (r#"{"amount_from": "5", "amount_to": "4"}"#, "ends before it begins"),
        (r#"{"due_from": "2026-10-05", "due_to": "2026-10-04"}"#, "ends before it begins"),
    ] {
        let call = format!("SELECT countersign.lease('{}', 5, 5, true, 60000, NULL, NULL, '{focus}')", alice.desk.0);
        let refused = sqlx::raw_sql(AssertSqlSafe(call)).execute(&mut client).await.expect_err(focus);
        let answer = refused.as_database_error().expect("the database answered");
        assert_eq!(answer.code().map(Cow::into_owned).as_deref(), Some("22023"), "{focus}: {answer}");
        assert!(answer.message().contains(words), "{focus}: {answer}");
    }
    Ok(())
}

/// Between looking for what is held and handing it out, a lease may run out, and somebody may return the partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_returned_while_it_is_looked_at_is_claimed_anew_and_not_handed_out_as_held() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let seat = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 100)]).await?;
    let first = lease(&seat, 10, &[], None).await?;
    let epochs = |reply: &LeaseReply| {
        reply.partitions.iter().map(|one| (one.partition.0.clone(), one.epoch.0)).collect::<Vec<_>>()
    };
    assert_eq!(epochs(&first), [("p".to_owned(), 1), ("q".to_owned(), 1)]);
    sqlx::raw_sql(
        "ALTER FUNCTION countersign.hand_out RENAME TO hand_out_then;
         CREATE FUNCTION countersign.hand_out(a text[], b bigint[], c integer, d integer, e boolean, f countersign.authority, g countersign.focus)
         RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
                        version integer, content_hash bytea, body text, signatures integer, due_on date) LANGUAGE plpgsql AS $$
         BEGIN
             UPDATE countersign.partition p SET lease_until = NULL WHERE p.partition_key = 'p' AND p.epoch = 1;
             RETURN QUERY SELECT * FROM countersign.hand_out_then(a, b, c, d, e, f, g);
         END $$",
    )
    .execute(&office.installation.owner)
    .await?;
    let again = lease(&seat, 10, &[], None).await?;
    assert_eq!(epochs(&again), [("q".to_owned(), 1), ("p".to_owned(), 2)]);
    assert_eq!(again.items.len(), 2);
    Ok(())
}
