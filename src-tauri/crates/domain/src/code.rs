//! Failure classes and the named codes that somebody acts on.

use serde::{Deserialize, Serialize};

/// What kind of failure it is, and therefore what happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureClass {
    /// It may go well the next time: retried.
    Transient,
    /// It fails the same way each time: a dead letter at the first attempt.
    Structural,
    /// A rule refuses it: shown to the reviewer with what to do next.
    Business,
}

impl FailureClass {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "TRANSIENT",
            Self::Structural => "STRUCTURAL",
            Self::Business => "BUSINESS",
        }
    }
}

/// A condition with a name in logs, metrics and the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The deck is full: leasing pauses by itself.
    QueueSaturated,
    /// A lease passed its end on the database's clock.
    LeaseExpired,
    /// An arrival passed no gate, or the attempts to score an exception are used up.
    PoisonMessage,
    /// Closing took longer than it may; what is left is on disk.
    DrainTimeout,
    /// The oldest undecided exception grows older over consecutive windows.
    ConsumerLag,
    /// An item is neither queued, in work nor finished: a defect.
    LostTask,
}

impl Code {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QueueSaturated => "QUEUE_SATURATED",
            Self::LeaseExpired => "LEASE_EXPIRED",
            Self::PoisonMessage => "POISON_MESSAGE",
            Self::DrainTimeout => "DRAIN_TIMEOUT",
            Self::ConsumerLag => "CONSUMER_LAG",
            Self::LostTask => "LOST_TASK",
        }
    }
}
