//! What the database refuses at commit, although nothing spoke against it when it was signed, comes back to the deck marked.

use chrono::NaiveDate;
use countersign_admin::{period, reviewer};
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_domain::standing::PeriodState;
use countersign_engine::port::{DeckItem, Stage};
use countersign_engine::{Command, Reply};
use countersign_testkit::installation::Installation;
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::desk::{Desk, Seat};
use countersign_tests::owner::{self, Tally, tally};
use rust_decimal::Decimal;

/// Twelve exceptions in three partitions, all of them in the deck, behind a network that fails on command.
async fn seated() -> anyhow::Result<(Installation, CuttingProxy, Desk, Seat)> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 12, 3).await?;
    let network = owner::network(&installation).await?;
    let desk = Desk::of(&installation, "alice").await?.behind(&network);
    let seat = desk.start()?;
    seat.until_deck(12).await?;
    Ok((installation, network, desk, seat))
}

/// Signs without the database, so that whatever happens there meanwhile comes between the signature and the commit.
async fn signed_before(seat: &Seat, network: &CuttingProxy, decision: Decision) -> anyhow::Result<Vec<DeckItem>> {
    network.cut();
    seat.until_online(false).await?;
    let items = seat.deck().await?;
    seat.decide(&items, decision).await?;
    assert!(seat.deck().await?.is_empty());
    Ok(items)
}

async fn sent(seat: &Seat, network: &CuttingProxy) -> anyhow::Result<()> {
    network.pass();
    seat.ask(Command::RetryNow).await?;
    seat.until("everything is answered", |engine, now| {
        let counts = engine.counts(now);
        engine.link(now).online && counts.ready + counts.sending + counts.held == 0
    })
    .await
}

fn marked(items: &[DeckItem], note: &str, refused: impl Fn(&DeckItem) -> bool) -> Vec<DeckItem> {
    let items = items.iter().filter(|item| refused(item));
    items.map(|item| DeckItem { note: Some(note.to_owned()), ..item.clone() }).collect()
}

fn by_id(mut items: Vec<DeckItem>) -> Vec<DeckItem> {
    items.sort_by_key(|item| item.id);
    items
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_a_limit_that_came_meanwhile_stays_in_the_deck_until_it_can_be_signed() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated().await?;
    let items = signed_before(&seat, &network, Decision::Approve).await?;
    let limit = async |largest| {
        reviewer::limit(&installation.for_admin()?, &desk.login.user, "USD", largest, None).await?;
        anyhow::Ok(())
    };
    let largest = Decimal::new(70, 2);
    limit(Some(largest)).await?;
    sent(&seat, &network).await?;
    let expected = marked(&items, "Refused: over your limit", |item| item.variance.amount.abs() > largest);
    assert_eq!(expected.len(), 4);
    assert_eq!(seat.deck().await?, expected, "each where it was");
    assert_eq!(tally(&installation.owner).await?.sign_offs, 8);

    // A restart without the database shows them as they were, put away or not.
    let first = seat.outbox().await?.remove(0);
    assert_eq!(seat.ask(Command::Dismiss(first.sign_off.key)).await?, Reply::Done);
    network.cut();
    seat.leave().await?;
    let seat = desk.start()?;
    seat.until_deck(4).await?;
    assert_eq!(by_id(seat.deck().await?), by_id(expected.clone()));
    let body = seat.handle.body(expected[0].id).await??;
    assert!(body.is_some_and(|body| body.contains("amount differs")), "it can be opened");

    // Refused once more, each is there once.
    let again = seat.deck().await?;
    seat.approve(&again).await?;
    sent(&seat, &network).await?;
    assert_eq!(by_id(seat.deck().await?), by_id(expected.clone()));
    assert_eq!(seat.counts().await?.refused, 4);
    limit(None).await?;
    seat.decide(&seat.deck().await?, Decision::Approve).await?;
    seat.until("all of them are accepted", |engine, now| {
        engine.counts(now).refused == 0 && engine.outbox().count() == 0
    })
    .await?;
    seat.leave().await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(12));
    let counts = desk.journal()?.counts()?;
    assert_eq!((counts.committed, counts.refused, counts.undecided), (12, 0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_period_refuses_that_closed_meanwhile_is_decided_when_it_is_open_again_or_given_back()
-> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated().await?;
    let admin = installation.for_admin()?;
    let day = |day| NaiveDate::from_ymd_opt(2026, 10, day).expect("a day");
    period::add(&admin, "p01", "Oct", day(1), day(31), None).await?;
    let items = signed_before(&seat, &network, Decision::Approve).await?;
    period::move_to(&admin, "p01", "Oct", PeriodState::Closed, "the close").await?;
    sent(&seat, &network).await?;
    let expected = marked(&items, "Refused: period closed", |item| item.entity == "p01");
    assert_eq!((expected.len(), seat.counts().await?.committed), (4, 8));
    assert_eq!(seat.deck().await?, expected);
    assert!(seat.outbox().await?.iter().all(|entry| {
        entry.stage == Stage::Refused
            && entry.answer.as_ref().is_some_and(|answer| answer.outcome == Outcome::PeriodClosed)
    }));

    period::move_to(&admin, "p01", "Oct", PeriodState::Open, "one more").await?;
    seat.decide(&expected[..1], Decision::Reject).await?;
    seat.until_committed(9).await?;
    assert_eq!(seat.counts().await?.refused, 3, "the other decision has the place of the refused one");
    assert_eq!(seat.deck().await?, expected[1..]);

    // Closing gives back what is left, as anything that is undecided.
    seat.ask(Command::Drain).await?;
    seat.closed().await?;
    owner::until(
        &installation.owner,
        "no lease is left",
        "SELECT count(*) = 0 FROM countersign.partition WHERE lease_until IS NOT NULL",
    )
    .await?;
    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.pending), (9, 3));
    assert_eq!(desk.journal()?.counts()?.undecided, 0);
    Ok(())
}

/// Long before it would ask by itself: the test would not live that long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_about_to_sign_hears_of_a_limit_that_was_just_lowered() -> anyhow::Result<()> {
    let (installation, _network, desk, seat) = seated().await?;
    let admin = installation.for_admin()?;
    reviewer::limit(&admin, &desk.login.user, "*", Some(Decimal::ONE), None).await?;
    loop {
        seat.ask(Command::Refresh).await?;
        let heard = seat.handle.look(|engine, _| engine.standing().is_some_and(|standing| !standing.limits.is_empty()));
        if heard.await? {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
}
