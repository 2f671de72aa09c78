//! How an exception's amount comes about, written out from what arrived. What is missing is left out, never made up.

use rust_decimal::Decimal;

use crate::exception::Content;

pub use crate::kind::sales_claim::LINE_ITEMS;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is.
    pub label: String,
    /// The working, such as `14 × 0.55`; empty where nothing is worked out.
    pub working: String,
    /// What it comes to, a plain decimal.
    pub result: String,
}

impl Step {
    pub(crate) fn new(label: &str, working: String, result: Decimal) -> Self {
        Self { label: label.to_owned(), working, result: result.to_string() }
    }
}

/// The steps; none where the kind has nothing to work out.
pub fn calculation(content: &Content) -> Vec<Step> {
    content.kind.module().calculation(content)
}
