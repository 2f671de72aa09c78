use serde_json::{Value, json};

use super::{Gate, judge};
use crate::hash;

fn good() -> Value {
    json!({
        "schema_version": 1, "kind": "recon_break", "idempotency_key": "k-1",
        "trace_id": "c3f8526a-b630-5740-9bd7-afecf3013f04", "correlation_id": "cd4c9513-de74-52c7-adee-b2dedf2556d4",
        "partition_key": "acct-1", "source_hash": source_hash("k-1", "12.50"), "group_key": null,
        "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "acct-1", "counterparty": "Exxon\u{202e}",
        "currency": "USD", "variance_amount": "12.50", "prepared_by": ["prep-01"], "submitted_at": "2026-10-05T00:10:03Z",
        "payload": {
            "reason": "amount differs",
            "statement_line": {"source_id": "s", "date": "2026-10-04", "reference": "INV", "counterparty": "E", "amount": "12.50", "currency": "USD"},
            "ledger_entry": null
        }
    })
}

fn source_hash(key: &str, amount: &str) -> String {
    hash::recon_break_source_hash(key, "acct-1", amount, "PARTIAL").to_string()
}

fn changed(pointer: &str, value: Value) -> Vec<u8> {
    let mut arrival = good();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer has a parent");
    arrival
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .expect("the parent is an object")
        .insert(field.to_owned(), value);
    arrival.to_string().into_bytes()
}

