//! Files that the workstation writes for the reviewer, and decisions that come back in them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CurrencyTotal, DecisionChoice};

/// The format of an exported deck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SheetFormat {
    /// A workbook: amounts are numbers, identifiers are text.
    Xlsx,
    /// Comma-separated UTF-8.
    Csv,
}

/// The format of an exported receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReceiptFormat {
    /// To print.
    Pdf,
    /// Comma-separated UTF-8.
    Csv,
    /// With every field.
    Json,
}

/// A file that was written, readable by its owner alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SavedFile {
    /// Its full path.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u32,
    /// SHA-256 of it, in hex.
    pub sha256: String,
}

/// Decisions of a spreadsheet that can be signed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ImportGroup {
    /// Approve or reject.
    pub decision: DecisionChoice,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The exceptions.
    pub ids: Vec<String>,
    /// By currency.
    pub totals: Vec<CurrencyTotal>,
}

/// A row of the spreadsheet that says something else than the deck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ImportDifference {
    /// The row's number in the file, the heading being 1.
    pub row: u32,
    /// The exception.
    pub id: String,
    /// The column.
    pub column: String,
    /// What the file says.
    pub in_file: String,
    /// What the deck says; it is what will be signed.
    pub in_deck: String,
}

/// A row that cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ImportProblem {
    /// The row's number in the file; 0 for the file as a whole.
    pub row: u32,
    /// The exception, as far as it can be read.
    pub id: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a spreadsheet comes to. Nothing is signed by reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ImportView {
    /// The file's name.
    pub file: String,
    /// Rows with data.
    pub rows: u32,
    /// Rows in which nothing is decided.
    pub undecided: u32,
    /// What can be signed, each group with its own dialog.
    pub groups: Vec<ImportGroup>,
    /// At most 500.
    pub differences: Vec<ImportDifference>,
    /// At most 500. A group leaves these rows out.
    pub problems: Vec<ImportProblem>,
}
