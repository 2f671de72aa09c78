//! The deck, and one exception of it.

use serde::Serialize;
use ts_rs::TS;

/// A suggestion; it never signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SuggestionView {
    /// `AUTO_RESOLVE`, `AUTO_APPROVE`, `ROUTE_REVIEW` or `ESCALATE`.
    pub code: String,
    /// A word or two for the grid.
    pub label: String,
    /// Why.
    pub reasons: Vec<String>,
}

/// What a mark in the deck is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MarkKind {
    /// Somebody has signed it before; a second signature is needed.
    Signed,
    /// It reverses another exception.
    Reversal,
    /// A decision on it will be refused, as far as can be foreseen.
    Refusal,
}

/// Something to know of an exception before it is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Mark {
    /// What it is about.
    pub kind: MarkKind,
    /// A few words.
    pub label: String,
    /// What it means.
    pub explanation: String,
}

/// How old an exception is, in whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub enum Aging {
    /// Up to 30 days.
    #[serde(rename = "0-30")]
    UpTo30,
    /// 31 to 60 days.
    #[serde(rename = "31-60")]
    UpTo60,
    /// 61 to 90 days.
    #[serde(rename = "61-90")]
    UpTo90,
    /// More than 90 days.
    #[serde(rename = "90+")]
    Over90,
}

/// What policy and deck make of an exception; shipped views are made of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Trait {
    /// The variance is zero after rounding.
    ZeroVariance,
    /// The variance is not zero and below the policy's materiality.
    BelowMateriality,
    /// Above the policy's threshold of large variances.
    Large,
    /// An approval has to be joined by a second one.
    NeedsSecond,
    /// It was decided here before and came back.
    Returned,
}

/// What keeps an exception's effect back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct HeldBehind {
    /// The exception's identifier, when it is in the deck.
    pub id: Option<String>,
    /// Its place in the partition, as a decimal string.
    pub seq: String,
}

/// How urgent a state is to the eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tone {
    /// Nothing to do.
    Calm,
    /// Good to know.
    Info,
    /// Soon to be looked at.
    Warning,
    /// Cannot be signed, or was refused.
    Bad,
}

/// The state of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct RowState {
    /// A few words; empty with nothing to say.
    pub label: String,
    /// All of it, in sentences.
    pub explanation: String,
    /// How urgent.
    pub tone: Tone,
}

/// One leased, undecided exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DeckRow {
    /// The exception's identifier.
    pub id: String,
    /// `recon_break`, `sales_claim` or `receipt`.
    pub kind: String,
    /// The ledger entity.
    pub entity: String,
    /// The counterparty, as it arrived.
    pub counterparty: String,
    /// The variance as a decimal string with the currency's own number of digits.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// The currency's minor units: how many digits follow the decimal mark.
    pub minor_units: u8,
    /// When it was submitted upstream.
    pub submitted_at: String,
    /// `MATCHED`, `PARTIAL` or `UNMATCHED`.
    pub match_decision: String,
    /// `standard`, `priority` or `escalated`.
    pub tier: String,
    /// The suggestion.
    pub suggestion: SuggestionView,
    /// The partition that orders it.
    pub partition: String,
    /// Its place in the partition, as a decimal string.
    pub seq: String,
    /// Items of one group are signed together.
    pub group: Option<String>,
    /// The version shown.
    pub version: u32,
    /// Milliseconds until its lease lapses; 0 when it has.
    pub lease_ends_in_ms: u32,
    /// Why it is back, when it came back refused.
    pub note: Option<String>,
    /// What to know before it is decided.
    pub marks: Vec<Mark>,
    /// Whole days since it was submitted.
    pub age_days: u32,
    /// The bucket of its age.
    pub aging: Aging,
    /// When it has to be decided, `YYYY-MM-DD`.
    pub due_on: Option<String>,
    /// The due date is in the past.
    pub overdue: bool,
    /// What policy and deck make of it.
    pub traits: Vec<Trait>,
    /// The earlier, undecided exception of its partition that keeps its effect back, as far as it is known here.
    pub held_behind: Option<HeldBehind>,
    /// What the grid's State column says: the most important of lease, note and marks, in a few words.
    pub state: RowState,
}

