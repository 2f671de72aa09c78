//! Two approvals are of one figure.

use countersign_domain::sign_off::Outcome;
use serde_json::json;

use crate::office::Office;
use crate::paper::{Claim, effect, money, receipt, says};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_approval_with_another_figure_is_told_the_first_ones() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.four_eyes(&[("EUR", "20")]).await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    // Its variance is zero: only the corrected amount makes it one for two people.
    office.take(&[receipt(1, "p", &json!("2b.42"), "0.78")]).await?;
    let items = alice.lease().await?;
    assert_eq!(
        alice.send(&[alice.approval_with(&items[0], Some(money("24.62", "EUR")))]).await?,
        [Outcome::AwaitingSecond]
    );
    office.installation.lapse().await?;
    let items = bob.lease().await?;
    for other in [None, Some(money("24.63", "EUR")), Some(money("24.62", "USD"))] {
        let answer = bob.answers(&[bob.approval_with(&items[0], other)]).await?.0.remove(0);
        assert_eq!((answer.outcome, answer.figure), (Outcome::FigureDiffers, Some(money("24.62", "EUR"))), "{other:?}");
        assert!(answer.explanation().ends_with("It carries 24.62 EUR."), "{}", answer.explanation());
    }
    assert_eq!(office.ask::<i64>("SELECT count(*) FROM countersign.sign_off").await?, 1);
    assert_eq!(bob.send(&[bob.approval_with(&items[0], Some(money("24.62", "EUR")))]).await?, [Outcome::Committed]);
    says(&effect(&office, &items[0]).await?, &json!({"routed_to": "policy validation", "corrected_amount": "24.62"}));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_after_a_first_approval_carries_nothing_and_decides() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.four_eyes(&[("USD", "21.60")]).await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take(&[Claim::new(1, "p").body(), Claim::new(2, "p").body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(
        alice.approve(&items).await?,
        [Outcome::AwaitingSecond; 2],
        "the accrual is at the threshold, the variance is not"
    );
    office.installation.lapse().await?;
    let items = bob.lease().await?;
    assert_eq!(bob.send(&[bob.rejection(&items[0]), bob.approval(&items[1])]).await?, [Outcome::Committed; 2]);
    assert_eq!(effect(&office, &items[0]).await?.0, "dispute");
    says(&effect(&office, &items[1]).await?, &json!({"amount": "21.60"}));
    Ok(())
}
