//! What a receipt carries.

use serde::Deserialize;

/// An expense receipt. Its key is the SHA-256, in lower-case hex, of `receipt_id` followed by `submission_ts`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Its identifier at the source.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    pub receipt_id: String,
    /// When it was submitted, exactly as it went into the key.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    pub submission_ts: String,
    /// The report that it belongs to; `group_key` carries it too, so that a report is never split.
    #[serde(default)]
    pub report_id: Option<String>,
    /// Where it is from.
    #[serde(default)]
    pub shop: Option<String>,
    /// The date as it stands on it.
    #[serde(default)]
    pub receipt_date_text: Option<String>,
    /// What the submitter claims, in the currency's minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::decimal"))]
    pub claimed_amount: String,
    /// What the OCR read. What is no amount of the currency makes the receipt one for a person.
    #[serde(default)]
    pub extracted_amount: Option<String>,
    /// The line from which that was read.
    #[serde(default)]
    pub extracted_from_line: Option<String>,
    /// How sure the OCR was of that line, from 0 to 1.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_confidence"))]
    pub extracted_confidence: Option<String>,
    /// The mean confidence of all lines, from 0 to 1; without it, the mean is taken of `ocr_lines`.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_confidence"))]
    pub mean_confidence: Option<String>,
    /// What read it.
    #[serde(default)]
    pub ocr_engine: Option<String>,
    /// The name of its picture, which is delivered by itself.
    #[serde(default)]
    pub image: Option<String>,
    /// Line by line what was read, at least one.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub ocr_lines: Vec<OcrLine>,
}

/// One line that the OCR read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OcrLine {
    /// What it says.
    #[serde(default)]
    pub text: Option<String>,
    /// How sure the OCR was, from 0 to 1. It may be absent where `mean_confidence` is given.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_confidence"))]
    pub confidence: Option<String>,
}
