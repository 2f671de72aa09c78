//! A kind that nobody ships: everything that a fourth kind needs in Rust.

use countersign_domain::calculation::Step;
use countersign_domain::dead_letter::Cause;
use countersign_domain::evidence::{Evidence, Line};
use countersign_domain::exception::{Content, Kind};
use countersign_domain::gate::{Gate, Rejection};
use countersign_domain::hash;
use countersign_domain::kind::{Effect, KindModule};
use countersign_domain::money::Money;
use countersign_domain::scoring::{Finding, Thresholds};
use serde::Deserialize;
use serde_json::{Value, json};

/// An intercompany balance: two entities of one house that do not agree on what one owes the other.
pub(crate) struct Intercompany;

/// The kind, as it is named everywhere.
pub(crate) const INTERCOMPANY: Kind = Kind::of(&Intercompany);
/// Every kind that an installation with it knows.
pub(crate) const KINDS: [Kind; 4] = [Kind::ReconBreak, Kind::SalesClaim, Kind::Receipt, INTERCOMPANY];

/// Its payload.
#[derive(Deserialize)]
struct Balance {
    owed_by: String,
    owed_to: String,
    day: String,
    books_of_debtor: String,
    books_of_creditor: String,
}

impl Balance {
    fn read(content: &Content) -> Result<Self, Rejection> {
        content.payload.read()
    }

    fn amounts(&self, content: &Content) -> Result<[Money; 2], Rejection> {
        let read = |field: &str, text: &str| {
            let refused =
                |reason: String| Rejection::new(Gate::Monetary, Cause::Amount, format!("payload.{field}"), reason);
            Money::parse(text, content.variance.currency).map_err(|error| refused(error.to_string()))
        };
        Ok([read("books_of_debtor", &self.books_of_debtor)?, read("books_of_creditor", &self.books_of_creditor)?])
    }
}

impl KindModule for Intercompany {
    fn name(&self) -> &'static str {
        "intercompany"
    }

    fn plural(&self) -> &'static str {
        "intercompany balances"
    }

    fn read(&self, content: &Content) -> Result<(), Rejection> {
        Balance::read(content).map(drop)
    }

    fn gates(&self, content: &Content) -> Result<(), Rejection> {
        let balance = Balance::read(content)?;
        balance.amounts(content)?;
        if balance.owed_by == balance.owed_to {
            let reason = format!("expected two entities, got `{}` twice", balance.owed_by);
            return Err(Rejection::new(Gate::Own, Cause::Field, "payload.owed_to", reason));
        }
        Ok(())
    }

    fn key(&self, content: &Content) -> Option<String> {
        let balance = Balance::read(content).ok()?;
        let text = format!("{}|{}|{}", balance.owed_by, balance.owed_to, balance.day);
        Some(hash::sha256(text.as_bytes()).to_string())
    }

    fn findings(&self, content: &Content, _thresholds: &Thresholds) -> Vec<Finding> {
        let Some(amounts) = Balance::read(content).ok().and_then(|balance| balance.amounts(content).ok()) else {
            return Vec::new();
        };
        let [debtor, creditor] = amounts;
        let opposite = debtor.amount.is_sign_negative() != creditor.amount.is_sign_negative();
        opposite
            .then(|| Finding {
                rule: "Direction of the debt",
                inputs: vec![("Debtor", debtor.text()), ("Creditor", creditor.text())],
                reason: "Both believe that the other one owes.".to_owned(),
                asks_for_a_look: true,
            })
            .into_iter()
            .collect()
    }

    fn evidence(&self, content: &Content) -> Evidence {
        let text = |field: &str| content.payload.text(field).map(str::to_owned);
        let line = |label, left, right, numeric| Line { label, left: text(left), right: text(right), numeric };
        Evidence {
            left: "Debtor",
            right: "Creditor",
            lines: vec![
                line("Entity", "owed_by", "owed_to", false),
                line("Balance", "books_of_debtor", "books_of_creditor", true),
            ],
            facts: text("day").map(|day| ("Day".to_owned(), day)).into_iter().collect(),
        }
    }

    fn calculation(&self, content: &Content) -> Vec<Step> {
        let difference = content.variance;
        vec![Step { label: "Difference".to_owned(), working: String::new(), result: difference.text() }]
    }

    fn approving(&self, content: &Content) -> Option<Effect> {
        Some(Effect::Posting { amount: content.variance, what: "elimination of the difference" })
    }

    fn rejecting(&self, _content: &Content) -> Effect {
        Effect::Routing { to: "group accounting" }
    }
}

/// An arrival of the kind, with some fields of its payload changed, and the key of what it was before.
pub(crate) fn arrival(payload: &[(&str, &str)], variance: &str) -> Value {
    let mut document = json!({
        "schema_version": 1, "kind": "intercompany", "idempotency_key": key("2026-09-30"),
        "trace_id": "00000000-0000-0000-0000-000000000000", "correlation_id": "00000000-0000-0000-0000-000000000000", "partition_key": "DE01-FR01", "source_hash": "s",
        "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "DE01", "counterparty": "FR01",
        "currency": "JPY", "variance_amount": variance, "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z",
        "payload": {"owed_by": "DE01", "owed_to": "FR01", "day": "2026-09-30", "books_of_debtor": "1200",
            "books_of_creditor": "1203"},
    });
    for (field, value) in payload {
        document["payload"][*field] = json!(value);
    }
    document
}

/// The key of what DE01 owes FR01 on a day.
pub(crate) fn key(day: &str) -> String {
    hash::sha256(format!("DE01|FR01|{day}").as_bytes()).to_string()
}
