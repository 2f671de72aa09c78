//! What happened, as far as a reviewer may know.

use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Backlog as _, Failure, Held, History, PastEvent, Reading as _};
use countersign_tests::calls::lease;

use crate::office::{Office, Paper, Seat};

fn names(events: &[PastEvent]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

async fn give_back(seat: &Seat) -> anyhow::Result<()> {
    let reply = lease(&seat.backlog, seat.desk, 1).await?;
    let held: Vec<Held> =
        reply.partitions.iter().map(|one| Held { partition: one.partition.clone(), epoch: one.epoch }).collect();
    Ok(seat.backlog.release(seat.desk, &held).await?)
}

/// Everything a reviewer is told.
fn told(history: &History) -> String {
    format!("{:?} {:?} {:?}", history.exception, history.partition, history.counterparty)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_tells_of_the_exception_its_partition_and_its_counterparty() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    // 997 counterparties: these two share one.
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 300), Paper::new(998, "q", 200)]).await?;
    let items = alice.lease().await?;
    let second = items.iter().find(|item| item.partition.0 == "q").expect("it was handed out").clone();
    assert_eq!(alice.approve(std::slice::from_ref(&second)).await?, [Outcome::Committed]);

    let first = items.iter().find(|item| item.partition.0 == "p" && item.seq.0 == 1).expect("it was handed out");
    let history = alice.backlog.history(alice.desk, first.id).await?;
    assert_eq!(names(&history.exception), ["ARRIVED"]);
    assert_eq!(names(&history.partition), ["LEASED", "ARRIVED", "ARRIVED"]);
    assert_eq!((history.approved, history.rejected, history.pending), (1, 0, 1));
    let decided = &history.counterparty[..];
    assert_eq!((decided.len(), decided[0].actor.as_str()), (1, alice.user()));
    assert!(decided[0].details.contains(&("decision".to_owned(), "APPROVE".to_owned())), "{decided:?}");

    // What was decided here can be looked up afterwards, and by nobody else.
    let signed = alice.backlog.history(alice.desk, second.id).await?;
    assert_eq!(names(&signed.exception), ["ARRIVED", "SIGNED"]);
    for (seat, id) in [(&bob, first.id), (&bob, second.id)] {
        let refused = seat.backlog.history(seat.desk, id).await.expect_err("it is not his");
        assert_eq!(refused.failure, Failure::Structural, "{refused}");
        assert!(refused.message.contains("not leased to this workstation"), "{refused}");
    }
    Ok(())
}

/// While a second signature is awaited, neither who gave the first one nor what they decided is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_does_not_tell_who_signed_first() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("USD", "100.00")]).await?;
    office.take_in(&[Paper::new(1, "p", 50_000), Paper::new(2, "p", 100)]).await?;
    let hers = alice.lease().await?;
    assert_eq!(alice.approve(&hers[..1]).await?, [Outcome::AwaitingSecond]);
    let own = told(&alice.backlog.history(alice.desk, hers[0].id).await?);
    assert!(own.contains(alice.user()) && own.contains("AWAITING_SECOND"), "she knows what she did: {own}");
    give_back(&alice).await?;

    let his = bob.lease().await?;
    assert_eq!(his.len(), 2);
    for item in &his {
        let text = told(&bob.backlog.history(bob.desk, item.id).await?);
        assert!(!text.contains(alice.user()) && !text.contains("APPROVE"), "{text}");
        assert!(text.contains("SIGNED") && text.contains(bob.user()), "that somebody signed, and what he did: {text}");
    }
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed; 2]);
    let after = told(&bob.backlog.history(bob.desk, his[0].id).await?);
    assert!(after.contains(alice.user()), "both are known once both have signed: {after}");
    Ok(())
}

/// What is beyond a reviewer's limit is in their partition and was not handed out: it is not told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_handed_out_is_not_told() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", Some("5"), None).await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 1_000_000)]).await?;
    let mut beyond = alice.lease().await?.remove(0).id;
    beyond.0 += 1;
    let refused = alice.backlog.history(alice.desk, beyond).await.expect_err("it is beyond her limit");
    assert_eq!(refused.failure, Failure::Structural, "{refused}");
    let refused = alice.backlog.picture(alice.desk, beyond).await.expect_err("nor its picture");
    assert_eq!(refused.failure, Failure::Structural, "{refused}");
    Ok(())
}
