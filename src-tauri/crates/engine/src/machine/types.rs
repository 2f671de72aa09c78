//! What comes in and what goes out.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use countersign_domain::code::Code;
use countersign_domain::focus::Focus;
use countersign_domain::id::PartitionKey;
use countersign_domain::id::{BatchId, Digest, ExceptionId, SignOffKey};
use countersign_domain::money::Money;
use countersign_domain::scoring::Thresholds;
use countersign_domain::seal::{Enrolment, PublicKey};
use countersign_domain::sign_off::{Decision, SignOff};
use uuid::Uuid;

use super::trace::{Trace, Unscored};
use crate::port::{
    BacklogError, DeckItem, Held, JournalError, LeaseReply, LeaseRequest, LeasedItem, LetterRef, Renewed, SignOffReply,
    Welcome, Write,
};

/// The time: one clock that only goes forward, and one that says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds on a clock that never goes back.
    pub mono_ms: u64,
    /// The workstation's wall clock.
    pub wall: DateTime<Utc>,
}

/// Ties a command to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Ties a journal write to its completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// What the scoring pool made of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scored {
    /// As it was leased.
    pub leased: LeasedItem,
    /// Which worker did it, from 0.
    pub worker: u32,
    /// What to show, or why it cannot be shown.
    pub result: Result<DeckItem, Unscored>,
}

/// What a person asks for.
#[derive(Clone, PartialEq, Eq)]
pub enum Command {
    /// Sign a frozen list. All of it or nothing.
    Sign {
        /// Names the confirmation.
        batch: BatchId,
        /// The exceptions.
        ids: Vec<ExceptionId>,
        /// The decision.
        decision: Decision,
        /// A reason code.
        reason: Option<String>,
        /// Free text.
        comment: Option<String>,
        /// What the dialog showed.
        hash_total: Digest,
        /// The policy whose attestation the dialog showed.
        policy_version: u32,
        /// Corrected amounts of receipts that are approved. What a claim posts follows from what was shown of it.
        figures: BTreeMap<ExceptionId, Money>,
    },
    /// Withdraw what is still in its undo window.
    Undo(BatchId),
    /// Withdraw what was certainly never sent, also after the undo window.
    CancelUnsent(BatchId),
    /// Fill the deck with something else.
    SetFocus {
        /// What is wanted; `None` is everything the reviewer may sign.
        focus: Option<Focus>,
        /// Give back what is undecided and outside of it. A partition goes back whole or not at all: of one that stays, what is
        /// outside leaves the deck, and comes back with a focus that wants it.
        give_back: bool,
    },
    /// Have every lease last so long from now, at most as long as policy allows.
    Extend {
        /// How long.
        ttl_ms: u32,
    },
    /// Give back the partitions of these exceptions.
    Release(Vec<ExceptionId>),
    /// Hand the partitions of these exceptions to a colleague.
    HandOver {
        /// The exceptions.
        ids: Vec<ExceptionId>,
        /// The colleague's login.
        to: String,
    },
    /// End every wait.
    RetryNow,
    /// Ask for the policy and the rights in force, unless they were heard of just now.
    Refresh,
    /// Try a given-up decision again.
    RetryDead(SignOffKey),
    /// Put a refused decision away.
    Dismiss(SignOffKey),
    /// Begin to close.
    Drain,
    /// Begin to close, and clear the journal of everything but unanswered decisions.
    SignOut,
    /// Stop waiting and close.
    CloseNow,
}

