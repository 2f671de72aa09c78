//! A selection, what is foreseen of it, and signing it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Control totals of one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CurrencyTotal {
    /// ISO 4217.
    pub currency: String,
    /// The currency's minor units.
    pub minor_units: u8,
    /// How many items.
    pub count: u32,
    /// The sum of the positive variances.
    pub debits: String,
    /// The sum of the negative variances, negative.
    pub credits: String,
    /// Debits plus credits.
    pub net: String,
    /// The largest absolute variance.
    pub largest: String,
}

/// What a selection adds up to. Summed in Rust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SelectionTotals {
    /// How many of the ids are in the deck.
    pub count: u32,
    /// Ids that are no longer in the deck.
    pub missing: Vec<String>,
    /// By currency, in the order of its code.
    pub totals: Vec<CurrencyTotal>,
    /// In how many partitions they are.
    pub partitions: u32,
    /// How many exceptions of the deck are in these partitions: what is given back or handed over with the selection.
    pub with_partitions: u32,
    /// Ids that belong to a group of which other items are not selected; a group is signed whole.
    pub split_groups: Vec<String>,
    /// SHA-256 over the sorted keys and content hashes, in hex; a sign-off repeats it, so that what is signed is what was shown.
    pub hash_total: String,
}

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DecisionChoice {
    /// The effect is posted.
    Approve,
    /// It goes back.
    Reject,
}

/// The figure that an approval carries: what a sales claim posts, or what a receipt is released with instead of what the OCR read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The exception.
    pub id: String,
    /// A decimal string with a `.` and no grouping.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
}

/// What approving one exception does to the books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct EffectLine {
    /// The exception.
    pub id: String,
    /// In words: "posts the variance", "posts 1,234 × 0.0175 = 21.60 USD by agreement version 3", "releases it to policy validation".
    pub words: String,
    /// The figure that is signed, where the decision carries one.
    pub figure: Option<Figure>,
    /// Whether the reviewer may enter another figure (receipts), and then what the OCR read, as it arrived.
    pub read: Option<String>,
}

/// What is foreseen of a decision, before it is signed. The database decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PreflightView {
    /// The policy it is foreseen with.
    pub policy_version: u32,
    /// When that was in force, by the database's clock.
    pub as_of: String,
    /// Why this may be out of date; absent while it is fresh.
    pub stale: Option<String>,
    /// What will be accepted first; each exception is in one group.
    pub groups: Vec<PreflightGroup>,
    /// How many will be refused.
    pub refused: u32,
    /// What to think about before it is signed.
    pub warnings: Vec<SignWarning>,
    /// Currencies whose net the reviewer has to type, because policy asks for it.
    pub type_totals: Vec<String>,
    /// What the confirmation attests.
    pub attestation: String,
    /// What the decision does, for each exception whose effect is not just its variance; at most 500.
    pub effects: Vec<EffectLine>,
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WarningKind {
    /// More than one ledger entity.
    MixedEntities,
    /// A limit of the period is nearly used up.
    LimitNear,
    /// No exception of the batch was opened.
    NothingOpened,
    /// Suggestions disagree with the decision.
    AgainstSuggestion,
    /// A lease of the batch has run out.
    LeaseGone,
}

/// Something to think about; it hinders nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SignWarning {
    /// What it is about.
    pub kind: WarningKind,
    /// In words.
    pub message: String,
}

/// A control total that the reviewer typed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct TypedTotal {
    /// ISO 4217.
    pub currency: String,
    /// The net, a decimal string with a `.` and no grouping.
    pub net: String,
}

/// Exceptions for which the same answer is foreseen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PreflightGroup {
    /// The answer, such as `COMMITTED` or `OVER_LIMIT`.
    pub outcome: String,
    /// Whether the decision will stand.
    pub accepted: bool,
    /// In words, with the count: "2 will wait for a second signature".
    pub label: String,
    /// What it means and what to do.
    pub explanation: String,
    /// The exceptions.
    pub ids: Vec<String>,
    /// By currency.
    pub totals: Vec<CurrencyTotal>,
}

/// A batch to sign: a frozen list with its totals.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct SignRequest {
    /// The exceptions, each once.
    pub ids: Vec<String>,
    /// Approve or reject.
    pub decision: DecisionChoice,
    /// A reason code; required to reject.
    pub reason: Option<String>,
    /// Free text, at most 2,000 characters.
    pub comment: Option<String>,
    /// The hash total that the dialog showed.
    pub hash_total: String,
    /// The policy whose attestation the dialog showed; signing under another one is refused.
    pub policy_version: u32,
    /// What the reviewer typed, where the pre-flight asked for it.
    pub typed_totals: Vec<TypedTotal>,
    /// Corrected amounts of receipts. What a claim posts is computed in Rust and not sent by the window.
    pub figures: Vec<Figure>,
}

/// The batch is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SignReceipt {
    /// Names the batch, to withdraw it.
    pub batch: String,
    /// How many decisions are durable.
    pub count: u32,
    /// How long they can be withdrawn.
    pub undo_ms: u32,
}

/// What withdrawing did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct UndoReply {
    /// Decisions that are back in the deck.
    pub withdrawn: u32,
    /// Decisions that were on their way already.
    pub too_late: u32,
}

/// Leases went to a colleague.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct HandOverReply {
    /// How many partitions.
    pub partitions: u32,
    /// The same in words.
    pub message: String,
}

/// What extending leases came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ExtendReply {
    /// How many leases stand.
    pub partitions: u32,
    /// How many were somebody else's by now; their exceptions left the deck.
    pub lost: u32,
    /// Until when all of them stand; absent with none.
    pub until: Option<String>,
    /// The same in words, with what policy cut short.
    pub message: String,
}
