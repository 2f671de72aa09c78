//! Arrivals by the million, determined by their number.

use countersign_domain::exception::Kind;
use countersign_domain::hash;
use countersign_domain::money::round_half_up;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use uuid::Uuid;

/// Who deducts in generated claims.
pub const VENDOR: &str = "vendor-1";
const TIER: &str = "tier-1";
const PERIOD: &str = "2026-09";
const SUBMITTED: &str = "2026-10-05T00:10:03Z";

/// What a generated arrival may differ in.
#[derive(Debug, Clone)]
pub struct Arrival<'a> {
    /// Its number; the key is made of it.
    pub number: u64,
    /// The partition.
    pub partition: &'a str,
    /// Where it comes from.
    pub kind: Kind,
    /// The group, if any. A receipt without one is a report of its own.
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
        Self { number, partition, kind: Kind::ReconBreak, group: None, prepared_by: &["preparer"], cents, revision: 1 }
    }

    /// Its idempotency key.
    pub fn key(&self) -> String {
        match self.kind.as_str() {
            "sales_claim" => {
                let text = format!("{}|{}|{TIER}|{PERIOD}", self.invoice(), self.line_item_hash());
                hash::sha256(text.as_bytes()).to_string()
            }
            "receipt" => hash::sha256(format!("receipt-{}{SUBMITTED}", self.number).as_bytes()).to_string(),
            _ => format!("generated-{:09}", self.number),
        }
    }

    fn invoice(&self) -> String {
        format!("invoice-{}", self.number)
    }

    fn line_item_hash(&self) -> String {
        hash::sha256(format!("lines of {}", self.number).as_bytes()).to_string()
    }

    /// What the agreement of a claim gives: its units times 0.0175, half-up to cents.
    pub fn accrual(&self) -> Decimal {
        let mut accrual = round_half_up(Decimal::from(self.units()) * Decimal::new(175, 4), 2);
        accrual.rescale(2);
        accrual
    }

    fn units(&self) -> u64 {
        self.number % 10_000 + 1
    }

    fn payload(&self, amount: &str) -> Value {
        match self.kind.as_str() {
            "sales_claim" => {
                let (units, accrual) = (self.units().to_string(), self.accrual());
                let claimed = accrual + Decimal::new(self.cents, 2);
                json!({
                    "retailer_invoice": self.invoice(), "vendor_id": VENDOR, "vendor_name": VENDOR, "claim_period": PERIOD, "promo_tier": TIER,
                    "agreement_ref": "terms-1", "agreement_version": 3, "line_item_hash": self.line_item_hash(),
                    "qualifying_units": units, "tier_rate": "0.0175", "rate_basis": "per_unit",
                    "claimed_amount": claimed.to_string(), "contract_amount": accrual.to_string(),
                    "line_item_count": 1, "line_items": [{"product_id": "p-1", "item": "SOUP", "quantity": units, "unit_price": "1.00"}]
                })
            }
            "receipt" => json!({
                "receipt_id": format!("receipt-{}", self.number), "report_id": self.report(), "submission_ts": SUBMITTED, "shop": "A shop",
                "receipt_date_text": "2026-10-04", "claimed_amount": "12.00", "extracted_amount": "12.00", "extracted_from_line": "SUM 12.00",
                "extracted_confidence": "0.78", "mean_confidence": "0.78", "ocr_engine": "an engine", "image": null,
                "ocr_lines": [{"text": "SUM 12.00", "confidence": "0.78", "min_confidence": "0.78", "bbox": [1, 2, 3, 4]}]
            }),
            _ => json!({
                "reason": "amount differs",
                "statement_line": {"source_id": format!("s-{}", self.number), "date": "2026-10-04", "reference": format!("INV-{}", self.number),
                    "counterparty": "Counterparty", "amount": amount, "currency": "USD"},
                "ledger_entry": null
            }),
        }
    }

    fn report(&self) -> String {
        self.group.map_or_else(|| format!("report-{}", self.number), str::to_owned)
    }

    /// The arrival as one line of JSON.
    pub fn line(&self) -> String {
        let amount = Decimal::new(self.cents + i64::from(self.revision - 1), 2).to_string();
        let key = self.key();
        let source_hash = hash::recon_break_source_hash(&key, self.partition, &amount, "PARTIAL");
        let group = if self.kind == Kind::Receipt { Some(self.report()) } else { self.group.map(str::to_owned) };
        let trace = Uuid::from_u128(u128::from(self.number));
        json!({
            "schema_version": 1, "kind": self.kind, "idempotency_key": key, "trace_id": trace, "correlation_id": trace,
            "partition_key": self.partition, "source_hash": source_hash, "group_key": group, "match_decision": "PARTIAL",
            "routing_tier": "standard", "ledger_entity": self.partition, "counterparty": format!("Counterparty {}", self.number % 997),
            "currency": "USD", "variance_amount": amount, "prepared_by": self.prepared_by, "submitted_at": SUBMITTED,
            "payload": self.payload(&amount),
        })
        .to_string()
    }

    /// The canonical body, as it is stored and signed.
    pub fn body(&self) -> String {
        countersign_domain::gate::judge(self.line().as_bytes()).expect("a generated arrival passes its gates").body
    }
}
