//! What happened to an exception, to its partition, and with its counterparty.

use serde::Serialize;
use ts_rs::TS;

use crate::Fact;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct HistoryEvent {
    /// When.
    pub at: String,
    /// The event's name in the audit record or on this workstation, such as `ARRIVED` or `ATTEMPTED`.
    pub event: String,
    /// In words.
    pub words: String,
    /// Who.
    pub actor: Option<String>,
    /// What else is known of it.
    pub facts: Vec<Fact>,
}

/// What the database tells of one exception that is leased to this workstation or was decided on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct HistoryView {
    /// When it was told, by the database's clock.
    pub as_of: String,
    /// The exception's own, oldest first; at most 100.
    pub exception: Vec<HistoryEvent>,
    /// The partition's latest, newest first; at most 50.
    pub partition: Vec<HistoryEvent>,
    /// The counterparty's latest decisions at this entity, newest first; at most 20.
    pub counterparty: Vec<HistoryEvent>,
    /// Exceptions of this counterparty and entity that were approved.
    pub approved: u32,
    /// Rejected.
    pub rejected: u32,
    /// Undecided.
    pub pending: u32,
}
