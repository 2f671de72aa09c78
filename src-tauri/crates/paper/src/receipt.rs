//! The receipt of a confirmation: what was signed with it, and what has become of it.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, Serializer};

/// The layout of the JSON document.
pub const FORMAT: u32 = 1;

/// The sums of one currency, as decimals with the currency's digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Total {
    /// ISO 4217.
    pub currency: String,
    /// How many.
    pub count: u32,
    /// The sum of the positive variances.
    pub debits: String,
    /// The sum of the negative ones.
    pub credits: String,
    /// Both together.
    pub net: String,
    /// The largest absolute one.
    pub largest: String,
}

/// One decision.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The exception's identifier.
    pub exception: String,
    /// The ledger entity.
    pub entity: String,
    /// The other side.
    pub counterparty: String,
    /// The variance, a decimal with the currency's digits.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// Where it is, such as `COMMITTED`, `REFUSED` or `READY`.
    pub state: String,
    /// The database's answer, such as `COMMITTED` or `OVER_LIMIT`.
    pub outcome: Option<String>,
    /// What it means.
    pub message: Option<String>,
    /// What names the decision.
    pub sign_off_key: String,
}

/// A confirmation, and what has become of it.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct BatchReceipt {
    /// [`FORMAT`].
    pub format: u32,
    /// When this was made, by the workstation's clock.
    #[serde(serialize_with = "rfc3339")]
    pub made_at: DateTime<Utc>,
    /// Names the confirmation.
    pub batch: String,
    /// Who signed.
    pub reviewer: String,
    /// Where.
    pub workstation: String,
    /// When, by the workstation's clock.
    pub decided_at: String,
    /// `APPROVE` or `REJECT`.
    pub decision: String,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The policy it was signed under.
    pub policy_version: u32,
    /// What was attested, as it was shown.
    pub attestation: String,
    /// How many were signed and not withdrawn: the sum of the five that follow.
    pub signed: u32,
    /// Accepted, with their effect written.
    pub committed: u32,
    /// Accepted; they take effect when earlier ones of their partitions are decided.
    pub held: u32,
    /// Accepted, waiting for a second signature.
    pub awaiting: u32,
    /// Refused.
    pub refused: u32,
    /// Not answered yet.
    pub waiting: u32,
    /// What was signed, by currency.
    pub totals: Vec<Total>,
    /// What was accepted, by currency.
    pub accepted: Vec<Total>,
    /// SHA-256 over the sorted keys and content hashes of what was signed, in hex.
    pub hash_total: String,
    /// The numbers of the database's receipts that cover it.
    pub receipts: Vec<String>,
    /// Its decisions.
    pub decisions: Vec<Line>,
}

impl BatchReceipt {
    /// How it reconciles, in words; `Err` with what does not add up.
    pub fn reconciliation(&self) -> Result<String, String> {
        let Self { signed, committed, held, awaiting, refused, waiting, .. } = self;
        let line = format!(
            "{signed} signed = {committed} committed + {held} held + {awaiting} awaiting a second signature + {refused} refused + {waiting} waiting"
        );
        let sum = [*committed, *held, *awaiting, *refused, *waiting].iter().map(|count| u64::from(*count)).sum::<u64>();
        if sum == u64::from(*signed) && self.decisions.len() as u64 == sum { Ok(line) } else { Err(line) }
    }
}

// Without what the exceptions and the comment say.
impl fmt::Debug for BatchReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BatchReceipt({}: {} {})", self.batch, self.signed, self.decision)
    }
}

/// An instant, as receipts write it.
pub(crate) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn rfc3339<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&instant(*at))
}
