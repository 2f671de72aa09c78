//! A reversal: a new exception with the opposite effect of one that is resolved.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use thiserror::Error;
use uuid::Uuid;

use crate::gate::{self, Arrival, Rejection};
use crate::hash;
use crate::kind::Hashed;

/// Why there is no reversal of a content.
#[derive(Debug, Error)]
pub enum ReversalError {
    /// The content does not read.
    #[error("the exception's content cannot be read: {}", .0.reason)]
    Content(Rejection),
    /// What was made of it would not pass the gates.
    #[error("the reversal would not pass the gates: {}: {}", .0.field.as_deref().unwrap_or("arrival"), .0.reason)]
    Gates(Rejection),
}

/// Makes the arrival that reverses a resolved exception. Its key follows from the key of the original, so that an exception is
/// reversed once at most; whoever asks for it is its preparer, and may not sign it.
pub fn of(body: &str, by: &str, reason: &str, now: DateTime<Utc>) -> Result<Arrival, ReversalError> {
    let original = gate::read_body(body).map_err(ReversalError::Content)?;
    let mut document: Map<String, Value> = serde_json::from_str(body).unwrap_or_default();
    let key = hash::sha256(format!("countersign/reversal/1\n{}\n", original.idempotency_key).as_bytes()).to_string();
    let amount = (-original.variance.amount).to_string();
    let amount = if original.variance.amount.is_zero() { amount.trim_start_matches('-').to_owned() } else { amount };
    let source_hash = original.kind.module().source_hash(&Hashed {
        idempotency_key: &key,
        ledger_entity: &original.ledger_entity,
        variance_amount: &amount,
        match_decision: original.match_decision.as_str(),
    });
    let source_hash =
        source_hash.unwrap_or_else(|| hash::sha256(format!("{key}:{}", original.source_hash).as_bytes()).to_string());
    // A report that is signed and gone cannot hold its reversal back.
    document.remove("group_key");
    document.remove("business_date");
    document.remove("due_date");
    for (field, value) in [
        ("idempotency_key", json!(key)),
        ("variance_amount", json!(amount)),
        ("source_hash", json!(source_hash)),
        ("trace_id", json!(Uuid::new_v5(&original.trace_id, b"reversal"))),
        ("prepared_by", json!([by])),
        ("submitted_at", json!(now.to_rfc3339_opts(SecondsFormat::Secs, true))),
        ("reverses", json!(original.idempotency_key)),
    ] {
        document.insert(field.to_owned(), value);
    }
    if let Some(payload) = document.get_mut("payload").and_then(Value::as_object_mut) {
        payload.insert("reversal_reason".to_owned(), json!(reason));
    }
    gate::judge(Value::Object(document).to_string().as_bytes()).map_err(ReversalError::Gates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn original() -> String {
        let key = "k-1";
        let source_hash = hash::recon_break_source_hash(key, "DE01", "-12.50", "PARTIAL").to_string();
        let line = json!({
            "schema_version": 1, "kind": "recon_break", "idempotency_key": key, "trace_id": Uuid::nil(), "correlation_id": Uuid::nil(),
            "partition_key": "p", "source_hash": source_hash, "group_key": "g", "match_decision": "PARTIAL", "routing_tier": "standard",
            "ledger_entity": "DE01", "counterparty": "c", "currency": "EUR", "variance_amount": "-12.50", "prepared_by": ["x"],
            "submitted_at": "2026-10-05T00:00:00Z", "business_date": "2026-09-30",
            "payload": {"statement_line": {"source_id": "s", "date": "2026-09-30", "amount": "-12.50", "currency": "EUR"}},
        });
        gate::judge(line.to_string().as_bytes()).expect("a good arrival").body
    }

    #[test]
    fn a_reversal_has_the_opposite_amount_and_passes_the_gates() {
        let made = of(&original(), "carol", "booked twice", DateTime::UNIX_EPOCH).expect("a reversal");
        let content = made.content;
        assert_eq!(content.variance.text(), "12.50");
        assert_eq!(content.reverses.as_deref(), Some("k-1"));
        assert_eq!((content.prepared_by, content.group_key), (vec!["carol".to_owned()], None));
        assert_eq!((content.partition_key.as_str(), content.ledger_entity.as_str()), ("p", "DE01"));
        assert_eq!(content.business_date, DateTime::UNIX_EPOCH.date_naive());
        let again = of(&original(), "dave", "booked twice", DateTime::UNIX_EPOCH).expect("a reversal");
        assert_eq!(again.content.idempotency_key, content.idempotency_key, "an exception is reversed once");
    }

    #[test]
    fn what_cannot_be_read_has_no_reversal() {
        assert!(matches!(of("{}", "carol", "x", DateTime::UNIX_EPOCH), Err(ReversalError::Content(_))));
    }
}
