//! What an approval takes of a limit is the larger of its variance and its figure, or the figure in its own currency.

use countersign_admin::audit::{Verify, verify};
use countersign_domain::sign_off::Outcome;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::office::Office;
use crate::paper::{Claim, money, receipt};

const USED: &str = "SELECT coalesce(string_agg(currency || ' ' || approved, ', ' ORDER BY currency), '') FROM countersign.reviewer_usage WHERE period <> ''";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn splitting_a_batch_of_accruals_changes_nothing() -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for calls in [1, 3] {
        let office = Office::open().await?;
        let alice = office.seat("alice").await?;
        // Two accruals of 21.60 fit, a third does not; of the variances of 8.40 all would.
        office.limit(&alice, "USD", None, Some("50")).await?;
        office.take(&[1, 2, 3].map(|number| Claim::new(number, "p").body())).await?;
        let items = alice.lease().await?;
        let mut outcomes = Vec::new();
        for part in items.chunks(3 / calls) {
            outcomes.extend(alice.approve(part).await?);
        }
        seen.push((outcomes, office.ask::<String>(USED).await?));
    }
    let expected = vec![Outcome::Committed, Outcome::Committed, Outcome::OverLimit];
    assert_eq!(seen, [(expected.clone(), "USD 43.20".to_owned()), (expected, "USD 43.20".to_owned())]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_largest_amount_of_a_reviewer_is_about_figures_too() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "USD", Some("21.59"), None).await?;
    office.take(&[Claim::new(1, "p").body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::OverLimit]);
    assert_eq!(alice.send(&[alice.rejection(&items[0])]).await?, [Outcome::Committed], "a rejection posts nothing");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_corrected_amount_counts_in_its_own_currency() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.limit(&alice, "JPY", Some("3000"), Some("4000")).await?;
    office.take(&(0..3).map(|number| receipt(number, "p", &json!("24.62"), "0.78")).collect::<Vec<_>>()).await?;
    let items = alice.lease().await?;
    let yen = |place: usize, amount: &str| alice.approval_with(&items[place], Some(money(amount, "JPY")));
    assert_eq!(alice.send(&[yen(0, "3001")]).await?, [Outcome::OverLimit]);
    let batch = [yen(0, "3000"), yen(1, "1001"), alice.approval_with(&items[2], Some(money("5.00", "EUR")))];
    assert_eq!(alice.send(&batch).await?, [Outcome::Committed, Outcome::OverLimit, Outcome::Held]);
    assert_eq!(office.ask::<String>(USED).await?, "EUR 5.00, JPY 3000");
    Ok(())
}

/// A correction gives back what the first of two approvals took: the figure, and not the variance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lapsed_first_approval_gives_its_figure_back() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.four_eyes(&[("USD", "20")]).await?;
    let alice = office.seat("alice").await?;
    let claim = Claim::new(1, "p");
    office.take(&[claim.body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::AwaitingSecond]);
    assert_eq!(office.ask::<String>(USED).await?, "USD 21.60");
    let corrected = Claim { rated: Some(("1000", "0.02")), variance: "10.00", revision: 2, ..claim };
    assert_eq!(office.installation.enqueue(&[corrected.body()]).await?, ["CORRECTED"]);
    let left: Decimal = office.ask("SELECT sum(approved) FROM countersign.reviewer_usage WHERE period <> ''").await?;
    assert!(left.is_zero(), "{left}");
    Ok(())
}

/// Whoever may approve little may not take much back either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reversal_weighs_what_it_takes_back() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    let matched = Claim { claimed: "21.60", variance: "0", ..Claim::new(1, "p") };
    office.take(&[matched.body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed]);
    office.take(&[Claim { reverses: Some(matched.key()), ..Claim { number: 2, ..matched } }.body()]).await?;
    office.installation.lapse().await?;
    let reversals = bob.lease().await?;
    office.limit(&bob, "USD", Some("21.59"), None).await?;
    assert_eq!(bob.approve(&reversals).await?, [Outcome::OverLimit], "its variance is zero, and it takes 21.60 back");
    office.limit(&bob, "USD", Some("21.60"), Some("30")).await?;
    assert_eq!(bob.approve(&reversals).await?, [Outcome::Committed]);
    assert_eq!(
        office
            .ask::<String>(
                "SELECT approved::text FROM countersign.reviewer_usage WHERE period <> '' AND reviewer LIKE 'bob%'"
            )
            .await?,
        "21.60"
    );
    Ok(())
}

/// What is sent on counts, entered or read: who may approve 5,000 does not send a million on by entering nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_amount_that_was_read_weighs_as_if_it_were_entered() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.limit(&alice, "EUR", Some("5000"), Some("6000")).await?;
    let read = ["1000000.00", "5000", "-1000.01", "2.50"];
    office
        .take(
            &(0..)
                .zip(read)
                .map(|(number, read)| receipt(number, &format!("p{number}"), &json!(read), "0.78"))
                .collect::<Vec<_>>(),
        )
        .await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items[..3]).await?, [Outcome::OverLimit, Outcome::Committed, Outcome::OverLimit]);
    assert_eq!(office.ask::<String>(USED).await?, "EUR 5000");
    office.four_eyes(&[("EUR", "2.50")]).await?;
    assert_eq!(alice.approve(&items[3..]).await?, [Outcome::AwaitingSecond]);
    office.installation.lapse().await?;
    let left = bob.lease().await?;
    assert_eq!(left.len(), 3);
    let answers = bob.approve(&left).await?;
    assert_eq!(answers.iter().filter(|answer| **answer == Outcome::AwaitingSecond).count(), 2, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| **answer == Outcome::Committed).count(), 1, "{answers:?}");
    let report = verify(&office.installation.for_admin()?, &Verify::default()).await?;
    assert!(report.holds(), "{:#?}", report.first);
    // Whoever signed it past the rules is found.
    let lowered = "ALTER TABLE countersign.sign_off DISABLE TRIGGER append_only;
        UPDATE countersign.sign_off SET amount = 0 WHERE amount = 5000;
        ALTER TABLE countersign.sign_off ENABLE TRIGGER append_only";
    sqlx::raw_sql(lowered).execute(&office.installation.owner).await?;
    let report = verify(&office.installation.for_admin()?, &Verify::default()).await?;
    assert!(report.first.iter().any(|finding| finding.what.contains("nor that of its figure")), "{:#?}", report.first);
    Ok(())
}

/// Nobody can say how much is sent on, until somebody does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_read_is_approved_with_an_amount_over_zero_or_not_at_all() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let read = [json!("1O.40"), Value::Null, json!("10.401"), json!("1e6")];
    office.take(&(0..).zip(&read).map(|(number, read)| receipt(number, "p", read, "0.78")).collect::<Vec<_>>()).await?;
    let items = alice.lease().await?;
    for item in &items {
        for figure in [None, Some(money("0.00", "EUR")), Some(money("-10.40", "EUR"))] {
            let answer = alice.answers(&[alice.approval_with(item, figure)]).await?.0.remove(0);
            assert_eq!((answer.outcome, answer.figure), (Outcome::FigureDiffers, None), "{figure:?}");
            assert!(answer.explanation().contains("enter the amount of the receipt"), "{}", answer.explanation());
        }
    }
    let own = |place: usize| alice.approval_with(&items[place], Some(money("10.40", "EUR")));
    let batch = [own(0), own(1), own(2), alice.rejection(&items[3])];
    assert_eq!(alice.send(&batch).await?, [Outcome::Committed; 4]);
    Ok(())
}
