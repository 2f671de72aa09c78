//! How a claim's amount comes about.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::accrual::{Rated, decimal, rated};
use crate::calculation::Step;
use crate::exception::Content;
use crate::money::{exact_product, exact_sum, in_minor_units};

/// The most line items that are written out.
pub const LINE_ITEMS: usize = 200;
/// The most characters of an item's name.
const NAME_CHARS: usize = 200;

/// The steps from the lines to the variance.
pub(super) fn steps(content: &Content) -> Vec<Step> {
    let json = &content.payload.json;
    let mut steps = lines(json);
    steps.extend(agreement(content));
    let (claimed, contract) = (decimal(json.get("claimed_amount")), decimal(json.get("contract_amount")));
    if let Some(contract) = contract {
        steps.push(Step::new("By agreement, as it arrived", String::new(), contract));
    }
    if let Some(claimed) = claimed {
        steps.push(Step::new("Claimed", String::new(), claimed));
    }
    if let Some((claimed, contract)) = claimed.zip(contract)
        && let Some(difference) = claimed.checked_sub(contract)
    {
        steps.push(Step::new("Difference", format!("{claimed} − {}", operand(contract)), difference));
    }
    steps.push(Step::new("Variance to sign", String::new(), content.variance.amount));
    steps
}

/// Units times rate, exactly and then rounded.
fn agreement(content: &Content) -> Vec<Step> {
    let currency = content.variance.currency;
    let (exact, first) = match rated(content) {
        Rated::Nothing => return Vec::new(),
        Rated::Lines(lines) => {
            let sum = lines
                .iter()
                .try_fold(Decimal::ZERO, |sum, (units, rate)| exact_sum(sum, exact_product(*units, *rate)?));
            (sum, None)
        }
        Rated::Whole(units, rate) => {
            let exact = exact_product(units, rate);
            let of_an_amount = content.payload.text("rate_basis").is_some_and(|basis| basis.starts_with("percent"));
            let label = if of_an_amount { "Base amount × rate" } else { "Units × rate" };
            (exact, exact.map(|exact| Step::new(label, format!("{units} × {}", operand(rate)), exact)))
        }
    };
    let rounded = exact.and_then(|exact| Some((exact, in_minor_units(exact, currency)?.amount)));
    let rounded = rounded.map(|(exact, rounded)| {
        let working = format!("{exact} to {} decimal places, half up", currency.minor_units());
        Step::new(&format!("Rounded for {currency}"), working, rounded)
    });
    first.into_iter().chain(rounded).collect()
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
        worked.iter().map(|(_, claim)| *claim).try_fold(Decimal::ZERO, |sum, claim| exact_sum(sum, claim?));
    // Some of the lines add up to nothing that anybody claimed.
    let all = json
        .get("line_item_count")
        .and_then(Value::as_u64)
        .is_none_or(|count| usize::try_from(count).is_ok_and(|count| count == items.len()));
    let complete = all && worked.len() == items.len() && worked.len() > 1;
    let sum = claims.filter(|_| complete).map(|sum| Step::new("Sum of the lines", String::new(), sum));
    worked.into_iter().map(|(step, _)| step).chain(sum).collect()
}

/// One line item, and what it claims where the line says so.
fn line(place: usize, item: &Map<String, Value>) -> Option<(Step, Option<Decimal>)> {
    let field = |name| decimal(item.get(name));
    let name = ["item", "invoice"].iter().find_map(|field| item.get(*field).and_then(Value::as_str));
    let name = name
        .filter(|name| !name.is_empty())
        .map_or_else(|| format!("Line {}", place + 1), |name| name.chars().take(NAME_CHARS).collect());
    let made = |working: String, result| Step::new(&name, working, result);
    if let Some((units, rate)) = field("units").zip(field("tier_rate")) {
        let result = exact_product(units, rate)?;
        return Some((made(format!("{units} × {}", operand(rate)), result), Some(result)));
    }
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
        let result = exact_product(quantity, list.checked_sub(price)?)?;
        return Some((made(format!("{quantity} × ({list} − {})", operand(price)), result), Some(result)));
    }
    // The invoice's line, of which the claim is a part or a share.
    Some((made(format!("{quantity} × {}", operand(price)), exact_product(quantity, price)?), None))
}

fn operand(value: Decimal) -> String {
    if value.is_sign_negative() { format!("({value})") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate;

    fn claim(currency: &str, variance: &str, payload: Value) -> Vec<(String, String, String)> {
        let content = gate::read_body(&body(currency, variance, payload)).expect("a good body");
        steps(&content).into_iter().map(|step| (step.label, step.working, step.result)).collect()
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
        line.to_string()
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
            let steps = steps(&arrival.content);
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
