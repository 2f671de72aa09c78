//! Arrivals that pass no gate, and what is said about each.

use countersign_testkit::generate::Arrival;
use serde_json::{Value, json};

/// A good arrival, changed.
pub(crate) fn with(number: u64, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut arrival: Value =
        serde_json::from_str(&Arrival::new(number, "p").line()).expect("a generated arrival is JSON");
    change(&mut arrival);
    arrival.to_string().into_bytes()
}

/// A line that passes no gate.
pub(crate) struct Bad {
    pub(crate) what: &'static str,
    pub(crate) line: Vec<u8>,
    /// The field that is named, if one can be.
    pub(crate) field: Option<&'static str>,
    /// What the reason says, among other things.
    pub(crate) words: &'static str,
}

/// All of them.
pub(crate) fn bad_lines() -> Vec<Bad> {
    [amounts(), fields(), shapes()].into_iter().flatten().collect()
}

/// One field has another value, and is the one that is named.
fn field(what: &'static str, field: &'static str, value: &Value, words: &'static str) -> Bad {
    let pointer = format!("/{}", field.replace('.', "/"));
    let line = with(500, |arrival| *arrival.pointer_mut(&pointer).expect("an arrival has it") = value.clone());
    Bad { what, line, field: Some(field), words }
}

/// The line is no arrival at all.
pub(crate) fn shape(what: &'static str, line: impl Into<Vec<u8>>, words: &'static str) -> Bad {
    Bad { what, line: line.into(), field: None, words }
}

fn amounts() -> Vec<Bad> {
    let amount = "variance_amount";
    let yen = |arrival: &mut Value| {
        arrival["currency"] = json!("JPY");
        arrival["variance_amount"] = json!("1.5");
    };
    let digits = "123456789012345678901234567890";
    vec![
        field("an amount as a float", amount, &json!(10.5), "10.5 is a JSON number"),
        field("an amount as an integer", amount, &json!(10), "10 is a JSON number"),
        field("an amount that is no number", amount, &json!("NaN"), "`NaN` is not a plain decimal"),
        field("an amount without an end", amount, &json!("-Infinity"), "`-Infinity` is not a plain decimal"),
        field("an amount with an exponent", amount, &json!("1e29"), "`1e29` is not a plain decimal"),
        field("an amount with too many digits", amount, &json!(digits), "more than 28 significant digits"),
        field("a tenth of a cent", amount, &json!("1.005"), "has 3 decimal places, USD has 2"),
        Bad { what: "half a yen", line: with(500, yen), field: Some(amount), words: "has 1 decimal places, JPY has 0" },
        field("a withdrawn currency", "currency", &json!("HRK"), "withdrawn; it is EUR now"),
        field("no currency", "currency", &json!("usd"), "`usd` is not an ISO 4217 currency"),
        field("gold", "currency", &json!("XAU"), "no minor units"),
        field("a number in a side", "payload.statement_line.amount", &json!(1), "1 is a JSON number"),
        field("a side in shells", "payload.statement_line.currency", &json!("XTS"), "no minor units"),
    ]
}

fn fields() -> Vec<Bad> {
    let (key, time) = ("idempotency_key", "submitted_at");
    vec![
        field(
            "an unknown decision",
            "match_decision",
            &json!("MAYBE"),
            "`MAYBE` is none of MATCHED, PARTIAL, UNMATCHED",
        ),
        field("an unknown kind", "kind", &json!("invoice"), "`invoice` is none of recon_break"),
        field("an unknown tier", "routing_tier", &json!("STANDARD"), "`STANDARD` is none of standard"),
        field("an unknown version", "schema_version", &json!(2), "version 2 is not supported"),
        field("an empty key", key, &json!(""), "empty"),
        field("a blank key", key, &json!("  "), "empty"),
        field("a key that is too long", key, &json!("k".repeat(201)), "longer than 200 characters"),
        field("no preparer", "prepared_by", &json!([]), "expected 1 to 50 people, got 0"),
        field("another hash", "source_hash", &json!("0".repeat(64)), "the SHA-256 of idempotency_key:ledger_entity"),
        field("no trace", "trace_id", &json!("none"), "UUID"),
        field("another time zone", time, &json!("2026-10-05T02:10:03+02:00"), "is not in UTC"),
        field("no time", time, &json!("2026-10-05"), "expected an instant of RFC 3339"),
        field("an empty date", "payload.statement_line.date", &json!(""), "premature end of input"),
        field("no side at all", "payload", &json!({}), "neither statement_line nor ledger_entry"),
        field("a NUL character", "counterparty", &json!("a\u{0}b"), "NUL character (U+0000)"),
        field("an escape sequence", "partition_key", &json!("a\u{1b}[2J"), "control character U+001B"),
        Bad {
            what: "an unknown field",
            line: with(500, |arrival| arrival["approved_by"] = json!("mallory")),
            field: Some("approved_by"),
            words: "unknown field",
        },
    ]
}

fn shapes() -> Vec<Bad> {
    let replaced = |from: &str, to: &str| Arrival::new(500, "p").line().replacen(from, to, 1);
    let fifty_megabytes = with(500, |arrival| arrival["payload"]["memo"] = json!("x".repeat(50_000_000)));
    vec![
        Bad {
            what: "no key",
            line: replaced("\"idempotency_key\"", "\"payload\"").into_bytes(),
            field: Some("idempotency_key"),
            words: "missing",
        },
        shape("a bare NaN", replaced("\"variance_amount\":\"", "\"variance_amount\":NaN,\"x\":\""), "not JSON"),
        shape("a NUL byte", replaced("Counterparty ", "Counter\u{0}party "), "not JSON: control character"),
        shape("a byte that is no UTF-8", *b"{\"kind\":\"\xff\"}", "not UTF-8: the byte at position 10 is invalid"),
        shape("another document", "[1, 2]", "expected a JSON object"),
        shape("two documents", "{} {}", "not JSON: trailing characters"),
        shape("words", "call me back", "not JSON"),
        shape("a deep nest", "[".repeat(100_000), "recursion limit"),
        shape("fifty megabytes", fifty_megabytes, "at most 16777216 are allowed; its first 65536 are kept"),
    ]
}
