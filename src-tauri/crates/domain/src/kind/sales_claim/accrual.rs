//! What approving a sales claim posts.

use rust_decimal::Decimal;
use serde_json::Value;

use crate::dead_letter::Cause;
use crate::exception::{Content, Kind};
use crate::gate::{Gate, Rejection};
use crate::money::{AMOUNT_DIGITS, Money, exact_product, exact_sum, in_minor_units, parse_decimal};

/// Where an accrual's amount comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Units times the rate of the pinned agreement.
    Agreement,
    /// The agreement has no rate for it: what was claimed.
    Claimed,
}

/// What approving a sales claim posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accrual {
    /// The amount, in the claim's currency and its minor units.
    pub amount: Money,
    /// Where it comes from.
    pub basis: Basis,
}

/// What approving posts: `Σ units × rate`, exact within 28 digits and then half-up to the currency's minor units. The sum is over the
/// lines where each of them has its own `units` and `tier_rate`; else it is `qualifying_units × tier_rate` of the claim as a whole. Where
/// that has no rate either, it is what was claimed. `None` for other kinds, and for a claim of which none of it can be read exactly.
///
/// `countersign.accrual` in the database computes the same and refuses a decision that says another amount.
pub fn accrual(content: &Content) -> Option<Accrual> {
    if content.kind != Kind::SalesClaim {
        return None;
    }
    worked_out(content).ok()
}

/// The same, and why there is none.
pub(super) fn worked_out(content: &Content) -> Result<Accrual, Rejection> {
    let (exact, basis, field) = match rated(content) {
        Rated::Lines(lines) => (sum(&lines)?, Basis::Agreement, "line_items"),
        Rated::Whole(units, rate) => {
            let exact = exact_product(units, rate).ok_or_else(|| too_long("tier_rate", &format!("{units} × {rate}")));
            (exact?, Basis::Agreement, "tier_rate")
        }
        Rated::Nothing => {
            let claimed = decimal(content.payload.json.get("claimed_amount"))
                .ok_or_else(|| refused("claimed_amount", "no exact decimal; expected the amount that is claimed"))?;
            (claimed, Basis::Claimed, "claimed_amount")
        }
    };
    let amount = in_minor_units(exact, content.variance.currency)
        .ok_or_else(|| too_long(field, &format!("{exact} {}", content.variance.currency)))?;
    Ok(Accrual { amount, basis })
}

/// What the units and the rates of a claim are.
pub(super) enum Rated {
    /// Each line has its own.
    Lines(Vec<(Decimal, Decimal)>),
    /// The claim has them as a whole.
    Whole(Decimal, Decimal),
    /// There is no rate.
    Nothing,
}

pub(super) fn rated(content: &Content) -> Rated {
    let json = &content.payload.json;
    let lines = json.get("line_items").and_then(Value::as_array).filter(|lines| !lines.is_empty());
    let lines: Option<Vec<_>> = lines.and_then(|lines| {
        lines.iter().map(|line| decimal(line.get("units")).zip(decimal(line.get("tier_rate")))).collect()
    });
    match (lines, decimal(json.get("qualifying_units")).zip(decimal(json.get("tier_rate")))) {
        (Some(lines), _) => Rated::Lines(lines),
        (None, Some((units, rate))) => Rated::Whole(units, rate),
        (None, None) => Rated::Nothing,
    }
}

fn sum(lines: &[(Decimal, Decimal)]) -> Result<Decimal, Rejection> {
    lines.iter().enumerate().try_fold(Decimal::ZERO, |sum, (place, (units, rate))| {
        exact_product(*units, *rate).and_then(|product| exact_sum(sum, product)).ok_or_else(|| {
            too_long(&format!("line_items[{place}]"), &format!("the sum so far, {sum}, and {units} × {rate}"))
        })
    })
}

pub(super) fn decimal(value: Option<&Value>) -> Option<Decimal> {
    parse_decimal(value?.as_str()?).ok()
}

fn too_long(field: &str, what: &str) -> Rejection {
    refused(field, &format!("{what} cannot be held within {AMOUNT_DIGITS} digits; expected an accrual that is exact"))
}

fn refused(field: &str, reason: &str) -> Rejection {
    Rejection::new(Gate::Monetary, Cause::Amount, format!("payload.{field}"), reason)
}
