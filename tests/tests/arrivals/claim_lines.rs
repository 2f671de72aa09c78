//! Lines of a large claim that come apart from it.

use countersign_admin::audit::{Verify, verify};
use countersign_domain::hash;
use serde_json::{Value, json};

use crate::sql_gates::{call, claim};
use crate::{count, installed, number};

const LINES: usize = 25_000;

fn lines(rate: &str) -> String {
    let lines = (0..LINES).map(|number| format!("item {number},2.0,{rate}\n"));
    std::iter::once("item,units,tier_rate\n".to_owned()).chain(lines).collect::<Vec<_>>().concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_with_lines_apart_is_taken_in_when_they_fit_and_a_load_may_be_run_again() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("lines.csv");
    std::fs::write(&file, lines("0.0175"))?;
    let canonical: Vec<String> = (0..LINES).map(|number| format!("item {number}\t2\t0.0175\t\n")).collect();
    let sha256 = hash::sha256(canonical.concat().as_bytes()).to_string();
    let arrival = |units: &str, rate: &str, sha256: &str| {
        claim("large", |it| {
            it["payload"]["line_items_sha256"] = json!(sha256);
            it["payload"]["line_item_count"] = json!(LINES);
            it["payload"]["qualifying_units"] = json!(units);
            it["payload"]["tier_rate"] = json!(rate);
            it["payload"]["claimed_amount"] = json!("875.00");
            it["payload"].as_object_mut().expect("an object").remove("line_items");
        })
    };
    let good = arrival("50000", "0.0175", &sha256);
    let key = serde_json::from_str::<Value>(&good)?["idempotency_key"].as_str().unwrap_or_default().to_owned();
    installation.register_vendors(&good).await?;
    let refused = call(&installation, std::slice::from_ref(&good)).await?;
    assert_eq!(refused[0].3.as_deref(), Some("LINE_ITEMS"));
    assert!(refused[0].4.as_deref().is_some_and(|words| words.contains("no lines were loaded")), "{refused:?}");

    let path = file.to_str().unwrap_or_default();
    let loaded = admin.json(&["claim-lines", &key, path]).await?;
    assert_eq!((count(&loaded, "lines"), count(&loaded, "sent")), (25_000, 25_000), "{loaded}");
    assert_eq!((&loaded["units"], &loaded["exact"]), (&json!("50000"), &json!("875")), "2 x 25,000 x 0.0175");
    assert_eq!(loaded["sha256"], json!(sha256));
    // An interrupted load left its first chunk and half of nothing else.
    sqlx::raw_sql("DELETE FROM countersign.claim_chunk WHERE chunk > 0; DELETE FROM countersign.claim_line WHERE line > 10000; UPDATE countersign.claim_load SET sealed_at = NULL")
        .execute(&installation.owner)
        .await?;
    let refused = call(&installation, std::slice::from_ref(&good)).await?;
    assert!(refused[0].4.as_deref().is_some_and(|words| words.contains("10000 are there")), "{refused:?}");
    let again = admin.json(&["claim-lines", &key, path]).await?;
    assert_eq!((count(&again, "lines"), count(&again, "sent")), (25_000, 15_000), "{again}");
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.claim_line").await?, 25_000);

    for (bad, words) in [
        (arrival("50001", "0.0175", &sha256), "add up to 50000"),
        (arrival("50000", "0.0176", &sha256), "the rates of its lines are 0.0175"),
        (arrival("50000", "0.0175", &"0".repeat(64)), "25000 lines with the SHA-256"),
    ] {
        let told = call(&installation, &[bad]).await?;
        assert_eq!(told[0].3.as_deref(), Some("LINE_ITEMS"));
        assert!(told[0].4.as_deref().is_some_and(|said| said.contains(words)), "{words}: {told:?}");
    }
    assert_eq!(call(&installation, &[good]).await?[0].1, "ENQUEUED");
    std::fs::write(&file, lines("0.0180"))?;
    let late = admin.run(&["claim-lines", &key, path]).await?;
    assert!(late.code == 1 && late.stderr.contains("has arrived"), "{late:?}");

    // An auditor finds lines that are not those any more.
    let verified = async || verify(&installation.for_admin()?, &Verify::default()).await.map_err(anyhow::Error::from);
    let report = verified().await?;
    assert!(report.holds(), "{:#?}", report.first);
    for (change, says) in [
        ("UPDATE countersign.claim_line SET units = 3 WHERE line = 7", "its lines are with the SHA-256"),
        ("UPDATE countersign.claim_load SET sha256 = sha256('another')", "its lines were loaded with the SHA-256"),
    ] {
        sqlx::raw_sql(change).execute(&installation.owner).await?;
        let report = verified().await?;
        assert!(report.first.iter().any(|finding| finding.what.contains(says)), "{change}: {:#?}", report.first);
    }
    Ok(())
}
