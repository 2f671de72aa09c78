//! Both sides of the evidence, field by field, and the facts that have no other side.

use serde_json::Value;

use crate::exception::Content;
use crate::money::parse_decimal;
use crate::payload::{ReconBreak, Side, TypedPayload};
use crate::scan;

const MEAN: &str = "Mean confidence";

/// One line of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What is compared.
    pub label: &'static str,
    /// The left side's value.
    pub left: Option<String>,
    /// The right side's value.
    pub right: Option<String>,
    /// Whether the values are amounts.
    pub numeric: bool,
}

/// What a reviewer compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The left side's name.
    pub left: &'static str,
    /// The right side's name.
    pub right: &'static str,
    /// Field by field.
    pub lines: Vec<Line>,
    /// Label and value of what stands alone.
    pub facts: Vec<(String, String)>,
}

impl Evidence {
    /// Whether the sides of a line differ. Where one side is missing altogether there is nothing to compare.
    pub fn differs(&self, line: &Line) -> bool {
        let missing = |side: fn(&Line) -> &Option<String>| self.lines.iter().all(|line| side(line).is_none());
        line.left != line.right && !missing(|line| &line.left) && !missing(|line| &line.right)
    }
}

/// Lays out an exception's evidence.
pub fn evidence(content: &Content) -> Evidence {
    let json = &content.payload.json;
    let text = |field: &str| json.get(field).and_then(plain);
    let facts = |fields: &[(&str, &str)]| {
        fields
            .iter()
            .filter_map(|(label, field)| text(field).map(|value| ((*label).to_owned(), value)))
            .collect::<Vec<_>>()
    };
    let line = |label, left: &str, right: &str, numeric| Line { label, left: text(left), right: text(right), numeric };
    match &content.payload.typed {
        TypedPayload::ReconBreak(sides) => {
            recon_break(sides, facts(&[("Reference similarity", "reference_similarity")]))
        }
        TypedPayload::SalesClaim => Evidence {
            left: "Claimed",
            right: "By agreement",
            lines: vec![line("Amount", "claimed_amount", "contract_amount", true)],
            facts: facts(&[
                ("Retailer invoice", "retailer_invoice"),
                ("Vendor", "vendor_name"),
                ("Claim period", "claim_period"),
                ("Promotion tier", "promo_tier"),
                ("Agreement", "agreement_ref"),
                ("Agreement version", "agreement_version"),
                ("Qualifying units", "qualifying_units"),
                ("Tier rate", "tier_rate"),
                ("Line items", "line_item_count"),
            ]),
        },
        TypedPayload::Receipt => Evidence {
            left: "Claimed",
            right: "Read by OCR",
            lines: vec![line("Amount", "claimed_amount", "extracted_amount", true)],
            facts: with_drift(facts(&[
                ("Receipt", "receipt_id"),
                ("Report", "report_id"),
                ("Shop", "shop"),
                ("Date on the receipt", "receipt_date_text"),
                ("Read from", "extracted_from_line"),
                ("Confidence of that line", "extracted_confidence"),
                (MEAN, "mean_confidence"),
                ("OCR engine", "ocr_engine"),
            ])),
        },
    }
}

/// How far the OCR was from what it should reach, behind the mean that says so.
fn with_drift(mut facts: Vec<(String, String)>) -> Vec<(String, String)> {
    let mean = facts.iter().position(|(label, _)| label == MEAN);
    let drift = mean.and_then(|place| parse_decimal(&facts[place].1).ok().and_then(scan::drift));
    if let Some((place, drift)) = mean.zip(drift) {
        facts.insert(place + 1, ("Drift, 1 − mean/0.92".to_owned(), drift.to_string()));
    }
    facts
}

fn recon_break(sides: &ReconBreak, mut facts: Vec<(String, String)>) -> Evidence {
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
            line("Date", false, &|side| Some(side.date.to_string())),
            line("Reference", false, &|side| side.reference.clone()),
            line("Counterparty", false, &|side| side.counterparty.clone()),
            line("Source", false, &|side| Some(side.source_id.clone())),
        ],
        facts,
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(pairs: &[(Option<&str>, Option<&str>)]) -> Evidence {
        let line = |(left, right): &(Option<&str>, Option<&str>)| Line {
            label: "x",
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
            numeric: false,
        };
        Evidence { left: "l", right: "r", lines: pairs.iter().map(line).collect(), facts: Vec::new() }
    }

    #[test]
    fn a_difference_needs_two_sides() {
        let both = evidence(&[(Some("1"), Some("2")), (Some("1"), Some("1")), (Some("1"), None)]);
        assert_eq!(both.lines.iter().map(|line| both.differs(line)).collect::<Vec<_>>(), [true, false, true]);
        let one = evidence(&[(Some("1"), None), (Some("2"), None)]);
        assert!(one.lines.iter().all(|line| !one.differs(line)));
    }
}
