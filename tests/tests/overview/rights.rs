//! Nobody looks further than they may sign, nor in another's name.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use countersign_admin::period;
use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_engine::port::{Backlog as _, Failure, Hello, Problem, Reading};

use crate::office::{Office, Paper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_overview_shows_what_one_may_sign() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    for (number, entity, tier) in [(1, "DE01", "standard"), (2, "FR01", "standard"), (3, "DE01", "escalated")] {
        office.take_in(&[Paper { entity, tier, ..Paper::new(number, entity, 100) }]).await?;
    }
    let rights = Rights {
        entities: Scope::Only(vec!["DE01".to_owned()]),
        tiers: Scope::Only(vec!["standard".to_owned()]),
        ..Rights::default()
    };
    reviewer::set(&office.supervisor, bob.user(), &rights).await?;
    let all = alice.backlog.overview(alice.desk).await?.lines;
    assert_eq!(all.len(), 3);
    let his = bob.backlog.overview(bob.desk).await?.lines;
    assert_eq!(his.iter().map(|line| (line.entity.as_str(), line.free)).collect::<Vec<_>>(), [("DE01", 1)]);
    let close = Reading::close(&*bob.backlog, bob.desk, DateTime::UNIX_EPOCH).await?;
    assert_eq!(close.lines.iter().map(|line| (line.entity.as_str(), line.left)).collect::<Vec<_>>(), [("DE01", 1)]);
    assert_eq!(close.hours.iter().map(|hour| hour.arrived).sum::<u32>(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_looks_in_another_s_name_is_turned_away_and_recorded() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, mallory) = (office.seat("alice").await?, office.seat("mallory").await?);
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let item = alice.lease().await?.remove(0).id;
    let seen = [
        mallory.backlog.overview(alice.desk).await.err(),
        Reading::close(&*mallory.backlog, alice.desk, Utc::now()).await.err(),
        mallory.backlog.history(alice.desk, item).await.err(),
        mallory.backlog.picture(alice.desk, item).await.err(),
    ];
    for error in seen {
        let error = error.expect("it is not his workstation");
        assert_eq!(error.failure, Failure::Refused(Problem::UnknownWorkstation), "{error}");
    }
    let calls: Vec<String> = sqlx::query_scalar(
        "SELECT detail ->> 'call' FROM countersign.audit_event WHERE event = 'TURNED_AWAY' ORDER BY chain_seq",
    )
    .fetch_all(&office.installation.owner)
    .await?;
    assert_eq!(calls, ["overview", "close_overview", "history", "picture_of"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_is_shown_changed_and_on_record() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let day = |text: &str| text.parse().expect("a day");
    let instant = |text: &str| text.parse::<DateTime<Utc>>().expect("an instant");
    let first = instant("2026-11-05T18:00:00Z");
    period::add(&office.supervisor, "*", "2026-10", day("2026-10-01"), day("2026-10-31"), Some(first)).await?;
    period::add(&office.supervisor, "DE01", "P10", day("2026-10-01"), day("2026-10-31"), None).await?;
    let hello = Hello {
        workstation: alice.desk,
        name: "test".to_owned(),
        app_version: "0".to_owned(),
        settings: "{}".to_owned(),
    };
    let periods = alice.backlog.hello(&hello).await?.standing.periods;
    let said: BTreeSet<_> = periods.iter().map(|period| (period.name.as_str(), period.closes_at)).collect();
    assert_eq!(said, BTreeSet::from([("2026-10", Some(first)), ("P10", None)]));

    let later = instant("2026-11-06T18:00:00.25Z");
    let before = period::deadline(&office.supervisor, "*", "2026-10", Some(later), "one more day").await?;
    assert_eq!(before, Some(first));
    assert_eq!(office.recorded("PERIOD_DEADLINE").await?, 1);
    let listed = period::list(&office.supervisor).await?;
    assert_eq!(listed.iter().find(|period| period.name == "2026-10").and_then(|period| period.closes_at), Some(later));
    let refused =
        period::deadline(&office.supervisor, "*", "2026-12", None, "no reason").await.expect_err("no such period");
    assert!(refused.to_string().contains("there is no period 2026-12"), "{refused}");
    Ok(())
}
