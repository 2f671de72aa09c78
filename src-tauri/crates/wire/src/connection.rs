//! Trying a connection out before it is used.

use serde::Serialize;
use ts_rs::TS;

/// How one step of a connection went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TestState {
    /// Good.
    Passed,
    /// Good enough, with something to know.
    Warned,
    /// Not good; the remedy says what to do.
    Failed,
    /// Not tried, because an earlier step failed.
    Skipped,
}

/// One step: name, port, TLS, login, role, schema, clock, enrolment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct TestLine {
    /// `NAME`, `PORT`, `TLS`, `LOGIN`, `ROLE`, `SCHEMA`, `CLOCK` or `ENROLMENT`.
    pub step: String,
    /// What is tried, in words.
    pub label: String,
    /// How it went.
    pub state: TestState,
    /// What was found.
    pub message: String,
    /// What to do; only when something is to be done.
    pub remedy: Option<String>,
}

/// A connection that was tried out. Nothing was kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ConnectionTest {
    /// Every step, in order.
    pub lines: Vec<TestLine>,
    /// Nothing failed.
    pub good: bool,
}
