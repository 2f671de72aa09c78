//! Decisions and what the database answers to them.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ContentHash, Epoch, ExceptionId, SignOffKey};

/// The most characters a comment may have.
pub const COMMENT_CHARS: usize = 2_000;

/// What a reviewer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// The effect is written.
    Approve,
    /// It goes back where it came from.
    Reject,
}

impl Decision {
    /// The name on the wire, in records and in the sign-off key.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "APPROVE",
            Self::Reject => "REJECT",
        }
    }
}

impl FromStr for Decision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "APPROVE" => Ok(Self::Approve),
            "REJECT" => Ok(Self::Reject),
            other => Err(format!("`{other}` is no decision: expected APPROVE or REJECT")),
        }
    }
}

/// The reasons a rejection may carry: the code that is signed, and what it means.
pub const REASON_CODES: [(&str, &str); 6] = [
    ("MISSING_EVIDENCE", "Evidence is missing"),
    ("WRONG_AMOUNT", "The amount is wrong"),
    ("WRONG_COUNTERPARTY", "The counterparty is wrong"),
    ("DUPLICATE_RECORD", "Recorded twice upstream"),
    ("WRONG_PERIOD", "Belongs to another period"),
    ("OTHER", "Something else, see the comment"),
];

/// One decision, complete: everything that is signed and sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOff {
    /// Names the decision.
    pub key: SignOffKey,
    /// What it is about.
    pub exception: ExceptionId,
    /// The content that was shown.
    pub content: ContentHash,
    /// The lease it was made under.
    pub epoch: Epoch,
    /// What was decided.
    pub decision: Decision,
    /// A code of [`REASON_CODES`]; a rejection has one.
    pub reason: Option<String>,
    /// Free text of at most [`COMMENT_CHARS`] characters.
    pub comment: Option<String>,
    /// When, by the workstation's clock, in whole microseconds.
    pub decided_at: DateTime<Utc>,
}

/// The database's answer to one sign-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// Decided, and the effect is written.
    Committed,
    /// Signed; a second person has to sign too.
    AwaitingSecond,
    /// Decided; the effect waits for an earlier item of the partition.
    Held,
    /// This very decision was accepted before.
    Duplicate,
    /// The key stands for another decision.
    KeyReused,
    /// The content is not what the reviewer saw.
    StaleVersion,
    /// Somebody else took the partition since.
    LeaseSuperseded,
    /// Somebody decided it before.
    AlreadyDecided,
    /// The reviewer prepared it.
    Preparer,
    /// It is over one of the reviewer's limits.
    OverLimit,
    /// The reviewer may not sign this, or it does not exist.
    NotEligible,
}

impl Outcome {
    /// Every outcome, for tables and tests.
    pub const ALL: [Self; 11] = [
        Self::Committed,
        Self::AwaitingSecond,
        Self::Held,
        Self::Duplicate,
        Self::KeyReused,
        Self::StaleVersion,
        Self::LeaseSuperseded,
        Self::AlreadyDecided,
        Self::Preparer,
        Self::OverLimit,
        Self::NotEligible,
    ];

    /// The name on the wire and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Committed => "COMMITTED",
            Self::AwaitingSecond => "AWAITING_SECOND",
            Self::Held => "HELD",
            Self::Duplicate => "DUPLICATE",
            Self::KeyReused => "KEY_REUSED",
            Self::StaleVersion => "STALE_VERSION",
            Self::LeaseSuperseded => "LEASE_SUPERSEDED",
            Self::AlreadyDecided => "ALREADY_DECIDED",
            Self::Preparer => "PREPARER",
            Self::OverLimit => "OVER_LIMIT",
            Self::NotEligible => "NOT_ELIGIBLE",
        }
    }

    /// Whether the decision stands.
    pub fn accepted(self) -> bool {
        matches!(self, Self::Committed | Self::AwaitingSecond | Self::Held | Self::Duplicate)
    }

    /// What it means for the reviewer, and what to do next.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Committed => "Committed.",
            Self::AwaitingSecond => "Signed; waits for a second signature.",
            Self::Held => "Signed; takes effect when the earlier items of its partition are decided.",
            Self::Duplicate => "Was committed already; nothing happened twice.",
            Self::KeyReused => {
                "Another decision was signed under the same key; that one stands. Compare both before you sign again."
            }
            Self::StaleVersion => "It changed upstream since you saw it. Look at the new version and decide again.",
            Self::LeaseSuperseded => {
                "A colleague took it while your lease had lapsed. Nothing was signed; compare with their decision."
            }
            Self::AlreadyDecided => "It was decided before. Nothing was signed; compare with that decision.",
            Self::Preparer => "You prepared it, so somebody else has to sign it.",
            Self::OverLimit => "It is over your limit. Ask somebody with a higher one to sign it.",
            Self::NotEligible => "You may not sign it, or it does not exist any more. Nothing was signed.",
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no outcome of a sign-off"))
    }
}

/// The answer to one sign-off, with what the other side decided where that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What the database says.
    pub outcome: Outcome,
    /// The first answer, when the outcome is [`Outcome::Duplicate`].
    pub first_outcome: Option<Outcome>,
    /// The decision that stands instead, when somebody else's does.
    pub other: Option<OtherDecision>,
}

/// Somebody else's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherDecision {
    /// Who.
    pub reviewer: String,
    /// What.
    pub decision: Decision,
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
}
