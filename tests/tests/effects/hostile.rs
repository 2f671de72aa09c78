//! A reviewer with a client of their own and the keys of their workstation, who seals whatever they like.

use countersign_domain::seal::{Statement, hmac_sha256, sign_with};
use countersign_domain::sign_off::{Decision, SignOff};
use countersign_domain::{gate, hash};
use countersign_engine::port::LeasedItem;
use countersign_testkit::enrolment::keys_of;
use serde_json::json;
use sqlx::{PgConnection, Row as _};

use crate::office::{Office, Paper, Seat};
use crate::paper::{Claim, money, receipt};

/// Calls the function as no workstation would: the figure is any text, and the seal is right over that very text.
async fn sign(
    client: &mut PgConnection,
    seat: &Seat,
    item: &LeasedItem,
    decision: Decision,
    figure: Option<(&str, &str)>,
) -> anyhow::Result<(String, Option<String>)> {
    let content = gate::read_body(&item.body).expect("it passed its gates");
    let good =
        SignOff { decision, ..if decision == Decision::Approve { seat.approval(item) } else { seat.rejection(item) } };
    let marked = money("7654321.07", "XCD");
    let statement = Statement {
        idempotency_key: &content.idempotency_key,
        content: item.content,
        decision,
        reason: good.reason.as_deref(),
        comment: None,
        reviewer: seat.user(),
        workstation: seat.desk,
        policy_version: good.policy_version,
        decided_at: good.decided_at,
        figure: figure.map(|_| marked),
    };
    let (amount, currency) = figure.unzip();
    let bytes = String::from_utf8(statement.bytes())?
        .replace(&marked.text(), amount.unwrap_or_default())
        .replace("XCD", currency.unwrap_or_default());
    let secret = |of: &str| hash::sha256(format!("{of} of {}", seat.desk.0).as_bytes()).0;
    let (public, signature) = sign_with(&secret("seed"), bytes.as_bytes());
    assert_eq!(public, keys_of(seat.desk).public(), "it is the workstation's own key");
    let mac = hmac_sha256(&secret("secret"), &[bytes.as_bytes(), &signature]);
    let row = sqlx::query(
        "SELECT outcome, figure_amount FROM countersign.sign_off($1, ARRAY[$2], ARRAY[$3], ARRAY[$4], ARRAY[$5], ARRAY[$6], ARRAY[$7], ARRAY[NULL::text],
             ARRAY[$8], ARRAY[$9], ARRAY[1], ARRAY[$10], ARRAY[$11], ARRAY[$12], ARRAY[$13]) WHERE outcome IS NOT NULL",
    )
    .bind(seat.desk.0)
    .bind(&good.key.0.0[..])
    .bind(item.id.0)
    .bind(&item.content.0.0[..])
    .bind(item.epoch.0)
    .bind(decision.as_str())
    .bind(good.reason.as_deref())
    .bind(good.decided_at)
    .bind(i32::try_from(good.policy_version)?)
    .bind(&signature[..])
    .bind(&mac.0[..])
    .bind(amount)
    .bind(currency)
    .fetch_one(&mut *client)
    .await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_right_seal_over_a_wrong_accrual_posts_nothing() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take(&[Claim::new(1, "p").body()]).await?;
    let items = alice.lease().await?;
    let mut client = alice.client(&office.installation).await?;
    let differs = ("FIGURE_DIFFERS".to_owned(), Some("21.60".to_owned()));
    for (amount, currency) in [
        ("21.61", "USD"),
        ("-21.60", "USD"),
        ("0.00", "USD"),
        ("1000000.00", "USD"),
        // The same number, and not the same text.
        ("21.6", "USD"),
        ("21.600", "USD"),
        ("21.60", "EUR"),
        ("21.60", "ZZZ"),
    ] {
        let answer = sign(&mut client, &alice, &items[0], Decision::Approve, Some((amount, currency))).await?;
        assert_eq!(answer, differs, "{amount} {currency}");
    }
    assert_eq!(sign(&mut client, &alice, &items[0], Decision::Approve, None).await?, differs);
    let rejected = sign(&mut client, &alice, &items[0], Decision::Reject, Some(("21.60", "USD"))).await?;
    assert_eq!(rejected, ("FIGURE_DIFFERS".to_owned(), None));
    let nothing = "SELECT (SELECT count(*) FROM countersign.posting) + (SELECT count(*) FROM countersign.dispute) + (SELECT count(*) FROM countersign.sign_off)
                   + (SELECT count(*) FROM countersign.exception WHERE state <> 'PENDING')";
    assert_eq!(office.ask::<i64>(nothing).await?, 0);
    assert_eq!(office.recorded("SIGNED").await?, 10, "each attempt is on record");
    let right = sign(&mut client, &alice, &items[0], Decision::Approve, Some(("21.60", "USD"))).await?;
    assert_eq!(right.0, "COMMITTED", "the control: only the figure was wrong");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_amount_is_refused_in_words_and_changes_nothing() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take(&[receipt(1, "p", &json!("24.62"), "0.78"), Paper::new(2, "p", 100).body()]).await?;
    let items = alice.lease().await?;
    let mut client = alice.client(&office.installation).await?;
    let long = "1".repeat(29);
    for (amount, currency) in [
        ("NaN", "EUR"),
        ("Infinity", "EUR"),
        ("1e3", "EUR"),
        ("+1.00", "EUR"),
        (" 1.00", "EUR"),
        ("01.00", "EUR"),
        ("-0.00", "EUR"),
        ("1,00", "EUR"),
        ("1.", "EUR"),
        ("", "EUR"),
        (long.as_str(), "EUR"),
        ("1.00", "eur"),
        ("1.00", "EURO"),
    ] {
        let error =
            sign(&mut client, &alice, &items[0], Decision::Approve, Some((amount, currency))).await.expect_err(amount);
        assert!(
            error.to_string().contains("a plain amount of at most 28 digits with a currency, or neither"),
            "{amount}: {error}"
        );
    }
    // An amount, but none of that currency.
    for (amount, currency) in [("24.6", "EUR"), ("24.620", "EUR"), ("24.62", "JPY"), ("24.62", "XAU"), ("24.62", "ZZZ")]
    {
        let answer = sign(&mut client, &alice, &items[0], Decision::Approve, Some((amount, currency))).await?;
        assert_eq!(answer, ("FIGURE_DIFFERS".to_owned(), None), "{amount} {currency}");
    }
    let unwanted = sign(&mut client, &alice, &items[1], Decision::Approve, Some(("1.00", "USD"))).await?;
    assert_eq!(unwanted, ("FIGURE_DIFFERS".to_owned(), None), "a break carries none");
    assert_eq!(office.ask::<i64>("SELECT count(*) FROM countersign.sign_off").await?, 0);
    Ok(())
}
