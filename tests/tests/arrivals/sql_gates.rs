//! What a producer that calls the database directly hears of each bad arrival, while its neighbours go in.

use countersign_domain::hash;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use serde_json::{Value, json};

use crate::bad_lines::with;
use crate::number;

pub(crate) type Told = (i32, String, Option<String>, Option<String>, Option<String>);

pub(crate) async fn call(installation: &Installation, bodies: &[String]) -> anyhow::Result<Vec<Told>> {
    let sql = "SELECT ordinal, outcome, field, cause, detail FROM countersign.enqueue($1) ORDER BY ordinal";
    Ok(sqlx::query_as(sql).bind(bodies).fetch_all(&installation.owner).await?)
}

/// A claim of the vendor `v-1` whose key is right.
pub(crate) fn claim(invoice: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut arrival: Value =
        serde_json::from_str(&Arrival::new(1, "claims").line()).expect("a generated arrival is JSON");
    arrival["kind"] = json!("sales_claim");
    arrival["source_hash"] = json!(hash::sha256(invoice.as_bytes()).to_string());
    arrival["idempotency_key"] = json!(hash::sha256(format!("{invoice}|lines|tier|2026-09").as_bytes()).to_string());
    arrival["payload"] = json!({
        "retailer_invoice": invoice, "line_item_hash": "lines", "promo_tier": "tier", "claim_period": "2026-09", "vendor_id": "v-1",
        "vendor_name": "Vendor", "agreement_ref": "A", "agreement_version": 1, "qualifying_units": "1234", "tier_rate": "0.0175",
        "claimed_amount": "21.60", "line_item_count": 1, "line_items": [{"item": "x", "units": "1234"}]
    });
    change(&mut arrival);
    arrival.to_string()
}

/// A receipt that was read well, whose key is right.
pub(crate) fn receipt(id: &str, change: impl FnOnce(&mut Value)) -> String {
    let submitted = "2026-10-10T00:15:30Z";
    let mut arrival: Value =
        serde_json::from_str(&Arrival::new(2, "receipts").line()).expect("a generated arrival is JSON");
    arrival["kind"] = json!("receipt");
    arrival["match_decision"] = json!("MATCHED");
    arrival["variance_amount"] = json!("0.00");
    arrival["submitted_at"] = json!(submitted);
    arrival["source_hash"] = json!(hash::sha256(id.as_bytes()).to_string());
    arrival["idempotency_key"] = json!(hash::sha256(format!("{id}{submitted}").as_bytes()).to_string());
    arrival["payload"] = json!({
        "receipt_id": id, "report_id": "R", "submission_ts": submitted, "shop": "s", "receipt_date_text": "today", "claimed_amount": "10.00",
        "extracted_amount": "10.00", "extracted_from_line": "TOTAL 10.00", "extracted_confidence": "0.95", "mean_confidence": "0.79",
        "ocr_engine": "e", "image": null, "ocr_lines": [{"text": "TOTAL 10.00", "confidence": "0.95"}]
    });
    change(&mut arrival);
    arrival.to_string()
}

