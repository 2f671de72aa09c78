//! Records of single exceptions on their way: each names its exception, and holds nothing of what it says.

use countersign_domain::code::{Code, FailureClass};
use countersign_domain::exception::MatchDecision;
use countersign_domain::id::ExceptionId;
use countersign_domain::scoring::Route;
use serde::Deserialize;
use uuid::Uuid;

use super::{Effect, Engine};
use crate::port::DeckItem;

/// What every record of an exception carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// The trace across systems.
    pub trace_id: Uuid,
    /// The producer's hash.
    pub source_hash: String,
    /// What the matching engine said.
    pub match_decision: &'static str,
}

impl Ids {
    /// Those of an exception that was read.
    pub fn of(item: &DeckItem) -> Self {
        Self {
            trace_id: item.trace_id,
            source_hash: item.source_hash.clone(),
            match_decision: item.match_decision.as_str(),
        }
    }

    /// Those of a content that passes no gate, as far as they are what they should be: a `source_hash` that is no hash could be
    /// anything, and does not belong into a log.
    pub fn read(body: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Named {
            trace_id: Uuid,
            source_hash: String,
            match_decision: MatchDecision,
        }
        let named: Named = serde_json::from_str(body).ok()?;
        let is_hash = named.source_hash.len() == 64 && named.source_hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self {
            trace_id: named.trace_id,
            source_hash: named.source_hash,
            match_decision: named.match_decision.as_str(),
        })
    }
}

/// An exception that could not be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unscored {
    /// Structural: it cannot be read, and never will be. Anything else may go well the next time.
    pub class: FailureClass,
    /// Why; it may quote the content.
    pub reason: String,
    /// What is known of it all the same.
    pub ids: Option<Ids>,
}

/// What happened to an exception here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// It is in the deck now, with so many undecided ones.
    Enqueued {
        /// The deck's size with it.
        depth: usize,
    },
    /// A worker scored it.
    Evaluated {
        /// Which, from 0.
        worker: u32,
        /// What policy suggests.
        route: Route,
    },
    /// It was handed out again although it was decided here.
    DuplicateSkipped,
    /// Something failed and is tried again.
    RetryScheduled {
        /// `score` or `sign off`.
        operation: &'static str,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// Until the next one, in milliseconds.
        delay_ms: u64,
    },
    /// It was given up here.
    DeadLettered {
        /// `score` or `sign off`.
        operation: &'static str,
        /// After so many attempts.
        attempts: u32,
        /// Whether it can never go well.
        class: FailureClass,
    },
    /// Closing left its decision unsent.
    DrainTimeout,
    /// It was neither in the deck nor worked on nor decided.
    LostTask,
    /// It was the oldest undecided one at the end of each of the last windows.
    ConsumerLag {
        /// How long it is here, in milliseconds.
        age_ms: u64,
    },
}

impl Happened {
    /// The name in the log.
    pub fn event(&self) -> &'static str {
        match self {
            Self::Enqueued { .. } => "enqueued",
            Self::Evaluated { .. } => "evaluated",
            Self::DuplicateSkipped => "duplicate_skipped",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::DeadLettered { .. } => "dead_lettered",
            Self::DrainTimeout => "drain_timeout",
            Self::LostTask => "lost_task",
            Self::ConsumerLag { .. } => "consumer_lag",
        }
    }

    /// The named code, where it has one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::DeadLettered { .. } => Some(Code::PoisonMessage),
            Self::DrainTimeout => Some(Code::DrainTimeout),
            Self::LostTask => Some(Code::LostTask),
            Self::ConsumerLag { .. } => Some(Code::ConsumerLag),
            Self::Enqueued { .. } | Self::Evaluated { .. } | Self::DuplicateSkipped | Self::RetryScheduled { .. } => {
                None
            }
        }
    }
}

/// A line of the structured log about one exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What happened.
    pub happened: Happened,
    /// To which.
    pub exception: ExceptionId,
    /// Its names across systems, where they are known.
    pub ids: Option<Ids>,
}

impl Engine {
    pub(super) fn trace(exception: ExceptionId, ids: Option<Ids>, happened: Happened, effects: &mut Vec<Effect>) {
        effects.push(Effect::Trace(Trace { happened, exception, ids }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_content_that_cannot_be_read_only_what_is_certainly_an_identifier_is_told() {
        let hash = "a".repeat(64);
        let body = |trace: &str, hash: &str, decision: &str| {
            format!(r#"{{"trace_id":"{trace}","source_hash":"{hash}","match_decision":"{decision}","amount":1.5}}"#)
        };
        let id = Uuid::from_u128(7).to_string();
        let read = Ids::read(&body(&id, &hash, "PARTIAL")).expect("all three are there");
        assert_eq!(
            (read.trace_id, read.source_hash.as_str(), read.match_decision),
            (Uuid::from_u128(7), &*hash, "PARTIAL")
        );
        for bad in [
            body("canary", &hash, "PARTIAL"),
            body(&id, "canary", "PARTIAL"),
            body(&id, &"z".repeat(64), "PARTIAL"),
            body(&id, &hash, "canary"),
            "canary".to_owned(),
        ] {
            assert_eq!(Ids::read(&bad), None, "{bad}");
        }
    }
}
