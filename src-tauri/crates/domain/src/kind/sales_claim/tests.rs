use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::gate;
use crate::scoring::{Route, score};

/// A claim as the database hands it out, with some figures of its own.
fn claim(currency: &str, variance: &str, figures: &Value) -> Content {
    let mut payload = json!({
        "retailer_invoice": "1", "vendor_id": "v", "claim_period": "2026-09", "promo_tier": "t", "line_item_hash": "h",
        "agreement_version": 1, "line_item_count": 1, "line_items": [{"item": "A"}],
    });
    for (name, value) in figures.as_object().expect("an object") {
        payload[name] = value.clone();
    }
    let line = json!({
        "schema_version": 1, "kind": "sales_claim", "idempotency_key": hash::sha256(b"1|h|t|2026-09").to_string(),
        "trace_id": uuid::Uuid::nil(), "correlation_id": uuid::Uuid::nil(), "partition_key": "p", "source_hash": "s",
        "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "e", "counterparty": "c",
        "currency": currency, "variance_amount": variance, "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z",
        "payload": payload,
    });
    gate::read_body(&line.to_string()).expect("a good body")
}

fn accrued(currency: &str, figures: &Value) -> Option<(String, Basis)> {
    accrual(&claim(currency, "0", figures)).map(|accrual| (accrual.amount.text(), accrual.basis))
}

/// Each worked out by hand.
#[test]
fn an_accrual_is_units_times_rate_exactly_and_then_half_up() {
    for (currency, units, rate, expected) in [
        // 21.595 lies in the middle.
        ("USD", "1234", "0.0175", "21.60"),
        ("USD", "1233", "0.0175", "21.58"),
        // 21.5775 without decimals, and 18_510.5 in the middle.
        ("JPY", "1233", "0.0175", "22"),
        ("JPY", "12341", "1.5", "18512"),
        ("JPY", "1", "0.5", "1"),
        ("JPY", "1", "0.4999999999999999999999999", "0"),
        // 2.4684936 to three decimals, and 2.4685 in their middle.
        ("BHD", "1234", "0.0020004", "2.468"),
        ("BHD", "4937", "0.0005", "2.469"),
        // Half-up is away from zero.
        ("USD", "-1234", "0.0175", "-21.60"),
        ("USD", "-1", "0.004", "0.00"),
        ("USD", "0", "0.0175", "0.00"),
        // 26 digits before the mark and two behind it are 28.
        ("USD", "99999999999999999999999999", "1", "99999999999999999999999999.00"),
        ("USD", "49999999999999999999999999.5", "2", "99999999999999999999999999.00"),
    ] {
        let figures = json!({"qualifying_units": units, "tier_rate": rate, "claimed_amount": "1"});
        let expected = Some((expected.to_owned(), Basis::Agreement));
        assert_eq!(accrued(currency, &figures), expected, "{currency} {units} × {rate}");
    }
}

#[test]
fn an_accrual_that_cannot_be_exact_within_28_digits_is_none() {
    for (units, rate) in [
        // 29 digits with the cents.
        ("999999999999999999999999999", "1"),
        ("99999999999999999999999999.99", "10"),
        // 30 digits behind the mark.
        ("0.000000000000001", "0.000000000000001"),
        ("1234567890123456789012345678", "0.0175"),
    ] {
        let figures = json!({"qualifying_units": units, "tier_rate": rate, "claimed_amount": "1"});
        assert_eq!(accrued("USD", &figures), None, "{units} × {rate}");
    }
}

/// 1,000 × 0.0175 + 234 × 0.0175 = 17.5 + 4.095, rounded once: line by line it would be 17.50 + 4.10 too, but 3 × 0.333 is not 3 × 0.33.
#[test]
fn where_each_line_has_its_rate_the_accrual_is_their_sum_rounded_once() {
    let line = |units: &str, rate: &str| json!({"units": units, "tier_rate": rate});
    for (lines, expected) in [
        (json!([line("1000", "0.0175"), line("234", "0.0175")]), "21.60"),
        (json!([line("1", "0.333"), line("1", "0.333"), line("1", "0.333")]), "1.00"),
        (json!([line("10", "1"), line("-10", "0.5")]), "5.00"),
        // One line without a rate: those of the claim as a whole.
        (json!([line("1000", "0.0175"), {"units": "234"}]), "7.00"),
        (json!([]), "7.00"),
    ] {
        let figures = json!({"qualifying_units": "2", "tier_rate": "3.5", "claimed_amount": "1", "line_items": lines});
        assert_eq!(accrued("USD", &figures), Some((expected.to_owned(), Basis::Agreement)), "{lines}");
    }
}

#[test]
fn without_a_rate_it_is_what_is_claimed() {
    for figures in [
        json!({"qualifying_units": "1", "tier_rate": null, "claimed_amount": "100.00", "rate_basis": "lump_sum_no_rate"}),
        json!({"qualifying_units": null, "tier_rate": "2", "claimed_amount": "100"}),
    ] {
        assert_eq!(accrued("USD", &figures), Some(("100.00".to_owned(), Basis::Claimed)), "{figures}");
    }
    assert_eq!(accrued("USD", &json!({})), None);
}

