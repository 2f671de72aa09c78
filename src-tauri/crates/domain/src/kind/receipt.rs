//! An expense receipt read by OCR.

mod capture;
mod gates;
mod photographed;
mod scanned;

use crate::evidence::{Evidence, Line, facts, plain};
use crate::exception::Content;
use crate::figure::Outlook;
use crate::gate::Rejection;
use crate::hash;
use crate::kind::{Effect, KindModule};
use crate::money::Money;
use crate::scan::Scan;
use crate::scoring::{Finding, Thresholds};

pub use capture::{Capture, capture, drift};
pub use photographed::{OcrLine, Receipt};

/// The most characters of what was read that are repeated.
const READ_CHARS: usize = 60;
const MEAN: &str = "Mean confidence";

/// Everything that belongs to the kind.
pub struct Module;

impl KindModule for Module {
    fn name(&self) -> &'static str {
        "receipt"
    }

    fn plural(&self) -> &'static str {
        "receipts"
    }

    fn read(&self, _content: &Content) -> Result<(), Rejection> {
        Ok(())
    }

    fn gates(&self, content: &Content) -> Result<(), Rejection> {
        gates::pass(content)
    }

    fn key(&self, content: &Content) -> Option<String> {
        let (id, submitted) = (content.payload.text("receipt_id")?, content.payload.text("submission_ts")?);
        Some(hash::sha256(format!("{id}{submitted}").as_bytes()).to_string())
    }

    fn findings(&self, content: &Content, thresholds: &Thresholds) -> Vec<Finding> {
        let Some(capture) = capture(content, thresholds) else { return Vec::new() };
        let number =
            |value: Option<rust_decimal::Decimal>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        let inputs = vec![("Mean confidence", number(capture.mean)), ("Drift", number(capture.drift))];
        let finding = |reason| Finding {
            rule: "Capture of the receipt",
            inputs: inputs.clone(),
            reason,
            asks_for_a_look: capture.low,
        };
        capture.why.iter().cloned().map(finding).collect()
    }

    fn evidence(&self, content: &Content) -> Evidence {
        let text = |field: &str| content.payload.json.get(field).and_then(plain);
        Evidence {
            left: "Claimed",
            right: "Read by OCR",
            lines: vec![Line {
                label: "Amount",
                left: text("claimed_amount"),
                right: text("extracted_amount"),
                numeric: true,
            }],
            facts: with_drift(
                content,
                facts(
                    content,
                    &[
                        ("Receipt", "receipt_id"),
                        ("Report", "report_id"),
                        ("Shop", "shop"),
                        ("Date on the receipt", "receipt_date_text"),
                        ("Read from", "extracted_from_line"),
                        ("Confidence of that line", "extracted_confidence"),
                        (MEAN, "mean_confidence"),
                        ("OCR engine", "ocr_engine"),
                    ],
                ),
            ),
        }
    }

    fn scan(&self, content: &Content) -> Option<Scan> {
        Some(scanned::scan(content))
    }

    fn approving(&self, _content: &Content) -> Option<Effect> {
        Some(Effect::Routing { to: "policy validation" })
    }

    fn may_be_corrected(&self) -> bool {
        true
    }

    fn outlook(&self, content: &Content) -> Outlook {
        let currency = content.variance.currency;
        let read = content.payload.text("extracted_amount").filter(|text| !text.trim().is_empty());
        let amount_read = read.and_then(|text| Money::parse(text, currency).ok());
        let read = read.map(|text| format!("{} {currency}", text.chars().take(READ_CHARS).collect::<String>()));
        let words = match (&read, amount_read) {
            (Some(read), Some(_)) => format!("{read} as it was read"),
            _ => "the amount that you enter".to_owned(),
        };
        Outlook {
            approving: format!("releases it to policy validation with {words}"),
            rejecting: "returns it to the submitter".to_owned(),
            read: Some(read.unwrap_or_else(|| "nothing".to_owned())),
            amount_read,
            asks_for_amount: amount_read.is_none(),
            ..Outlook::default()
        }
    }

    fn rejecting(&self, _content: &Content) -> Effect {
        Effect::Routing { to: "submitter" }
    }

    #[cfg(test)]
    fn schema(&self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Receipt>()
    }
}

/// How far the OCR was from what it should reach, behind the mean that was stated.
fn with_drift(content: &Content, mut facts: Vec<(String, String)>) -> Vec<(String, String)> {
    let mean = facts.iter().position(|(label, _)| label == MEAN);
    let drift = capture(content, &Thresholds::default()).and_then(|capture| capture.drift);
    if let Some((place, drift)) = mean.zip(drift) {
        facts.insert(place + 1, ("Drift, 1 − mean/0.92".to_owned(), drift.to_string()));
    }
    facts
}

#[cfg(test)]
mod tests;
