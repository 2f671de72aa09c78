//! What the gates in Rust cannot read never gets past those in the database, where nobody could decide it and no audit could read it.

#[path = "../../../src-tauri/crates/domain/tests/common/mod.rs"]
mod common;

use common::malformed::{base, malformed};
use common::{change, good};
use countersign_domain::gate::read_body;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use serde_json::{Value, json};

use crate::bad_lines::bad_lines;
use crate::number;
use crate::sql_gates::{Told, call, receipt};

/// What a table of changed fields cannot say, or does not.
fn written_otherwise() -> Vec<String> {
    let line = good("recon_break").to_string();
    let raw = |from: &str, to: &str| {
        let changed = line.replacen(from, to, 1);
        assert_ne!(changed, line, "{from}");
        changed
    };
    let yen = "\"amount\":\"112.50\",\"currency\":\"JPY\"";
    let deep = format!("\"payload\":{{\"deep\":{}{},", "[".repeat(130), "]".repeat(130));
    vec![
        raw("\"schema_version\":1", "\"schema_version\":1.0"),
        raw("\"schema_version\":1", "\"schema_version\":1e0"),
        raw("\"prep-01\"", "\"\u{a0}\""),
        raw("\"prep-01\"", "\"\u{2003}\u{3000}\""),
        raw("\"partition_key\":\"acct-1\"", "\"partition_key\":\"\u{a0}\u{202f}\""),
        raw("\"amount\":\"12.50\",\"currency\":\"USD\"", yen),
        raw("\"amount\":\"12.50\"", "\"amount\":\"1.234\""),
        raw("\"amount\":\"12.50\"", "\"amount\":12"),
        raw("\"reference\":\"INV\"", "\"reference\":7"),
        raw("\"reason\":\"amount differs\"", "\"reason\":[]"),
        raw("\"date\":\"2026-10-04\"", "\"date\":\"4.10.2026\""),
        raw("\"ledger_entry\":null", "\"ledger_entry\":\"none\""),
        raw("\"payload\":{", "\"payload\":{\"x\":1e2,"),
        raw("\"payload\":{", "\"payload\":{\"x\": [1, -2.5],"),
        raw("\"payload\":{", "\"payload\":{\"x\":9223372036854775808,"),
        raw("\"payload\":{", "\"payload\":{\"unit\\u0073\":1,"),
        raw("\"payload\":{", "\"payload\":{\"amounts\":[[\"1\",2]],"),
        raw("\"payload\":{", &deep),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_taken_in_that_nobody_could_read_again() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    installation.register_vendors(&good("sales_claim").to_string()).await?;
    let table = malformed();
    let mut bodies: Vec<String> = table
        .iter()
        .map(|row| {
            let mut arrival = base(row.0);
            change(&mut arrival, row.1, &row.2);
            arrival.to_string()
        })
        .collect();
    bodies.extend(written_otherwise());
    bodies.extend(bad_lines().into_iter().filter_map(|bad| String::from_utf8(bad.line).ok()));
    bodies.retain(|body| !body.contains('\0'));
    let told = call(&installation, &bodies).await?;
    let mut unreadable = 0;
    for (place, (body, (_, outcome, ..))) in bodies.iter().zip(&told).enumerate() {
        if read_body(body).is_err() {
            unreadable += 1;
            assert_eq!(outcome, "REFUSED", "{place}: {body}");
        }
    }
    assert!(unreadable > 60, "{unreadable}");
    Ok(())
}

/// What looks like a number that is none, and what is one that may be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_looks_like_such_a_fault_goes_in() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let body = |number: u64, more: &str| {
        Arrival::new(number, "p").body().replacen("\"payload\":{", &format!("\"payload\":{{{more},"), 1)
    };
    let bodies = [
        body(1, r#""note":"a: 12.5, 1e5 \" [1.5""#),
        body(2, r#""note":"x,12345678901234567890""#),
        body(3, r#""most":[-9223372036854775808,9223372036854775807]"#),
        body(4, r#""rate_table":{"of":1},"amount":"1.00""#),
        body(5, &format!("\"deep\":{}{}", "[".repeat(120), "]".repeat(120))),
    ];
    for (body, told) in bodies.iter().zip(call(&installation, &bodies).await?) {
        read_body(body).unwrap_or_else(|refused| panic!("{body}: {refused:?}"));
        assert_eq!(told.1, "ENQUEUED", "{body}: {told:?}");
    }
    Ok(())
}

fn outcomes(told: &[Told]) -> Vec<&str> {
    let mut told: Vec<_> = told.iter().collect();
    told.sort_by_key(|told| told.0);
    told.into_iter().map(|told| told.1.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_may_come_thousands_of_times_in_one_call() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let (first, second) = (Arrival::new(1, "p").body(), Arrival { cents: 777, ..Arrival::new(1, "p") }.body());
    let mut bodies = vec![first.clone(), first.clone(), second.clone(), second, first.clone(), first.clone()];
    bodies.push(Arrival::new(2, "p").body());
    bodies.resize(5_000, first);
    let told = call(&installation, &bodies).await?;
    let told = outcomes(&told);
    let expected = ["ENQUEUED", "DUPLICATE", "CORRECTED", "DUPLICATE", "DUPLICATE", "DUPLICATE", "ENQUEUED"];
    assert_eq!(told[..7], expected);
    assert!(told.len() == 5_000 && told[7..].iter().all(|outcome| *outcome == "DUPLICATE"));
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.exception_content").await?, 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correction_does_not_change_the_kind() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let receipt = receipt("r-1", |it| it["match_decision"] = json!("PARTIAL"));
    let read: Value = serde_json::from_str(&receipt)?;
    let mut broken = good("recon_break");
    for field in ["idempotency_key", "partition_key"] {
        broken[field] = read[field].clone();
    }
    broken["source_hash"] =
        json!(common::recon_break_hash(read["idempotency_key"].as_str().unwrap_or_default(), "12.50"));
    let told = call(&installation, &[receipt.clone(), broken.to_string(), broken.to_string()]).await?;
    assert_eq!(outcomes(&told), ["ENQUEUED", "CONFLICT", "CONFLICT"]);
    let said = told.iter().find(|told| told.1 == "CONFLICT").and_then(|told| told.4.clone());
    assert_eq!(said.as_deref(), Some("it is pending as receipt: a correction does not change the kind"));
    Ok(())
}

/// It becomes a letter by itself, kept in part, with the size and the hash of all of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_arrival_that_is_too_large_stops_none_of_its_neighbours() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let huge = Arrival::new(2, "p").body().replacen(
        "\"payload\":{",
        &format!("\"payload\":{{\"x\":\"{}\",", "ü".repeat(9 << 20)),
        1,
    );
    let bodies = [Arrival::new(1, "p").body(), huge.clone(), Arrival::new(3, "p").body()];
    let told = call(&installation, &bodies).await?;
    assert_eq!(outcomes(&told), ["ENQUEUED", "REFUSED", "ENQUEUED"]);
    let sql = "SELECT d.original_size, d.original_hash, length(d.original)::bigint FROM countersign.dead_letter d";
    let kept: (i64, Vec<u8>, i64) = sqlx::query_as(sql).fetch_one(&installation.owner).await?;
    let hash = countersign_domain::hash::sha256(huge.as_bytes());
    assert_eq!(kept, (i64::try_from(huge.len())?, hash.0.to_vec(), 16 << 20));
    Ok(())
}
