//! How much one person may sign.

use std::collections::BTreeMap;

use countersign_admin::reviewer::{self, Rights, Scope};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::LeasedItem;
use countersign_tests::owner::{hold, until_waiting};

use crate::office::{Office, Paper, Seat};

/// Everything that is pending, also what is over a limit and therefore not handed out: somebody without limits leases it, and the
/// supervisor gives the partitions on.
async fn all_for(office: &Office, who: &Seat) -> anyhow::Result<Vec<LeasedItem>> {
    let free = office.seat("free").await?;
    let mut items = free.lease().await?;
    let mut keys: Vec<String> = items.iter().map(|item| item.partition.0.clone()).collect();
    keys.sort();
    keys.dedup();
    countersign_admin::partition::assign(&office.supervisor, &keys, Some(who.user()), "a test").await?;
    for item in &mut items {
        item.epoch.0 += 1;
    }
    items.sort_by_key(|item| item.id);
    Ok(items)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_largest_amount_is_a_limit_on_whatever_is_decided() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", Some("100.00"), None).await?;
    office.limit(&alice, "*", Some("50"), None).await?;
    let paper = |number, currency, cents| Paper { currency, ..Paper::new(number, "p", cents) };
    office
        .take_in(&[
            paper(1, "USD", 10_000),
            paper(2, "USD", -10_001),
            paper(3, "EUR", -5_000),
            paper(4, "EUR", 5_001),
            paper(5, "GBP", 5_000),
        ])
        .await?;
    let handed: Vec<i64> = alice.lease().await?.iter().map(|item| item.id.0).collect();
    assert_eq!(handed, [1, 3, 5], "what is over the limit is not handed out");
    office.installation.lapse().await?;
    let items = all_for(&office, &alice).await?;
    assert_eq!(alice.send(&[alice.rejection(&items[1])]).await?, [Outcome::OverLimit], "a rejection too");
    assert_eq!(
        alice.approve(&items).await?,
        [Outcome::Committed, Outcome::OverLimit, Outcome::Held, Outcome::OverLimit, Outcome::Held]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_adds_up_ends_exactly_at_the_limit_in_each_currency_and_period() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", None, Some("100.00")).await?;
    let paper = |number, currency, day, cents| Paper { currency, day, ..Paper::new(number, "p", cents) };
    office
        .take_in(&[
            paper(1, "USD", "2026-10-01", 6_000),
            paper(2, "USD", "2026-10-02", -4_001),
            paper(3, "USD", "2026-10-31", -4_000),
            paper(4, "USD", "2026-10-31", 1),
            paper(5, "USD", "2026-11-01", 10_000),
            paper(6, "EUR", "2026-10-05", 99_999),
        ])
        .await?;
    let items = alice.lease().await?;
    let outcomes = alice.approve(&items).await?;
    let (committed, held, over) = (Outcome::Committed, Outcome::Held, Outcome::OverLimit);
    assert_eq!(outcomes, [committed, over, held, over, held, held]);
    // A rejection costs nothing, and one cent more is too much.
    assert_eq!(alice.send(&[alice.rejection(&items[1])]).await?, [committed]);
    assert_eq!(alice.approve(&items[3..4]).await?, [over]);
    office.limit(&alice, "USD", None, Some("100.01")).await?;
    assert_eq!(alice.approve(&items[3..4]).await?, [committed]);
    let used: String = office
        .ask("SELECT string_agg(period || ' ' || currency || ' ' || approved, ', ' ORDER BY period, currency) FROM countersign.reviewer_usages")
        .await?;
    assert_eq!(used, "2026-10 EUR 999.99, 2026-10 USD 100.01, 2026-11 USD 100.00");
    Ok(())
}

/// The same decisions in one call, one call each, and in calls of two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cutting_a_batch_changes_nothing() -> anyhow::Result<()> {
    let mut seen: Vec<BTreeMap<String, usize>> = Vec::new();
    for size in [100, 1, 2, 7] {
        let office = Office::open().await?;
        let alice = office.seat("alice").await?;
        office.four_eyes(&[("USD", "40")]).await?;
        office.limit(&alice, "USD", Some("60"), Some("400")).await?;
        office.limit(&alice, "*", None, Some("10.00")).await?;
        let partitions = ["a", "b", "c"];
        let papers: Vec<Paper> = (0..40)
            .map(|number| {
                let cents = [3_000, 700, -6_001, 4_100, 333, -1_500, 999][usize::try_from(number % 7).expect("small")];
                let currency = if number % 5 == 4 { "EUR" } else { "USD" };
                let day = if number % 11 == 0 { "2026-11-05" } else { "2026-10-05" };
                Paper {
                    currency,
                    day,
                    ..Paper::new(number, partitions[usize::try_from(number % 3).expect("small")], cents)
                }
            })
            .collect();
        office.take_in(&papers).await?;
        let items = all_for(&office, &alice).await?;
        let mut outcomes = BTreeMap::new();
        for batch in items.chunks(size) {
            for outcome in alice.approve(batch).await? {
                *outcomes.entry(outcome.as_str().to_owned()).or_default() += 1;
            }
        }
        seen.push(outcomes);
    }
    assert!(seen[0].len() >= 4, "{:?}", seen[0]);
    assert!(seen.iter().all(|outcomes| *outcomes == seen[0]), "{seen:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_gives_back_what_a_first_approval_took() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.four_eyes(&[("*", "50")]).await?;
    office.limit(&alice, "*", None, Some("100")).await?;
    office.take_in(&[Paper::new(1, "p", 9_000), Paper::new(2, "q", 2_000)]).await?;
    let mut items = alice.lease().await?;
    items.sort_by_key(|item| item.id);
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond, Outcome::OverLimit]);
    assert_eq!(office.send(&[Paper { revision: 2, ..Paper::new(1, "p", 9_500) }]).await?, ["CORRECTED"]);
    assert_eq!(alice.approve(&items[1..]).await?, [Outcome::Committed], "there is room again");
    assert_eq!(office.ask::<String>("SELECT approved::text FROM countersign.reviewer_usages").await?, "20.00");
    Ok(())
}

