//! What is taken out is what was signed, and a receipt can be counted anew.

use countersign_admin::audit::{Export, Format, Stream, export};
use countersign_admin::receipt;
use serde_json::Value;

use super::day::Day;
use super::forging::tamper;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sign_off_is_exported_once_with_its_exact_amount() -> anyhow::Result<()> {
    let day = Day::work().await?;
    let database = day.installation.for_admin()?;
    let signed: i64 =
        sqlx::query_scalar("SELECT count(*) FROM countersign.sign_off").fetch_one(&day.installation.owner).await?;
    let records: i64 =
        sqlx::query_scalar("SELECT count(*) FROM countersign.audit_event").fetch_one(&day.installation.owner).await?;
    let directory = tempfile::tempdir()?;
    let written = async |name: &str, format, stream, period: Option<&str>| -> anyhow::Result<(u64, String)> {
        let path = directory.path().join(name);
        let what = Export { format, stream, period: period.map(str::to_owned) };
        let rows = export(&database, &what, Some(&path)).await?;
        Ok((rows, std::fs::read_to_string(path)?))
    };

    let (rows, json) = written("all.jsonl", Format::Jsonl, Stream::SignOffs, None).await?;
    assert_eq!((i64::try_from(rows)?, json.lines().count()), (signed, usize::try_from(signed)?));
    let documents: Vec<Value> = json.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert!(documents.iter().all(|document| document["amount"].is_string() && document["signature"].is_string()));
    let negative =
        documents.iter().find(|document| document["idempotency_key"] == "generated-000000003").expect("it was signed");
    assert_eq!((&negative["amount"], &negative["decision"]), (&"-0.21".into(), &"APPROVE".into()));

    let (_, csv) = written("all.csv", Format::Csv, Stream::SignOffs, Some("2026-10")).await?;
    assert_eq!(csv.matches("\r\n").count(), usize::try_from(signed)? + 1, "a line each, and their names");
    assert!(csv.starts_with("idempotency_key,ledger_entity,counterparty,kind,currency,amount,decision"));
    assert!(csv.contains(",USD,-0.21,APPROVE,"), "a negative number is a number: {csv}");
    assert_eq!(written("none.csv", Format::Csv, Stream::SignOffs, Some("2026-08")).await?.0, 0);
    let (rows, _) = written("events.jsonl", Format::Jsonl, Stream::Events, None).await?;
    assert_eq!(i64::try_from(rows)?, records);
    assert!(written("events.jsonl", Format::Jsonl, Stream::Events, None).await.is_err(), "no file is written over");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_receipt_of_the_day_agrees_with_its_records() -> anyhow::Result<()> {
    let day = Day::work().await?;
    let database = day.installation.for_admin()?;
    let numbers: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM countersign.receipt ORDER BY id").fetch_all(&day.installation.owner).await?;
    for number in &numbers {
        let proof = receipt::verify(&database, *number).await?;
        assert!(proof.wrong.is_empty(), "{proof:?}: {:?}", receipt::show(&database, *number).await?);
    }
    tamper(
        day.database(),
        "UPDATE countersign.receipt SET document = jsonb_set(document, '{totals,USD,net}', '\"0\"') WHERE document -> 'totals' ? 'USD'",
    )
    .await?;
    let mut wrong = 0;
    for number in &numbers {
        let proof = receipt::verify(&database, *number).await?;
        wrong += usize::from(!proof.wrong.is_empty());
    }
    assert!(wrong > 0 && receipt::verify(&database, i64::MAX).await.is_err());
    Ok(())
}
