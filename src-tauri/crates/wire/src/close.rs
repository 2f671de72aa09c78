//! How far the close is.

use serde::Serialize;
use ts_rs::TS;

/// The period that is being closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ClosePeriod {
    /// Its name.
    pub name: String,
    /// `open`, `closing` or `closed`.
    pub state: String,
    /// When it is to be closed; absent if nobody has said.
    pub closes_at: Option<String>,
}

/// What is left of one entity and tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CloseLine {
    /// The ledger entity.
    pub entity: String,
    /// The tier.
    pub tier: String,
    /// Undecided.
    pub left: u32,
    /// Of these, leased to somebody.
    pub held: u32,
    /// Signatures accepted today, everybody's.
    pub signed_today: u32,
    /// Of these, this reviewer's.
    pub mine_today: u32,
}

/// What was left at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BurnPoint {
    /// The end of the hour.
    pub at: String,
    /// Undecided then.
    pub left: u32,
    /// Arrived during the hour.
    pub arrived: u32,
    /// Decided during the hour.
    pub decided: u32,
}

/// When it will be done, if it goes on like this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Projection {
    /// How many fewer are left each hour, net of arrivals, over the hours in which somebody worked; one decimal place.
    pub per_hour: String,
    /// When nothing will be left; absent when the backlog does not shrink, or when it is too early to tell.
    pub done_at: Option<String>,
    /// Whether that is before the deadline; absent without a deadline, or when it is too early to tell.
    pub in_time: Option<bool>,
    /// In words.
    pub words: String,
}

/// How well receipts were read on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CaptureDay {
    /// The day they were submitted, in UTC: a plain date.
    pub day: String,
    /// Receipts that arrived.
    pub receipts: u32,
    /// Of these, the ones that drift.
    pub drifting: u32,
    /// Their share in percent, with one decimal place.
    pub share: String,
    /// More than policy lets pass: whoever owns the capture should know.
    pub alert: bool,
}

/// The close at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CloseView {
    /// When, by the database's clock.
    pub as_of: String,
    /// Why this may be out of date; absent while it is fresh.
    pub stale: Option<String>,
    /// The period that closes next.
    pub period: Option<ClosePeriod>,
    /// Undecided, all together.
    pub left: u32,
    /// Signatures accepted since midnight on this workstation.
    pub signed_today: u32,
    /// Of these, this reviewer's.
    pub mine_today: u32,
    /// By entity and tier.
    pub lines: Vec<CloseLine>,
    /// By the hour, oldest first; at most two weeks.
    pub burn_down: Vec<BurnPoint>,
    /// Absent with nothing to go by.
    pub projection: Option<Projection>,
    /// Days with receipts, latest first; at most 31.
    pub capture: Vec<CaptureDay>,
}
