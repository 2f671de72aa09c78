//! Two people approve, any one rejects.

use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Backlog as _, Held, HeldCursor, LeaseRequest};

use crate::office::{Office, Paper, Seat};

async fn give_back(seat: &Seat) -> anyhow::Result<()> {
    let held = seat
        .backlog
        .lease(
            seat.desk,
            &LeaseRequest { want: 1, room: 1, empty: false, ttl_ms: 60_000, held: Vec::new(), focus: None },
        )
        .await?;
    let held: Vec<Held> =
        held.partitions.iter().map(|one| Held { partition: one.partition.clone(), epoch: one.epoch }).collect();
    Ok(seat.backlog.release(seat.desk, &held).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_approval_takes_effect_and_is_of_somebody_else() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("USD", "100.00")]).await?;
    office.take_in(&[Paper::new(1, "p", -10_000)]).await?;
    let items = alice.lease().await?;
    assert_eq!(items[0].signatures, 0);
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond]);
    assert_eq!(office.ask::<i64>("SELECT count(*) FROM countersign.posting").await?, 0);
    // It is gone from the first signer's leases, by cursor and anew.
    for held in [Vec::new(), vec![HeldCursor { partition: items[0].partition.clone(), after: items[0].seq }]] {
        let request = LeaseRequest { want: 5, room: 5, empty: true, ttl_ms: 60_000, held, focus: None };
        assert!(alice.backlog.lease(alice.desk, &request).await?.items.is_empty());
    }
    // Sent again, it is the same decision; another one of the same person is none.
    let (answers, _) = alice.answers(&[alice.approval(&items[0]), alice.rejection(&items[0])]).await?;
    assert_eq!((answers[0].outcome, answers[0].first_outcome), (Outcome::Duplicate, Some(Outcome::AwaitingSecond)));
    assert_eq!(answers[1].outcome, Outcome::NotEligible);
    give_back(&alice).await?;
    assert!(alice.lease().await?.is_empty());

    let his = bob.lease().await?;
    assert_eq!((his.len(), his[0].signatures), (1, 1));
    assert!(!his[0].body.contains(alice.user()), "he sees that somebody signed, and not who");
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed]);
    assert_eq!(office.ask::<String>("SELECT string_agg(amount::text, ' ') FROM countersign.posting").await?, "-100.00");
    let decided: String = office.ask("SELECT decided_by FROM countersign.exception").await?;
    assert_eq!(decided, bob.user());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_person_is_not_two_by_any_route() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, second, carol) =
        (office.seat("alice").await?, office.seat("smith").await?, office.seat("carol").await?);
    let elsewhere = office.desk(&alice.login).await?;
    let also = |name: &str| Rights { also: Scope::Only(vec![name.to_uppercase()]), ..Rights::default() };
    reviewer::set(&office.supervisor, alice.user(), &also(second.user())).await?;
    office.four_eyes(&[("*", "0")]).await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    // Twice in one call; again in the next; from another desk; with another login; as a rejection; after the names changed.
    let items = alice.lease().await?;
    let mut other_words = alice.approval(&items[0]);
    other_words.comment = Some("again".into());
    let other_words = alice.resealed(&items[0], other_words);
    let batch = [alice.approval(&items[0]), other_words, alice.rejection(&items[0])];
    assert_eq!(alice.send(&batch).await?, [Outcome::AwaitingSecond, Outcome::KeyReused, Outcome::NotEligible]);
    give_back(&alice).await?;
    assert!(elsewhere.lease().await?.is_empty() && second.lease().await?.is_empty());
    // Somebody else holds it; the decisions below are under that epoch and would be superseded, were they not refused before.
    let hers = carol.lease().await?;
    assert_eq!(second.approve(&hers).await?, [Outcome::NotEligible]);
    assert_eq!(second.send(&[second.rejection(&hers[0])]).await?, [Outcome::NotEligible]);
    let elsewhere_again = elsewhere.approve(&hers).await?;
    assert_eq!(elsewhere_again, [Outcome::Duplicate], "her key is the same from every desk");
    reviewer::set(&office.supervisor, alice.user(), &Rights { also: Scope::Any, ..Rights::default() }).await?;
    reviewer::set(&office.supervisor, second.user(), &also(alice.user())).await?;
    assert_eq!(second.approve(&hers).await?, [Outcome::NotEligible]);
    assert_eq!(carol.approve(&hers).await?, [Outcome::Committed]);
    let people: i64 =
        office.ask("SELECT count(DISTINCT reviewer) FROM countersign.sign_off WHERE decision = 'APPROVE'").await?;
    assert_eq!(people, 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_rejection_decides() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("*", "0")]).await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 100)]).await?;
    let items = alice.lease().await?;
    let batch = [alice.rejection(&items[0]), alice.approval(&items[1])];
    assert_eq!(alice.send(&batch).await?, [Outcome::Committed, Outcome::AwaitingSecond], "the first alone rejects");
    give_back(&alice).await?;
    let his = bob.lease().await?;
    assert_eq!(bob.send(&[bob.rejection(&his[0])]).await?, [Outcome::Committed], "and so does the second");
    let sql = "SELECT (SELECT count(*) FROM countersign.routing) * 10 + (SELECT count(*) FROM countersign.posting)";
    assert_eq!(office.ask::<i64>(sql).await?, 20);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_threshold_is_one_cent_wide_and_each_currency_has_its_own() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.four_eyes(&[("USD", "100.00"), ("*", "50.00")]).await?;
    let cases = [
        ("USD", 9_999, Outcome::Committed),
        ("USD", 10_000, Outcome::AwaitingSecond),
        ("USD", -10_001, Outcome::AwaitingSecond),
        ("USD", 5_000, Outcome::Committed),
        ("EUR", 4_999, Outcome::Committed),
        ("EUR", -5_000, Outcome::AwaitingSecond),
    ];
    let partitions: Vec<String> = (0..cases.len()).map(|number| format!("p{number}")).collect();
    let papers: Vec<Paper> = (0..)
        .zip(cases.iter().zip(&partitions))
        .map(|(number, ((currency, cents, _), partition))| Paper { currency, ..Paper::new(number, partition, *cents) })
        .collect();
    office.take_in(&papers).await?;
    let mut items = alice.lease().await?;
    items.sort_by_key(|item| item.id);
    assert_eq!(alice.approve(&items).await?, cases.map(|(.., outcome)| outcome));
    Ok(())
}

