//! The desk of dead letters: what did not get in, or could not be worked on, and what is done about it.

use std::fmt;
use std::future::Future;

use chrono::{DateTime, Utc};
use countersign_domain::dead_letter::Cause;
use countersign_domain::exception::Kind;
use countersign_domain::id::{ExceptionId, SignOffKey, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::redact::Redacted;

use super::{BacklogError, PastEvent};

/// The most letters of one list.
pub const LETTERS_TOLD: u32 = 2_000;
/// The most letters of one call that changes something.
pub const LETTERS_A_CALL: usize = 100;
/// The most bytes of an original that are shown.
pub const ORIGINAL_BYTES: usize = 1_000_000;

/// A dead letter's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetterId(pub i64);

/// Where a dead letter is in its life. OPEN → TAKEN → REPLAYED, or DISCARDED once a second person has agreed. A taken one may be put
/// back; a replay that fails leaves it open, with one attempt more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LetterStatus {
    /// Nobody works on it.
    Open,
    /// Somebody works on it.
    Taken,
    /// It went in.
    Replayed,
    /// Somebody wants to discard it and gave a reason; a supervisor who is somebody else has to agree.
    Discarding,
    /// It was discarded; it is kept all the same.
    Discarded,
}

/// A dead letter in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its number.
    pub id: LetterId,
    /// Where it is in its life.
    pub status: LetterStatus,
    /// Why it is one.
    pub cause: Cause,
    /// The field at fault, as a path such as `payload.claim_period`.
    pub field: Option<String>,
    /// What was expected and what came.
    pub reason: String,
    /// The file, the producer's login, or the workstation that it came from.
    pub origin: String,
    /// The line there.
    pub line: Option<i64>,
    /// When it came first.
    pub first_at: DateTime<Utc>,
    /// When it came last.
    pub last_at: DateTime<Utc>,
    /// How often it came.
    pub times: u32,
    /// How often it was tried: the arrival and every replay.
    pub attempts: u32,
    /// Who works on it, or did.
    pub owner: Option<String>,
    /// The arrival's key, where it can be read.
    pub key: Option<String>,
    /// Its kind, where it can be read.
    pub kind: Option<Kind>,
    /// Its ledger entity, where it can be read.
    pub entity: Option<String>,
    /// Its variance, where it can be read: what the close lacks.
    pub at_risk: Option<Money>,
    /// How often it was corrected.
    pub corrections: u32,
}

/// What letters of one cause have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseLine {
    /// The cause.
    pub cause: Cause,
    /// Open or being discarded.
    pub open: u32,
    /// Taken.
    pub taken: u32,
    /// When the oldest of these came first.
    pub oldest: Option<DateTime<Utc>>,
    /// The absolute variances of these that can be read, by currency.
    pub at_risk: Vec<Money>,
    /// Of these, how many have no amount that can be read.
    pub without_amount: u32,
}

/// Which letters are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LetterFilter {
    /// Only these causes; all, if empty.
    pub causes: Vec<Cause>,
    /// Those that are done too.
    pub done: bool,
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// From 1.
    pub revision: u32,
    /// Who; they count as a preparer of what goes in.
    pub by: String,
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// The whole text as it was then.
    pub body: String,
}

/// A dead letter with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterDetail {
    /// What the list says.
    pub letter: Letter,
    /// The original's first [`ORIGINAL_BYTES`].
    pub original: Vec<u8>,
    /// The size of the whole original.
    pub original_size: u64,
    /// Every correction, oldest first.
    pub corrections: Vec<Correction>,
    /// What happened to it, oldest first.
    pub history: Vec<PastEvent>,
    /// Who wants to discard it, or did, and why.
    pub discard: Option<(String, String)>,
    /// The exception that it became, or is about.
    pub exception: Option<ExceptionId>,
}