#[test]
fn a_claim_that_is_not_what_the_agreement_gives_says_both_figures() {
    let figures = |claimed: &str| json!({"qualifying_units": "1234", "tier_rate": "0.0175", "claimed_amount": claimed});
    let asked =
        |claimed: &str, variance: &str| score(&claim("USD", variance, &figures(claimed)), &Thresholds::default());
    let same = asked("21.60", "0.00");
    assert_eq!(same.route, Route::AutoResolve);
    assert_eq!(same.reasons, ["The variance is zero.", "The claim is what the agreement gives."]);
    let small = asked("22.88", "1.28");
    assert_eq!(small.route, Route::AutoApprove);
    assert_eq!(
        small.reasons[1],
        "Claimed are 22.88 USD, the agreement gives 21.60 USD: 1.28 USD more. Rejecting opens a dispute with both figures."
    );
    let large = asked("31.60", "10.00");
    assert_eq!(large.route, Route::RouteReview);
    assert!(large.reasons[0].contains("10.00 USD more"), "{large:?}");
    let less = asked("10.00", "-11.60");
    assert!(less.reasons[0].contains("11.60 USD less"), "{less:?}");
    // A variance of zero that hides a difference is nothing to sign unread.
    let hidden = asked("22.88", "0.00");
    assert_eq!(hidden.route, Route::RouteReview);
    assert_eq!(
        hidden.reasons[0],
        "Claimed are 22.88 USD and the agreement gives 21.60 USD, which is not the variance of 0.00 USD."
    );
}

#[test]
fn approving_posts_the_accrual_and_rejecting_opens_a_dispute_with_both_figures() {
    let usd = |amount: &str| Money::parse(amount, "USD".parse().expect("a currency")).expect("an amount");
    let content =
        claim("USD", "1.28", &json!({"qualifying_units": "1234", "tier_rate": "0.0175", "claimed_amount": "22.88"}));
    let posted = Effect::Posting { amount: usd("21.60"), what: "accrual by the agreement" };
    assert_eq!(Module.approving(&content), Some(posted));
    let dispute = Effect::Dispute { claimed: Some(usd("22.88")), by_agreement: Some(usd("21.60")) };
    assert_eq!(Module.rejecting(&content), dispute);
    let reversal = Content { reverses: Some("k".to_owned()), ..content };
    let posted = Effect::Posting { amount: usd("-21.60"), what: "accrual by the agreement" };
    assert_eq!(Module.approving(&reversal), Some(posted));
    let unrated = claim("USD", "5.00", &json!({"tier_rate": null, "claimed_amount": "5.00"}));
    assert_eq!(Module.rejecting(&unrated), Effect::Dispute { claimed: Some(usd("5.00")), by_agreement: None });
}

/// All that ships: each key follows from its claim, and each claim with a rate accrues what its contract says.
#[test]
fn the_shipped_claims_have_their_keys_and_accrue_what_their_contracts_say() {
    let demo = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../demo/exceptions.jsonl"));
    let (mut keys, mut rated) = (0, 0);
    for line in demo.expect("the demo's exceptions").lines() {
        let document: Value = serde_json::from_str(line).expect("JSON");
        if document["kind"] != "sales_claim" {
            continue;
        }
        // Some have amounts that are none; their keys are right all the same.
        let mut readable = document.clone();
        readable["currency"] = json!("BHD");
        readable["variance_amount"] = json!("0");
        let content = gate::read_body(&readable.to_string()).expect("a claim");
        assert_eq!(Module.key(&content).as_deref(), document["idempotency_key"].as_str());
        keys += 1;
        let Ok(arrival) = gate::judge(line.as_bytes()) else { continue };
        let accrual = accrual(&arrival.content).expect("it passed its gates");
        if let Some(contract) = amount(&arrival.content, "contract_amount") {
            assert_eq!((accrual.amount.text(), accrual.basis), (contract.text(), Basis::Agreement), "{line}");
            rated += 1;
        }
    }
    assert_eq!(keys, 613);
    assert!(rated > 500, "{rated}");
}

proptest! {
    /// Whole units at rates in hundredths are cents: nothing is left to round.
    #[test]
    fn an_accrual_in_cents_is_the_product_of_whole_numbers(units in -1_000_000_000_i64..1_000_000_000, cents in 0_i64..100_000) {
        let figures = json!({"qualifying_units": units.to_string(), "tier_rate": rust_decimal::Decimal::new(cents, 2).to_string()});
        let (text, _) = accrued("USD", &figures).expect("few digits");
        let expected = i128::from(units) * i128::from(cents);
        prop_assert_eq!(text.replace('.', "").parse::<i128>().expect("digits"), expected);
    }

    /// However it is cut into lines, the same units at one rate accrue the same.
    #[test]
    fn lines_of_one_rate_accrue_what_the_whole_does(units in prop::collection::vec(-10_000_i64..10_000, 1..20), rate in 0_i64..1_000_000) {
        let rate = rust_decimal::Decimal::new(rate, 6).to_string();
        let lines: Vec<Value> = units.iter().map(|units| json!({"units": units.to_string(), "tier_rate": rate})).collect();
        let whole: i64 = units.iter().sum();
        let whole = json!({"qualifying_units": whole.to_string(), "tier_rate": rate});
        prop_assert_eq!(accrued("JPY", &json!({"line_items": lines})), accrued("JPY", &whole));
    }
}
