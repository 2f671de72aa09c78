//! When an exception is due.

use chrono::NaiveDate;
use countersign_domain::policy::{DueDays, Policy, ReviewRules};
use serde_json::json;

use crate::office::{Office, Paper};

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a day")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_arrival_says_when_it_is_due_or_the_policy_of_that_moment_does() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let tiers = ["standard", "priority", "escalated"];
    for (number, tier) in (1..).zip(tiers) {
        office.take_in(&[Paper { tier, ..Paper::new(number, "before", 100) }]).await?;
    }
    let due_days = DueDays { standard: 5, priority: 2, escalated: 0 };
    office.policy(&Policy { review: ReviewRules { due_days, ..ReviewRules::default() }, ..Policy::default() }).await?;
    for (number, tier) in (11..).zip(tiers) {
        office.take_in(&[Paper { tier, ..Paper::new(number, "later", 100) }]).await?;
    }
    let said = with_due_date(&Paper::new(21, "said", 100), "2026-12-24");
    assert_eq!(office.installation.enqueue(&[said]).await?, ["ENQUEUED"]);

    let mut leased: Vec<_> = alice.lease().await?.into_iter().map(|item| (item.id, item.due_on)).collect();
    leased.sort_unstable_by_key(|(id, _)| *id);
    let due: Vec<_> = leased.into_iter().filter_map(|(_, due)| due).collect();
    let expected =
        ["2026-11-04", "2026-10-15", "2026-10-08", "2026-10-10", "2026-10-07", "2026-10-05", "2026-12-24"].map(day);
    assert_eq!(due, expected);

    // A correction is due anew.
    let corrected = with_due_date(&Paper { revision: 2, ..Paper::new(21, "said", 100) }, "2026-12-31");
    assert_eq!(office.installation.enqueue(&[corrected]).await?, ["CORRECTED"]);
    let changed: NaiveDate =
        office.ask("SELECT due_on FROM countersign.exception WHERE partition_key = 'said'").await?;
    assert_eq!(changed, day("2026-12-31"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_due_date_that_is_none_does_not_come_in() -> anyhow::Result<()> {
    let office = Office::open().await?;
    for wrong in
        [json!("2026-02-30"), json!("soon"), json!(20_261_231), json!("2026-12-31T00:00:00Z"), json!("1969-12-31")]
    {
        let mut document: serde_json::Value = serde_json::from_str(&Paper::new(1, "p", 100).body())?;
        document["due_date"] = wrong.clone();
        let line = document.to_string();
        let rejection = countersign_domain::gate::judge(line.as_bytes()).expect_err("it is no date");
        assert_eq!(rejection.field.as_deref(), Some("due_date"), "{wrong}");
        assert_eq!(office.installation.enqueue(&[line]).await?, ["REFUSED"], "{wrong}");
    }
    Ok(())
}

fn with_due_date(paper: &Paper<'_>, due: &str) -> String {
    let mut document: serde_json::Value = serde_json::from_str(&paper.body()).expect("a body is JSON");
    document["due_date"] = json!(due);
    countersign_domain::gate::judge(document.to_string().as_bytes()).expect("it passes its gates").body
}
