//! The local journal.

use std::fmt;

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::figure::Outlook;
use countersign_domain::focus::Focus;
use countersign_domain::id::{BatchId, ContentHash, Epoch, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::redact::Redacted;
use countersign_domain::scoring::Suggestion;
use countersign_domain::sign_off::{Answer, SignOff};
use countersign_domain::standing::Standing;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use super::batch::{Batch, Step};
use super::desk::{GivenUp, LetterRef};

/// The most bytes of originals that are read at once to tell the backlog of them.
pub const UNTOLD_BYTES: usize = 16 * 1024 * 1024;

/// An exception in the deck: what the grid shows, without the content itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeckItem {
    /// Its identifier.
    pub id: ExceptionId,
    /// Its idempotency key.
    pub key: String,
    /// The partition.
    pub partition: PartitionKey,
    /// The epoch it was leased under.
    pub epoch: Epoch,
    /// Its place.
    pub seq: Seq,
    /// Its version.
    pub version: u32,
    /// What a sign-off binds.
    pub content: ContentHash,
    /// Items of one group are decided together.
    pub group: Option<String>,
    /// Where it comes from.
    pub kind: Kind,
    /// The ledger entity.
    pub entity: String,
    /// The other side.
    pub counterparty: String,
    /// The variance.
    pub variance: Money,
    /// When it was submitted.
    pub submitted_at: DateTime<Utc>,
    /// The day that says which close period it belongs to. (A journal of an earlier release does not know it.)
    #[serde(default)]
    pub business_date: NaiveDate,
    /// Everyone who prepared it.
    #[serde(default)]
    pub prepared_by: Vec<String>,
    /// How many have signed it before.
    #[serde(default)]
    pub signatures: u32,
    /// The key of the exception that it reverses.
    #[serde(default)]
    pub reverses: Option<String>,
    /// When it has to be decided.
    #[serde(default)]
    pub due_on: Option<NaiveDate>,
    /// What the matching engine said.
    pub match_decision: MatchDecision,
    /// How urgent it is.
    pub tier: RoutingTier,
    /// The trace across systems.
    pub trace_id: Uuid,
    /// The producer's hash.
    pub source_hash: String,
    /// What policy suggests.
    pub suggestion: Suggestion,
    /// What deciding does, and the figure that an approval carries.
    #[serde(default)]
    pub outlook: Outlook,
    /// Why it is back, when it came back.
    pub note: Option<String>,
}

// Without what the exception says.
impl fmt::Debug for DeckItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, partition, epoch, seq, version, .. } = self;
        write!(f, "DeckItem({id} v{version} at {seq:?} of {partition:?} {epoch:?})")
    }
}

/// Where a decision is, on disk. (In the undo window and on its way are states of the running program; after a crash both are
/// `Ready`, and the key makes sending again harmless.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Stage {
    /// Durable and unanswered.
    Ready,
    /// Accepted.
    Committed,
    /// Refused.
    Refused,
    /// Given up until the reviewer says otherwise.
    Dead,
}

/// One decision in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the outbox: decisions of one partition are sent in this order.
    pub ordinal: u64,
    /// The confirmation it was made with.
    pub batch: BatchId,
    /// What is sent.
    pub sign_off: SignOff,
    /// What it was about, for the outbox's own display and to put it back when it is withdrawn.
    pub item: DeckItem,
    /// Where it is.
    pub stage: Stage,
    /// Attempts that the server answered with a transient error.
    pub attempts: u32,
    /// What the server answered.
    pub answer: Option<Answer>,
    /// Why it is dead.
    pub problem: Option<String>,
    /// Whether it was decided while the database could not be reached.
    pub offline: bool,
    /// When it was answered, by the workstation's clock.
    pub settled_at: Option<DateTime<Utc>>,
    /// As far as the disk knows, it may have been sent. One that was decided online is sent without asking the disk first, so that
    /// it may have been from the start.
    pub may_be_sent: bool,
    /// The database's receipt that covers the answer.
    pub receipt: Option<i64>,
    /// What this workstation did for it, oldest first.
    pub steps: Vec<Step>,
}

/// A lease as the journal remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    /// The partition.
    pub partition: PartitionKey,
    /// The epoch.
    pub epoch: Epoch,
    /// When it lapses, by the workstation's clock; the database's clock is what counts.
    pub until: DateTime<Utc>,
    /// The last item handed out in order.
    pub after: Seq,
    /// Whether there is more to hand out.
    pub more: bool,
}

