//! Decisions on their way, and what the database said to them.

use serde::Serialize;
use ts_rs::TS;

use crate::{CurrencyTotal, DecisionChoice};

/// Where a decision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OutboxState {
    /// In the undo window.
    Held,
    /// On disk, waits to be sent.
    Ready,
    /// On its way.
    Sending,
    /// Accepted by the database.
    Committed,
    /// Refused by the database.
    Refused,
    /// Given up after too many answers with a transient error; wants attention.
    Dead,
}

/// One decision of the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct OutboxRow {
    /// The sign-off key.
    pub key: String,
    /// The exception's identifier.
    pub exception_id: String,
    /// The counterparty.
    pub counterparty: String,
    /// The entity.
    pub entity: String,
    /// The variance.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// The currency's minor units.
    pub minor_units: u8,
    /// What was decided.
    pub decision: DecisionChoice,
    /// When it was decided, by this workstation's clock.
    pub decided_at: String,
    /// Where it is.
    pub state: OutboxState,
    /// The server's outcome, such as `COMMITTED`, `HELD` or `STALE_VERSION`.
    pub outcome: Option<String>,
    /// What it means and what to do next.
    pub message: Option<String>,
    /// Attempts that the server answered with a transient error.
    pub attempts: u32,
    /// Milliseconds until the next attempt.
    pub next_attempt_in_ms: Option<u32>,
    /// The confirmation it was signed with.
    pub batch: String,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The decision of somebody else that stands, when there is a conflict.
    pub theirs: Option<TheirDecision>,
    /// What is safe to do next.
    pub next_step: NextStep,
}

/// Somebody else's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct TheirDecision {
    /// Who.
    pub reviewer: String,
    /// What.
    pub decision: DecisionChoice,
    /// When, by the database's clock.
    pub at: String,
}

/// The next safe action for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NextStep {
    /// Nothing; it is answered, or will be.
    Nothing,
    /// It is back in the deck: look at it again.
    ReviewAgain,
    /// Compare with what stands, then put it away.
    PutAway,
    /// Send it again.
    SendAgain,
    /// It needs somebody with other rights.
    AskSupervisor,
}

/// One confirmation, and what has become of its decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BatchRow {
    /// The confirmation.
    pub batch: String,
    /// When, by this workstation's clock.
    pub decided_at: String,
    /// What was decided.
    pub decision: DecisionChoice,
    /// How many were signed and not withdrawn: committed, held, awaiting, refused and waiting together.
    pub signed: u32,
    /// Accepted, with their effect written.
    pub committed: u32,
    /// Accepted; they take effect when earlier items are decided.
    pub held: u32,
    /// Accepted, waiting for a second signature.
    pub awaiting: u32,
    /// Refused.
    pub refused: u32,
    /// Not answered yet, given up ones among them.
    pub waiting: u32,
    /// Of the waiting ones, how many were never sent and can be taken back.
    pub unsent: u32,
}

/// One confirmation in full: the reviewer's receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct BatchView {
    /// Its counts.
    pub row: BatchRow,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The policy it was signed under.
    pub policy_version: u32,
    /// What was attested, as it was shown.
    pub attestation: String,
    /// What was signed, by currency.
    pub totals: Vec<CurrencyTotal>,
    /// What was accepted, by currency.
    pub accepted: Vec<CurrencyTotal>,
    /// SHA-256 over the sorted keys and content hashes of what was signed, in hex.
    pub hash_total: String,
    /// The database's receipts that cover it, as decimal strings.
    pub receipts: Vec<String>,
    /// Its decisions, in order; at most 5,000.
    pub rows: Vec<OutboxRow>,
}

/// The outbox: everything unanswered and the latest answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct OutboxView {
    /// Grows with every change.
    pub version: u32,
    /// In the undo window.
    pub held: u32,
    /// Waiting to be sent.
    pub ready: u32,
    /// On their way.
    pub sending: u32,
    /// Accepted, on this workstation's disk.
    pub committed: u32,
    /// Refused.
    pub refused: u32,
    /// Given up.
    pub dead: u32,
    /// When the oldest unanswered decision was made.
    pub oldest_unsent: Option<String>,
    /// Milliseconds until the next attempt.
    pub next_attempt_in_ms: Option<u32>,
    /// Those that want attention first, then unanswered ones, then the latest answers; at most 500.
    pub rows: Vec<OutboxRow>,
}

/// The receipt of one call: what the database says it came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ReceiptRow {
    /// Its number, as a decimal string.
    pub number: String,
    /// When, by the database's clock.
    pub at: String,
    /// How many decisions came: committed, refused and duplicate ones together.
    pub submitted: u32,
    /// How many were accepted: committed, awaiting a second signature or held.
    pub committed: u32,
    /// How many were refused.
    pub refused: u32,
    /// How many were accepted before.
    pub duplicate: u32,
    /// What was accepted, by currency.
    pub nets: Vec<CurrencyNet>,
    /// The policy in force at commit.
    pub policy_version: u32,
    /// That some were decided under another policy, in words.
    pub other_policy: Option<String>,
}

/// A net sum of one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CurrencyNet {
    /// ISO 4217.
    pub currency: String,
    /// How many digits follow the decimal mark.
    pub minor_units: u8,
    /// How many items.
    pub count: u32,
    /// Debits plus credits.
    pub net: String,
}
