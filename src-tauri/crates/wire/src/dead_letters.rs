//! The desk of dead letters.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::HistoryEvent;

/// An amount in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// A decimal string.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
}

/// Letters of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterCause {
    /// Its name, such as `VENDOR`.
    pub cause: String,
    /// In words.
    pub words: String,
    /// Open or being discarded.
    pub open: u32,
    /// Taken.
    pub taken: u32,
    /// When the oldest of these came first.
    pub oldest: Option<String>,
    /// Absolute variances that the close lacks, by currency.
    pub at_risk: Vec<Amount>,
    /// How many have no amount that can be read.
    pub without_amount: u32,
}

/// One letter of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterRow {
    /// Names it.
    pub id: String,
    /// `OPEN`, `TAKEN`, `REPLAYED`, `DISCARDING` or `DISCARDED`.
    pub status: String,
    /// In words, such as "taken by you".
    pub status_words: String,
    /// Whether the caller has taken it.
    pub mine: bool,
    /// The cause's name.
    pub cause: String,
    /// The cause in words.
    pub cause_words: String,
    /// The field at fault.
    pub field: Option<String>,
    /// What was expected and what came.
    pub reason: String,
    /// Where it came from, with the line.
    pub origin: String,
    /// When it came first.
    pub first_at: String,
    /// Whole days since then.
    pub age_days: u32,
    /// How often it was tried.
    pub attempts: u32,
    /// Who works on it, or did.
    pub owner: Option<String>,
    /// The arrival's key.
    pub key: Option<String>,
    /// Its kind, such as `recon_break`.
    pub kind: Option<String>,
    /// Its ledger entity.
    pub entity: Option<String>,
    /// Its variance.
    pub at_risk: Option<Amount>,
    /// How often it was corrected.
    pub corrections: u32,
}

/// The desk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DeskView {
    /// By cause, the most letters first.
    pub causes: Vec<LetterCause>,
    /// Oldest first.
    pub letters: Vec<LetterRow>,
    /// Letters beyond these.
    pub more: u32,
}

/// A value of a letter that was corrected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterChange {
    /// The path, such as `payload.claim_period`; empty where the text is no JSON.
    pub path: String,
    /// What came; absent where nothing was there.
    pub before: Option<String>,
    /// What it is now; absent where it was taken out.
    pub after: Option<String>,
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterCorrection {
    /// From 1.
    pub revision: u32,
    /// Who.
    pub by: String,
    /// When.
    pub at: String,
    /// What differs from the one before.
    pub changes: Vec<LetterChange>,
}

/// A field of a letter that can be corrected one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterField {
    /// The path.
    pub path: String,
    /// The value: a text, or JSON for anything else.
    pub value: String,
    /// Whether it is a text.
    pub text: bool,
    /// Whether it is the one at fault.
    pub at_fault: bool,
    /// Whether it is not there, and would be put in.
    pub missing: bool,
    /// What it was in the original, where that differs.
    pub original: Option<String>,
}

/// Everything about one letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterView {
    /// What the list says.
    pub row: LetterRow,
    /// The original as text; bytes that are none are shown as `<XX>`.
    pub original: String,
    /// Whether it is cut.
    pub cut: bool,
    /// The size of the whole original, in bytes.
    pub original_size: String,
    /// The text as it was last corrected, indented; what an editor begins with. Absent for what a workstation gave up.
    pub body: Option<String>,
    /// The same by field, at most 500; empty where it is no JSON object.
    pub fields: Vec<LetterField>,
    /// The revision of `body`; 0 is the original.
    pub revision: u32,
    /// What differs from the original now.
    pub changes: Vec<LetterChange>,
    /// Every correction, oldest first.
    pub corrections: Vec<LetterCorrection>,
    /// What happened to it, oldest first.
    pub history: Vec<HistoryEvent>,
    /// Who wants to discard it, or did.
    pub discard_by: Option<String>,
    /// Why.
    pub discard_reason: Option<String>,
}

/// What is asked of the list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct LetterQuery {
    /// Only these causes; all, if empty.
    pub causes: Vec<String>,
    /// Those that are done too.
    pub done: bool,
}

/// A new value for a field; `null` takes it out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct LetterEdit {
    /// The path, as in [`LetterField`].
    pub path: String,
    /// The value: a text as it is, anything else as JSON.
    pub value: Option<String>,
    /// Whether it is a text.
    pub text: bool,
}

/// A correction: fields one by one, or the whole text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct LetterFix {
    /// The letter.
    pub id: String,
    /// The revision it was made from.
    pub revision: u32,
    /// The new values; empty with `body`.
    pub edits: Vec<LetterEdit>,
    /// The whole new text.
    pub body: Option<String>,
}

/// What became, or would become, of letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LetterOutcome {
    /// Which.
    pub id: String,
    /// Such as `ENQUEUED` or `REFUSED`.
    pub outcome: String,
    /// Whether it goes in; of what does not send it in: whether it was done.
    pub passes: bool,
    /// In words.
    pub words: String,
    /// The field at fault.
    pub field: Option<String>,
}

/// What became, or would become, of all letters of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LettersReply {
    /// One for each that was looked at, in the order that was asked.
    pub letters: Vec<LetterOutcome>,
    /// The same in words, with counts.
    pub message: String,
    /// The letters that are missing above were not looked at, because there were too many within a minute: how long to wait before they
    /// are asked for again, in milliseconds.
    pub wait_ms: Option<u32>,
}
