//! The close calendar.

use chrono::NaiveDate;
use countersign_admin::period;
use countersign_domain::sign_off::Outcome;
use countersign_domain::standing::PeriodState;

use crate::office::{Office, Paper};

async fn add(office: &Office, entity: &str, name: &str, days: (&str, &str)) -> anyhow::Result<()> {
    let day = |text: &str| text.parse::<NaiveDate>().expect("a day");
    Ok(period::add(&office.supervisor, entity, name, day(days.0), day(days.1), None).await?)
}

async fn to(office: &Office, entity: &str, name: &str, state: PeriodState) -> anyhow::Result<u64> {
    Ok(period::move_to(&office.supervisor, entity, name, state, "the close").await?)
}

const OCTOBER: (&str, &str) = ("2026-10-01", "2026-10-31");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_period_refuses_and_a_closing_one_does_not() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    add(&office, "*", "Oct", OCTOBER).await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 100), Paper::new(3, "p", 100)]).await?;
    office.take_in(&[Paper { day: "2026-11-01", ..Paper::new(4, "p", 100) }]).await?;
    let items = alice.lease().await?;
    assert_eq!(to(&office, "*", "Oct", PeriodState::Closing).await?, 3);
    assert_eq!(alice.approve(&items[..1]).await?, [Outcome::Committed]);
    assert_eq!(to(&office, "*", "Oct", PeriodState::Closed).await?, 2);
    let batch = [alice.approval(&items[1]), alice.rejection(&items[2]), alice.approval(&items[3])];
    assert_eq!(alice.send(&batch).await?, [Outcome::PeriodClosed, Outcome::PeriodClosed, Outcome::Held]);
    for reason in ["", "  "] {
        let error =
            period::move_to(&office.supervisor, "*", "Oct", PeriodState::Open, reason).await.expect_err("no reason");
        assert!(error.to_string().contains("a reason of 1 to 500 characters"), "{error}");
    }
    to(&office, "*", "Oct", PeriodState::Open).await?;
    assert_eq!(alice.approve(&items[1..3]).await?, [Outcome::Committed; 2]);
    let reopened: String = office
        .ask("SELECT detail ->> 'reason' || ' by ' || actor FROM countersign.audit_event WHERE event = 'PERIOD_REOPENED'")
        .await?;
    assert!(reopened.starts_with("the close by sue"), "{reopened}");
    assert_eq!(
        office
            .ask::<String>("SELECT string_agg(DISTINCT period, ' ' ORDER BY period) FROM countersign.posting")
            .await?,
        "2026-11 Oct"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_period_is_not_closed_while_something_in_it_is_held() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    add(&office, "*", "Oct", OCTOBER).await?;
    office.take_in(&[Paper { day: "2026-09-30", ..Paper::new(1, "p", 100) }, Paper::new(2, "p", 100)]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items[1..]).await?, [Outcome::Held]);
    let error =
        period::move_to(&office.supervisor, "*", "Oct", PeriodState::Closed, "x").await.expect_err("one is held");
    assert!(error.to_string().contains("1 decisions whose effect waits"), "{error}");
    assert_eq!(alice.approve(&items[..1]).await?, [Outcome::Committed]);
    to(&office, "*", "Oct", PeriodState::Closed).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_with_a_period_of_its_own_goes_by_that() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    add(&office, "*", "Oct", OCTOBER).await?;
    add(&office, "acme", "Oct", OCTOBER).await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper { entity: "other", ..Paper::new(2, "q", 100) }]).await?;
    let mut items = alice.lease().await?;
    items.sort_by_key(|item| item.id);
    assert_eq!(to(&office, "*", "Oct", PeriodState::Closed).await?, 1, "of those without one of their own");
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed, Outcome::PeriodClosed]);
    Ok(())
}

/// A closed calendar is reopened with a reason, and not by adding a period above it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_closed_for_all_is_not_opened_by_one_more_period() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    add(&office, "*", "Oct", OCTOBER).await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    to(&office, "*", "Oct", PeriodState::Closed).await?;
    let error = add(&office, "acme", "Oct", ("2026-10-05", "2026-10-05")).await.expect_err("the day is closed");
    assert!(error.to_string().contains("closed"), "{error}");
    assert_eq!(alice.approve(&items).await?, [Outcome::PeriodClosed]);
    Ok(())
}

/// A call that waits for a partition is judged when its turn comes: the period was closed meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_under_way_is_signed_before_the_close_or_refused_after() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    add(&office, "*", "Oct", OCTOBER).await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    // Connected before, because whoever waits for a partition waits a few seconds and no longer.
    let mut supervisor = office.supervisor.connect().await?;
    let held = countersign_tests::owner::hold(&office.installation.owner, "p").await?;
    let waiting = tokio::spawn(async move { alice.approve(&items).await });
    countersign_tests::owner::until_waiting(&office.installation.owner, 1).await?;
    let close = "SELECT countersign.period_move('*', 'Oct', 'closed', 'the close')";
    sqlx::query(close).execute(&mut supervisor).await?;
    held.rollback().await?;
    assert_eq!(waiting.await??, [Outcome::PeriodClosed]);
    Ok(())
}