/// Whose decisions the journal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Made once, when the journal is.
    pub workstation: WorkstationId,
    /// The installation and the reviewer, from the first connection on.
    pub bound_to: Option<(Uuid, String)>,
}

/// What a decision became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Which.
    pub key: SignOffKey,
    /// `Committed`, `Refused`, `Dead`, or `Ready` when a dead one is tried again.
    pub stage: Stage,
    /// Attempts so far.
    pub attempts: u32,
    /// What the server answered.
    pub answer: Option<Answer>,
    /// Why it is dead.
    pub problem: Option<String>,
    /// When, by the workstation's clock.
    pub at: DateTime<Utc>,
    /// The database's receipt that covers the answer.
    pub receipt: Option<i64>,
    /// What this workstation did for it so far.
    pub steps: Vec<Step>,
    /// The note with which the exception of a refused decision stays in the deck; `None` where it leaves it. A journal that has
    /// forgotten the lease by now forgets the exception too.
    pub returned: Option<String>,
}

/// An exception that could not be scored.
#[derive(Clone, PartialEq, Eq)]
pub struct LocalDeadLetter {
    /// Which.
    pub id: ExceptionId,
    /// Its version.
    pub version: u32,
    /// Its content.
    pub body: String,
    /// Why.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When, by the workstation's clock.
    pub at: DateTime<Utc>,
}

// Without what the exception says; the reason may quote it.
impl fmt::Debug for LocalDeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, version, body, attempts, .. } = self;
        write!(f, "LocalDeadLetter({id} v{version} after {attempts} attempts, {:?})", Redacted(body))
    }
}

/// A change of the journal; each is one transaction, durable when it returns.
#[derive(Clone, PartialEq, Eq)]
pub enum Write {
    /// The first connection: whose journal it is.
    Bind {
        /// The installation.
        installation: Uuid,
        /// The reviewer's login.
        reviewer: String,
    },
    /// Policy and rights, to foresee answers while the database cannot be asked.
    Standing(Box<Standing>),
    /// Leases, new or changed, and the items that came with them and their contents. An item that is there already is replaced.
    Leased {
        /// Inserted or replaced.
        leases: Vec<LeaseRow>,
        /// Inserted or replaced, with their content.
        items: Vec<(DeckItem, String)>,
    },
    /// Leases that ended: they and their undecided items are forgotten. Decided ones stay until they are settled.
    Dropped(Vec<PartitionKey>),
    /// What fills the deck from now on. Every lease is handed out from its beginning again, so that nothing is left out that the
    /// focus before did not want.
    Focus(Option<Focus>),
    /// Undecided items leave the deck, and their leases stay.
    Left(Vec<ExceptionId>),
    /// The decisions of one confirmation, and nothing else, become durable: all or none. Each takes the place of what was refused of
    /// the same exception with the same content.
    Signed {
        /// The decisions.
        entries: Vec<Entry>,
        /// What was attested, as it was shown.
        attestation: String,
    },
    /// Decisions that are about to be sent for the first time.
    Sending(Vec<SignOffKey>),
    /// Decisions that were never sent are withdrawn: they leave the outbox, their items are in the deck again.
    Withdrawn(Vec<SignOffKey>),
    /// Answers. An item whose decision was answered leaves the deck, unless it is [returned](Settled::returned); the answer is kept.
    Settled(Vec<Settled>),
    /// Refused decisions that the reviewer has seen and put away.
    Dismissed(Vec<SignOffKey>),
    /// Exceptions that could not be scored; they leave the deck. The backlog is to be told.
    DeadLettered(Vec<LocalDeadLetter>),
    /// Decisions that the database can never take. The backlog is to be told, unless they are tried again before.
    GivenUp(Vec<GivenUp>),
    /// The backlog was told of these.
    Told(Vec<LetterRef>),
    /// What the window keeps of itself; at most [`UI_STATE_BYTES`](super::UI_STATE_BYTES).
    UiState(String),
    /// The reviewer signs out: leases, the deck, answered decisions and dead letters are forgotten, and nothing of them stays in the
    /// file. Unanswered and given-up decisions stay, with their items. It can be repeated, and is when it fails: the rows may be
    /// gone by then, and only their traces left.
    Cleared,
}

