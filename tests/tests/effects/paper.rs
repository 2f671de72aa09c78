//! Claims, receipts and breaks of which each figure is chosen.

use std::fmt::Debug;

use countersign_domain::id::ExceptionId;
use countersign_domain::money::Money;
use countersign_domain::sign_off::SignOff;
use countersign_domain::{gate, hash};
use countersign_engine::port::LeasedItem;
use countersign_testkit::generate::{Arrival, VENDOR};
use serde_json::{Value, json};
use sqlx::PgPool;
use sqlx::types::Uuid;

use crate::office::{Office, Seat};

pub(crate) fn money(amount: &str, currency: &str) -> Money {
    Money::parse(amount, currency.parse().expect("a currency")).expect("an amount")
}

/// The correlation of exception `number`.
pub(crate) fn correlation(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number) + 7_000)
}

/// A retailer's deduction.
#[derive(Debug, Clone)]
pub(crate) struct Claim<'a> {
    pub(crate) number: u64,
    pub(crate) partition: &'a str,
    pub(crate) currency: &'a str,
    /// Units and rate, where the agreement has one.
    pub(crate) rated: Option<(&'a str, &'a str)>,
    pub(crate) claimed: &'a str,
    pub(crate) variance: &'a str,
    pub(crate) lines: Value,
    pub(crate) reverses: Option<String>,
    pub(crate) revision: u64,
}

impl<'a> Claim<'a> {
    /// 1,234 units at 0.0175 USD, for which 30.00 were taken off: 8.40 more than the agreement gives.
    pub(crate) fn new(number: u64, partition: &'a str) -> Self {
        Self {
            number,
            partition,
            currency: "USD",
            rated: Some(("1234", "0.0175")),
            claimed: "30.00",
            variance: "8.40",
            lines: json!([{"product_id": "p", "item": "SOUP", "quantity": "1234"}]),
            reverses: None,
            revision: 1,
        }
    }

    pub(crate) fn key(&self) -> String {
        hash::sha256(format!("CJ-{}|{}|coupon|2026-09", self.number, self.line_item_hash()).as_bytes()).to_string()
    }

    fn line_item_hash(&self) -> String {
        hash::sha256(format!("lines of {}", self.number).as_bytes()).to_string()
    }

    pub(crate) fn body(&self) -> String {
        let line = json!({
            "schema_version": 1, "kind": "sales_claim", "idempotency_key": self.key(), "trace_id": correlation(self.number),
            "correlation_id": correlation(self.number), "partition_key": self.partition, "source_hash": format!("claim-{}-{}", self.number, self.revision),
            "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "acme", "counterparty": "A grocery chain",
            "currency": self.currency, "variance_amount": self.variance, "prepared_by": ["preparer"],
            "submitted_at": "2026-10-05T00:10:03Z", "reverses": self.reverses,
            "payload": {
                "retailer_invoice": format!("CJ-{}", self.number), "vendor_id": VENDOR, "vendor_name": "A vendor", "claim_period": "2026-09",
                "promo_tier": "coupon", "agreement_ref": "terms-2026.1", "agreement_version": 3, "line_item_hash": self.line_item_hash(),
                "qualifying_units": self.rated.map(|(units, _)| units), "tier_rate": self.rated.map(|(_, rate)| rate), "rate_basis": "per_unit",
                "claimed_amount": self.claimed, "line_item_count": self.lines.as_array().map_or(0, Vec::len), "line_items": self.lines,
            },
        });
        gate::judge(line.to_string().as_bytes()).expect("it passes its gates").body
    }
}

/// A receipt of a report of its own, unless it has a group.
pub(crate) fn receipt(number: u64, partition: &str, read: &Value, mean: &str) -> String {
    let arrival =
        Arrival { kind: countersign_domain::kind::Kind::Receipt, cents: 0, ..Arrival::new(number, partition) };
    let mut document: Value = serde_json::from_str(&arrival.line()).expect("a line is JSON");
    document["currency"] = json!("EUR");
    document["ledger_entity"] = json!("acme");
    document["payload"]["extracted_amount"] = read.clone();
    document["payload"]["claimed_amount"] = json!("24.62");
    document["payload"]["mean_confidence"] = json!(mean);
    gate::judge(document.to_string().as_bytes()).expect("it passes its gates").body
}

impl Office {
    /// Takes canonical bodies in, each as new. Whoever claims is a vendor that is known.
    pub(crate) async fn take(&self, bodies: &[String]) -> anyhow::Result<()> {
        self.installation.register_vendors(&bodies.join("\n")).await?;
        let outcomes = self.installation.enqueue(bodies).await?;
        anyhow::ensure!(outcomes.iter().all(|outcome| outcome == "ENQUEUED"), "{outcomes:?}");
        Ok(())
    }
}

impl Seat {
    /// An approval that carries this figure, or none.
    pub(crate) fn approval_with(&self, item: &LeasedItem, figure: Option<Money>) -> SignOff {
        self.resealed(item, SignOff { figure, ..self.approval(item) })
    }
}

/// One row of one exception as JSON text, or `None`.
pub(crate) async fn row(owner: &PgPool, table: &'static str, id: ExceptionId) -> anyhow::Result<Option<Value>> {
    let sql = match table {
        "posting" => {
            "SELECT to_jsonb(t)::text FROM (SELECT currency, amount::text, basis, units::text, rate::text, agreement_version, correlation_id, claimed::text, period, ledger_entity FROM countersign.posting WHERE exception_id = $1) AS t"
        }
        "routing" => {
            "SELECT to_jsonb(t)::text FROM (SELECT routed_to, reason, read_amount, read_currency, corrected_amount::text, corrected_currency FROM countersign.routing WHERE exception_id = $1) AS t"
        }
        _ => {
            "SELECT to_jsonb(t)::text FROM (SELECT currency, claimed::text, by_agreement::text, difference::text, agreement_ref, agreement_version, correlation_id, reason, ledger_entity FROM countersign.dispute WHERE exception_id = $1) AS t"
        }
    };
    let text: Option<String> = sqlx::query_scalar(sql).bind(id.0).fetch_optional(owner).await?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}

/// The one effect that an exception has, and its table; and that it is marked as processed at that very moment.
pub(crate) async fn effect(office: &Office, item: &LeasedItem) -> anyhow::Result<(&'static str, Value)> {
    let owner = &office.installation.owner;
    let processed: bool = sqlx::query_scalar(
        "SELECT e.state = 'RESOLVED' AND e.resolved_at = coalesce(p.posted_at, r.routed_at, d.opened_at) FROM countersign.exception e
         LEFT JOIN countersign.posting p ON p.exception_id = e.id LEFT JOIN countersign.routing r ON r.exception_id = e.id
         LEFT JOIN countersign.dispute d ON d.exception_id = e.id WHERE e.id = $1",
    )
    .bind(item.id.0)
    .fetch_one(owner)
    .await?;
    anyhow::ensure!(processed, "{} is not marked as processed with its effect", item.id);
    let mut found = Vec::new();
    for table in ["posting", "routing", "dispute"] {
        found.extend(row(owner, table, item.id).await?.map(|row| (table, row)));
    }
    anyhow::ensure!(found.len() == 1, "{} has the effects {found:?}", item.id);
    found.pop().ok_or_else(|| anyhow::anyhow!("just counted"))
}

/// Compares some fields of a row.
pub(crate) fn says<T: Debug>(row: &(T, Value), expected: &Value) {
    for (field, value) in expected.as_object().expect("an object") {
        assert_eq!(&row.1[field], value, "{field} of {row:?}");
    }
}
