//! What was read from a picture, and how sure the reading was.

use rust_decimal::Decimal;

use crate::exception::Content;

pub use crate::kind::receipt::drift;

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

/// What was read; `None` where the kind has no picture.
pub fn scan(content: &Content) -> Option<Scan> {
    content.kind.module().scan(content)
}
