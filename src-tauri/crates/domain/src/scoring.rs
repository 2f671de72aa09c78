//! A suggestion with its reasons. It never signs; a person does.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::exception::Content;

mod rules;

pub use rules::{Applied, Explanation, Finding, explain};

/// The thresholds of one version of the policy: an input, never computed here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// The version they belong to.
    pub version: u32,
    /// Above this absolute variance an exception of the standard tier is one for somebody senior. In units of its own currency.
    pub escalate_above: Decimal,
    /// Up to this absolute variance a matched exception needs no closer look. In units of its own currency.
    pub tolerance: Decimal,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { version: 1, escalate_above: Decimal::from(50_000), tolerance: Decimal::from(5) }
    }
}

/// What policy would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Route {
    /// Nothing is left to decide but the signature.
    AutoResolve,
    /// Policy finds nothing against it.
    AutoApprove,
    /// A reviewer should look.
    RouteReview,
    /// Somebody senior should look.
    Escalate,
}

impl Route {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoResolve => "AUTO_RESOLVE",
            Self::AutoApprove => "AUTO_APPROVE",
            Self::RouteReview => "ROUTE_REVIEW",
            Self::Escalate => "ESCALATE",
        }
    }

    /// A word or two for a narrow column.
    pub fn label(self) -> &'static str {
        match self {
            Self::AutoResolve => "Zero variance",
            Self::AutoApprove => "In tolerance",
            Self::RouteReview => "Review",
            Self::Escalate => "Escalate",
        }
    }
}

/// A route and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// What policy would do.
    pub route: Route,
    /// Why, in the reviewer's words.
    pub reasons: Vec<String>,
    /// The version of the thresholds it came from.
    pub policy_version: u32,
}

/// Scores one exception. Rounding is half-up to the currency's minor units.
pub fn score(content: &Content, thresholds: &Thresholds) -> Suggestion {
    explain(content, thresholds).suggestion
}

#[cfg(test)]
mod tests;
