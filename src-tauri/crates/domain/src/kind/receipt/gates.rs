//! What a receipt has to be on arrival. The drift gate is none of these: it says who decides, and refuses nothing.

use rust_decimal::Decimal;
use serde_json::Value;

use super::photographed::Receipt;
use crate::dead_letter::Cause;
use crate::exception::Content;
use crate::gate::{self, Gate, Rejection};
use crate::money::parse_decimal;

/// Each gate of the kind, the cheap ones first. (Its key is recomputed after them.)
pub(super) fn pass(content: &Content) -> Result<(), Rejection> {
    content.payload.name("receipt_id")?;
    content.payload.name("submission_ts")?;
    extraction(content)?;
    content.payload.objects("ocr_lines")?;
    let receipt: Receipt = content.payload.read()?;
    gate::amount("payload.claimed_amount", &receipt.claimed_amount, content.variance.currency)?;
    for (field, value) in
        [("extracted_confidence", &receipt.extracted_confidence), ("mean_confidence", &receipt.mean_confidence)]
    {
        if let Some(value) = value {
            confidence(format!("payload.{field}"), value)?;
        }
    }
    for (place, line) in receipt.ocr_lines.iter().enumerate() {
        let field = format!("payload.ocr_lines[{place}].confidence");
        match &line.confidence {
            Some(value) => drop(confidence(field, value)?),
            None if receipt.mean_confidence.is_none() => {
                let reason = "missing; expected a decimal from 0 to 1, because no mean_confidence is given";
                return Err(Rejection::new(Gate::Own, Cause::Field, field, reason));
            }
            None => {}
        }
    }
    Ok(())
}

fn extraction(content: &Content) -> Result<(), Rejection> {
    let got = match content.payload.json.get("ocr_lines") {
        None => "none".to_owned(),
        Some(Value::Array(lines)) if !lines.is_empty() => return Ok(()),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Array(_)) => "an empty list".to_owned(),
        // The type is told with its path when the payload is read.
        Some(_) => return Ok(()),
    };
    let reason = format!("nothing was read from the receipt: expected at least one line of the OCR, got {got}");
    Err(Rejection::new(Gate::Own, Cause::EmptyExtraction, "payload.ocr_lines", reason))
}

fn confidence(field: String, text: &str) -> Result<Decimal, Rejection> {
    let value = parse_decimal(text).ok().filter(|value| (Decimal::ZERO..=Decimal::ONE).contains(value));
    value.ok_or_else(|| {
        let reason = format!("expected a plain decimal from 0 to 1, got `{}`", gate::short(text));
        Rejection::new(Gate::Own, Cause::Field, field, reason)
    })
}