/// The deck, whole: it is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DeckView {
    /// Grows with every change.
    pub version: u32,
    /// In the order of arrival on this workstation.
    pub rows: Vec<DeckRow>,
}

/// One line of evidence, both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct EvidenceField {
    /// What is compared.
    pub label: String,
    /// The left side's value.
    pub left: Option<String>,
    /// The right side's value.
    pub right: Option<String>,
    /// Whether the two sides differ.
    pub differs: bool,
    /// Whether the values are numbers, to be aligned.
    pub numeric: bool,
}

/// A label and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Fact {
    /// What it is.
    pub label: String,
    /// Its value, as text.
    pub value: String,
}

/// Everything about one exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DetailView {
    /// The row as in the deck.
    pub row: DeckRow,
    /// The idempotency key.
    pub key: String,
    /// SHA-256 of the content shown, in hex: what a sign-off binds.
    pub content_hash: String,
    /// The trace across systems.
    pub trace_id: String,
    /// Everyone who prepared or edited it.
    pub prepared_by: Vec<String>,
    /// The left side's title, such as "Statement".
    pub left_title: String,
    /// The right side's title, such as "Ledger".
    pub right_title: String,
    /// Both sides, field by field.
    pub evidence: Vec<EvidenceField>,
    /// What has no counterpart on the other side.
    pub facts: Vec<Fact>,
    /// What decides whether it can be signed: signatures, dates, the period and the policy.
    pub control: Vec<Fact>,
    /// The payload, indented JSON.
    pub payload: String,
    /// The version before this one, when it came back changed; absent otherwise.
    pub previous_version: Option<u32>,
    /// What changed since, field by field; at most 200.
    pub changes: Vec<ContentChange>,
    /// How a sales claim's amount comes about, line by line.
    pub calculation: Vec<CalculationLine>,
    /// What was read from a receipt.
    pub scan: Option<ReceiptScan>,
    /// All of this as text, to be pasted into a mail or a ticket.
    pub text: String,
}

/// A field that changed between two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ContentChange {
    /// Where it is, such as `payload.ledger_entry.amount`.
    pub path: String,
    /// Before; absent: it was not there.
    pub before: Option<String>,
    /// Now; absent: it is not there any more.
    pub after: Option<String>,
}

/// One step of a calculation that is written out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CalculationLine {
    /// What it is.
    pub label: String,
    /// The working, such as `1,234 × 0.0175`; plain decimals with `.`.
    pub working: String,
    /// What it comes to, a decimal string.
    pub result: String,
}

/// How sure the OCR was of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Confidence {
    /// At least 0.90.
    High,
    /// At least 0.75.
    Medium,
    /// Less.
    Low,
}

/// A line that the OCR read, with its box on the page it saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct OcrLine {
    /// What it read.
    pub text: String,
    /// From 0 to 1, a decimal string.
    pub confidence: String,
    /// The same as a word.
    pub band: Confidence,
    /// The left edge, in pixels of the page.
    pub x: u32,
    /// The upper edge.
    pub y: u32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

/// What was read from a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ReceiptScan {
    /// The name of the picture; absent if there is none.
    pub picture: Option<String>,
    /// The line from which the amount was taken.
    pub read_from: Option<String>,
    /// At most 500.
    pub lines: Vec<OcrLine>,
}

/// A receipt's picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PictureView {
    /// `data:image/jpeg;base64,…` or `data:image/png;base64,…`; at most 4 MB.
    pub data_url: String,
    /// The width of the page the OCR saw, in its pixels; the picture may be smaller.
    pub page_width: u32,
    /// The height of that page.
    pub page_height: u32,
}
