//! What the OCR read from a receipt, and how sure it was.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::exception::Content;
use crate::money::{parse_decimal, round_half_up};
use crate::payload::TypedPayload;

/// The most lines that are shown.
pub const OCR_LINES: usize = 500;

/// How sure the OCR was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// At least 0.90.
    High,
    /// At least 0.75.
    Medium,
    /// Less, or not said.
    Low,
}

impl Band {
    /// The band of a confidence from 0 to 1.
    pub fn of(confidence: Decimal) -> Self {
        if confidence >= Decimal::new(90, 2) {
            Self::High
        } else if confidence >= Decimal::new(75, 2) {
            Self::Medium
        } else {
            Self::Low
        }
    }
}

/// A line, with its box in pixels of the page: left, top, width and height, all 0 when none came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLine {
    /// What was read.
    pub text: String,
    /// As it arrived; empty when none did.
    pub confidence: String,
    /// The same as a word.
    pub band: Band,
    /// The box.
    pub place: [u32; 4],
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The name of the picture.
    pub picture: Option<String>,
    /// The line from which the amount was taken.
    pub read_from: Option<String>,
    /// At most [`OCR_LINES`].
    pub lines: Vec<ReadLine>,
}

/// What was read from a receipt; `None` for other kinds.
pub fn scan(content: &Content) -> Option<Scan> {
    if !matches!(content.payload.typed, TypedPayload::Receipt) {
        return None;
    }
    let json = &content.payload.json;
    let text = |field: &str| json.get(field).and_then(Value::as_str).map(str::to_owned);
    let lines = json.get("ocr_lines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Some(Scan {
        picture: text("image"),
        read_from: text("extracted_from_line"),
        lines: lines.iter().filter_map(Value::as_object).take(OCR_LINES).map(line).collect(),
    })
}

/// How far a receipt's mean confidence is below the 0.92 that is expected: `1 − mean/0.92`, half-up to 4 digits.
pub fn drift(mean: Decimal) -> Option<Decimal> {
    let mut drift = round_half_up(Decimal::ONE.checked_sub(mean.checked_div(Decimal::new(92, 2))?)?, 4);
    drift.rescale(4);
    Some(drift)
}

fn line(json: &Map<String, Value>) -> ReadLine {
    let confidence = match json.get("confidence") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let place: Option<Vec<u32>> =
        json.get("bbox").and_then(Value::as_array).and_then(|numbers| numbers.iter().map(number).collect());
    ReadLine {
        text: json.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        band: parse_decimal(&confidence).map_or(Band::Low, Band::of),
        confidence,
        place: place.and_then(|numbers| numbers.try_into().ok()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_that_lacks_something_is_read_without_it() {
        let read = |value: Value| line(value.as_object().expect("an object"));
        for (value, confidence, band, place) in [
            (json!({"text": "a", "confidence": "0.90", "bbox": [1, 2, 3, 4]}), "0.90", Band::High, [1, 2, 3, 4]),
            (json!({"text": "a", "confidence": "0.8999", "bbox": [1, 2, 3]}), "0.8999", Band::Medium, [0; 4]),
            (json!({"text": "a", "confidence": 0.75, "bbox": [1, 2, 3, -4]}), "0.75", Band::Medium, [0; 4]),
            (json!({"text": "a", "confidence": "0.7499", "bbox": "x"}), "0.7499", Band::Low, [0; 4]),
            (json!({"text": "a", "confidence": null, "bbox": [1, 2, 3, 4_294_967_296_u64]}), "", Band::Low, [0; 4]),
        ] {
            let text = "a".to_owned();
            assert_eq!(read(value), ReadLine { text, confidence: confidence.into(), band, place });
        }
    }

    #[test]
    fn drift_is_rounded_half_up_to_four_digits() {
        for (mean, expected) in [("0.92", "0.0000"), ("0.7840", "0.1478"), ("0.9294", "-0.0102"), ("0", "1.0000")] {
            let mean = parse_decimal(mean).expect("a decimal");
            assert_eq!(drift(mean).map(|drift| drift.to_string()).as_deref(), Some(expected));
        }
    }
}