#[test]
fn a_good_arrival_passes_and_its_body_is_canonical() {
    let arrival = judge(good().to_string().as_bytes()).expect("a good arrival");
    assert_eq!(arrival.content.variance.text(), "12.50");
    assert!(arrival.body.starts_with(r#"{"correlation_id":"#));
    let again = judge(arrival.body.as_bytes()).expect("a canonical body is an arrival");
    assert_eq!(again, arrival);
}

#[test]
fn what_is_wrong_is_named_with_its_field() {
    let cases: &[(&str, Value, Gate, &str, &str)] = &[
        ("/variance_amount", json!(12.5), Gate::Monetary, "variance_amount", "JSON number"),
        ("/variance_amount", json!(12), Gate::Monetary, "variance_amount", "JSON number"),
        ("/variance_amount", json!("NaN"), Gate::Monetary, "variance_amount", "not a plain decimal"),
        ("/variance_amount", json!("1e29"), Gate::Monetary, "variance_amount", "not a plain decimal"),
        ("/variance_amount", json!("Infinity"), Gate::Monetary, "variance_amount", "not a plain decimal"),
        ("/variance_amount", json!("1".repeat(29)), Gate::Monetary, "variance_amount", "significant digits"),
        ("/variance_amount", json!("1.005"), Gate::Monetary, "variance_amount", "3 decimal places, USD has 2"),
        ("/currency", json!("DEM"), Gate::Monetary, "currency", "not an ISO 4217"),
        ("/currency", json!("HRK"), Gate::Monetary, "currency", "withdrawn"),
        ("/kind", json!("mystery"), Gate::Structural, "kind", "none of recon_break"),
        ("/match_decision", json!("matched"), Gate::Structural, "match_decision", "none of MATCHED"),
        ("/routing_tier", json!("urgent"), Gate::Structural, "routing_tier", "none of standard"),
        ("/idempotency_key", json!(""), Gate::Structural, "idempotency_key", "empty"),
        ("/idempotency_key", json!("  "), Gate::Structural, "idempotency_key", "empty"),
        ("/idempotency_key", json!("a\nb"), Gate::Structural, "idempotency_key", "U+000A"),
        ("/partition_key", json!("x".repeat(201)), Gate::Structural, "partition_key", "longer than 200"),
        ("/counterparty", json!("a\0b"), Gate::Structural, "counterparty", "NUL"),
        ("/schema_version", json!(2), Gate::Structural, "schema_version", "not supported"),
        ("/schema_version", json!("1"), Gate::Structural, "schema_version", "invalid type"),
        ("/trace_id", json!("nope"), Gate::Structural, "trace_id", "UUID"),
        ("/prepared_by", json!([]), Gate::Structural, "prepared_by", "expected 1 to 50"),
        ("/prepared_by", json!(["a", ""]), Gate::Structural, "prepared_by", "empty"),
        ("/submitted_at", json!("2026-10-05"), Gate::Structural, "submitted_at", "RFC 3339"),
        ("/submitted_at", json!("2026-10-05T00:10:03+02:00"), Gate::Structural, "submitted_at", "not in UTC"),
        ("/submitted_at", json!("0000-01-01T00:00:00Z"), Gate::Structural, "submitted_at", "years 1970"),
        ("/payload/line", json!(u64::MAX), Gate::Structural, "payload.line", "64 bits"),
        ("/source_hash", json!("00"), Gate::Structural, "source_hash", "expected"),
        ("/surprise", json!(1), Gate::Structural, "surprise", "unknown field"),
        ("/payload", json!([]), Gate::Structural, "payload", "invalid type"),
        ("/payload/statement_line", Value::Null, Gate::Structural, "payload", "neither"),
        ("/payload/statement_line/date", Value::Null, Gate::Structural, "payload.statement_line.date", "invalid type"),
        ("/payload/statement_line/date", json!(""), Gate::Structural, "payload.statement_line.date", "premature"),
        (
            "/payload/statement_line/date",
            json!("2026-02-30"),
            Gate::Structural,
            "payload.statement_line.date",
            "out of range",
        ),
        ("/payload/statement_line/amount", json!(3), Gate::Monetary, "payload.statement_line.amount", "JSON number"),
        (
            "/payload/statement_line/amount",
            json!("3.001"),
            Gate::Monetary,
            "payload.statement_line.amount",
            "decimal places",
        ),
        (
            "/payload/statement_line/currency",
            json!("XXX"),
            Gate::Monetary,
            "payload.statement_line.currency",
            "minor units",
        ),
        ("/payload/extra", json!(0.1), Gate::Monetary, "payload.extra", "JSON number"),
    ];
    for (pointer, value, gate, field, reason) in cases {
        let rejection = judge(&changed(pointer, value.clone())).expect_err(pointer);
        assert_eq!(rejection.gate, *gate, "{pointer} {value}: {rejection:?}");
        assert!(
            rejection.field.as_deref().is_some_and(|named| named.starts_with(field)),
            "{pointer} {value}: {rejection:?}"
        );
        assert!(rejection.reason.contains(reason), "{pointer} {value}: {rejection:?}");
    }
}

#[test]
fn a_missing_field_is_named() {
    let mut arrival = good();
    arrival.as_object_mut().expect("an object").remove("currency");
    let rejection = judge(arrival.to_string().as_bytes()).expect_err("currency is missing");
    assert!(rejection.reason.contains("currency"), "{rejection:?}");
    assert_eq!(rejection.idempotency_key.as_deref(), Some("k-1"));
}

#[test]
fn bytes_that_are_no_document_are_refused_with_the_place() {
    for (bytes, reason) in [
        (&b"{\"kind\":\"\xff\"}"[..], "position 10"),
        (b"", "not JSON"),
        (b"{\"schema_version\":1,", "not JSON: EOF"),
        (b"[]", "JSON object"),
        (b"null", "JSON object"),
        (b"{} {}", "trailing"),
    ] {
        let rejection = judge(bytes).expect_err("not an arrival");
        assert_eq!(rejection.gate, Gate::Structural);
        assert!(rejection.reason.contains(reason), "{rejection:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(judge(deep.as_bytes()).expect_err("too deep").reason.contains("recursion limit"));
    let huge = vec![b' '; super::ARRIVAL_BYTES + 1];
    assert!(judge(&huge).expect_err("too long").reason.contains("bytes"));
}
