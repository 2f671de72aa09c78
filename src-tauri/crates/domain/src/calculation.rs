//! How a sales claim's amount comes about, written out from what arrived. What is missing is left out, never made up.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::exception::Content;
use crate::money::{Currency, parse_decimal, round_half_up};
use crate::payload::TypedPayload;

/// The most line items that are written out.
pub const LINE_ITEMS: usize = 200;
/// The most characters of an item's name.
const NAME_CHARS: usize = 200;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is.
    pub label: String,
    /// The working, such as `14 × 0.55`; empty where nothing is worked out.
    pub working: String,
    /// What it comes to, a plain decimal.
    pub result: String,
}

/// The steps of a sales claim; none for other kinds.
pub fn calculation(content: &Content) -> Vec<Step> {
    if !matches!(content.payload.typed, TypedPayload::SalesClaim) {
        return Vec::new();
    }
    let (json, currency) = (&content.payload.json, content.variance.currency);
    let mut steps = lines(json);
    steps.extend(agreement(json, currency));
    let (claimed, contract) = (decimal(json, "claimed_amount"), decimal(json, "contract_amount"));
    if let Some(contract) = contract {
        steps.push(step("By agreement, as it arrived", String::new(), contract));
    }
    if let Some(claimed) = claimed {
        steps.push(step("Claimed", String::new(), claimed));
    }
    if let Some((claimed, contract)) = claimed.zip(contract)
        && let Some(difference) = claimed.checked_sub(contract)
    {
        steps.push(step("Difference", format!("{claimed} − {}", operand(contract)), difference));
    }
    steps.push(step("Variance to sign", String::new(), content.variance.amount));
    steps
}

/// Units times rate, exactly and then rounded.
fn agreement(json: &Map<String, Value>, currency: Currency) -> Vec<Step> {
    let Some((units, rate)) = decimal(json, "qualifying_units").zip(decimal(json, "tier_rate")) else {
        return Vec::new();
    };
    let of_an_amount = json.get("rate_basis").and_then(Value::as_str).is_some_and(|basis| basis.starts_with("percent"));
    let label = if of_an_amount { "Base amount × rate" } else { "Units × rate" };
    let Some(exact) = product(units, rate) else { return Vec::new() };
    let places = u32::from(currency.minor_units());
    let mut rounded = round_half_up(exact, places);
    rounded.rescale(places);
    let working = format!("{exact} to {places} decimal places, half up");
    vec![
        step(label, format!("{units} × {}", operand(rate)), exact),
        step(&format!("Rounded for {currency}"), working, rounded),
    ]
}

/// The line items, each with what its own fields come to.
fn lines(json: &Map<String, Value>) -> Vec<Step> {
    let Some(items) = json.get("line_items").and_then(Value::as_array) else { return Vec::new() };
    if items.len() > LINE_ITEMS {
        return Vec::new();
    }
    let worked: Vec<(Step, Option<Decimal>)> =
        items.iter().filter_map(Value::as_object).enumerate().filter_map(|(place, item)| line(place, item)).collect();
    let claims: Option<Decimal> =
        worked.iter().map(|(_, claim)| *claim).try_fold(Decimal::ZERO, |sum, claim| sum.checked_add(claim?));
    let complete = worked.len() == items.len() && worked.len() > 1;
    let sum = claims.filter(|_| complete).map(|sum| step("Sum of the lines", String::new(), sum));
    worked.into_iter().map(|(step, _)| step).chain(sum).collect()
}

/// One line item, and what it claims where the line says so.
fn line(place: usize, item: &Map<String, Value>) -> Option<(Step, Option<Decimal>)> {
    let field = |name| decimal(item, name);
    let name = ["item", "invoice"].iter().find_map(|field| item.get(*field).and_then(Value::as_str));
    let name = name
        .filter(|name| !name.is_empty())
        .map_or_else(|| format!("Line {}", place + 1), |name| name.chars().take(NAME_CHARS).collect());
    let made = |working: String, result| step(&name, working, result);
    if let Some((coupon, matched)) = field("coupon").zip(field("retailer_match")) {
        let result = coupon.checked_add(matched)?;
        return Some((made(format!("coupon {coupon} + match {}", operand(matched)), result), Some(result)));
    }
    if let Some((billed, paid)) = field("billed").zip(field("paid")) {
        let result = billed.checked_sub(paid)?;
        return Some((made(format!("billed {billed} − paid {}", operand(paid)), result), Some(result)));
    }
    let (quantity, price) = field("quantity").zip(field("unit_price"))?;
    if let Some(list) = field("list_price") {
        let result = product(quantity, list.checked_sub(price)?)?;
        return Some((made(format!("{quantity} × ({list} − {})", operand(price)), result), Some(result)));
    }
    // The invoice's line, of which the claim is a part or a share.
    Some((made(format!("{quantity} × {}", operand(price)), product(quantity, price)?), None))
}

/// Exact, or nothing: the decimal type would round what has too many digits.
fn product(a: Decimal, b: Decimal) -> Option<Decimal> {
    let (a, b) = (a.normalize(), b.normalize());
    let exact = a.checked_mul(b)?;
    (exact.is_zero() || exact.scale() == a.scale() + b.scale()).then(|| exact.normalize())
}

fn step(label: &str, working: String, result: Decimal) -> Step {
    Step { label: label.to_owned(), working, result: result.to_string() }
}

