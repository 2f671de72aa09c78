//! Nobody signs what they prepared, under whatever name.

use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::LeasedItem;

use crate::office::{Office, Paper, Seat, grant};

async fn also(office: &Office, who: &Seat, names: &[&str]) -> anyhow::Result<()> {
    let also = Scope::Only(names.iter().map(|name| (*name).to_owned()).collect());
    Ok(reviewer::set(&office.supervisor, who.user(), &Rights { also, ..Rights::default() }).await?)
}

/// What somebody else leases, decided by `who` under that lease: the refusal does not depend on who holds what.
async fn refused(holder: &Seat, who: &Seat, items: &[LeasedItem]) -> anyhow::Result<()> {
    let outcomes = who.approve(items).await?;
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Preparer), "{outcomes:?} of {}", holder.user());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_compared_without_regard_to_case() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, zoe, bob) = (office.seat("Alice").await?, office.seat("ZOË").await?, office.seat("bob").await?);
    let paper = |number, prepared_by: Vec<String>| Paper { prepared_by, ..Paper::new(number, "p", 100) };
    office
        .take_in(&[
            paper(1, vec!["x".into(), alice.user().to_uppercase()]),
            paper(2, vec![alice.user().to_lowercase()]),
            paper(3, vec![zoe.user().to_lowercase()]),
        ])
        .await?;
    assert!(alice.lease().await?.is_empty_but_for(&[3]), "only what somebody else prepared");
    office.installation.lapse().await?;
    let items = bob.lease().await?;
    refused(&bob, &alice, &items[..2]).await?;
    refused(&bob, &zoe, &items[2..]).await?;
    assert_eq!(bob.approve(&items).await?, [Outcome::Committed; 3]);
    Ok(())
}

trait Only {
    fn is_empty_but_for(&self, numbers: &[u64]) -> bool;
}

impl Only for Vec<LeasedItem> {
    fn is_empty_but_for(&self, numbers: &[u64]) -> bool {
        let keys: Vec<String> = numbers.iter().map(|number| Paper::new(*number, "p", 0).key()).collect();
        self.len() == keys.len() && self.iter().zip(&keys).all(|(item, key)| item.body.contains(key))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_person_with_two_logins_two_workstations_and_names_upstream_is_one_person() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, second, bob) = (office.seat("alice").await?, office.seat("a.smith").await?, office.seat("bob").await?);
    let elsewhere = office.desk(&alice.login).await?;
    also(&office, &alice, &["SMITH, Alice", &second.user().to_uppercase()]).await?;
    let paper = |number, name: &str| Paper { prepared_by: vec![name.to_owned()], ..Paper::new(number, "p", 100) };
    office.take_in(&[paper(1, "smith, alice"), paper(2, second.user()), paper(3, alice.user())]).await?;
    for seat in [&alice, &second, &elsewhere] {
        assert!(seat.lease().await?.is_empty(), "{} is handed nothing of their own", seat.user());
        office.installation.lapse().await?;
    }
    let items = bob.lease().await?;
    for seat in [&alice, &second, &elsewhere] {
        refused(&bob, seat, &items).await?;
    }
    assert_eq!(bob.approve(&items).await?, [Outcome::Committed; 3]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_an_arrival_or_corrects_it_signs_it_not() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob, carol) = (office.seat("alice").await?, office.seat("bob").await?, office.seat("carol").await?);
    for seat in [&alice, &bob] {
        grant(&office.installation, "producer", seat.user()).await?;
    }
    // Alice sends it and names somebody else as the preparer; Bob corrects it and does the same.
    for (seat, revision) in [(&alice, 1), (&bob, 2)] {
        let body = Paper { revision, ..Paper::new(1, "p", 100) }.body();
        let mut client = seat.client(&office.installation).await?;
        let outcome: String = sqlx::query_scalar("SELECT outcome FROM countersign.enqueue(ARRAY[$1])")
            .bind(body)
            .fetch_one(&mut client)
            .await?;
        assert_eq!(outcome, if revision == 1 { "ENQUEUED" } else { "CORRECTED" });
    }
    assert!(alice.lease().await?.is_empty() && bob.lease().await?.is_empty());
    let items = carol.lease().await?;
    refused(&carol, &alice, &items).await?;
    refused(&carol, &bob, &items).await?;
    assert_eq!(carol.approve(&items).await?, [Outcome::Committed]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_of_which_one_prepared_a_part_is_no_ones_of_theirs() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    let paper = |number, name: &str| Paper {
        prepared_by: vec![name.to_owned()],
        group: Some("report"),
        ..Paper::new(number, "p", 100)
    };
    office.take_in(&[paper(1, "x"), paper(2, &alice.user().to_uppercase()), paper(3, "x")]).await?;
    assert!(alice.lease().await?.is_empty());
    let items = bob.lease().await?;
    refused(&bob, &alice, &items).await?;
    assert_eq!(bob.approve(&items).await?, [Outcome::Committed; 3]);
    Ok(())
}

/// A name that turns out to be theirs later bars them from then on, and one more login does not help.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_learnt_later_bars_from_then_on() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take_in(&[Paper { prepared_by: vec!["a.s".into()], ..Paper::new(1, "p", 100) }]).await?;
    let items = alice.lease().await?;
    also(&office, &alice, &["A.S"]).await?;
    refused(&alice, &alice, &items).await?;
    office.installation.lapse().await?;
    assert!(alice.lease().await?.is_empty());
    let items = bob.lease().await?;
    assert_eq!(bob.approve(&items).await?, [Outcome::Committed]);
    Ok(())
}

/// What one may not sign is not handed out, and refused when it is sent all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kinds_tiers_and_entities_are_kept_apart() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office
        .take_in(&[
            Paper { tier: "escalated", ..Paper::new(1, "p", 100) },
            Paper { entity: "other", ..Paper::new(2, "q", 100) },
            Paper::new(3, "r", 100),
        ])
        .await?;
    let only = |names: &[&str]| Scope::Only(names.iter().map(|name| (*name).to_owned()).collect());
    let any = Rights { kinds: Scope::Any, tiers: Scope::Any, entities: Scope::Any, ..Rights::default() };
    for (rights, open) in [
        (Rights { kinds: only(&["receipt"]), ..any.clone() }, vec![]),
        (Rights { tiers: only(&["escalated", "priority"]), ..any.clone() }, vec![1]),
        (Rights { entities: only(&["other", "third"]), ..any.clone() }, vec![2]),
        (Rights { entities: only(&["acme"]), tiers: only(&["standard"]), ..any.clone() }, vec![3]),
        (any, vec![1, 2, 3]),
    ] {
        reviewer::set(&office.supervisor, alice.user(), &rights).await?;
        let mut leased = alice.lease().await?;
        leased.sort_by_key(|item| item.id);
        assert!(leased.is_empty_but_for(&open), "{rights:?}: {leased:?}");
        office.installation.lapse().await?;
        let mut all = bob.lease().await?;
        all.sort_by_key(|item| item.id);
        let outcomes = alice.approve(&all).await?;
        for (number, outcome) in (1..).zip(outcomes) {
            let expected = if open.contains(&number) { Outcome::LeaseSuperseded } else { Outcome::NotEligible };
            assert_eq!(outcome, expected, "{rights:?}: {number}");
        }
        office.installation.lapse().await?;
    }
    Ok(())
}