/// What became, or would become, of one letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterAnswer {
    /// Which.
    pub id: LetterId,
    /// `ENQUEUED`, `CORRECTED`, `DUPLICATE`, `RELEASED`: it goes in. `CONFLICT`, `REFUSED`: it stays. `TAKEN`, `PUT_BACK`, `KEPT` (a
    /// correction), `DISCARDING`, `DISCARDED`: what was asked for was done. `NOT_YOURS`, `DONE`, `LATER` (too many within a minute;
    /// the detail is in how many seconds it goes on): nothing happened.
    pub outcome: String,
    /// The field at fault.
    pub field: Option<String>,
    /// Why, in words.
    pub detail: Option<String>,
}

impl LetterAnswer {
    /// Whether it goes in.
    pub fn passes(&self) -> bool {
        matches!(self.outcome.as_str(), "ENQUEUED" | "CORRECTED" | "DUPLICATE" | "RELEASED")
    }
}

/// What a workstation gave up, for the desk to see.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// [`Cause::Scoring`] or [`Cause::SignOff`].
    pub cause: Cause,
    /// Which exception.
    pub exception: ExceptionId,
    /// The version it was.
    pub version: u32,
    /// The decision, when it is about one.
    pub key: Option<SignOffKey>,
    /// What could not be worked on: the exception's content, or the decision as JSON without its comment.
    pub original: String,
    /// Why.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was given up, by the workstation's clock.
    pub at: DateTime<Utc>,
}

// Without what the exception says; the reason may quote it.
impl fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, exception, version, attempts, original, .. } = self;
        write!(f, "GivenUp({exception} v{version} {cause:?} after {attempts} attempts, {:?})", Redacted(original))
    }
}

/// Names what a workstation gave up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LetterRef {
    /// Which exception.
    pub exception: ExceptionId,
    /// The version it was.
    pub version: u32,
    /// The decision, when it is about one.
    pub key: Option<SignOffKey>,
}

impl GivenUp {
    /// Its name.
    pub fn letter(&self) -> LetterRef {
        LetterRef { exception: self.exception, version: self.version, key: self.key }
    }
}

/// The desk. A reviewer needs the right to it. Every call is one transaction on the database's side; every call that changes something
/// takes at most [`LETTERS_A_CALL`] letters, answers for each, and may be repeated when its answer was lost.
pub trait Desk: Send + Sync {
    /// Open and taken letters by cause.
    fn causes(&self, workstation: WorkstationId) -> impl Future<Output = Result<Vec<CauseLine>, BacklogError>> + Send;

    /// The letters, oldest first, at most [`LETTERS_TOLD`], and how many there are beyond.
    fn letters(
        &self,
        workstation: WorkstationId,
        filter: &LetterFilter,
    ) -> impl Future<Output = Result<(Vec<Letter>, u32), BacklogError>> + Send;

    /// One letter.
    fn letter(
        &self,
        workstation: WorkstationId,
        id: LetterId,
    ) -> impl Future<Output = Result<Option<LetterDetail>, BacklogError>> + Send;

    /// Takes letters to work on, or puts them back.
    fn take(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
        back: bool,
    ) -> impl Future<Output = Result<Vec<LetterAnswer>, BacklogError>> + Send;

    /// Keeps a correction of a letter that the caller has taken. `after` is the revision it was made from (0: the original); another
    /// one in between is a conflict.
    fn correct(
        &self,
        workstation: WorkstationId,
        id: LetterId,
        after: u32,
        body: &str,
    ) -> impl Future<Output = Result<LetterAnswer, BacklogError>> + Send;

    /// Says what would become of each letter if it were replayed now. Nothing changes.
    fn rehearse(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
    ) -> impl Future<Output = Result<Vec<LetterAnswer>, BacklogError>> + Send;

    /// Sends each letter in again, as it was last corrected. One that was replayed answers what it became then.
    fn replay(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
    ) -> impl Future<Output = Result<Vec<LetterAnswer>, BacklogError>> + Send;

    /// Asks for letters to be discarded, with a reason. A supervisor who is somebody else agrees with `countersign-admin`.
    fn discard(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
        reason: &str,
    ) -> impl Future<Output = Result<Vec<LetterAnswer>, BacklogError>> + Send;
}
