//! How a workstation comes and goes: enrolment, revocation, signing out.

use serde::Serialize;
use ts_rs::TS;

/// What identifies this workstation to the supervisor who confirms it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct EnrolmentView {
    /// The workstation's number.
    pub workstation: String,
    /// The fingerprint of its key, in groups.
    pub fingerprint: String,
    /// What the supervisor enters.
    pub command: String,
}

/// Why this computer is being left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LeavingReason {
    /// A supervisor revoked the workstation.
    Revoked,
    /// The reviewer signed out.
    SignedOut,
}

/// What is left on this computer of a profile that is not worked with any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LeavingView {
    /// Why.
    pub reason: LeavingReason,
    /// The profile's name.
    pub profile: String,
    /// What happened, and what was removed.
    pub message: String,
    /// Decisions that are here and nowhere else: unanswered or given up.
    pub unsent: u32,
    /// The latest export of them.
    pub export: Option<ExportView>,
}

/// Unsent decisions as they were written to a file. The file is not encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ExportView {
    /// The file.
    pub path: String,
    /// How many decisions are in it.
    pub count: u32,
    /// SHA-256 of its lines, in hex: removing everything takes it as proof that the export was seen.
    pub sha256: String,
}

/// Everything of a profile is gone from this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct RemovedReply {
    /// What was removed and what was not, in words.
    pub message: String,
}