/// Two workstations of one person share one limit, also when both sign in the same instant: each round in a period of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_desks_share_a_limit() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let elsewhere = office.desk(&alice.login).await?;
    office.limit(&alice, "*", None, Some("100")).await?;
    let owner = &office.installation.owner;
    for month in 1..=6_u64 {
        let day = format!("2026-{month:02}-05");
        let (p, q) = (format!("p{month}"), format!("q{month}"));
        let paper = |number, partition| Paper { day: &day, ..Paper::new(number, partition, 6_000) };
        office.take_in(&[paper(10 * month, &p)]).await?;
        let here = alice.lease().await?;
        office.take_in(&[paper(10 * month + 1, &q)]).await?;
        let there = elsewhere.lease().await?;
        assert_eq!((here.len(), there.len()), (1, 1));
        let held = (hold(owner, &p).await?, hold(owner, &q).await?);
        let (first, second) = (alice.clone(), elsewhere.clone());
        let first = tokio::spawn(async move { first.approve(&here).await });
        let second = tokio::spawn(async move { second.approve(&there).await });
        until_waiting(owner, 2).await?;
        held.0.rollback().await?;
        held.1.rollback().await?;
        let mut outcomes = [first.await??, second.await??].concat();
        outcomes.sort_by_key(|outcome| outcome.as_str());
        assert_eq!(outcomes, [Outcome::Committed, Outcome::OverLimit], "{day}");
        // What was over is done with by somebody else, so that the next round begins with nothing.
        office.installation.lapse().await?;
        let free = office.seat("free").await?;
        let left = free.lease().await?;
        free.approve(&left).await?;
        office.installation.lapse().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sets_their_own_limits_or_rights() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    crate::office::grant(&office.installation, "supervisor", alice.user()).await?;
    let mut client = alice.client(&office.installation).await?;
    for call in [
        "SELECT countersign.reviewer_limit_set(session_user::text, '*', NULL, NULL)",
        "SELECT countersign.reviewer_limit_set(upper(session_user), '*', NULL, NULL)",
        "SELECT countersign.reviewer_set(session_user::text, NULL, NULL, NULL, NULL, NULL)",
        "SELECT countersign.reviewer_set(upper(session_user), NULL, NULL, NULL, NULL, NULL)",
    ] {
        let error = sqlx::raw_sql(call).execute(&mut client).await.expect_err(call);
        let code = error.as_database_error().and_then(|answer| answer.code().map(std::borrow::Cow::into_owned));
        assert_eq!(code.as_deref(), Some("CS005"), "{call}: {error}");
    }
    assert_eq!(office.recorded("LIMIT_SET").await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_logins_of_one_person_share_what_they_have_used() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, second) = (office.seat("alice").await?, office.seat("asmith").await?);
    let also = Scope::Only(vec![second.user().to_uppercase()]);
    reviewer::set(&office.supervisor, alice.user(), &Rights { also, ..Rights::default() }).await?;
    office.limit(&alice, "USD", None, Some("100")).await?;
    office.limit(&second, "USD", None, Some("100")).await?;
    office.take_in(&[Paper::new(1, "p", 6_000)]).await?;
    assert_eq!(second.approve(&second.lease().await?).await?, [Outcome::Committed]);
    office.take_in(&[Paper::new(2, "q", 4_001), Paper::new(3, "q", 4_000)]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::OverLimit, Outcome::Held]);
    Ok(())
}