// Without contents.
impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { installation, .. } => write!(f, "Bind({installation})"),
            Self::Standing(standing) => write!(f, "Standing({})", standing.policy_version),
            Self::Leased { leases, items } => write!(f, "Leased({} leases, {} items)", leases.len(), items.len()),
            Self::Dropped(partitions) => write!(f, "Dropped({partitions:?})"),
            Self::Focus(focus) => write!(f, "Focus({})", if focus.is_some() { "some" } else { "none" }),
            Self::Left(ids) => write!(f, "Left({ids:?})"),
            Self::Signed { entries, .. } => write!(f, "Signed({entries:?})"),
            Self::Sending(keys) => write!(f, "Sending({keys:?})"),
            Self::Withdrawn(keys) => write!(f, "Withdrawn({keys:?})"),
            Self::Settled(settled) => write!(f, "Settled({settled:?})"),
            Self::Dismissed(keys) => write!(f, "Dismissed({keys:?})"),
            Self::DeadLettered(letters) => write!(f, "DeadLettered({letters:?})"),
            Self::GivenUp(letters) => write!(f, "GivenUp({letters:?})"),
            Self::Told(letters) => write!(f, "Told({letters:?})"),
            Self::UiState(state) => write!(f, "UiState({:?})", Redacted(state)),
            Self::Cleared => f.write_str("Cleared"),
        }
    }
}

/// What a journal held when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Whose it is.
    pub identity: Identity,
    /// The leases.
    pub leases: Vec<LeaseRow>,
    /// Undecided items.
    pub deck: Vec<DeckItem>,
    /// Unanswered, dead and undismissed refused decisions in order, then the latest accepted ones (at most 500).
    pub outbox: Vec<Entry>,
    /// The highest ordinal ever given.
    pub last_ordinal: u64,
    /// Policy and rights as they were last heard of.
    pub standing: Option<Standing>,
    /// What fills the deck.
    pub focus: Option<Focus>,
}

/// What kind of trouble a journal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalFault {
    /// No space.
    Full,
    /// The file or its directory cannot be written.
    ReadOnly,
    /// Another process has it.
    Locked,
    /// The file is no journal, or damaged.
    Corrupt,
    /// A newer release wrote it.
    Newer,
    /// The key does not fit it.
    Key,
    /// Anything else.
    Io,
}

impl JournalFault {
    /// The code shown with the message.
    pub fn code(self) -> &'static str {
        match self {
            Self::Full => "JOURNAL_FULL",
            Self::ReadOnly => "JOURNAL_READ_ONLY",
            Self::Locked => "JOURNAL_LOCKED",
            Self::Corrupt => "JOURNAL_CORRUPT",
            Self::Newer => "JOURNAL_NEWER",
            Self::Key => "JOURNAL_KEY",
            Self::Io => "JOURNAL_FAILED",
        }
    }
}

/// A journal operation that failed. Nothing of it happened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation}: {message}")]
pub struct JournalError {
    /// What was being done: "open", "sign".
    pub operation: &'static str,
    /// The kind of trouble.
    pub fault: JournalFault,
    /// What happened and what to do, for a reviewer.
    pub message: String,
}

/// The local journal. One owner, one thread; every call blocks until it is durable.
pub trait Journal: Send {
    /// Everything that is there.
    fn restore(&mut self) -> Result<Restored, JournalError>;

    /// Makes one change durable, or fails and changes nothing.
    fn write(&mut self, write: &Write) -> Result<(), JournalError>;

    /// The content of an exception that is in the deck or was decided and is not settled yet.
    fn body(&mut self, id: ExceptionId) -> Result<Option<String>, JournalError>;

    /// Version and content of an exception before it changed, while the changed one is here.
    fn previous(&mut self, id: ExceptionId) -> Result<Option<(u32, String)>, JournalError>;

    /// One decision, answered or not.
    fn entry(&mut self, key: SignOffKey) -> Result<Option<Entry>, JournalError>;

    /// The latest confirmations, newest first; at most [`BATCHES_TOLD`](super::BATCHES_TOLD). One of which some decisions are forgotten is not told of.
    fn batches(&mut self) -> Result<Vec<Batch>, JournalError>;

    /// A confirmation with its decisions in their order, answered ones included and withdrawn ones not.
    fn batch(&mut self, id: BatchId) -> Result<Option<(Batch, Vec<Entry>)>, JournalError>;

    /// What the window kept of itself.
    fn ui_state(&mut self) -> Result<Option<String>, JournalError>;

    /// What was given up and the backlog was not told of, oldest first: at most so many, and at most [`UNTOLD_BYTES`] but for the
    /// first.
    fn untold(&mut self, at_most: usize) -> Result<Vec<GivenUp>, JournalError>;
}
