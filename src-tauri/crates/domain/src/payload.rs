//! What each kind adds to an arrival.

use chrono::NaiveDate;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The payload of one kind, with the JSON it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// The typed part.
    pub typed: TypedPayload,
    /// Everything, as it arrived.
    pub json: Map<String, Value>,
}

/// What is known of a payload, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedPayload {
    /// A ledger line against a statement line.
    ReconBreak(Box<ReconBreak>),
    /// A retailer's deduction.
    SalesClaim,
    /// An expense receipt.
    Receipt,
}

/// Both sides of a reconciliation break; one of them may be missing, not both.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReconBreak {
    /// Why the engine left it.
    pub reason: Option<String>,
    /// What the bank says.
    pub statement_line: Option<Side>,
    /// What the books say.
    pub ledger_entry: Option<Side>,
}

/// One side of a break.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Side {
    /// Its identifier at the source.
    pub source_id: String,
    /// The business date: a plain date, never shifted by a time zone.
    pub date: NaiveDate,
    /// The reference text.
    pub reference: Option<String>,
    /// The other party as this side names it.
    pub counterparty: Option<String>,
    /// A plain decimal; some sources withhold it on one side.
    pub amount: Option<String>,
    /// ISO 4217.
    pub currency: String,
}
