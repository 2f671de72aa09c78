//! What arrives: one exception, with its content.

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

pub use crate::kind::Kind;
use crate::money::Money;
use crate::payload::Payload;

/// A closed set of names, each written as it stands on the wire.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(format!("`{}` is none of {}", other.chars().take(60).collect::<String>(), [$($text),+].join(", "))),
                }
            }
        }
    };
}

pub(crate) use names;

names! {
    /// What the matching engine said.
    MatchDecision {
        /// It found the other side.
        Matched = "MATCHED",
        /// It found something like it.
        Partial = "PARTIAL",
        /// It found nothing.
        Unmatched = "UNMATCHED",
    }
}

names! {
    /// How urgent it is.
    RoutingTier {
        /// The ordinary way.
        Standard = "standard",
        /// Sooner.
        Priority = "priority",
        /// As soon as possible, by somebody who may.
        Escalated = "escalated",
    }
}

names! {
    /// Where an exception is in its life. `PENDING → APPROVED | REJECTED → RESOLVED`, and never back.
    State {
        /// Undecided.
        Pending = "PENDING",
        /// Approved; the effect waits for its turn.
        Approved = "APPROVED",
        /// Rejected; the effect waits for its turn.
        Rejected = "REJECTED",
        /// Decided, and the effect is written. It never changes again.
        Resolved = "RESOLVED",
    }
}

impl State {
    /// Whether the life of an exception may go on from here to `next`.
    pub fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending, Self::Approved | Self::Rejected) | (Self::Approved | Self::Rejected, Self::Resolved)
        )
    }
}

/// An exception's content: everything a reviewer sees and a sign-off binds.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The version of the arrival's layout; this release knows 1.
    pub schema_version: u32,
    /// Where it comes from.
    pub kind: Kind,
    /// Names the exception wherever it goes.
    pub idempotency_key: String,
    /// The trace across systems.
    pub trace_id: Uuid,
    /// Ties related exceptions together.
    pub correlation_id: Uuid,
    /// The producer's hash of what matters; another one under the same key is a correction.
    pub source_hash: String,
    /// The unit of ordering.
    pub partition_key: String,
    /// Items of one group are decided by one person in one batch.
    pub group_key: Option<String>,
    /// What the matching engine said.
    pub match_decision: MatchDecision,
    /// How urgent it is.
    pub routing_tier: RoutingTier,
    /// The ledger entity.
    pub ledger_entity: String,
    /// The other side.
    pub counterparty: String,
    /// The variance.
    /// The variance.
    pub variance: Money,
    /// Everyone who prepared or edited it; at least one.
    pub prepared_by: Vec<String>,
    /// When it was submitted.
    pub submitted_at: DateTime<Utc>,
    /// The day that says which close period it belongs to: a plain date, never shifted by a time zone.
    pub business_date: NaiveDate,
    /// When the producer wants it decided; without one the policy says.
    pub due_date: Option<NaiveDate>,
    /// The key of the resolved exception that it reverses.
    pub reverses: Option<String>,
    /// What the kind adds.
    pub payload: Payload,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_goes_one_way_only() {
        let legal: Vec<_> = State::ALL
            .iter()
            .flat_map(|a| State::ALL.iter().map(move |b| (*a, *b)))
            .filter(|(a, b)| a.may_become(*b))
            .collect();
        assert_eq!(
            legal,
            [
                (State::Pending, State::Approved),
                (State::Pending, State::Rejected),
                (State::Approved, State::Resolved),
                (State::Rejected, State::Resolved)
            ]
        );
    }
}
