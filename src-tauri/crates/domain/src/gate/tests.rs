use serde_json::{Value, json};

use super::{Gate, judge};
use crate::dead_letter::Cause;
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

#[test]
fn a_good_arrival_passes_and_its_body_is_canonical() {
    let arrival = judge(good().to_string().as_bytes()).expect("a good arrival");
    assert_eq!(arrival.content.variance.text(), "12.50");
    assert!(arrival.body.starts_with(r#"{"correlation_id":"#));
    let again = judge(arrival.body.as_bytes()).expect("a canonical body is an arrival");
    assert_eq!(again, arrival);
}

#[test]
fn a_missing_field_is_named() {
    let mut arrival = good();
    arrival.as_object_mut().expect("an object").remove("currency");
    let rejection = judge(arrival.to_string().as_bytes()).expect_err("currency is missing");
    assert_eq!(rejection.field.as_deref(), Some("currency"));
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
        assert_eq!((rejection.gate, rejection.cause), (Gate::Structural, Cause::Unreadable));
        assert!(rejection.reason.contains(reason), "{rejection:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(judge(deep.as_bytes()).expect_err("too deep").reason.contains("recursion limit"));
    let huge = vec![b' '; super::ARRIVAL_BYTES + 1];
    assert!(judge(&huge).expect_err("too long").reason.contains("bytes"));
}

/// A gate that became stricter keeps nobody from deciding what was taken in before it.
#[test]
fn what_an_earlier_release_took_in_can_still_be_read() {
    let mut claim = good();
    claim["kind"] = json!("sales_claim");
    claim["payload"] = json!({"claimed_amount": "1.00"});
    let refused = judge(claim.to_string().as_bytes()).expect_err("hardly anything is there");
    assert_eq!(refused.field.as_deref(), Some("payload.vendor_id"));
    let content = super::read_body(&claim.to_string()).expect("it was taken in");
    assert_eq!(crate::evidence::evidence(&content).lines[0].left.as_deref(), Some("1.00"));
}

/// A reversal has the payload of what it reverses, and a key of its own.
#[test]
fn the_key_of_a_reversal_follows_from_what_it_reverses() {
    let mut receipt = good();
    receipt["kind"] = json!("receipt");
    receipt["payload"] = json!({
        "receipt_id": "r", "submission_ts": "t", "claimed_amount": "1.00", "ocr_lines": [{"confidence": "1"}],
    });
    let refused = judge(receipt.to_string().as_bytes()).expect_err("it is not its key");
    assert_eq!((refused.cause, refused.field.as_deref()), (Cause::Key, Some("idempotency_key")));
    receipt["reverses"] = json!("k-0");
    judge(receipt.to_string().as_bytes()).expect("a reversal");
}

/// The parser would keep the last of them, another program the first.
#[test]
fn a_field_that_is_there_twice_is_refused_with_its_path_at_any_depth() {
    let line = good().to_string();
    judge(line.as_bytes()).expect("each field is there once");
    for (once, twice, path) in [
        (r#""currency":"USD","#, r#""currency":"EUR","currency":"USD","#, "currency"),
        (r#""kind":"recon_break""#, r#""kind":"recon_break","\u006bind":"recon_break""#, "kind"),
        (r#""schema_version":1"#, r#""schema_version":2,"schema_version":1"#, "schema_version"),
        (r#""source_id":"s""#, r#""source_id":"t","source_id":"s""#, "payload.statement_line.source_id"),
        (r#""payload":{"#, r#""payload":{"more":[1,{"a":1,"a":-2}],"#, "payload.more[1].a"),
    ] {
        let bad = line.replacen(once, twice, 1);
        assert_ne!(bad, line, "{path}");
        let refused = judge(bad.as_bytes()).expect_err(path);
        assert_eq!(
            (refused.gate, refused.cause, refused.field.as_deref()),
            (Gate::Structural, Cause::Field, Some(path))
        );
        assert_eq!(
            (refused.reason.as_str(), refused.idempotency_key.as_deref()),
            ("the field is there twice", Some("k-1"))
        );
    }
}
