//! Handing on what one holds, and taking it from whoever holds it.

use countersign_admin::partition;
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Backlog as _, Held, LeasedItem};

use crate::office::{Office, Paper};

fn held(items: &[LeasedItem]) -> Vec<Held> {
    items.iter().map(|item| Held { partition: item.partition.clone(), epoch: item.epoch }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_colleague_is_handed_the_items_and_the_old_holders_decisions_are_superseded() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 100)]).await?;
    let items = alice.lease().await?;
    let to_whom = "nobody at all";
    assert!(alice.backlog.hand_over(alice.desk, &held(&items), to_whom, 60_000).await.is_err());
    let moved = alice.backlog.hand_over(alice.desk, &held(&items[..1]), bob.user(), 60_000).await?;
    assert_eq!(moved, [items[0].partition.clone()]);
    assert!(alice.backlog.hand_over(alice.desk, &held(&items[..1]), bob.user(), 60_000).await?.is_empty(), "once");
    assert_eq!(alice.approve(&items).await?, [Outcome::LeaseSuperseded, Outcome::Committed]);
    let his = bob.lease().await?;
    assert_eq!((his.len(), his[0].id, his[0].epoch.0), (1, items[0].id, items[0].epoch.0 + 1));
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed]);
    let record: String = office
        .ask("SELECT (detail ->> 'from') || ' ' || (detail ->> 'reviewer') || ' ' || actor FROM countersign.audit_event WHERE event = 'HANDED_OVER'")
        .await?;
    assert_eq!(record, format!("{0} {1} {0}", alice.user(), bob.user()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_supervisor_assigns_and_takes_away() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 100), Paper::new(3, "r", 100)]).await?;
    let mut items = alice.lease().await?;
    items.sort_by_key(|item| item.id);
    let keys = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let named = keys(&["p", "nowhere"]);
    assert_eq!(partition::assign(&office.supervisor, &named, Some(bob.user()), "she is away").await?, ["p"]);
    assert_eq!(partition::assign(&office.supervisor, &keys(&["q"]), None, "she is away").await?, ["q"]);
    let none = partition::assign(&office.supervisor, &keys(&["nowhere"]), None, "x").await.expect_err("nothing moved");
    assert_eq!(none.exit_code(), 1);
    assert_eq!(alice.approve(&items).await?, [Outcome::LeaseSuperseded, Outcome::LeaseSuperseded, Outcome::Committed]);
    let list = partition::list(&office.supervisor, true, 10).await?;
    let p = list.iter().find(|one| one.partition_key == "p").expect("bob holds it");
    assert_eq!(
        (p.reviewer.as_deref(), p.pending, list.iter().any(|one| one.partition_key == "q")),
        (Some(bob.user()), 1, false)
    );
    let his = bob.lease().await?;
    assert_eq!(his.len(), 2, "what was assigned, and what is free");
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed; 2]);
    for (event, count) in [("ASSIGNED", 1), ("TAKEN_AWAY", 1)] {
        assert_eq!(office.recorded(event).await?, count, "{event}");
    }
    let reason: String = office.ask("SELECT DISTINCT detail ->> 'reason' FROM countersign.audit_event WHERE event IN ('ASSIGNED', 'TAKEN_AWAY')").await?;
    assert_eq!(reason, "she is away");
    // Nobody works for whom nothing is confirmed.
    let carol = office.installation.reviewer("carol").await?;
    office.take_in(&[Paper::new(4, "s", 100)]).await?;
    let refused =
        partition::assign(&office.supervisor, &keys(&["s"]), Some(&carol.user), "x").await.expect_err("no desk");
    assert!(refused.to_string().contains("confirmed workstation"), "{refused}");
    Ok(())
}

/// What is assigned to somebody who may not sign it is not handed out to them, and signed by them not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assigning_gives_no_right() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper { prepared_by: vec![alice.user().to_owned()], ..Paper::new(1, "p", 100) }]).await?;
    partition::assign(&office.supervisor, &["p".to_owned()], Some(alice.user()), "a test").await?;
    assert!(alice.lease().await?.is_empty());
    Ok(())
}
