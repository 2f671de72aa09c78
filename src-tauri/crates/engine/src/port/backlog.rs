//! The shared backlog.

use std::fmt;
use std::future::Future;

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::focus::Focus;
use countersign_domain::id::{ContentHash, Epoch, ExceptionId, PartitionKey, Seq, WorkstationId};
use countersign_domain::receipt::Receipt;
use countersign_domain::redact::Redacted;
use countersign_domain::seal::{Enrolment, PublicKey};
use countersign_domain::sign_off::{Answer, SignOff};
use countersign_domain::standing::Standing;
use uuid::Uuid;

use super::GivenUp;

/// Who calls, and with which settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// This journal's workstation.
    pub workstation: WorkstationId,
    /// The machine's name.
    pub name: String,
    /// The application's version.
    pub app_version: String,
    /// The settings in force, as JSON; a change is versioned and audited by the database.
    pub settings: String,
}

/// Where the workstation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The installation. A journal belongs to one.
    pub installation: Uuid,
    /// The login as the database knows it.
    pub reviewer: String,
    /// The reviewer's name.
    pub display_name: String,
    /// The database's clock.
    pub server_now: DateTime<Utc>,
    /// The latest enrolment of this workstation.
    pub enrolment: Option<EnrolmentState>,
    /// The policy in force, and what this reviewer may sign.
    pub standing: Box<Standing>,
}

/// How an enrolment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnrolmentState {
    /// Its number at this workstation.
    pub number: u32,
    /// The key that was enrolled.
    pub public_key: PublicKey,
    /// Whether a supervisor confirmed it.
    pub confirmed: bool,
}

/// A lease and how far its items were handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCursor {
    /// The partition.
    pub partition: PartitionKey,
    /// The last item handed out in order; 0 starts anew.
    pub after: Seq,
}

/// What to lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// How many items are wanted; at least 1.
    pub want: u32,
    /// How many fit at the most; at least `want`.
    pub room: u32,
    /// The deck is empty: a group larger than `room` may come too, because it can never fit better.
    pub empty: bool,
    /// The length of the lease in milliseconds.
    pub ttl_ms: u32,
    /// What is held already. A partition that the database knows to be held and that is missing here is handed out anew.
    pub held: Vec<HeldCursor>,
    /// What is wanted; `None` is everything the reviewer may sign.
    pub focus: Option<Focus>,
}

/// A partition that is held after the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedPartition {
    /// The partition.
    pub partition: PartitionKey,
    /// The epoch of the lease.
    pub epoch: Epoch,
    /// How long it lasts from the moment of the answer, in milliseconds.
    pub lease_ms: u32,
    /// The last item handed out in order.
    pub after: Seq,
    /// Whether there is more to hand out.
    pub more: bool,
}

/// An exception handed out.
#[derive(Clone, PartialEq, Eq)]
pub struct LeasedItem {
    /// Its identifier.
    pub id: ExceptionId,
    /// The partition.
    pub partition: PartitionKey,
    /// The epoch of the lease.
    pub epoch: Epoch,
    /// Its place.
    pub seq: Seq,
    /// Its version.
    pub version: u32,
    /// SHA-256 of `body`.
    pub content: ContentHash,
    /// The content, byte for byte.
    pub body: String,
    /// How many have signed it before.
    pub signatures: u32,
    /// When it has to be decided.
    pub due_on: Option<NaiveDate>,
}

// Without what the exception says.
impl fmt::Debug for LeasedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, partition, epoch, seq, version, body, .. } = self;
        write!(f, "LeasedItem({id} v{version} at {seq:?} of {partition:?} {epoch:?}, {:?})", Redacted(body))
    }
}

/// The answer to a lease call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaseReply {
    /// Every partition that was looked at, also those of which nothing was handed out.
    pub partitions: Vec<LeasedPartition>,
    /// The items, in the order of their partitions and places. Some may be known already.
    pub items: Vec<LeasedItem>,
}

/// A lease, named by its epoch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// The partition.
    pub partition: PartitionKey,
    /// The epoch.
    pub epoch: Epoch,
}

/// A lease that still stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// Which.
    pub held: Held,
    /// How long it lasts from the moment of the answer, in milliseconds.
    pub lease_ms: u32,
}

/// The answer to a call of sign-offs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOffReply {
    /// One for each decision, in the same order.
    pub answers: Vec<Answer>,
    /// What the call came to.
    pub receipt: Option<Receipt>,
}

