//! What a sales claim has to be on arrival.

use rust_decimal::Decimal;
use serde_json::Value;

use super::accrual::worked_out;
use super::claim::{LineItem, SalesClaim};
use crate::dead_letter::Cause;
use crate::exception::Content;
use crate::gate::{self, Gate, Rejection};
use crate::money::exact_sum;

/// The latest version an agreement may have; the database reads nine digits.
const VERSIONS: i64 = 999_999_999;

/// Each gate of the kind, the cheap ones first. (Its key is recomputed after them.)
pub(super) fn pass(content: &Content) -> Result<(), Rejection> {
    names(content)?;
    agreement(content.payload.json.get("agreement_version").unwrap_or(&Value::Null))?;
    content.payload.objects("line_items").map_err(of_the_lines)?;
    let claim: SalesClaim = content.payload.read().map_err(of_the_lines)?;
    figures(content, &claim)?;
    lines(&claim)?;
    worked_out(content).map(drop)
}

fn names(content: &Content) -> Result<(), Rejection> {
    content.payload.name("vendor_id")?;
    for field in ["retailer_invoice", "line_item_hash", "promo_tier", "claim_period"] {
        if content.payload.name(field)?.contains('|') {
            let reason = "contains `|`, which separates what the key is made of: another claim could have the same key";
            return Err(Rejection::new(Gate::Own, Cause::Name, format!("payload.{field}"), reason));
        }
    }
    for field in ["vendor_name", "agreement_ref", "rate_basis"] {
        if let Some(text) = content.payload.text(field) {
            gate::name(&format!("payload.{field}"), text)?;
        }
    }
    Ok(())
}

/// What is wrong in the lines is a matter of the lines.
fn of_the_lines(rejection: Rejection) -> Rejection {
    let lines = rejection.field.as_deref().is_some_and(|field| field.starts_with("payload.line_item"));
    if lines && rejection.cause == Cause::Field {
        Rejection { cause: Cause::LineItems, ..rejection }
    } else {
        rejection
    }
}

fn agreement(version: &Value) -> Result<(), Rejection> {
    if version.as_i64().is_some_and(|version| (1..=VERSIONS).contains(&version)) {
        return Ok(());
    }
    let got = if version.is_null() { "none".to_owned() } else { gate::shown(version) };
    let reason = format!(
        "expected the whole number, from 1 to {VERSIONS}, of the version that was in force when the claim was made, got {got}"
    );
    Err(Rejection::new(Gate::Own, Cause::Agreement, "payload.agreement_version", reason))
}

fn figures(content: &Content, claim: &SalesClaim) -> Result<(), Rejection> {
    let currency = content.variance.currency;
    gate::amount("payload.claimed_amount", &claim.claimed_amount, currency)?;
    if let Some(amount) = &claim.contract_amount {
        gate::amount("payload.contract_amount", amount, currency)?;
    }
    for (field, value) in [("qualifying_units", &claim.qualifying_units), ("tier_rate", &claim.tier_rate)] {
        if let Some(value) = value {
            gate::exact(format!("payload.{field}"), value)?;
        }
    }
    for (place, item) in claim.line_items.iter().flatten().enumerate() {
        let path = |name: &str| format!("payload.line_items[{place}].{name}");
        for (name, value) in item.decimals() {
            if let Some(value) = value {
                gate::exact(path(name), value)?;
            }
        }
        for (name, value) in item.amounts() {
            if let Some(value) = value {
                gate::amount(path(name), value, currency)?;
            }
        }
    }
    Ok(())
}

fn lines(claim: &SalesClaim) -> Result<(), Rejection> {
    let refuse = |field: &str, reason: String| {
        Err(Rejection::new(Gate::Own, Cause::LineItems, format!("payload.{field}"), reason))
    };
    let items = claim.line_items.as_deref().unwrap_or_default();
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    if let Some(hash) = &claim.line_items_sha256 {
        let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if hash.len() != 64 || !hash.bytes().all(hex) {
            let got = gate::short(hash);
            return refuse("line_items_sha256", format!("expected a SHA-256 in 64 lower-case hex digits, got `{got}`"));
        }
        if claim.line_items.is_some() {
            let reason =
                "there although line_items_sha256 says that the lines come apart from the claim; expected one of them";
            return refuse("line_items", reason.to_owned());
        }
        if claim.line_item_count == 0 {
            return refuse(
                "line_item_count",
                "expected how many lines come apart from the claim, at least 1, got 0".to_owned(),
            );
        }
        return Ok(());
    }
    if items.is_empty() {
        let reason = "expected the line items, or line_items_sha256 where they come apart from the claim, got none";
        return refuse("line_items", reason.to_owned());
    }
    if count > claim.line_item_count {
        return refuse(
            "line_item_count",
            format!("expected {count}, as many as there are line items, got {}", claim.line_item_count),
        );
    }
    let own: Option<Vec<&String>> = items.iter().map(units_with_rate).collect();
    let Some(units) = own else { return Ok(()) };
    if count < claim.line_item_count {
        let reason = format!(
            "expected all {} line items, because each has its rate and the accrual is their sum, got {count}",
            claim.line_item_count
        );
        return refuse("line_items", reason);
    }
    adds_up(claim, &units)
}

fn units_with_rate(item: &LineItem) -> Option<&String> {
    item.units.as_ref().filter(|_| item.tier_rate.is_some())
}

/// Where each line has its units and its rate, the claim's units are their sum.
fn adds_up(claim: &SalesClaim, units: &[&String]) -> Result<(), Rejection> {
    let Some(said) = &claim.qualifying_units else { return Ok(()) };
    let said = gate::exact("payload.qualifying_units", said)?;
    let mut sum = Decimal::ZERO;
    for (place, units) in units.iter().enumerate() {
        let field = format!("payload.line_items[{place}].units");
        let units = gate::exact(field.as_str(), units)?;
        sum = exact_sum(sum, units).ok_or_else(|| {
            let reason = format!(
                "the sum so far, {sum}, and {units} cannot be held within 28 digits; expected units whose sum is exact"
            );
            Rejection::new(Gate::Monetary, Cause::Amount, field.as_str(), reason)
        })?;
    }
    if sum == said {
        return Ok(());
    }
    let reason = format!("expected {sum}, the sum of the units of all lines, got {said}");
    Err(Rejection::new(Gate::Own, Cause::LineItems, "payload.qualifying_units", reason))
}
