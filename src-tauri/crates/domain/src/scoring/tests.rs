use serde_json::json;

use super::*;
use crate::gate;
use crate::hash::recon_break_source_hash;

fn content(variance: &str, decision: &str, tier: &str) -> Content {
    let line = json!({
        "schema_version": 1, "kind": "recon_break", "idempotency_key": "k", "trace_id": uuid::Uuid::nil(),
        "correlation_id": uuid::Uuid::nil(), "partition_key": "p",
        "source_hash": recon_break_source_hash("k", "e", variance, decision).to_string(), "match_decision": decision,
        "routing_tier": tier, "ledger_entity": "e", "counterparty": "c", "currency": "USD", "variance_amount": variance,
        "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z",
        "payload": {"statement_line": {"source_id": "s", "date": "2026-10-04", "currency": "USD"}},
    });
    gate::judge(line.to_string().as_bytes()).expect("a good arrival").content
}

#[test]
fn the_first_rule_that_applies_says_the_route_and_the_others_why_too() {
    let thresholds = Thresholds::default();
    for (variance, decision, tier, route, reasons) in [
        ("0.00", "UNMATCHED", "escalated", Route::AutoResolve, &["The variance is zero."][..]),
        ("50000.00", "MATCHED", "standard", Route::RouteReview, &["The variance is over the tolerance of 5 USD."]),
        (
            "-50000.01",
            "UNMATCHED",
            "standard",
            Route::Escalate,
            &["The variance is over 50000 USD in the standard tier."],
        ),
        (
            "50000.01",
            "UNMATCHED",
            "priority",
            Route::RouteReview,
            &[
                "The matching engine found no other side.",
                "It came in the priority tier.",
                "The variance is over the tolerance of 5 USD.",
            ],
        ),
        ("5.00", "UNMATCHED", "standard", Route::RouteReview, &["The matching engine found no other side."]),
        ("5.00", "PARTIAL", "standard", Route::AutoApprove, &["The variance is within the tolerance of 5 USD."]),
        ("-5.01", "MATCHED", "standard", Route::RouteReview, &["The variance is over the tolerance of 5 USD."]),
    ] {
        let suggestion = score(&content(variance, decision, tier), &thresholds);
        assert_eq!(suggestion.route, route, "{variance} {decision} {tier}");
        assert_eq!(suggestion.reasons, reasons, "{variance} {decision} {tier}");
    }
}

#[test]
fn thresholds_are_read_from_their_version() {
    let strict = Thresholds { version: 7, escalate_above: 1.into(), tolerance: 0.into() };
    let suggestion = score(&content("1.01", "MATCHED", "standard"), &strict);
    assert_eq!((suggestion.route, suggestion.policy_version), (Route::Escalate, 7));
}

#[test]
fn an_explanation_lists_every_rule_with_what_it_looked_at() {
    let explained = explain(&content("7.00", "UNMATCHED", "standard"), &Thresholds::default());
    let rules: Vec<(&str, bool, bool)> =
        explained.rules.iter().map(|rule| (rule.rule, rule.applies, rule.decides)).collect();
    assert_eq!(
        rules,
        [
            ("Over the threshold in the standard tier", false, false),
            ("Zero variance", false, false),
            ("No other side", true, true),
            ("Above the standard tier", false, false),
            ("Over the tolerance", true, false),
            ("Nothing against it", true, false),
        ]
    );
    let inputs = &explained.rules[0].inputs;
    let expected = [("Variance", "7.00 USD"), ("Threshold", "50000 USD"), ("Tier", "standard")];
    assert_eq!(inputs.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>(), expected);
}
