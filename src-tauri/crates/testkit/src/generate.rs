//! Arrivals by the million, determined by their number.

use countersign_domain::hash;
use rust_decimal::Decimal;
use serde_json::json;
use uuid::Uuid;

/// What a generated arrival may differ in.
#[derive(Debug, Clone)]
pub struct Arrival<'a> {
    /// Its number; the key is made of it.
    pub number: u64,
    /// The partition.
    pub partition: &'a str,
    /// The group, if any.
    pub group: Option<&'a str>,
    /// Who prepared it.
    pub prepared_by: &'a [&'a str],
    /// The variance in cents.
    pub cents: i64,
    /// Another revision has another source hash and another text.
    pub revision: u32,
}

impl<'a> Arrival<'a> {
    /// An arrival with a variance that its number determines.
    pub fn new(number: u64, partition: &'a str) -> Self {
        let cents =
            i64::try_from(number % 1_000_003).unwrap_or_default() * if number.is_multiple_of(3) { -7 } else { 11 };
        Self { number, partition, group: None, prepared_by: &["preparer"], cents, revision: 1 }
    }

    /// Its idempotency key.
    pub fn key(&self) -> String {
        format!("generated-{:09}", self.number)
    }

    /// The arrival as one line of JSON.
    pub fn line(&self) -> String {
        let amount = Decimal::new(self.cents + i64::from(self.revision - 1), 2).to_string();
        let key = self.key();
        let source_hash = hash::recon_break_source_hash(&key, self.partition, &amount, "PARTIAL");
        let trace = Uuid::from_u128(u128::from(self.number));
        json!({
            "schema_version": 1, "kind": "recon_break", "idempotency_key": key, "trace_id": trace, "correlation_id": trace,
            "partition_key": self.partition, "source_hash": source_hash, "group_key": self.group, "match_decision": "PARTIAL",
            "routing_tier": "standard", "ledger_entity": self.partition, "counterparty": format!("Counterparty {}", self.number % 997),
            "currency": "USD", "variance_amount": amount, "prepared_by": self.prepared_by, "submitted_at": "2026-10-05T00:10:03Z",
            "payload": {
                "reason": "amount differs",
                "statement_line": {"source_id": format!("s-{}", self.number), "date": "2026-10-04", "reference": format!("INV-{}", self.number),
                    "counterparty": "Counterparty", "amount": amount, "currency": "USD"},
                "ledger_entry": null
            }
        })
        .to_string()
    }

    /// The canonical body, as it is stored and signed.
    pub fn body(&self) -> String {
        countersign_domain::gate::judge(self.line().as_bytes()).expect("a generated arrival passes its gates").body
    }
}
