//! Amounts that a reviewer enters where none belongs are refused before anything is signed, with the item's name.

use std::collections::BTreeMap;

use countersign_domain::id::ExceptionId;
use countersign_domain::money::Money;
use countersign_domain::sign_off::Decision;
use countersign_engine::{Command, Reply};
use countersign_tests::desk::{Desk, confirmation};
use rust_decimal::Decimal;
use serde_json::json;

use crate::office::{Office, Paper};
use crate::paper::{Claim, money, receipt};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_amount_that_does_not_belong_there_is_refused_with_the_items_name() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office
        .take(&[
            Paper::new(1, "p", 100).body(),
            Claim::new(2, "p").body(),
            receipt(3, "p", &json!("1.00"), "0.78"),
            receipt(4, "p", &json!("1O.00"), "0.78"),
        ])
        .await?;
    let hers = Desk::of(&office.installation, "alice").await?;
    let seat = hers.start()?;
    seat.until_deck(4).await?;
    let deck = seat.deck().await?;
    let euros = money("1.00", "EUR");
    let precise = Money { amount: Decimal::new(10_005, 4), ..euros };
    for (place, decision, figure, code, says) in [
        (0, Decision::Approve, euros, "FIGURE_UNWANTED", "only receipts have one"),
        (1, Decision::Approve, euros, "FIGURE_UNWANTED", "only receipts have one"),
        (2, Decision::Reject, euros, "FIGURE_UNWANTED", "is rejected, and carries no amount"),
        (2, Decision::Approve, money("0.00", "EUR"), "FIGURE_UNREADABLE", "is 0.00, and has to be over zero"),
        (2, Decision::Approve, money("-1.00", "EUR"), "FIGURE_UNREADABLE", "has to be over zero"),
        (2, Decision::Approve, precise, "FIGURE_UNREADABLE", "4 decimal places, EUR has 2"),
    ] {
        let (_, mut command) = confirmation(&deck, decision, 1);
        if let Command::Sign { figures, .. } = &mut command {
            *figures = BTreeMap::from([(deck[place].id, figure)]);
        }
        let refused = seat.try_ask(command).await?.expect_err(says);
        assert_eq!(refused.code, code, "{}", refused.message);
        assert!(refused.message.contains(says) && refused.message.contains(&deck[place].key), "{}", refused.message);
        assert!(refused.message.contains("Nothing was signed"), "{}", refused.message);
    }
    let (_, mut command) = confirmation(&deck[..1], Decision::Approve, 1);
    if let Command::Sign { figures, .. } = &mut command {
        *figures = BTreeMap::from([(ExceptionId(99), euros)]);
    }
    let refused = seat.try_ask(command).await?.expect_err("it is not selected");
    assert!(refused.code == "FIGURE_UNWANTED" && refused.message.contains("exception 99"), "{}", refused.message);
    let (_, mut command) = confirmation(&deck, Decision::Approve, 1);
    let refused = seat.try_ask(command.clone()).await?.expect_err("nobody can say how much it is");
    assert_eq!(refused.code, "FIGURE_MISSING");
    assert!(refused.message.contains(&deck[3].key) && refused.message.contains("(1O.00 EUR)"), "{}", refused.message);
    assert!(refused.message.contains("enter the amount"), "{}", refused.message);
    assert!(seat.outbox().await?.is_empty(), "nothing was signed");
    if let Command::Sign { figures, .. } = &mut command {
        *figures = BTreeMap::from([(deck[3].id, money("10.00", "EUR"))]);
    }
    assert_eq!(seat.ask(command).await?, Reply::Signed { count: 4 });
    seat.until_committed(4).await
}
