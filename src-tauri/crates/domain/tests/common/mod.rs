//! Good arrivals of each kind, to be broken.

#![allow(dead_code, reason = "each file of tests uses some of it")]

pub(crate) mod malformed;

use countersign_domain::hash;
use serde_json::{Value, json};

/// What is done to one field of an arrival.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// It gets another value.
    To(Value),
    /// It goes.
    Gone,
}

/// A good arrival of a kind.
pub(crate) fn good(kind: &str) -> Value {
    let (key, source_hash, amount, payload) = match kind {
        "recon_break" => ("k-1".to_owned(), recon_break_hash("k-1", "12.50"), "12.50", recon_break()),
        "sales_claim" => (claim_key(&sales_claim()), "a hash of the producer".to_owned(), "1.28", sales_claim()),
        "receipt" => (receipt_key(&receipt()), "a hash of the producer".to_owned(), "0.00", receipt()),
        other => unreachable!("no such kind: {other}"),
    };
    json!({
        "schema_version": 1, "kind": kind, "idempotency_key": key,
        "trace_id": "c3f8526a-b630-5740-9bd7-afecf3013f04", "correlation_id": "cd4c9513-de74-52c7-adee-b2dedf2556d4",
        "partition_key": "acct-1", "source_hash": source_hash, "group_key": null, "match_decision": "PARTIAL",
        "routing_tier": "standard", "ledger_entity": "acct-1", "counterparty": "Exxon\u{202e}", "currency": "USD",
        "variance_amount": amount, "prepared_by": ["prep-01"], "submitted_at": "2026-10-05T00:10:03Z", "payload": payload,
    })
}

fn recon_break() -> Value {
    json!({
        "reason": "amount differs",
        "statement_line": {"source_id": "s", "date": "2026-10-04", "reference": "INV", "counterparty": "E", "amount": "12.50",
            "currency": "USD"},
        "ledger_entry": null,
    })
}

fn sales_claim() -> Value {
    json!({
        "retailer_invoice": "INV-7", "vendor_id": "vendor-9", "vendor_name": "Vendor Nine", "claim_period": "2026-09",
        "promo_tier": "T2", "agreement_ref": "A-1", "agreement_version": 3,
        "line_item_hash": "8dfa17dc6b59ac59ce060d75c4aebf35881a93d3b72621ae6245255d59dafded", "qualifying_units": "1234",
        "tier_rate": "0.0175", "rate_basis": "per_unit", "claimed_amount": "22.88", "contract_amount": "21.60",
        "line_item_count": 2,
        "line_items": [{"item": "BREAD", "quantity": "1000", "unit_price": "0.9999"}, {"item": "BUNS", "quantity": "234", "line_amount": "4.10"}],
    })
}

fn receipt() -> Value {
    json!({
        "receipt_id": "r-1", "report_id": "ER-1", "submission_ts": "2026-10-05T00:10:03Z", "shop": "real",
        "receipt_date_text": "2020-04-24", "claimed_amount": "26.42", "extracted_amount": "26.42",
        "extracted_from_line": "SUMME EUR 26,42", "extracted_confidence": "0.9526", "mean_confidence": "0.79",
        "ocr_engine": "tesseract 5.3.0", "image": null,
        "ocr_lines": [{"text": "real GmbH", "confidence": "0.9656", "bbox": [588, 143, 140, 22]}, {"text": "SUMME EUR 26,42", "confidence": "0.9526"}],
    })
}

/// A claim whose lines have their own units and rates.
pub(crate) fn claim_by_lines() -> Value {
    let mut arrival = good("sales_claim");
    arrival["payload"]["line_items"] = json!([
        {"item": "BREAD", "units": "1000", "tier_rate": "0.0175"}, {"item": "BUNS", "units": "234", "tier_rate": "0.0175"},
    ]);
    arrival
}

/// A claim whose lines come apart from it.
pub(crate) fn claim_apart() -> Value {
    let mut arrival = good("sales_claim");
    let payload = arrival["payload"].as_object_mut().expect("an object");
    payload.remove("line_items");
    payload.insert("line_item_count".into(), json!(500_000));
    payload
        .insert("line_items_sha256".into(), json!("8dfa17dc6b59ac59ce060d75c4aebf35881a93d3b72621ae6245255d59dafded"));
    arrival
}

pub(crate) fn recon_break_hash(key: &str, amount: &str) -> String {
    hash::recon_break_source_hash(key, "acct-1", amount, "PARTIAL").to_string()
}

pub(crate) fn claim_key(payload: &Value) -> String {
    let part = |field: &str| payload[field].as_str().unwrap_or_default();
    let text = format!(
        "{}|{}|{}|{}",
        part("retailer_invoice"),
        part("line_item_hash"),
        part("promo_tier"),
        part("claim_period")
    );
    hash::sha256(text.as_bytes()).to_string()
}

pub(crate) fn receipt_key(payload: &Value) -> String {
    let part = |field: &str| payload[field].as_str().unwrap_or_default();
    hash::sha256(format!("{}{}", part("receipt_id"), part("submission_ts")).as_bytes()).to_string()
}

/// Changes one field, by its JSON pointer.
pub(crate) fn change(arrival: &mut Value, pointer: &str, change: &Change) {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer has a parent");
    let parent = arrival.pointer_mut(parent).expect("the parent is there");
    match (parent, change) {
        (Value::Object(fields), Change::To(value)) => drop(fields.insert(field.to_owned(), value.clone())),
        (Value::Object(fields), Change::Gone) => drop(fields.remove(field)),
        (Value::Array(items), Change::To(value)) => items[field.parse::<usize>().expect("a place")] = value.clone(),
        (parent, change) => unreachable!("{parent} takes no {change:?}"),
    }
}

/// A change as one line of input.
pub(crate) fn changed(kind: &str, pointer: &str, to: &Change) -> Vec<u8> {
    let mut arrival = good(kind);
    change(&mut arrival, pointer, to);
    arrival.to_string().into_bytes()
}
