//! What the OCR read from a receipt.

use serde_json::{Map, Value};

use crate::exception::Content;
use crate::money::parse_decimal;
use crate::scan::{Band, OCR_LINES, ReadLine, Scan};

pub(super) fn scan(content: &Content) -> Scan {
    let lines = content.payload.json.get("ocr_lines").and_then(Value::as_array);
    let text = |field| content.payload.text(field).map(str::to_owned);
    Scan {
        picture: text("image"),
        read_from: text("extracted_from_line"),
        lines: lines.into_iter().flatten().filter_map(Value::as_object).take(OCR_LINES).map(line).collect(),
    }
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
}