fn operand(value: Decimal) -> String {
    if value.is_sign_negative() { format!("({value})") } else { value.to_string() }
}

fn decimal(json: &Map<String, Value>, field: &str) -> Option<Decimal> {
    match json.get(field)? {
        Value::String(text) => parse_decimal(text).ok(),
        Value::Number(number) => parse_decimal(&number.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate;

    fn claim(currency: &str, variance: &str, payload: Value) -> Vec<(String, String, String)> {
        let content = gate::read_body(&body(currency, variance, payload)).expect("a good body");
        calculation(&content).into_iter().map(|step| (step.label, step.working, step.result)).collect()
    }

    fn body(currency: &str, variance: &str, mut payload: Value) -> String {
        let fields = json!({
            "retailer_invoice": "1", "vendor_id": "v", "vendor_name": "v", "claim_period": "2026-09", "promo_tier": "t",
            "agreement_ref": "a", "agreement_version": 1, "line_item_hash": "h",
        });
        for (name, value) in fields.as_object().expect("an object") {
            payload[name] = value.clone();
        }
        let key = crate::hash::sha256(b"1|h|t|2026-09").to_string();
        let line = json!({
            "schema_version": 1, "kind": "sales_claim", "idempotency_key": key, "trace_id": uuid::Uuid::nil(),
            "correlation_id": uuid::Uuid::nil(), "partition_key": "p", "source_hash": "s", "group_key": null,
            "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "e", "counterparty": "c",
            "currency": currency, "variance_amount": variance, "prepared_by": ["x"], "submitted_at": "2026-10-05T00:00:00Z",
            "business_date": "2026-09-30", "payload": payload,
        });
        gate::judge(line.to_string().as_bytes()).expect("a good arrival").body
    }

    fn rows(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        rows.iter()
            .map(|(label, working, result)| (label.to_string(), working.to_string(), result.to_string()))
            .collect()
    }

    #[test]
    fn units_times_rate_are_exact_and_then_rounded_half_up() {
        let payload = json!({
            "qualifying_units": "84", "tier_rate": "3.594286", "rate_basis": "per_unit_average",
            "claimed_amount": "301.92", "contract_amount": "301.92",
            "line_items": [
                {"item": "BOARD", "quantity": "48", "unit_price": "4.78", "list_price": "6.45"},
                {"item": "HOLDER", "quantity": "36", "unit_price": "2.31", "list_price": "8.47"},
            ],
        });
        let expected = rows(&[
            ("BOARD", "48 × (6.45 − 4.78)", "80.16"),
            ("HOLDER", "36 × (8.47 − 2.31)", "221.76"),
            ("Sum of the lines", "", "301.92"),
            ("Units × rate", "84 × 3.594286", "301.920024"),
            ("Rounded for GBP", "301.920024 to 2 decimal places, half up", "301.92"),
            ("By agreement, as it arrived", "", "301.92"),
            ("Claimed", "", "301.92"),
            ("Difference", "301.92 − 301.92", "0.00"),
            ("Variance to sign", "", "0.00"),
        ]);
        assert_eq!(claim("GBP", "0.00", payload), expected);
        let middle = json!({"qualifying_units": "1", "tier_rate": "0.5", "rate_basis": "percent_of_base_amount"});
        let expected = rows(&[
            ("Base amount × rate", "1 × 0.5", "0.5"),
            ("Rounded for JPY", "0.5 to 0 decimal places, half up", "1"),
            ("Variance to sign", "", "7"),
        ]);
        assert_eq!(claim("JPY", "7", middle), expected);
    }

    #[test]
    fn what_is_missing_or_no_decimal_is_left_out() {
        let payload = json!({
            "qualifying_units": "1", "tier_rate": null, "rate_basis": "lump_sum_no_rate", "claimed_amount": "100.00",
            "contract_amount": null, "line_items": [{"item": "A", "quantity": "x", "unit_price": "1"}, "?", {}],
        });
        assert_eq!(
            claim("SAR", "100.00", payload),
            rows(&[("Claimed", "", "100.00"), ("Variance to sign", "", "100.00")])
        );
        let many: Vec<Value> = (0..=LINE_ITEMS).map(|_| json!({"quantity": "1", "unit_price": "1"})).collect();
        let payload = json!({"line_items": many, "qualifying_units": "1e9", "tier_rate": "2"});
        assert_eq!(claim("SAR", "1.00", payload), rows(&[("Variance to sign", "", "1.00")]));
    }

    #[test]
    fn a_product_that_cannot_be_exact_is_not_said() {
        let long = "0.1234567890123456789";
        assert_eq!(claim("SAR", "1.00", json!({"qualifying_units": long, "tier_rate": long})).len(), 1);
    }

    #[test]
    fn each_demo_claim_with_a_rate_comes_to_what_its_contract_says() {
        let demo = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../demo/exceptions.jsonl"));
        let mut checked = 0;
        for line in demo.expect("the demo's exceptions").lines() {
            let Ok(arrival) = gate::judge(line.as_bytes()) else { continue };
            let steps = calculation(&arrival.content);
            let result = |label: &str| steps.iter().find(|step| step.label.starts_with(label)).map(|step| &step.result);
            if let Some(rounded) = result("Rounded for ") {
                assert_eq!(Some(rounded), result("By agreement"), "{}", arrival.content.idempotency_key);
                assert_eq!(result("Difference"), result("Variance to sign"));
                checked += 1;
            }
        }
        assert!(checked > 400, "{checked}");
    }
}
