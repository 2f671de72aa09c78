//! What fills the deck, and the backlog it is chosen from.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the reviewer wants in the deck. Every list that is empty, and every bound that is absent, lets everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct Focus {
    /// Ledger entities.
    pub entities: Vec<String>,
    /// `recon_break`, `sales_claim`, `receipt`.
    pub kinds: Vec<String>,
    /// `standard`, `priority`, `escalated`.
    pub tiers: Vec<String>,
    /// Counterparties, exactly as they arrived.
    pub counterparties: Vec<String>,
    /// ISO 4217 codes.
    pub currencies: Vec<String>,
    /// The least absolute variance, a decimal in each currency's own units.
    pub amount_from: Option<String>,
    /// The largest absolute variance.
    pub amount_to: Option<String>,
    /// The first due date, `YYYY-MM-DD`.
    pub due_from: Option<String>,
    /// The last due date.
    pub due_to: Option<String>,
    /// How many exceptions the deck may hold in this focus; `queue_maxsize` without it, and never more.
    pub at_most: Option<u32>,
}

/// The focus in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct FocusView {
    /// Absent: everything the reviewer may sign.
    pub focus: Option<Focus>,
    /// In a few words, for the header: "us-doi-rents, priority".
    pub label: String,
    /// Undecided exceptions of the deck that are outside of it.
    pub outside: u32,
}

/// One line of the backlog: what has one entity, kind, tier and currency in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BacklogLine {
    /// The ledger entity.
    pub entity: String,
    /// The kind.
    pub kind: String,
    /// The tier.
    pub tier: String,
    /// ISO 4217.
    pub currency: String,
    /// The currency's minor units.
    pub minor_units: u8,
    /// Pending and leased to nobody.
    pub free: u32,
    /// The sum of their absolute variances.
    pub free_amount: String,
    /// Pending and leased to somebody.
    pub held: u32,
    /// The sum of their absolute variances.
    pub held_amount: String,
    /// Of the held ones, how many are leased to this reviewer.
    pub mine: u32,
}

/// What of a backlog group is in one currency, over all kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BacklogTotal {
    /// ISO 4217.
    pub currency: String,
    /// The currency's minor units.
    pub minor_units: u8,
    /// Pending and leased to nobody.
    pub free: u32,
    /// The sum of their absolute variances.
    pub free_amount: String,
    /// Pending and leased to somebody.
    pub held: u32,
    /// The sum of their absolute variances.
    pub held_amount: String,
}

/// What of the backlog has one entity and tier in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BacklogGroup {
    /// The ledger entity.
    pub entity: String,
    /// The tier.
    pub tier: String,
    /// Pending and leased to nobody.
    pub free: u32,
    /// Pending and leased to somebody.
    pub held: u32,
    /// Of the held ones, how many are leased to this reviewer.
    pub mine: u32,
    /// By currency: amounts of different ones are never added.
    pub totals: Vec<BacklogTotal>,
}

/// What is pending, from the database's summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BacklogView {
    /// When, by the database's clock.
    pub as_of: String,
    /// Why this may be out of date; absent while it is fresh.
    pub stale: Option<String>,
    /// By entity, kind, tier and currency, in that order.
    pub lines: Vec<BacklogLine>,
    /// What these lines add up to, by entity and tier, in that order.
    pub groups: Vec<BacklogGroup>,
    /// All of these lines that is leased to nobody.
    pub free: u32,
    /// All of these lines that is leased to somebody.
    pub held: u32,
    /// All of these lines that is leased to this reviewer.
    pub mine: u32,
    /// Lines beyond the bound of one answer.
    pub more: u32,
}
