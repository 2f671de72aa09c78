//! One confirmation as the journal keeps it, and what was done for one decision.

use chrono::{DateTime, Utc};
use countersign_domain::id::BatchId;
use countersign_domain::sign_off::{Decision, Outcome};
use serde::{Deserialize, Serialize};

/// How many confirmations are told of.
pub const BATCHES_TOLD: usize = 20;
/// The most bytes the window may keep of itself.
pub const UI_STATE_BYTES: usize = 500_000;
/// How many steps of one decision are kept: the first, and the latest of the others.
pub const STEPS_KEPT: usize = 24;

/// One confirmation: what it came to so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Names it.
    pub id: BatchId,
    /// When, by the workstation's clock.
    pub decided_at: DateTime<Utc>,
    /// What was decided.
    pub decision: Decision,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The policy it was signed under.
    pub policy_version: u32,
    /// What was attested, as it was shown. (One that an earlier release signed has none.)
    pub attestation: String,
    /// Signed and not withdrawn; the sum of the next five.
    pub signed: u32,
    /// Accepted, with their effect written.
    pub committed: u32,
    /// Accepted; they take effect when earlier ones of their partitions are decided.
    pub held: u32,
    /// Accepted, waiting for a second signature.
    pub awaiting: u32,
    /// Refused, put away ones among them.
    pub refused: u32,
    /// Not answered yet, given up ones among them.
    pub waiting: u32,
    /// Of the waiting ones, how many were certainly never sent. The journal knows at least so many; the engine knows all.
    pub unsent: u32,
    /// The database's receipts that cover it, in the order of their numbers.
    pub receipts: Vec<i64>,
}

/// What this workstation did for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When, by the workstation's clock.
    pub at: DateTime<Utc>,
    /// What.
    pub what: What,
}

/// The kinds of steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum What {
    /// It became durable.
    Signed {
        /// While the database could not be reached.
        offline: bool,
    },
    /// It was sent.
    Attempted {
        /// What came instead of an answer to it.
        problem: Option<String>,
    },
    /// The database answered.
    Answered(Outcome),
    /// It was given up.
    GivenUp(String),
    /// It was to be tried again.
    Retried,
    /// It was withdrawn before it was sent.
    Withdrawn,
}

/// Adds a step. Of too many, the oldest goes that is not the first.
pub fn note_step(steps: &mut Vec<Step>, at: DateTime<Utc>, what: What) {
    if steps.len() >= STEPS_KEPT {
        steps.remove(1);
    }
    steps.push(Step { at, what });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_and_the_latest_ones_are_kept() {
        let at = |second| DateTime::from_timestamp(second, 0).expect("an instant");
        let mut steps = Vec::new();
        note_step(&mut steps, at(0), What::Signed { offline: true });
        for second in 1..100 {
            note_step(&mut steps, at(second), What::Attempted { problem: None });
        }
        assert_eq!(steps.len(), STEPS_KEPT);
        assert_eq!(steps[0].what, What::Signed { offline: true });
        assert_eq!((steps[1].at, steps[STEPS_KEPT - 1].at), (at(77), at(99)));
    }
}