// Without the comment.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sign { batch, ids, decision, .. } => {
                write!(f, "Sign({batch:?}: {decision:?} {} exceptions)", ids.len())
            }
            Self::Undo(batch) => write!(f, "Undo({batch:?})"),
            Self::CancelUnsent(batch) => write!(f, "CancelUnsent({batch:?})"),
            Self::SetFocus { focus, give_back } => {
                write!(f, "SetFocus({}, give back: {give_back})", if focus.is_some() { "some" } else { "none" })
            }
            Self::Extend { ttl_ms } => write!(f, "Extend({ttl_ms} ms)"),
            Self::Release(ids) => write!(f, "Release({} exceptions)", ids.len()),
            Self::HandOver { ids, to } => write!(f, "HandOver({} exceptions to {to})", ids.len()),
            Self::RetryNow => f.write_str("RetryNow"),
            Self::Refresh => f.write_str("Refresh"),
            Self::RetryDead(key) => write!(f, "RetryDead({key:?})"),
            Self::Dismiss(key) => write!(f, "Dismiss({key:?})"),
            Self::Drain => f.write_str("Drain"),
            Self::SignOut => f.write_str("SignOut"),
            Self::CloseNow => f.write_str("CloseNow"),
        }
    }
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// Time went by.
    Tick,
    /// The answer to [`Effect::Hello`].
    Welcomed(Result<Welcome, BacklogError>),
    /// The answer to [`Effect::Enrol`]; what was agreed is kept already.
    Enrolled(Result<Enrolment, BacklogError>),
    /// The answer to [`Effect::Lease`].
    Leased(Result<LeaseReply, BacklogError>),
    /// The answer to [`Effect::Renew`].
    Renewed(Result<Vec<Renewed>, BacklogError>),
    /// The answer to [`Effect::Release`].
    Released(Result<(), BacklogError>),
    /// The answer to [`Effect::HandOver`].
    HandedOver(Result<Vec<PartitionKey>, BacklogError>),
    /// The answer to [`Effect::SignOff`], in the order of the decisions.
    SignedOff(Result<SignOffReply, BacklogError>),
    /// Answers to [`Effect::Score`], as they are done: one for each exception that was handed over.
    Scored(Vec<Scored>),
    /// The answer to [`Effect::GiveUp`]: of what the backlog was told, or would have been.
    GaveUp(Vec<LetterRef>, Result<(), BacklogError>),
    /// The answer to [`Effect::Journal`].
    Journaled(Token, Result<(), JournalError>),
    /// A person asks for something.
    Command(RequestId, Command),
}

/// What is to be done. Calls to the backlog go side by side, at most one of a kind; journal writes go one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Connect and say hello.
    Hello,
    /// Have this key enrolled, and keep what is agreed before telling of it.
    Enrol(PublicKey),
    /// Lease.
    Lease(LeaseRequest),
    /// Renew these leases, for so many milliseconds.
    Renew(Vec<Held>, u32),
    /// Give these leases back.
    Release(Vec<Held>),
    /// Hand these leases to a colleague.
    HandOver(Vec<Held>, String),
    /// Send these decisions.
    SignOff(Vec<SignOff>),
    /// Read these, and score them with the thresholds. There are never more under way than their lanes take.
    Score(Vec<LeasedItem>, Thresholds),
    /// Tell the backlog of at most so many of the letters that the journal holds and that it was not told of.
    GiveUp(usize),
    /// Make this durable.
    Journal(Token, Write),
    /// Answer a command.
    Reply(RequestId, Result<Reply, CommandFailure>),
    /// Write a record to the log.
    Record(Record),
    /// Write a record of one exception to the log.
    Trace(Trace),
    /// Closing is done; nothing more will be asked for.
    Drained {
        /// `drain_timeout_s` went by, or the person would not wait; what is left is on disk.
        cut_short: bool,
    },
}

/// A line of the structured log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened, such as `lease_lost`.
    pub event: &'static str,
    /// The named code, where it has one.
    pub code: Option<Code>,
    /// What it was about.
    pub item: Option<(Uuid, String, &'static str)>,
    /// The rest, in words.
    pub message: String,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// These decisions are durable.
    Signed {
        /// How many.
        count: usize,
    },
    /// What was withdrawn.
    Undone {
        /// Back in the deck.
        withdrawn: usize,
        /// On their way already.
        too_late: usize,
    },
    /// This many exceptions are given back.
    Released(usize),
    /// What extending came to.
    Extended {
        /// How many leases stand.
        stand: usize,
        /// How many were somebody else's by now.
        lost: usize,
        /// For how long all of them stand, in milliseconds from `at`; absent with none.
        granted_ms: Option<u32>,
        /// When it was asked for, by the workstation's clock.
        at: DateTime<Utc>,
    },
    /// The focus is in force.
    Focused {
        /// How many exceptions left the deck.
        given_back: usize,
    },
    /// This many partitions are a colleague's now.
    HandedOver(usize),
    /// Done.
    Done,
}

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFailure {
    /// A stable name.
    pub code: &'static str,
    /// What happened and what to do.
    pub message: String,
}

/// The connection, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Whether the last call succeeded.
    pub online: bool,
    /// What is wrong.
    pub problem: Option<BacklogError>,
    /// Until the next attempt.
    pub next_attempt_in_ms: Option<u64>,
    /// When the database last answered.
    pub last_contact: Option<DateTime<Utc>>,
}

/// Closing, to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainState {
    /// Decisions that are not answered.
    pub unsent: usize,
    /// Decisions answered since closing began.
    pub sent: usize,
    /// Exceptions to be given back.
    pub to_release: usize,
    /// Until closing gives up waiting.
    pub gives_up_in_ms: u64,
    /// Whether the database can be reached.
    pub online: bool,
    /// Closing is over.
    pub done: bool,
}
