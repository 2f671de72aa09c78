//! Decisions and what the database answers to them.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{ContentHash, Epoch, ExceptionId, SignOffKey};
use crate::money::Money;
use crate::redact::Redacted;
use crate::seal::Seal;

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
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The policy it was decided under.
    pub policy_version: u32,
    /// What an approval of a sales claim posts, or the amount that a receipt is released with instead of what was read.
    #[serde(default)]
    pub figure: Option<Money>,
    /// What proves it. Only a decision that an earlier release made has none until it is sent.
    pub seal: Option<Seal>,
}

// Without the comment.
impl fmt::Debug for SignOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, exception, epoch, decision, reason, comment, .. } = self;
        let comment = comment.as_ref().map(Redacted);
        write!(f, "SignOff({decision:?} {exception} {reason:?} {comment:?} {epoch:?} {})", key.0)
    }
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
    /// The reviewer prepared it, or signed what it reverses.
    Preparer,
    /// It is over one of the reviewer's limits.
    OverLimit,
    /// Its close period is closed.
    PeriodClosed,
    /// The reviewer may not sign this, or it does not exist.
    NotEligible,
    /// The seal is not that of this workstation over this decision.
    Forged,
    /// The figure is not the one that an approval of it carries.
    FigureDiffers,
}

impl Outcome {
    /// Every outcome, for tables and tests.
    pub const ALL: [Self; 14] = [
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
        Self::PeriodClosed,
        Self::NotEligible,
        Self::Forged,
        Self::FigureDiffers,
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
            Self::PeriodClosed => "PERIOD_CLOSED",
            Self::NotEligible => "NOT_ELIGIBLE",
            Self::Forged => "FORGED",
            Self::FigureDiffers => "FIGURE_DIFFERS",
        }
    }

    /// Whether the decision stands.
    pub fn accepted(self) -> bool {
        matches!(self, Self::Committed | Self::AwaitingSecond | Self::Held | Self::Duplicate)
    }

    /// Whether the exception is still the reviewer's to decide after this refusal: it changed nothing, and neither is the exception
    /// decided, nor somebody else's, nor another version by now.
    pub fn leaves_undecided(self) -> bool {
        !self.accepted() && !matches!(self, Self::StaleVersion | Self::LeaseSuperseded | Self::AlreadyDecided)
    }

    /// A refusal in a few words, to be read behind others.
    pub fn in_brief(self) -> &'static str {
        match self {
            Self::Preparer => "you prepared it",
            Self::OverLimit => "over your limit",
            Self::PeriodClosed => "period closed",
            Self::NotEligible => "not yours to sign",
            Self::StaleVersion => "changed upstream",
            Self::LeaseSuperseded => "with somebody else now",
            Self::AlreadyDecided => "decided before",
            Self::KeyReused => "signed otherwise",
            Self::Forged => "not as it was sealed",
            Self::FigureDiffers => "with another figure",
            Self::Committed | Self::AwaitingSecond | Self::Held | Self::Duplicate => "accepted",
        }
    }

    /// What it means for the reviewer, and what to do next.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Committed => "Committed.",
            Self::AwaitingSecond => "Signed; waits for a second signature.",
            Self::Held => "Signed; takes effect when the earlier items of its partition are decided.",
            Self::Duplicate => "Was accepted already; nothing happened twice.",
            Self::KeyReused => {
                "Another decision was signed under the same key; that one stands. Compare both before you sign again."
            }
            Self::StaleVersion => "It changed upstream since you saw it. Look at the new version and decide again.",
            Self::LeaseSuperseded => {
                "It is with somebody else now: the lease lapsed and was taken, or it was handed over. Nothing was signed; compare only if there is their decision."
            }
            Self::AlreadyDecided => "It was decided before. Nothing was signed; compare with that decision.",
            Self::Preparer => "You prepared it, or signed what it reverses, so somebody else has to sign it.",
            Self::OverLimit => "It is over your limit. Ask somebody with a higher one to sign it.",
            Self::PeriodClosed => {
                "Its close period is closed. Ask a supervisor to reopen it, or leave it to the next period."
            }
            Self::NotEligible => {
                "It is not one of those you may sign: another kind, tier or entity, a part of a group without the rest, or you approved it first and a second person has to. Nothing was signed."
            }
            Self::Forged => {
                "The decision is not as this workstation sealed it. Nothing was signed; tell your supervisor, then look at it and decide again."
            }
            Self::FigureDiffers => {
                "It was approved with another figure than an approval of it carries. Nothing was signed; look at the figure and decide again."
            }
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
    /// The figure that an approval carries, when the outcome is [`Outcome::FigureDiffers`]: what the claim comes to, or what the first
    /// of two approved with. `None` then says that it carries none, or that what was read is no amount and none was entered.
    #[serde(default)]
    pub figure: Option<Money>,
    /// The content as it is now, when the outcome is [`Outcome::StaleVersion`]. It is not kept with the answer.
    #[serde(skip)]
    pub now: Option<CurrentContent>,
}

impl Answer {
    /// An answer that says no more than its outcome.
    pub fn plain(outcome: Outcome) -> Self {
        Self { outcome, first_outcome: None, other: None, figure: None, now: None }
    }

    /// What it means and what to do next, with the figure where that is what differs.
    pub fn explanation(&self) -> String {
        let meaning = self.outcome.explanation();
        match (self.outcome, self.figure) {
            (Outcome::FigureDiffers, Some(figure)) => {
                format!("{meaning} It carries {} {}.", figure.text(), figure.currency)
            }
            (Outcome::FigureDiffers, None) => format!(
                "{meaning} It carries none, and what was read stands; where that is no amount, enter the amount of the receipt, over zero."
            ),
            _ => meaning.to_owned(),
        }
    }
}

/// The content of an exception that changed.
#[derive(Clone, PartialEq, Eq)]
pub struct CurrentContent {
    /// Its version.
    pub version: u32,
    /// The content, byte for byte.
    pub body: String,
}

// Without the content.
impl fmt::Debug for CurrentContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CurrentContent(v{}, {:?})", self.version, Redacted(&self.body))
    }
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

#[cfg(test)]
mod tests {
    use super::{Answer, Outcome};
    use crate::money::Money;

    #[test]
    fn a_figure_that_differs_is_said_beside_the_one_that_stands() {
        let money = |amount, code: &str| Money::parse(amount, code.parse().expect("a currency")).ok();
        let differs = |figure| Answer { figure, ..Answer::plain(Outcome::FigureDiffers) }.explanation();
        assert!(differs(money("21.6", "USD")).ends_with("decide again. It carries 21.60 USD."));
        assert!(differs(None).contains("enter the amount of the receipt"));
        assert_eq!(Answer::plain(Outcome::Held).explanation(), Outcome::Held.explanation());
        assert!(Outcome::FigureDiffers.leaves_undecided() && !Outcome::FigureDiffers.accepted());
    }

    #[test]
    fn what_is_with_somebody_else_may_have_been_handed_over_and_may_be_undecided() {
        let told = Outcome::LeaseSuperseded.explanation();
        for part in ["lapsed and was taken", "handed over", "Nothing was signed", "only if there is their decision"] {
            assert!(told.contains(part), "{told}");
        }
    }
}
