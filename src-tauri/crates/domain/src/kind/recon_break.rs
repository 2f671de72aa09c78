//! A ledger line against a statement line.

mod sides;

use crate::evidence::{Evidence, Line, facts};
use crate::exception::Content;
use crate::gate::Rejection;
use crate::hash;
use crate::kind::{Effect, Hashed, KindModule};
use crate::scoring::{Finding, Thresholds};
use crate::similarity::percent_alike;

pub use sides::{ReconBreak, Side};

/// Everything that belongs to the kind.
pub struct Module;

impl KindModule for Module {
    fn name(&self) -> &'static str {
        "recon_break"
    }

    fn plural(&self) -> &'static str {
        "reconciliation breaks"
    }

    fn read(&self, content: &Content) -> Result<(), Rejection> {
        ReconBreak::read(content).map(drop)
    }

    fn gates(&self, _content: &Content) -> Result<(), Rejection> {
        Ok(())
    }

    fn key(&self, _content: &Content) -> Option<String> {
        None
    }

    fn source_hash(&self, of: &Hashed<'_>) -> Option<String> {
        let Hashed { idempotency_key, ledger_entity, variance_amount, match_decision } = *of;
        Some(hash::recon_break_source_hash(idempotency_key, ledger_entity, variance_amount, match_decision).to_string())
    }

    fn source_hash_formula(&self) -> &'static str {
        "the SHA-256 of idempotency_key:ledger_entity:variance_amount:match_decision"
    }

    fn findings(&self, content: &Content, _thresholds: &Thresholds) -> Vec<Finding> {
        let Ok(ReconBreak { statement_line: Some(statement), ledger_entry: Some(ledger), .. }) =
            ReconBreak::read(content)
        else {
            return Vec::new();
        };
        let alike = |what: &str, one: Option<&String>, other: Option<&String>| {
            let (one, other) = one.zip(other)?;
            let percent = percent_alike(one, other)?;
            Some(Finding {
                rule: "Similarity of both sides",
                inputs: vec![("Statement", one.clone()), ("Ledger", other.clone())],
                reason: format!("{what} are {percent} % alike."),
                asks_for_a_look: false,
            })
        };
        let references = alike("References", statement.reference.as_ref(), ledger.reference.as_ref());
        let names = alike("Names", statement.counterparty.as_ref(), ledger.counterparty.as_ref());
        references.into_iter().chain(names).collect()
    }

    fn evidence(&self, content: &Content) -> Evidence {
        let sides = ReconBreak::read(content).unwrap_or_default();
        let mut facts = facts(content, &[("Reference similarity", "reference_similarity")]);
        if let Some(reason) = &sides.reason {
            facts.insert(0, ("Left by the engine because".to_owned(), reason.clone()));
        }
        let line = |label, numeric, read: &dyn Fn(&Side) -> Option<String>| Line {
            label,
            left: sides.statement_line.as_ref().and_then(read),
            right: sides.ledger_entry.as_ref().and_then(read),
            numeric,
        };
        Evidence {
            left: "Statement",
            right: "Ledger",
            lines: vec![
                line("Amount", true, &|side| side.amount.clone()),
                line("Currency", false, &|side| Some(side.currency.clone())),
                line("Date", false, &|side| Some(side.date.clone())),
                line("Reference", false, &|side| side.reference.clone()),
                line("Counterparty", false, &|side| side.counterparty.clone()),
                line("Source", false, &|side| Some(side.source_id.clone())),
            ],
            facts,
        }
    }

    fn approving(&self, content: &Content) -> Option<Effect> {
        Some(Effect::Posting { amount: content.variance, what: "adjustment by the variance" })
    }

    fn rejecting(&self, _content: &Content) -> Effect {
        Effect::Routing { to: "matching team" }
    }

    #[cfg(test)]
    fn schema(&self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<ReconBreak>()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate;
    use crate::scoring::{Route, score};

    fn content(ledger: &serde_json::Value) -> Content {
        let source_hash = hash::recon_break_source_hash("k", "e", "1.00", "PARTIAL").to_string();
        let line = json!({
            "schema_version": 1, "kind": "recon_break", "idempotency_key": "k", "trace_id": uuid::Uuid::nil(),
            "correlation_id": uuid::Uuid::nil(), "partition_key": "p", "source_hash": source_hash,
            "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "e", "counterparty": "c", "currency": "USD",
            "variance_amount": "1.00", "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z",
            "payload": {
                "statement_line": {"source_id": "s", "date": "2026-10-04", "reference": "INV-10027", "counterparty": "ACME Ltd",
                    "amount": "5.00", "currency": "USD"},
                "ledger_entry": ledger,
            },
        });
        gate::judge(line.to_string().as_bytes()).expect("a good arrival").content
    }

    #[test]
    fn how_alike_both_sides_are_is_part_of_the_suggestion() {
        let ledger = json!({"source_id": "l", "date": "2026-10-04", "reference": "INV-10072", "counterparty": "acme ltd",
            "amount": "4.00", "currency": "USD"});
        let suggestion = score(&content(&ledger), &Thresholds::default());
        assert_eq!(suggestion.route, Route::AutoApprove);
        // One of nine characters is out of place: two neighbours are swapped.
        assert_eq!(suggestion.reasons[1..], ["References are 89 % alike.", "Names are 100 % alike."]);
    }

    #[test]
    fn one_side_is_like_nothing() {
        assert!(Module.findings(&content(&json!(null)), &Thresholds::default()).is_empty());
    }

    #[test]
    fn approving_posts_the_variance_and_rejecting_returns_it() {
        let content = content(&json!(null));
        let posted = Effect::Posting { amount: content.variance, what: "adjustment by the variance" };
        assert_eq!(Module.approving(&content), Some(posted));
        assert_eq!(Module.rejecting(&content), Effect::Routing { to: "matching team" });
    }
}
