//! The frame around every screen: profiles, the connection, the policy, and what changed.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ClosePeriod, EnrolmentView, LeavingView};

/// Why a command failed. `code` is for the program, `message` for the reviewer: what happened, to what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct CommandError {
    /// A stable, upper-case name such as `JOURNAL_FULL` or `BAD_PASSWORD`.
    pub code: String,
    /// A sentence for the reviewer.
    pub message: String,
}

/// How the connection to the database is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// The certificate chain and the host name are checked. The default for every host. Profiles of older releases that asked for
    /// the chain only are read as this.
    #[serde(alias = "verify-ca")]
    VerifyFull,
    /// No TLS. Accepted for a local socket or a loopback address only.
    Disable,
}

/// Where a backlog is, and as whom to sign in. The password is never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name the reviewer knows it by.
    pub name: String,
    /// A host name, an address, or the absolute path of a socket directory.
    pub host: String,
    /// The TCP port, or the number in the socket's file name.
    pub port: u16,
    /// The database's name.
    pub database: String,
    /// The login; it is the reviewer's identity.
    pub user: String,
    /// How the connection is protected.
    pub tls: TlsMode,
    /// A PEM file with the authority that signed the server's certificate; the system's own are used without it.
    pub root_certificate: Option<String>,
    /// A PEM file with the certificate that the login is proved with; only together with its key.
    #[serde(default)]
    pub client_certificate: Option<String>,
    /// A PEM file with the key of the certificate. Nobody else may be able to read it.
    #[serde(default)]
    pub client_key: Option<String>,
}

/// What the window has to ask before the workstation can work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Needs {
    /// Nothing: the workstation runs.
    Nothing,
    /// No profile is known.
    Profile,
    /// The password is not in the keyring, or the server refused it.
    Password,
}

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct LinkView {
    /// Whether the last call to the database succeeded.
    pub online: bool,
    /// What is wrong, and what to do about it; absent while online.
    pub problem: Option<CommandError>,
    /// Milliseconds until the next attempt; absent while online.
    pub next_attempt_in_ms: Option<u32>,
    /// When the database last answered.
    pub last_contact: Option<String>,
}

/// The frame around every screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SessionView {
    /// What has to be asked first.
    pub needs: Needs,
    /// The profile in use, or the one to complete.
    pub profile: Option<Profile>,
    /// The profiles on this workstation.
    pub profiles: Vec<Profile>,
    /// The reviewer's login as the database knows it.
    pub reviewer: Option<String>,
    /// This workstation's name.
    pub workstation: String,
    /// The connection.
    pub link: LinkView,
    /// How many undecided exceptions the deck may hold.
    pub queue_maxsize: u32,
    /// How many it holds.
    pub deck_count: u32,
    /// `true` while leasing pauses because the bound is reached (`QUEUE_SATURATED`).
    pub saturated: bool,
    /// Milliseconds until the first lease lapses; absent without leases.
    pub lease_ends_in_ms: Option<u32>,
    /// Decisions that the database has not answered yet.
    pub unsent: u32,
    /// Of those that want attention, the ones that were given up: like unsent ones they are on this computer alone.
    pub dead: u32,
    /// Decisions that were refused or are dead, and want attention.
    pub attention: u32,
    /// How long a decision can be withdrawn.
    pub undo_window_ms: u32,
    /// What is in force, as it was last heard of; absent before the first connection.
    pub policy: Option<PolicyView>,
    /// What a supervisor has to confirm before work can begin.
    pub enrolment: Option<EnrolmentView>,
    /// This computer is being left: the workstation was revoked, or the reviewer has signed out.
    pub leaving: Option<LeavingView>,
    /// The keys are in a file and not in a keyring.
    pub keys_in_file: bool,
    /// Things the reviewer should know, such as a setting that does not fit the way they work.
    pub warnings: Vec<String>,
    /// The application's version.
    pub app_version: String,
    /// What fills the deck, in a few words; absent without a focus.
    pub focus: Option<String>,
    /// The leases run out before they would be renewed, so that somebody should extend them: milliseconds until the first lapses.
    pub lease_warning_in_ms: Option<u32>,
    /// Leases were extended for work without a network: until when the first one stands.
    pub offline_until: Option<String>,
    /// The longest lease that policy allows, in milliseconds; absent before the first connection.
    pub longest_lease_ms: Option<u32>,
    /// The period that closes next, as last heard of.
    pub period: Option<ClosePeriod>,
    /// Whether the reviewer may work on dead letters.
    pub desk: bool,
    /// Exceptions that are being scored, and not in the deck yet.
    pub scoring: u32,
}

/// The policy in force, with the moment it was heard of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct PolicyView {
    /// Its version.
    pub version: u32,
    /// When it was in force, by the database's clock.
    pub as_of: String,
    /// What each confirmation attests.
    pub attestation: String,
    /// The reasons a rejection may carry.
    pub reason_codes: Vec<ReasonCode>,
}

/// A reason that a rejection may carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct ReasonCode {
    /// The code that is signed.
    pub code: String,
    /// What it means, in the reviewer's words.
    pub label: String,
}

/// Something changed; fetch what you show. At most ten a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct Changed {
    /// The deck's version.
    pub deck: u32,
    /// The outbox's version.
    pub outbox: u32,
    /// The session's version.
    pub session: u32,
    /// Closing has begun.
    pub drain: Option<DrainView>,
}

/// How closing goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct DrainView {
    /// Decisions still to be sent.
    pub unsent: u32,
    /// Decisions sent since closing began.
    pub sent: u32,
    /// Exceptions still to be given back.
    pub to_release: u32,
    /// Milliseconds until closing gives up waiting; what is left stays on disk.
    pub gives_up_in_ms: u32,
    /// Whether the database can be reached.
    pub online: bool,
    /// Everything is done; the window closes.
    pub done: bool,
}
