//! Each kind from arrival to effect.

use std::collections::BTreeMap;

use countersign_admin::reversal;
use countersign_domain::gate;
use countersign_domain::kind::receipt::drift;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::LeasedItem;
use countersign_engine::{Command, Reply};
use countersign_tests::desk::{Desk, confirmation};
use serde_json::{Value, json};

use crate::office::{Office, Paper};
use crate::paper::{Claim, correlation, effect, money, receipt, says};

/// Where a receipt went, with amount and currency as read and as entered.
type Routed = (String, Option<String>, Option<String>, Option<String>, Option<String>);

/// 1,234 × 0.0175 is 21.595, and half up that is 21.60.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approving_a_claim_posts_its_accrual_through_a_workstation() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.take(&[Claim::new(1, "p").body()]).await?;
    let hers = Desk::of(&office.installation, "alice").await?;
    let seat = hers.start()?;
    seat.until_deck(1).await?;
    let deck = seat.deck().await?;
    assert_eq!(deck[0].outlook.figure, Some(money("21.60", "USD")));
    assert_eq!(deck[0].outlook.approving, "posts 1,234 × 0.0175 = 21.60 USD by agreement version 3");
    let (_, command) = confirmation(&deck, Decision::Approve, 1);
    assert_eq!(seat.ask(command).await?, Reply::Signed { count: 1 });
    seat.until_committed(1).await?;
    let posted: (String, String, String, String, String, i32, String, String) = sqlx::query_as(
        "SELECT p.amount::text, p.currency, p.basis, p.units::text, p.rate::text, p.agreement_version, p.correlation_id::text, p.claimed::text
         FROM countersign.posting p JOIN countersign.exception e ON e.id = p.exception_id AND e.state = 'RESOLVED' AND e.resolved_at = p.posted_at",
    )
    .fetch_one(&office.installation.owner)
    .await?;
    let correlation = correlation(1).to_string();
    let expected = ["21.60", "USD", "AGREEMENT", "1234", "0.0175", correlation.as_str(), "30.00"];
    let (amount, currency, basis, units, rate, version, of, claimed) = &posted;
    assert_eq!([amount, currency, basis, units, rate, of, claimed], expected);
    assert_eq!(*version, 3);
    Ok(())
}

/// Each currency keeps its digits: JPY none, BHD three.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accrual_has_the_digits_of_its_currency() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let claim = |number, currency, units, rate, claimed, variance| Claim {
        currency,
        rated: Some((units, rate)),
        claimed,
        variance,
        ..Claim::new(number, "p")
    };
    let worked_out = [
        // 333 × 1.5 = 499.5
        (claim(1, "JPY", "333", "1.5", "500", "0"), "500", "AGREEMENT"),
        // 7 × 0.3335 = 2.3345
        (claim(2, "BHD", "7", "0.3335", "2.335", "0"), "2.335", "AGREEMENT"),
        // −5 × 0.125 = −0.625: what lies in the middle goes away from zero.
        (claim(3, "USD", "-5", "0.125", "-0.63", "0"), "-0.63", "AGREEMENT"),
        // 10 × 0.333 + 5 × 0.1 = 3.83
        (
            Claim {
                lines: json!([{"units": "10", "tier_rate": "0.333"}, {"units": "5", "tier_rate": "0.1"}]),
                ..claim(4, "USD", "15", "9", "4.00", "0.17")
            },
            "3.83",
            "AGREEMENT",
        ),
        // The agreement has no rate for it.
        (Claim { rated: None, ..claim(5, "USD", "", "", "12.34", "12.34") }, "12.34", "CLAIMED"),
    ];
    office.take(&worked_out.each_ref().map(|(claim, ..)| claim.body())).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed; 5]);
    for (item, (claim, amount, basis)) in items.iter().zip(&worked_out) {
        let expected = json!({"amount": amount, "basis": basis, "currency": claim.currency, "claimed": claim.claimed});
        says(&effect(&office, item).await?, &expected);
    }
    let whole = json!({"units": "15", "rate": null});
    says(&effect(&office, &items[3]).await?, &whole);
    says(&effect(&office, &items[4]).await?, &json!({"units": null, "rate": null}));
    Ok(())
}

/// What was claimed is not what the agreement gives: 30.00 against 21.60.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejecting_a_claim_opens_a_dispute_with_both_figures() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let unrated = Claim { rated: None, claimed: "12.34", variance: "12.34", ..Claim::new(2, "p") };
    office.take(&[Claim::new(1, "p").body(), unrated.body()]).await?;
    let items = alice.lease().await?;
    let rejections: Vec<_> = items.iter().map(|item| alice.rejection(item)).collect();
    assert!(rejections.iter().all(|rejection| rejection.figure.is_none()));
    assert_eq!(alice.send(&rejections).await?, [Outcome::Committed; 2]);
    let dispute = effect(&office, &items[0]).await?;
    assert_eq!(dispute.0, "dispute");
    says(
        &dispute,
        &json!({
            "claimed": "30.00", "by_agreement": "21.60", "difference": "8.40", "currency": "USD", "agreement_ref": "terms-2026.1",
            "agreement_version": 3, "correlation_id": correlation(1), "reason": "WRONG_AMOUNT", "ledger_entity": "acme",
        }),
    );
    let nothing_agreed = json!({"claimed": "12.34", "by_agreement": null, "difference": null});
    says(&effect(&office, &items[1]).await?, &nothing_agreed);
    Ok(())
}

