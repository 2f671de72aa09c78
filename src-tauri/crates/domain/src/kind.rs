//! The kinds of exceptions. Everything that belongs to one of them stands in one module, behind [`KindModule`]; everything else asks
//! [`Kind::module`] and never which kind it is.
//!
//! A new kind is a module here, its line in `registered!` below, and a migration: `docs/adding-a-kind.md`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::calculation::Step;
use crate::evidence::Evidence;
use crate::exception::Content;
use crate::figure::Outlook;
use crate::gate::Rejection;
use crate::scan::Scan;
use crate::scoring::{Finding, Thresholds};

pub mod receipt;
pub mod recon_break;
pub mod sales_claim;

/// What a kind says of itself.
pub trait KindModule: Send + Sync {
    /// The name on the wire and in the database: lower-case letters and `_`.
    fn name(&self) -> &'static str;

    /// What several of them are called in a sentence.
    fn plural(&self) -> &'static str;

    /// What has to be there for anybody to look at it, besides what every exception has. The gates ask it of an arrival, and a workstation
    /// of what the database hands out, which an earlier release may have taken in.
    fn read(&self, content: &Content) -> Result<(), Rejection>;

    /// The gates of its own, for arrivals alone. [`read`](Self::read) passed.
    fn gates(&self, content: &Content) -> Result<(), Rejection>;

    /// The key that follows from the content; `None` where whoever ingests it assigns one.
    fn key(&self, content: &Content) -> Option<String>;

    /// The source hash that follows from the content; `None` where the producer has a formula of its own.
    fn source_hash(&self, _of: &Hashed<'_>) -> Option<String> {
        None
    }

    /// What that hash is, in words.
    fn source_hash_formula(&self) -> &'static str {
        "the hash of its content"
    }

    /// What it adds to a suggestion, in the order in which a reviewer should read it.
    fn findings(&self, content: &Content, thresholds: &Thresholds) -> Vec<Finding>;

    /// Both sides, and the facts that have no other side.
    fn evidence(&self, content: &Content) -> Evidence;

    /// How its amount comes about, step by step.
    fn calculation(&self, _content: &Content) -> Vec<Step> {
        Vec::new()
    }

    /// What was read from a picture.
    fn scan(&self, _content: &Content) -> Option<Scan> {
        None
    }

    /// What approving it brings about. `None`: its content does not say, so nobody can approve it.
    fn approving(&self, content: &Content) -> Option<Effect>;

    /// What rejecting it brings about.
    fn rejecting(&self, content: &Content) -> Effect;

    /// The figure that an approval carries, and what deciding does in words, where it is more than posting the variance or sending it back.
    /// It is not asked of a reversal.
    fn outlook(&self, _content: &Content) -> Outlook {
        Outlook::default()
    }

    /// Whether the reviewer may approve one with an amount of their own, kept beside the one that arrived.
    fn may_be_corrected(&self) -> bool {
        false
    }

    /// The JSON Schema of its payload.
    #[cfg(test)]
    fn schema(&self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema;
}

/// What a source hash is made of, each as it was written.
#[derive(Debug, Clone, Copy)]
pub struct Hashed<'a> {
    /// The exception's key.
    pub idempotency_key: &'a str,
    /// The ledger entity.
    pub ledger_entity: &'a str,
    /// The variance.
    pub variance_amount: &'a str,
    /// What the matching engine said.
    pub match_decision: &'a str,
}

impl<'a> Hashed<'a> {
    /// Reads the four fields of an arrival; `None` where one is missing or no text.
    pub fn read(arrival: &'a Map<String, Value>) -> Option<Self> {
        let text = |field: &str| arrival.get(field).and_then(Value::as_str);
        Some(Self {
            idempotency_key: text("idempotency_key")?,
            ledger_entity: text("ledger_entity")?,
            variance_amount: text("variance_amount")?,
            match_decision: text("match_decision")?,
        })
    }
}

/// What a decision brings about, once, in the transaction that marks the exception as processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A posting to the ledger.
    Posting {
        /// What is posted.
        amount: crate::money::Money,
        /// What it is, in a reviewer's words.
        what: &'static str,
    },
    /// A dispute with the other side, with both figures.
    Dispute {
        /// What the other side claims.
        claimed: Option<crate::money::Money>,
        /// What the agreement gives; `None`: it gives nothing for it.
        by_agreement: Option<crate::money::Money>,
    },
    /// It goes on to somebody, and nothing is posted.
    Routing {
        /// To whom, as the database names them.
        to: &'static str,
    },
}

/// A kind of exceptions. It is written by its name everywhere.
#[derive(Clone, Copy)]
pub struct Kind(&'static dyn KindModule);

/// One line for each kind: the name in code and the module that says everything else.
macro_rules! registered {
    ($($(#[$doc:meta])* $name:ident = $module:path),+ $(,)?) => {
        #[expect(non_upper_case_globals, reason = "they are named and used like the variants of an enumeration")]
        impl Kind {
            $($(#[$doc])* pub const $name: Self = Self(&$module);)+

            /// Every kind of this release.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

registered! {
    /// A ledger line against a statement line.
    ReconBreak = recon_break::Module,
    /// A retailer's deduction against the agreement.
    SalesClaim = sales_claim::Module,
    /// An expense receipt read by OCR.
    Receipt = receipt::Module,
}

impl Kind {
    /// The kind that a module describes. What this release ships is in [`Kind::ALL`].
    pub const fn of(module: &'static dyn KindModule) -> Self {
        Self(module)
    }

    /// What says everything about it.
    pub fn module(self) -> &'static dyn KindModule {
        self.0
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        self.0.name()
    }

    /// The kind with a name among some. `Err` says which names there are.
    pub fn named(text: &str, kinds: &[Self]) -> Result<Self, String> {
        kinds.iter().find(|kind| kind.as_str() == text).copied().ok_or_else(|| {
            let shown: String = text.chars().take(60).collect();
            let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            format!("`{shown}` is none of {}", names.join(", "))
        })
    }

    /// Its place among those of this release; behind them, for any other.
    fn place(self) -> usize {
        Self::ALL.iter().position(|kind| *kind == self).unwrap_or(Self::ALL.len())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text, Self::ALL)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place()).then_with(|| self.as_str().cmp(other.as_str()))
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_its_name_on_every_wire() {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names, ["recon_break", "sales_claim", "receipt"]);
        for kind in Kind::ALL {
            let json = serde_json::to_string(kind).expect("a name");
            assert_eq!(serde_json::from_str::<Kind>(&json).expect("the same"), *kind);
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        let error = serde_json::from_str::<Kind>("\"mystery\"").expect_err("nobody knows it");
        assert!(error.to_string().contains("`mystery` is none of recon_break, sales_claim, receipt"), "{error}");
        let mut sorted = [Kind::Receipt, Kind::SalesClaim, Kind::ReconBreak];
        sorted.sort();
        assert_eq!(sorted, Kind::ALL);
    }
}
