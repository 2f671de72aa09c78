//! Receipts that need no reviewer, and how well all of them are read.

use countersign_admin::audit::{Verify, verify};
use countersign_admin::capture;
use countersign_admin::reversal::reverse;
use countersign_engine::port::Reading as _;
use countersign_testkit::installation::Installation;
use serde_json::{Value, json};

use crate::sql_gates::{call, receipt};
use crate::{installed, number};

fn amounts(receipt: &mut serde_json::Value, amount: &str) {
    for field in ["claimed_amount", "extracted_amount"] {
        receipt["payload"][field] = json!(amount);
    }
}

async fn outcomes(installation: &Installation, bodies: &[String]) -> anyhow::Result<Vec<String>> {
    Ok(call(installation, bodies).await?.into_iter().map(|told| told.1).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_is_released_exactly_where_it_needs_nobody() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    // A mean of 0.79 drifts by 1 - 0.79/0.92 = 0.1413, one of 0.78 by 0.1522; 0.782 lies on the edge, at 0.15.
    let bodies = [
        receipt("well-read", |_| {}),
        receipt("edge", |it| it["payload"]["mean_confidence"] = json!("0.782")),
        receipt("drifts", |it| it["payload"]["mean_confidence"] = json!("0.78")),
        receipt("by-its-lines", |it| it["payload"]["mean_confidence"] = json!(null)),
        receipt("partial", |it| it["match_decision"] = json!("PARTIAL")),
        receipt("off-by-a-cent", |it| it["variance_amount"] = json!("0.01")),
        receipt("no-amount", |it| it["payload"]["extracted_amount"] = json!(null)),
        receipt("a-tenth-of-a-cent", |it| it["payload"]["extracted_amount"] = json!("10.001")),
        receipt("no-digits", |it| it["payload"]["extracted_amount"] = json!("ten")),
        receipt("another-amount", |it| it["payload"]["claimed_amount"] = json!("10.01")),
        receipt("nothing", |it| amounts(it, "0.00")),
        receipt("less-than-nothing", |it| amounts(it, "-10.00")),
        receipt("just-not-escalated", |it| amounts(it, "50000")),
        receipt("escalated", |it| amounts(it, "50000.01")),
        receipt("stated-too-well", |it| it["payload"]["ocr_lines"][0]["confidence"] = json!("0.2")),
    ];
    let pending = "ENQUEUED";
    let mut expected = [pending; 15];
    for released in [0, 1, 3, 12] {
        expected[released] = "RELEASED";
    }
    assert_eq!(outcomes(&installation, &bodies).await?, expected);
    assert_eq!(outcomes(&installation, &bodies).await?, ["DUPLICATE"; 15]);
    let corrected = receipt("well-read", |it| it["source_hash"] = json!("another"));
    assert_eq!(outcomes(&installation, &[corrected]).await?, ["CONFLICT"], "it is gone to policy validation");
    let released: Value = serde_json::from_str(&bodies[0])?;
    let key = released["idempotency_key"].as_str().expect("a key");
    let refused = reverse(&installation.for_admin()?, key, "a mistake").await.expect_err("nothing was posted");
    assert!(refused.to_string().contains("was released to policy validation without a review"), "{refused}");
    let report = verify(&installation.for_admin()?, &Verify::default()).await?;
    assert!(report.holds(), "{report:#?}");

    sqlx::raw_sql("ALTER TABLE countersign.released DISABLE TRIGGER append_only; UPDATE countersign.released SET amount = 11 WHERE drift = 0.1413")
        .execute(&installation.owner)
        .await?;
    let report = verify(&installation.for_admin()?, &Verify::default()).await?;
    assert!(report.first.iter().any(|finding| finding.what == "its amount is not that of what arrived"), "{report:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_days_of_the_capture_count_each_receipt_once_as_its_latest_version_has_it() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let alice = installation.reviewer("alice").await?;
    let (backlog, desk) = installation.workstation(&alice).await?;
    let drifting = |id: &str| receipt(id, |it| it["payload"]["mean_confidence"] = json!("0.5"));
    let mut bodies: Vec<String> = (0..9).map(|n| receipt(&format!("good-{n}"), |_| {})).collect();
    bodies.push(drifting("bad-0"));
    let told = async || {
        let days = backlog.capture(desk).await?;
        anyhow::Ok(
            days.into_iter()
                .map(|day| (day.day.to_string(), day.receipts, day.drifting, day.share, day.alert))
                .collect::<Vec<_>>(),
        )
    };
    outcomes(&installation, &bodies).await?;
    let day = "2026-10-10".to_owned();
    assert_eq!(told().await?, [(day.clone(), 10, 1, "10.0".to_owned(), false)], "10 % are not more than 10 %");
    assert_eq!(admin.run(&["capture", "--alert"]).await?.code, 0);
    outcomes(&installation, &bodies).await?;
    assert_eq!(told().await?, [(day.clone(), 10, 1, "10.0".to_owned(), false)], "a redelivery counts nothing");
    outcomes(&installation, &[drifting("bad-1"), drifting("bad-2")]).await?;
    assert_eq!(told().await?, [(day.clone(), 12, 3, "25.0".to_owned(), true)]);
    let listed = capture::days(&installation.for_admin()?).await?;
    assert_eq!((listed[0].receipts, listed[0].drifting, listed[0].alert), (12, 3, true));
    let alerted = admin.run(&["capture", "--alert"]).await?;
    assert!(
        alerted.code == 1 && alerted.stderr.contains("2026-10-10") && alerted.stdout.contains("25.0 %"),
        "{alerted:?}"
    );
    // A correction that reads better takes its place, and one of another day leaves this one.
    let better = receipt("bad-1", |it| {
        it["source_hash"] = json!("better");
        it["payload"]["mean_confidence"] = json!("0.9");
    });
    assert_eq!(outcomes(&installation, &[better]).await?, ["CORRECTED"]);
    assert_eq!(told().await?, [(day.clone(), 12, 2, "16.7".to_owned(), true)]);
    let moved = receipt("bad-2", |it| {
        it["source_hash"] = json!("moved");
        it["submitted_at"] = json!("2026-10-11T00:00:00Z");
        it["payload"]["mean_confidence"] = json!("0.5");
    });
    assert_eq!(outcomes(&installation, &[moved]).await?, ["CORRECTED"]);
    let expected = [("2026-10-11".to_owned(), 1, 1, "100.0".to_owned(), true), (day, 11, 1, "9.1".to_owned(), false)];
    assert_eq!(told().await?, expected);
    let recorded = "SELECT count(*) FROM countersign.audit_event WHERE event = 'RECEIPTS_DRIFT'";
    assert_eq!(number(&installation, recorded).await?, 2, "once for each day");
    Ok(())
}