fn bad() -> Vec<(&'static str, String, Option<&'static str>, &'static str)> {
    let field = |name: &'static str, value: Value, cause: &'static str| {
        let body = String::from_utf8(with(900, |it| it[name] = value)).expect("UTF-8");
        (name, body, Some(name), cause)
    };
    let without = |name: &'static str, cause: &'static str| {
        let body = with(900, |it| drop(it.as_object_mut().expect("an object").remove(name)));
        (name, String::from_utf8(body).expect("UTF-8"), Some(name), cause)
    };
    let of_claim = |name: &'static str, path: &'static str, value: Value, cause: &'static str| {
        (name, claim("i-9", |it| it["payload"][name] = value), Some(path), cause)
    };
    let of_receipt = |name: &'static str, path: &'static str, value: Value, cause: &'static str| {
        (name, receipt("r-9", |it| it["payload"][name] = value), Some(path), cause)
    };
    let twice = Arrival::new(900, "p").line().replacen('{', "{\"kind\":\"receipt\",", 1);
    vec![
        ("no JSON", "call me back".to_owned(), None, "UNREADABLE"),
        ("cut off", Arrival::new(900, "p").line()[..100].to_owned(), None, "UNREADABLE"),
        ("a NUL", Arrival::new(900, "p").line().replacen("Counterparty", "\\u0000", 1), None, "UNREADABLE"),
        ("a list", "[1]".to_owned(), None, "UNREADABLE"),
        ("a text", "\"x\"".to_owned(), None, "UNREADABLE"),
        ("nothing", String::new(), None, "UNREADABLE"),
        ("a field twice", twice, Some("kind"), "FIELD"),
        field("schema_version", json!(2), "SCHEMA_VERSION"),
        without("schema_version", "SCHEMA_VERSION"),
        field("approved_by", json!("mallory"), "FIELD"),
        field("kind", json!("invoice"), "UNKNOWN_VALUE"),
        field("match_decision", json!("MAYBE"), "UNKNOWN_VALUE"),
        field("routing_tier", json!(1), "UNKNOWN_VALUE"),
        field("idempotency_key", json!("  "), "NAME"),
        field("idempotency_key", json!("k".repeat(201)), "NAME"),
        field("partition_key", json!("a\u{1b}b"), "NAME"),
        without("ledger_entity", "NAME"),
        field("group_key", json!(7), "NAME"),
        field("trace_id", json!("none"), "FIELD"),
        without("correlation_id", "FIELD"),
        field("counterparty", json!(null), "FIELD"),
        field("currency", json!("XAU"), "CURRENCY"),
        field("currency", json!("usd"), "CURRENCY"),
        field("variance_amount", json!(10.5), "AMOUNT"),
        field("variance_amount", json!("1e5"), "AMOUNT"),
        field("variance_amount", json!("1.005"), "AMOUNT"),
        field("variance_amount", json!("12345678901234567890123456789"), "AMOUNT"),
        field("prepared_by", json!([]), "FIELD"),
        field("prepared_by", json!(["\u{200b}"]), "NAME"),
        field("submitted_at", json!("2026-02-30T00:00:00Z"), "DATE"),
        field("submitted_at", json!("2026-10-05T02:10:03+02:00"), "DATE"),
        field("submitted_at", json!("2026-10-05T25:10:03Z"), "DATE"),
        field("business_date", json!("2023-02-29"), "DATE"),
        field("due_date", json!("31.10.2026"), "DATE"),
        field("source_hash", json!("0".repeat(64)), "SOURCE_HASH"),
        field("payload", json!({}), "FIELD"),
        field("payload", json!("x"), "FIELD"),
        of_claim("agreement_version", "payload.agreement_version", json!(0), "AGREEMENT"),
        of_claim("agreement_version", "payload.agreement_version", json!("1"), "AGREEMENT"),
        of_claim("agreement_version", "payload.agreement_version", json!(null), "AGREEMENT"),
        of_claim("promo_tier", "idempotency_key", json!("another"), "KEY"),
        of_claim("promo_tier", "payload.promo_tier", json!(null), "FIELD"),
        of_claim("vendor_id", "payload.vendor_id", json!("nobody"), "VENDOR"),
        of_claim("tier_rate", "payload.tier_rate", json!(0.0175), "AMOUNT"),
        of_claim("line_items", "payload.line_items[0]", json!([{"units": 1}]), "LINE_ITEMS"),
        of_claim("line_items_sha256", "payload.line_items_sha256", json!("0".repeat(64)), "LINE_ITEMS"),
        of_receipt("receipt_id", "idempotency_key", json!("another"), "KEY"),
        of_receipt("ocr_lines", "payload.ocr_lines", json!([]), "EMPTY_EXTRACTION"),
        of_receipt("ocr_lines", "payload.ocr_lines", json!(null), "EMPTY_EXTRACTION"),
        of_receipt("ocr_lines", "payload.ocr_lines", json!([{"confidence": 1}]), "FIELD"),
        of_receipt("mean_confidence", "payload.mean_confidence", json!("1.01"), "FIELD"),
        of_receipt("mean_confidence", "payload.mean_confidence", json!("NaN"), "FIELD"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bad_arrival_is_refused_by_itself_and_its_neighbours_go_in() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    installation.register_vendors(&claim("i", |_| {})).await?;
    let cases = bad();
    let mut bodies = Vec::new();
    for (number, (_, body, _, _)) in (0..).zip(&cases) {
        // In the same partition as most of the bad ones.
        bodies.extend([body.clone(), Arrival::new(number, "p").body()]);
    }
    let told = call(&installation, &bodies).await?;
    assert_eq!(told.len(), bodies.len());
    for (pair, (what, _, field, cause)) in told.chunks(2).zip(&cases) {
        let (_, outcome, said_field, said_cause, detail) = &pair[0];
        assert_eq!(outcome, "REFUSED", "{what}: {detail:?}");
        assert_eq!((said_field.as_deref(), said_cause.as_deref()), (*field, Some(*cause)), "{what}: {detail:?}");
        assert!(detail.as_ref().is_some_and(|words| !words.is_empty()), "{what}");
        assert_eq!(pair[1].1, "ENQUEUED", "the neighbour of {what}");
    }
    let kept = "SELECT count(*) FROM countersign.dead_letter WHERE code = 'POISON_MESSAGE' AND sha256(original) = original_hash";
    let different: std::collections::BTreeSet<&String> = cases.iter().map(|(_, body, _, _)| body).collect();
    assert_eq!(number(&installation, kept).await?, different.len() as u64, "each is a dead letter");
    let again = call(&installation, &bodies).await?;
    assert!(again.chunks(2).all(|pair| pair[0].1 == "REFUSED" && pair[1].1 == "DUPLICATE"));
    assert_eq!(number(&installation, kept).await?, different.len() as u64);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_of_an_unknown_vendor_goes_in_once_the_vendor_is_registered() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let body = claim("i-1", |_| {});
    let told = call(&installation, std::slice::from_ref(&body)).await?;
    let words = told[0].4.as_deref().unwrap_or_default();
    assert!(told[0].3.as_deref() == Some("VENDOR") && words.contains("countersign-admin vendor add"), "{told:?}");
    installation.register_vendors(&body).await?;
    assert_eq!(call(&installation, std::slice::from_ref(&body)).await?[0].1, "ENQUEUED");
    let admin = installation.for_admin()?;
    assert!(countersign_admin::vendor::disable(&admin, "v-1", "left").await?);
    assert_eq!(call(&installation, &[claim("i-2", |_| {})]).await?[0].3.as_deref(), Some("VENDOR"));
    assert_eq!(call(&installation, &[body]).await?[0].1, "REFUSED", "nor a redelivery, which is judged like any other");
    let audited = "SELECT count(*) FROM countersign.audit_event WHERE event IN ('VENDORS_SET', 'VENDOR_DISABLED')";
    assert_eq!(number(&installation, audited).await?, 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_keeps_its_refusals_leaves_no_dead_letter() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let sql = "SELECT outcome FROM countersign.enqueue(ARRAY['no JSON'], false)";
    let outcome: String = sqlx::query_scalar(sql).fetch_one(&installation.owner).await?;
    assert_eq!(outcome, "REFUSED");
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.dead_letter").await?, 0);
    Ok(())
}
