//! What is looked up in the shared database and decides nothing.

use std::future::Future;

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::exception::{Kind, RoutingTier};
use countersign_domain::id::{ExceptionId, WorkstationId};
use countersign_domain::money::Money;

use super::BacklogError;

/// One line of the backlog: what has one entity, kind, tier and currency in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewLine {
    /// The ledger entity.
    pub entity: String,
    /// The kind.
    pub kind: Kind,
    /// The tier.
    pub tier: RoutingTier,
    /// Pending and leased to nobody.
    pub free: u32,
    /// The sum of their absolute variances.
    pub free_amount: Money,
    /// Pending and leased to somebody.
    pub held: u32,
    /// The sum of their absolute variances.
    pub held_amount: Money,
    /// Of the held ones, how many are leased to the caller.
    pub mine: u32,
}

/// What is pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// By entity, kind, tier and currency; at most 2,000.
    pub lines: Vec<OverviewLine>,
    /// Lines beyond that.
    pub more: u32,
}

/// What is left of one entity and tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseLine {
    /// The ledger entity.
    pub entity: String,
    /// The tier.
    pub tier: RoutingTier,
    /// Undecided.
    pub left: u32,
    /// Of these, leased to somebody.
    pub held: u32,
    /// Signatures accepted since the moment that was asked about.
    pub signed: u32,
    /// Of these, the caller's.
    pub mine: u32,
}

/// One hour of the close.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hour {
    /// Its end.
    pub until: DateTime<Utc>,
    /// Arrived during it.
    pub arrived: u32,
    /// Decided during it.
    pub decided: u32,
    /// Undecided at its end.
    pub left: u32,
}

/// How far the close is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// By entity and tier; at most 2,000.
    pub lines: Vec<CloseLine>,
    /// Oldest first, without gaps, the last one not over yet; at most 336.
    pub hours: Vec<Hour>,
}

/// A record of the audit stream, as a reviewer may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEvent {
    /// When.
    pub at: DateTime<Utc>,
    /// The event's name, such as `ARRIVED`.
    pub event: String,
    /// Who.
    pub actor: String,
    /// Names and values of its details, as text.
    pub details: Vec<(String, String)>,
}

/// What happened to an exception, in its partition and with its counterparty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// When it was told, by the database's clock.
    pub at: DateTime<Utc>,
    /// The exception's own, oldest first; at most 100.
    pub exception: Vec<PastEvent>,
    /// The partition's latest, newest first; at most 50.
    pub partition: Vec<PastEvent>,
    /// The counterparty's latest decisions at the entity, newest first; at most 20.
    pub counterparty: Vec<PastEvent>,
    /// Of counterparty and entity: approved.
    pub approved: u32,
    /// Rejected.
    pub rejected: u32,
    /// Undecided.
    pub pending: u32,
}

/// How well the receipts of one day were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureDay {
    /// The day they were submitted, in UTC: a plain date.
    pub day: NaiveDate,
    /// How many arrived.
    pub receipts: u32,
    /// Of these, the ones that drift.
    pub drifting: u32,
    /// Their share in percent, with one decimal place.
    pub share: String,
    /// Whether that is more than the policy in force lets pass.
    pub alert: bool,
}

/// A receipt's picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `image/jpeg` or `image/png`.
    pub media_type: String,
    /// At most 4 MB.
    pub bytes: Vec<u8>,
    /// The page the OCR saw, in its pixels.
    pub page_width: u32,
    /// Its height.
    pub page_height: u32,
}

/// Looks things up. Nothing changes by it.
pub trait Reading: Send + Sync {
    /// What is pending, from the summary.
    fn overview(&self, workstation: WorkstationId) -> impl Future<Output = Result<Overview, BacklogError>> + Send;

    /// How far the close is; signatures are counted from `since` on.
    fn close(
        &self,
        workstation: WorkstationId,
        since: DateTime<Utc>,
    ) -> impl Future<Output = Result<Close, BacklogError>> + Send;

    /// How well receipts were read: the days with some, latest first, at most 31.
    fn capture(&self, workstation: WorkstationId)
    -> impl Future<Output = Result<Vec<CaptureDay>, BacklogError>> + Send;

    /// What happened to an exception that is leased to this workstation or was decided on it.
    fn history(
        &self,
        workstation: WorkstationId,
        exception: ExceptionId,
    ) -> impl Future<Output = Result<History, BacklogError>> + Send;

    /// The picture of a receipt that is leased to this workstation or was decided on it.
    fn picture(
        &self,
        workstation: WorkstationId,
        exception: ExceptionId,
    ) -> impl Future<Output = Result<Option<Picture>, BacklogError>> + Send;
}
