//! The drift gate: whether a receipt was read well enough to go on without a person.

use rust_decimal::Decimal;
use serde_json::Value;

use crate::exception::{Content, Kind, MatchDecision};
use crate::money::{Money, exact_sum, parse_decimal, round_half_up};
use crate::scoring::Thresholds;

/// What the mean confidence of a receipt should reach.
const EXPECTED: Decimal = Decimal::from_parts(92, 0, 0, false, 2);
/// The drift over which a person decides.
const DRIFT: Decimal = Decimal::from_parts(15, 0, 0, false, 2);

/// The digits of a mean that is stated.
const STATED_DIGITS: u32 = 4;

/// How well a receipt was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The mean confidence: that of the lines or the one that is stated, whichever is lower. `None`: neither can be read.
    pub mean: Option<Decimal>,
    /// `1 − mean/0.92`, half-up to 4 digits.
    pub drift: Option<Decimal>,
    /// Whether confidence is low: it drifted by more than 0.15, or its amount is none of the currency.
    pub low: bool,
    /// Whether a person has to decide. Otherwise it goes on to policy validation by itself.
    pub needs_person: bool,
    /// Why, in a reviewer's words, as far as it is about the capture.
    pub why: Vec<String>,
}

/// How well a receipt was read; `None` for other kinds. Nothing goes on by itself whose figures contradict each other, that claims nothing, or
/// that is above what is escalated.
pub fn capture(content: &Content, thresholds: &Thresholds) -> Option<Capture> {
    if content.kind != Kind::Receipt {
        return None;
    }
    let stated = content.payload.text("mean_confidence").and_then(|text| parse_decimal(text).ok());
    let mean = match (stated, mean_of_lines(content, stated.is_some())) {
        // What is stated comes rounded.
        (Some(stated), Some(lines)) => Some(stated.min(round_half_up(lines, STATED_DIGITS))),
        (stated, lines) => stated.or(lines),
    };
    let drift = mean.and_then(drift);
    let drifted = drift.is_none_or(|drift| drift > DRIFT);
    let currency = content.variance.currency;
    let read = content.payload.text("extracted_amount");
    let amount = read.and_then(|text| Money::parse(text, currency).ok());
    let mut why = Vec::new();
    match drift {
        Some(drift) if drifted => why.push(format!("Low confidence of the OCR: a drift of {drift} is over {DRIFT}.")),
        Some(_) => {}
        None => why.push("How sure the OCR was is not said.".to_owned()),
    }
    match (amount, read) {
        (Some(_), _) => {}
        (None, Some(text)) => {
            let shown: String = text.chars().take(60).collect();
            why.push(format!("What the OCR read, `{shown}`, is no amount in {currency}."));
        }
        (None, None) => why.push("The OCR read no amount.".to_owned()),
    }
    let low = drifted || amount.is_none();
    let claimed = content.payload.text("claimed_amount").and_then(|text| Money::parse(text, currency).ok());
    if let Some((read, claimed)) = amount.zip(claimed).filter(|(read, claimed)| read.amount != claimed.amount) {
        why.push(format!("The OCR read {}, and {} {currency} is claimed.", read.text(), claimed.text()));
    }
    let plausible = amount.zip(claimed).is_some_and(|(read, claimed)| {
        read.amount == claimed.amount && claimed.amount > Decimal::ZERO && claimed.amount <= thresholds.escalate_above
    });
    let agreed = content.match_decision == MatchDecision::Matched && content.variance.amount.is_zero() && plausible;
    Some(Capture { mean, drift, low, needs_person: low || !agreed, why })
}

/// How far a receipt's mean confidence is below the 0.92 that is expected: `1 − mean/0.92`, half-up to 4 digits.
pub fn drift(mean: Decimal) -> Option<Decimal> {
    let mut drift = round_half_up(Decimal::ONE.checked_sub(mean.checked_div(EXPECTED)?)?, 4);
    drift.rescale(4);
    Some(drift)
}

/// The mean of the lines that say how sure the OCR was. All have to say it, unless a mean is stated for them.
fn mean_of_lines(content: &Content, some: bool) -> Option<Decimal> {
    let lines = content.payload.json.get("ocr_lines")?.as_array()?;
    let said = lines.iter().map(|line| parse_decimal(line.get("confidence").and_then(Value::as_str)?).ok());
    let said: Vec<Decimal> = if some { said.flatten().collect() } else { said.collect::<Option<_>>()? };
    let sum = said.iter().try_fold(Decimal::ZERO, |sum, each| exact_sum(sum, *each))?;
    sum.checked_div(Decimal::from(said.len()))
}