/// An earlier item that waits for its second approver holds the later ones of its partition, also those decided by two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_awaits_a_second_holds_the_order_of_effects() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("USD", "100.00")]).await?;
    office.take_in(&[Paper::new(1, "p", 10_000), Paper::new(2, "p", 100), Paper::new(3, "p", 20_000)]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond, Outcome::Held, Outcome::AwaitingSecond]);
    give_back(&alice).await?;
    let his = bob.lease().await?;
    let backwards = [bob.approval(&his[1]), bob.approval(&his[0])];
    assert_eq!(bob.send(&backwards[..1]).await?, [Outcome::Held]);
    assert_eq!(bob.send(&backwards[1..]).await?, [Outcome::Committed]);
    let order: String =
        office.ask("SELECT string_agg(exception_id::text, ' ' ORDER BY effect_no) FROM countersign.posting").await?;
    assert_eq!(order, "1 2 3");
    Ok(())
}

/// The whole group goes to the second person, who signs what is left of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_is_approved_twice_as_a_whole() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("USD", "100.00")]).await?;
    let paper = |number, cents| Paper { group: Some("g"), ..Paper::new(number, "p", cents) };
    office.take_in(&[paper(1, 10_000), paper(2, 10_000), paper(3, 10_000)]).await?;
    let items = alice.lease().await?;
    assert_eq!(
        alice.approve(&items[..1]).await?,
        [Outcome::NotEligible],
        "a part of it is not decided without the rest"
    );
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond; 3]);
    give_back(&alice).await?;
    assert!(alice.lease().await?.is_empty());
    let his = bob.lease().await?;
    assert_eq!(his.iter().map(|item| item.signatures).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(bob.approve(&his[1..]).await?, [Outcome::NotEligible; 2]);
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed; 3]);
    Ok(())
}

/// Whoever corrects an arrival takes the first approval back; the first approver may sign the new version, and is the first again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_takes_the_first_approval_back() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("*", "0")]).await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond]);
    assert_eq!(office.send(&[Paper { revision: 2, ..Paper::new(1, "p", 100) }]).await?, ["CORRECTED"]);
    office.installation.lapse().await?;
    let hers = alice.lease().await?;
    assert_eq!((hers.len(), hers[0].version, hers[0].signatures), (1, 2, 0));
    assert_eq!(alice.approve(&hers).await?, [Outcome::AwaitingSecond]);
    office.installation.lapse().await?;
    let his = bob.lease().await?;
    assert_eq!(his[0].signatures, 1);
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed]);
    let lapsed: String =
        office.ask("SELECT detail ->> 'lapsed' FROM countersign.audit_event WHERE event = 'CORRECTED'").await?;
    assert_eq!(lapsed, alice.user());
    Ok(())
}

/// A correction does not forget who was barred for another reason, although the supervisor learnt meanwhile that it is the same person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_opens_nothing_to_a_preparer_of_an_earlier_version() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.four_eyes(&[("*", "0")]).await?;
    office.take_in(&[Paper { prepared_by: vec!["a.s".into()], ..Paper::new(1, "p", 100) }]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond]);
    let also = Rights { also: Scope::Only(vec!["a.s".into()]), ..Rights::default() };
    reviewer::set(&office.supervisor, alice.user(), &also).await?;
    assert_eq!(office.send(&[Paper { revision: 2, ..Paper::new(1, "p", 100) }]).await?, ["CORRECTED"]);
    office.installation.lapse().await?;
    let his = bob.lease().await?;
    assert_eq!(his.len(), 1);
    assert_eq!(alice.approve(&his).await?, [Outcome::Preparer]);
    Ok(())
}
