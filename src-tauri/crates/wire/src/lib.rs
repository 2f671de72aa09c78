//! What the window sees.
//!
//! Every request, view and error that crosses between the Rust side and the webview is declared here, once. The TypeScript in
//! `ui/src/generated` is generated from these types (`cargo xtask codegen`), and the test run fails when it is stale.
//!
//! Conventions: amounts are decimal strings with a `.` and no grouping; identifiers are opaque strings; instants are RFC 3339 in
//! UTC; durations are whole milliseconds in a `u32`, because JSON numbers in a webview are exact only up to 2^53.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a command failed. `code` is for the program, `message` for the reviewer: what happened, to what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CommandError {
    /// A stable, upper-case name such as `JOURNAL_FULL` or `BAD_PASSWORD`.
    pub code: String,
    /// A sentence for the reviewer.
    pub message: String,
}

/// How the connection to the database is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// The certificate chain and the host name are checked. The default for every host. Profiles of older releases that asked for
    /// the chain only are read as this.
    #[serde(alias = "verify-ca")]
    VerifyFull,
    /// No TLS. Accepted for a local socket or a loopback address only.
    Disable,
}

/// Where a backlog is, and as whom to sign in. The password is never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name the reviewer knows it by.
    pub name: String,
    /// A host name, an address, or the absolute path of a socket directory.
    pub host: String,
    /// The TCP port, or the number in the socket's file name.
    pub port: u16,
    /// The database's name.
    pub database: String,
    /// The login; it is the reviewer's identity.
    pub user: String,
    /// How the connection is protected.
    pub tls: TlsMode,
    /// A PEM file with the authority that signed the server's certificate; the system's own are used without it.
    pub root_certificate: Option<String>,
    /// A PEM file with the certificate that the login is proved with; only together with its key.
    #[serde(default)]
    pub client_certificate: Option<String>,
    /// A PEM file with the key of the certificate. Nobody else may be able to read it.
    #[serde(default)]
    pub client_key: Option<String>,
}

/// What the window has to ask before the workstation can work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Needs {
    /// Nothing: the workstation runs.
    Nothing,
    /// No profile is known.
    Profile,
    /// The password is not in the keyring, or the server refused it.
    Password,
}

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LinkView {
    /// Whether the last call to the database succeeded.
    pub online: bool,
    /// What is wrong, and what to do about it; absent while online.
    pub problem: Option<CommandError>,
    /// Milliseconds until the next attempt; absent while online.
    pub next_attempt_in_ms: Option<u32>,
    /// When the database last answered.
    pub last_contact: Option<String>,
}

/// The frame around every screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SessionView {
    /// What has to be asked first.
    pub needs: Needs,
    /// The profile in use, or the one to complete.
    pub profile: Option<Profile>,
    /// The profiles on this workstation.
    pub profiles: Vec<Profile>,
    /// The reviewer's login as the database knows it.
    pub reviewer: Option<String>,
    /// This workstation's name.
    pub workstation: String,
    /// The connection.
    pub link: LinkView,
    /// How many undecided exceptions the deck may hold.
    pub queue_maxsize: u32,
    /// How many it holds.
    pub deck_count: u32,
    /// `true` while leasing pauses because the bound is reached (`QUEUE_SATURATED`).
    pub saturated: bool,
    /// Milliseconds until the first lease lapses; absent without leases.
    pub lease_ends_in_ms: Option<u32>,
    /// Decisions that the database has not answered yet.
    pub unsent: u32,
    /// Of those that want attention, the ones that were given up: like unsent ones they are on this computer alone.
    pub dead: u32,
    /// Decisions that were refused or are dead, and want attention.
    pub attention: u32,
    /// How long a decision can be withdrawn.
    pub undo_window_ms: u32,
    /// What is in force, as it was last heard of; absent before the first connection.
    pub policy: Option<PolicyView>,
    /// What a supervisor has to confirm before work can begin.
    pub enrolment: Option<EnrolmentView>,
    /// This computer is being left: the workstation was revoked, or the reviewer has signed out.
    pub leaving: Option<LeavingView>,
    /// The keys are in a file and not in a keyring.
    pub keys_in_file: bool,
    /// Things the reviewer should know, such as a setting that does not fit the way they work.
    pub warnings: Vec<String>,
    /// The application's version.
    pub app_version: String,
}

/// The policy in force, with the moment it was heard of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PolicyView {
    /// Its version.
    pub version: u32,
    /// When it was in force, by the database's clock.
    pub as_of: String,
    /// What each confirmation attests.
    pub attestation: String,
    /// The reasons a rejection may carry.
    pub reason_codes: Vec<ReasonCode>,
}

/// What identifies this workstation to the supervisor who confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct EnrolmentView {
    /// The workstation's number.
    pub workstation: String,
    /// The fingerprint of its key, in groups.
    pub fingerprint: String,
    /// What the supervisor enters.
    pub command: String,
}

/// Why this computer is being left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LeavingReason {
    /// A supervisor revoked the workstation.
    Revoked,
    /// The reviewer signed out.
    SignedOut,
}

/// What is left on this computer of a profile that is not worked with any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LeavingView {
    /// Why.
    pub reason: LeavingReason,
    /// The profile's name.
    pub profile: String,
    /// What happened, and what was removed.
    pub message: String,
    /// Decisions that are here and nowhere else: unanswered or given up.
    pub unsent: u32,
    /// The latest export of them.
    pub export: Option<ExportView>,
}

/// Unsent decisions as they were written to a file. The file is not encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ExportView {
    /// The file.
    pub path: String,
    /// How many decisions are in it.
    pub count: u32,
    /// SHA-256 of its lines, in hex: removing everything takes it as proof that the export was seen.
    pub sha256: String,
}

/// A reason that a rejection may carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ReasonCode {
    /// The code that is signed.
    pub code: String,
    /// What it means, in the reviewer's words.
    pub label: String,
}

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
}

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

/// Everything of a profile is gone from this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct RemovedReply {
    /// What was removed and what was not, in words.
    pub message: String,
}

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

/// How closing goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DrainView {
    /// Decisions still to be sent.
    pub unsent: u32,
    /// Decisions sent since closing began.
    pub sent: u32,
    /// Exceptions still to be given back.
    pub to_release: u32,
    /// Milliseconds until closing gives up waiting; what is left stays on disk.
    pub gives_up_in_ms: u32,
    /// Whether the database can be reached.
    pub online: bool,
    /// Everything is done; the window closes.
    pub done: bool,
}

/// Something changed; fetch what you show. At most ten a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Changed {
    /// The deck's version.
    pub deck: u32,
    /// The outbox's version.
    pub outbox: u32,
    /// The session's version.
    pub session: u32,
    /// Closing has begun.
    pub drain: Option<DrainView>,
}
