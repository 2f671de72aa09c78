use serde_json::{Value, json};

use super::*;
use crate::gate;
use crate::scoring::{Route, score};

fn receipt(variance: &str, decision: &str, fields: &Value) -> Content {
    let mut payload = json!({
        "receipt_id": "r", "submission_ts": "2026-10-05T00:00:00Z", "claimed_amount": "26.42", "extracted_amount": "26.42",
        "ocr_lines": [{"text": "a", "confidence": "0.9"}],
    });
    for (name, value) in fields.as_object().expect("an object") {
        payload[name] = value.clone();
    }
    let line = json!({
        "schema_version": 1, "kind": "receipt", "idempotency_key": hash::sha256(b"r2026-10-05T00:00:00Z").to_string(),
        "trace_id": uuid::Uuid::nil(), "correlation_id": uuid::Uuid::nil(), "partition_key": "p", "source_hash": "s",
        "match_decision": decision, "routing_tier": "standard", "ledger_entity": "e", "counterparty": "c", "currency": "EUR",
        "variance_amount": variance, "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z", "payload": payload,
    });
    gate::read_body(&line.to_string()).expect("a good body")
}

fn captured(variance: &str, decision: &str, fields: &Value) -> Capture {
    capture(&receipt(variance, decision, fields), &Thresholds::default()).expect("a receipt")
}

/// 1 − 0.78/0.92 = 0.15217…, 1 − 0.79/0.92 = 0.14130…; the last drift that is not over 0.15 is that of 0.782 = 0.85 × 0.92.
#[test]
fn the_drift_gate_says_who_decides() {
    for (mean, drift, low) in [
        ("0.78", "0.1522", true),
        ("0.79", "0.1413", false),
        ("0.782", "0.1500", false),
        // 0.15005… and 0.15004…, half-up to four digits.
        ("0.78195", "0.1501", true),
        ("0.78196", "0.1500", false),
        ("0.92", "0.0000", false),
        ("1", "-0.0870", false),
        ("0", "1.0000", true),
    ] {
        let lines = json!([{"text": "a", "confidence": "1"}]);
        let capture = captured("0.00", "MATCHED", &json!({"mean_confidence": mean, "ocr_lines": lines}));
        assert_eq!(capture.drift.map(|drift| drift.to_string()).as_deref(), Some(drift), "{mean}");
        assert_eq!(
            (capture.low, capture.needs_person, capture.why.len()),
            (low, low, usize::from(low)),
            "{mean}: {capture:?}"
        );
    }
}

#[test]
fn what_is_matched_to_the_cent_and_read_well_needs_nobody() {
    let well = json!({"mean_confidence": "0.90"});
    assert!(!captured("0.00", "MATCHED", &well).needs_person);
    for contradicts in [
        json!({"extracted_amount": "26.43"}),
        json!({"claimed_amount": "0.00", "extracted_amount": "0.00"}),
        json!({"claimed_amount": "-26.42", "extracted_amount": "-26.42"}),
        json!({"claimed_amount": "50000.01", "extracted_amount": "50000.01"}),
        json!({"mean_confidence": "0.95", "ocr_lines": [{"confidence": "0.2"}]}),
    ] {
        assert!(captured("0.00", "MATCHED", &contradicts).needs_person, "{contradicts}");
    }
    for (variance, decision) in [("0.01", "MATCHED"), ("0.00", "PARTIAL"), ("26.42", "UNMATCHED")] {
        let capture = captured(variance, decision, &well);
        assert!(capture.needs_person && !capture.low && capture.why.is_empty(), "{variance} {decision}: {capture:?}");
    }
}

#[test]
fn an_amount_that_is_none_of_the_currency_is_for_a_person() {
    for (read, why) in [
        (json!(null), "The OCR read no amount."),
        (json!("26,42"), "What the OCR read, `26,42`, is no amount in EUR."),
        (json!("26.421"), "What the OCR read, `26.421`, is no amount in EUR."),
        (json!("EUR"), "What the OCR read, `EUR`, is no amount in EUR."),
    ] {
        let capture = captured("0.00", "MATCHED", &json!({"mean_confidence": "0.90", "extracted_amount": read}));
        assert!(capture.low && capture.needs_person, "{read}");
        assert_eq!(capture.why, [why]);
    }
}

#[test]
fn without_a_mean_it_is_taken_of_the_lines() {
    let lines = |confidences: &[&str]| {
        let lines: Vec<Value> = confidences.iter().map(|confidence| json!({"confidence": confidence})).collect();
        captured("0.00", "MATCHED", &json!({"ocr_lines": lines}))
    };
    // (0.90 + 0.70 + 0.74) / 3 = 0.78.
    let three = lines(&["0.90", "0.70", "0.74"]);
    assert_eq!(three.drift.map(|drift| drift.to_string()).as_deref(), Some("0.1522"));
    // 2/3 has no end; 1 − 0.6666…/0.92 = 0.27536….
    let endless = lines(&["1", "1", "0"]);
    assert_eq!(endless.drift.map(|drift| drift.to_string()).as_deref(), Some("0.2754"));
    let unsaid = lines(&["0.9", "?"]);
    assert_eq!((unsaid.mean, unsaid.drift, unsaid.low), (None, None, true));
}

#[test]
fn low_confidence_is_told_and_asks_for_a_look_even_at_zero_variance() {
    let content = receipt("0.00", "MATCHED", &json!({"mean_confidence": "0.78"}));
    let suggestion = score(&content, &Thresholds::default());
    assert_eq!(suggestion.route, Route::RouteReview);
    assert_eq!(suggestion.reasons, ["Low confidence of the OCR: a drift of 0.1522 is over 0.15."]);
    let well = score(&receipt("0.00", "MATCHED", &json!({"mean_confidence": "0.79"})), &Thresholds::default());
    assert_eq!((well.route, well.reasons), (Route::AutoResolve, vec!["The variance is zero.".to_owned()]));
}

#[test]
fn approving_releases_it_and_rejecting_returns_it() {
    let content = receipt("0.00", "MATCHED", &json!({}));
    assert_eq!(Module.approving(&content), Some(Effect::Routing { to: "policy validation" }));
    assert_eq!(Module.rejecting(&content), Effect::Routing { to: "submitter" });
}

/// All that ships: each key follows from its receipt, and each says how well it was read.
#[test]
fn the_shipped_receipts_have_their_keys_and_their_drift() {
    let demo = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../demo/exceptions.jsonl"));
    let demo = demo.expect("the demo's exceptions");
    let receipts = demo.lines().filter(|line| line.contains("\"kind\":\"receipt\""));
    let contents: Vec<Content> =
        receipts.map(|line| gate::judge(line.as_bytes()).expect("each passes its gates").content).collect();
    let count = |read: &dyn Fn(&Capture) -> bool| {
        contents.iter().filter(|content| capture(content, &Thresholds::default()).as_ref().is_some_and(read)).count()
    };
    assert_eq!(contents.len(), 47);
    assert!(contents.iter().all(|content| Module.key(content).as_ref() == Some(&content.idempotency_key)));
    let drifted = |capture: &Capture| capture.drift.is_some_and(|drift| drift > rust_decimal::Decimal::new(15, 2));
    assert_eq!((count(&drifted), count(&|capture| capture.low), count(&|capture| !capture.needs_person)), (35, 36, 10));
}