/// What kind of failure a call ended with, and therefore what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No answer: refused, lost, timed out. What was asked for may have happened. Retried forever; it never counts as an attempt.
    Offline,
    /// The database answered that it cannot now: deadlock, serialization, starting up, read-only. Nothing happened.
    Transient,
    /// The database answered that it cannot ever serve this request. Nothing happened.
    Structural,
    /// The database answered, or the connection could not be made safe, and a person has to act.
    Refused(Problem),
}

/// What a person has to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The login or its password is wrong.
    BadPassword,
    /// The server has no such database.
    NoDatabase,
    /// The database has no Countersign, or the login may not use it.
    NoSchema,
    /// The database is older than this release.
    SchemaOlder,
    /// The database is newer than this release.
    SchemaNewer,
    /// The login is no active reviewer.
    NotAReviewer,
    /// The workstation is not known for this login; saying hello again mends it.
    UnknownWorkstation,
    /// No supervisor has confirmed the workstation's key yet.
    NotEnrolled,
    /// The workstation was revoked.
    Revoked,
    /// The connection cannot be made as safe as the profile asks.
    Tls,
    /// The journal holds decisions made for another installation or reviewer.
    OtherInstallation,
}

impl Problem {
    /// The code shown with the message.
    pub fn code(self) -> &'static str {
        match self {
            Self::BadPassword => "BAD_PASSWORD",
            Self::NoDatabase => "NO_DATABASE",
            Self::NoSchema => "NO_SCHEMA",
            Self::SchemaOlder => "SCHEMA_OLDER",
            Self::SchemaNewer => "SCHEMA_NEWER",
            Self::NotAReviewer => "NOT_A_REVIEWER",
            Self::UnknownWorkstation => "UNKNOWN_WORKSTATION",
            Self::NotEnrolled => "NOT_ENROLLED",
            Self::Revoked => "REVOKED",
            Self::Tls => "TLS",
            Self::OtherInstallation => "OTHER_INSTALLATION",
        }
    }
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacklogError {
    /// What was being done: "lease", "sign off".
    pub operation: &'static str,
    /// The kind of failure.
    pub failure: Failure,
    /// What happened and what to do, for a reviewer. Never a password.
    pub message: String,
}

impl BacklogError {
    /// The code shown with the message.
    pub fn code(&self) -> &'static str {
        match self.failure {
            Failure::Offline => "UNREACHABLE",
            Failure::Transient => "TRY_AGAIN",
            Failure::Structural => "REFUSED",
            Failure::Refused(problem) => problem.code(),
        }
    }
}

impl fmt::Display for BacklogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.message)
    }
}

impl std::error::Error for BacklogError {}

/// The shared backlog. Every call is one transaction on the database's side, and may be repeated when its answer was lost.
pub trait Backlog: Send + Sync {
    /// Says who calls. Comes before everything else on a connection that was made anew.
    fn hello(&self, hello: &Hello) -> impl Future<Output = Result<Welcome, BacklogError>> + Send;

    /// Has the workstation's public key taken, and agrees on a secret.
    fn enrol(
        &self,
        workstation: WorkstationId,
        key: PublicKey,
    ) -> impl Future<Output = Result<Enrolment, BacklogError>> + Send;

    /// Hands out items: first of what is held, then of partitions claimed by rank.
    fn lease(
        &self,
        workstation: WorkstationId,
        request: &LeaseRequest,
    ) -> impl Future<Output = Result<LeaseReply, BacklogError>> + Send;

    /// Prolongs leases. Those missing in the answer are somebody else's.
    fn renew(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        ttl_ms: u32,
    ) -> impl Future<Output = Result<Vec<Renewed>, BacklogError>> + Send;

    /// Gives partitions back at once.
    fn release(
        &self,
        workstation: WorkstationId,
        held: &[Held],
    ) -> impl Future<Output = Result<(), BacklogError>> + Send;

    /// Hands leases to a colleague; those missing in the answer were somebody else's.
    fn hand_over(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        to: &str,
        ttl_ms: u32,
    ) -> impl Future<Output = Result<Vec<PartitionKey>, BacklogError>> + Send;

    /// Signs; one answer for each, in the same order. Every decision is sealed.
    fn sign_off(
        &self,
        workstation: WorkstationId,
        sign_offs: &[SignOff],
    ) -> impl Future<Output = Result<SignOffReply, BacklogError>> + Send;

    /// Keeps what was given up here as dead letters, at most [`LETTERS_A_CALL`](super::LETTERS_A_CALL). One that was told before is
    /// told in vain.
    fn give_up(
        &self,
        workstation: WorkstationId,
        letters: &[GivenUp],
    ) -> impl Future<Output = Result<(), BacklogError>> + Send;
}