/// A mean of 0.78 is 1 − 0.78/0.92 = 0.1522 below what it should be, and for a person; 0.79 is 0.1413 below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_goes_on_with_what_was_read_and_what_was_entered_beside_it() -> anyhow::Result<()> {
    let drift = |mean: &str| drift(mean.parse().expect("a decimal")).map(|drift| drift.to_string());
    assert_eq!((drift("0.78").as_deref(), drift("0.79").as_deref()), (Some("0.1522"), Some("0.1413")));
    let office = Office::open().await?;
    let read = [json!("2b.42"), json!("24.62"), Value::Null, json!("24.62")];
    let bodies: Vec<String> = (0..).zip(&read).map(|(number, read)| receipt(number, "p", read, "0.78")).collect();
    office.take(&bodies).await?;
    let hers = Desk::of(&office.installation, "alice").await?;
    let seat = hers.start()?;
    seat.until_deck(4).await?;
    let deck = seat.deck().await?;
    assert_eq!(
        deck.iter().map(|item| item.outlook.read.as_deref()).collect::<Vec<_>>(),
        [Some("2b.42 EUR"), Some("24.62 EUR"), Some("nothing"), Some("24.62 EUR")]
    );
    let (_, mut command) = confirmation(&deck[..3], Decision::Approve, 1);
    if let Command::Sign { figures, .. } = &mut command {
        // Another currency than the report's is on the third.
        *figures = BTreeMap::from([(deck[0].id, money("24.62", "EUR")), (deck[2].id, money("2462", "JPY"))]);
    }
    assert_eq!(seat.ask(command).await?, Reply::Signed { count: 3 });
    let (_, command) = confirmation(&deck[3..], Decision::Reject, 1);
    assert_eq!(seat.ask(command).await?, Reply::Signed { count: 1 });
    seat.until_committed(4).await?;
    let found: Vec<Routed> = sqlx::query_as(
        "SELECT r.routed_to, r.read_amount, r.read_currency, r.corrected_amount::text, r.corrected_currency
         FROM countersign.routing r JOIN countersign.exception e ON e.id = r.exception_id AND e.state = 'RESOLVED' ORDER BY e.seq",
    )
    .fetch_all(&office.installation.owner)
    .await?;
    let text = |text: &str| Some(text.to_owned());
    let validation = || "policy validation".to_owned();
    assert_eq!(
        found,
        [
            (validation(), text("2b.42"), text("EUR"), text("24.62"), text("EUR")),
            (validation(), text("24.62"), text("EUR"), None, None),
            (validation(), None, None, text("2462"), text("JPY")),
            ("submitter".to_owned(), text("24.62"), text("EUR"), None, None),
        ]
    );
    assert_eq!(office.ask::<i64>("SELECT count(*) FROM countersign.posting").await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_break_posts_its_variance_or_goes_back_to_the_matching_team() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", -1_250), Paper::new(2, "p", 700)]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.send(&[alice.approval(&items[0]), alice.rejection(&items[1])]).await?, [Outcome::Committed; 2]);
    let posting = effect(&office, &items[0]).await?;
    assert_eq!(posting.0, "posting");
    let plain = json!({"amount": "-12.50", "basis": "VARIANCE", "units": null, "claimed": null, "correlation_id": null, "period": "2026-10"});
    says(&posting, &plain);
    let routing = effect(&office, &items[1]).await?;
    assert_eq!(routing.0, "routing");
    says(
        &routing,
        &json!({"routed_to": "matching team", "reason": "WRONG_AMOUNT", "read_amount": null, "corrected_amount": null}),
    );
    Ok(())
}

/// What is undone is what was posted, whatever the variance of it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reversal_of_a_claim_posts_the_opposite_of_its_accrual() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take(&[Claim::new(1, "p").body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed]);
    let reversal =
        |number| Claim { reverses: Some(Claim::new(1, "p").key()), variance: "-8.40", ..Claim::new(number, "p") };
    office.take(&[reversal(2).body()]).await?;
    office.installation.lapse().await?;
    let reversals = bob.lease().await?;
    assert_eq!(bob.approval(&reversals[0]).figure, None);
    let with_figure = bob.approval_with(&reversals[0], Some(money("-21.60", "USD")));
    assert_eq!(bob.send(&[with_figure]).await?, [Outcome::FigureDiffers]);
    assert_eq!(bob.approve(&reversals).await?, [Outcome::Committed]);
    let posting = effect(&office, &reversals[0]).await?;
    says(&posting, &json!({"amount": "-21.60", "currency": "USD", "basis": "REVERSAL"}));
    let net: String = office.ask("SELECT sum(amount)::text FROM countersign.posting").await?;
    assert_eq!(net, "0.00");
    Ok(())
}

/// A supervisor is told what a reversal will post, and that there is nothing to take back of what was only sent on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_supervisor_reverses_what_was_posted_and_nothing_else() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take(&[Claim::new(1, "p").body(), receipt(2, "r", &json!("24.62"), "0.78")]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed; 2]);
    let of = |item: &LeasedItem| gate::read_body(&item.body).expect("it passed its gates").idempotency_key;
    let refused =
        reversal::reverse(&office.supervisor, &of(&items[1]), "sent on by mistake").await.expect_err("no posting");
    assert!(refused.to_string().contains("nothing was posted"), "{refused}");
    let reversed = reversal::reverse(&office.supervisor, &of(&items[0]), "agreed by mistake").await?;
    assert_eq!((reversed.amount.as_str(), reversed.currency.as_str()), ("-21.60", "USD"));
    office.installation.lapse().await?;
    let left = bob.lease().await?;
    assert_eq!(bob.approve(&left).await?, [Outcome::Committed]);
    says(&effect(&office, &left[0]).await?, &json!({"amount": "-21.60", "basis": "REVERSAL"}));
    Ok(())
}
