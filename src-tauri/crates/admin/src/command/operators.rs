//! What supervisors do, as arguments.

use std::ffi::OsString;

use chrono::{DateTime, NaiveDate, Utc};
use clap::{Args, Subcommand};
use countersign_admin::Needs;
use countersign_admin::role::Role;
use countersign_admin::workstation::read_fingerprint;
use countersign_domain::exception::{Kind, RoutingTier};
use sqlx::types::{Decimal, Uuid};

use super::Output;
use super::values::{amount, currency, day, instant, reason};

#[derive(Debug, Subcommand)]
pub(super) enum Supervise {
    /// Say who may sign, and how much
    #[command(subcommand)]
    Reviewer(ReviewerCommand),
    /// Say who supervises, audits, and brings exceptions in
    #[command(subcommand)]
    Role(RoleCommand),
    /// Say what needs two approvers, which reasons there are, and what is attested
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Keep the close calendar
    #[command(subcommand)]
    Period(PeriodCommand),
    /// Say which workstations' keys are good
    #[command(subcommand)]
    Workstation(WorkstationCommand),
    /// See who works on what, and move it
    #[command(subcommand)]
    Partition(PartitionCommand),
    /// Ask for the opposite of an approved exception, for others to sign
    Reverse {
        /// The exception's idempotency key
        key: String,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        output: Output,
    },
}

impl Supervise {
    /// Whose command it is.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Self::Role(RoleCommand::Grant { .. } | RoleCommand::Revoke { .. }) => Needs::Owner,
            Self::Role(RoleCommand::List { .. })
            | Self::Reviewer(ReviewerCommand::List { .. })
            | Self::Policy(
                PolicyCommand::Show { .. } | PolicyCommand::History { .. } | PolicyCommand::Explain { .. },
            )
            | Self::Period(PeriodCommand::List { .. })
            | Self::Workstation(WorkstationCommand::List { .. })
            | Self::Partition(PartitionCommand::List { .. }) => Needs::Reader,
            _ => Needs::Supervisor,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum ReviewerCommand {
    /// Make a login a reviewer, or make it one again
    Add {
        /// The database login
        login: String,
        #[command(flatten)]
        rights: RightsArguments,
        /// Create the login too; its password is asked for, or taken from the variable `COUNTERSIGN_NEW_PASSWORD`
        #[arg(long)]
        create_login: bool,
    },
    /// Set what a reviewer may sign; what is not named stays as it is
    Set {
        /// The database login
        login: String,
        #[command(flatten)]
        rights: RightsArguments,
    },
    /// Set how much a reviewer may sign in one currency, in its own units
    #[command(group = clap::ArgGroup::new("amounts").required(true).multiple(true).args(["largest", "per_period", "none"]))]
    Limit {
        /// The database login
        login: String,
        /// The currency, or * for every one without such a limit of its own: each of the two falls back by itself
        #[arg(value_parser = currency)]
        currency: String,
        /// The most one exception may have; left out, there is no such limit
        #[arg(long, value_parser = amount, allow_hyphen_values = true)]
        largest: Option<Decimal>,
        /// The most that may be approved in one close period; left out, there is no such limit
        #[arg(long, value_parser = amount, allow_hyphen_values = true)]
        per_period: Option<Decimal>,
        /// No limits in this currency
        #[arg(long, conflicts_with_all = ["largest", "per_period"])]
        none: bool,
    },
    /// Say whether a reviewer may work at the desk of dead letters: correct them, send them in again, ask for them to be discarded
    #[command(group = clap::ArgGroup::new("switch").required(true).args(["on", "off"]))]
    DeadLetters {
        /// The database login
        login: String,
        /// They may
        #[arg(long)]
        on: bool,
        /// They may not
        #[arg(long)]
        off: bool,
    },
    /// List the reviewers, what they may sign, and their limits
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Take a reviewer's rights away; what they signed stands
    Disable {
        /// The database login
        login: String,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct RightsArguments {
    /// The name shown to colleagues; the login, if it is left out
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Another name of this person upstream, or another login of theirs; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "no_also")]
    pub(super) also: Vec<String>,
    /// No other names
    #[arg(long)]
    pub(super) no_also: bool,
    /// Only this kind; may be repeated
    #[arg(long, conflicts_with = "any_kind", value_parser = clap::value_parser!(Kind))]
    pub(super) kind: Vec<Kind>,
    /// Every kind
    #[arg(long)]
    pub(super) any_kind: bool,
    /// Only this tier; may be repeated
    #[arg(long, conflicts_with = "any_tier", value_parser = clap::value_parser!(RoutingTier))]
    pub(super) tier: Vec<RoutingTier>,
    /// Every tier
    #[arg(long)]
    pub(super) any_tier: bool,
    /// Only this ledger entity; may be repeated
    #[arg(long, conflicts_with = "any_entity")]
    pub(super) entity: Vec<String>,
    /// Every ledger entity
    #[arg(long)]
    pub(super) any_entity: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum RoleCommand {
    /// Grant a role to a login, as the owner of the database
    Grant {
        /// The database login
        login: String,
        /// supervisor, auditor or producer
        role: Role,
        /// Create the login too; its password is asked for, or taken from the variable `COUNTERSIGN_NEW_PASSWORD`
        #[arg(long)]
        create_login: bool,
    },
    /// Take a role from a login from its next call on, as the owner of the database
    Revoke {
        /// The database login
        login: String,
        /// supervisor, auditor or producer
        role: Role,
    },
    /// List who has which role
    List {
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Show the policy in force
    Show {
        /// An earlier version instead
        #[arg(long, value_name = "N")]
        version: Option<u32>,
        #[command(flatten)]
        output: Output,
    },
    /// Put a policy in force, after showing what it changes
    Set {
        /// The document, or - for standard input
        file: OsString,
        /// Why, for the record
        #[arg(long, value_parser = reason)]
        comment: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// List every version
    History {
        #[command(flatten)]
        output: Output,
    },
    /// Say why an exception got its suggestion: every rule, with what it looked at
    Explain {
        /// The exception's idempotency key, or its identifier
        exception: String,
        /// Under this version instead of the one in force
        #[arg(long, value_name = "N")]
        version: Option<u32>,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum PeriodCommand {
    /// List the periods, and what is undecided in them
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Add an open period
    Add {
        #[command(flatten)]
        period: PeriodName,
        /// Its first day, such as 2026-10-01
        #[arg(value_parser = day)]
        first: NaiveDate,
        /// Its last day
        #[arg(value_parser = day)]
        last: NaiveDate,
        /// By when it is meant to close, such as 2026-11-05T18:00:00Z
        #[arg(long, value_name = "INSTANT", value_parser = instant)]
        closes_at: Option<DateTime<Utc>>,
    },
    /// Say by when a period is meant to close; it is shown to reviewers and decides nothing
    #[command(group = clap::ArgGroup::new("deadline").required(true).args(["closes_at", "none"]))]
    Deadline {
        #[command(flatten)]
        period: PeriodName,
        /// The instant, such as 2026-11-05T18:00:00Z
        #[arg(long, value_name = "INSTANT", value_parser = instant)]
        closes_at: Option<DateTime<Utc>>,
        /// No deadline
        #[arg(long)]
        none: bool,
        #[command(flatten)]
        why: Why,
    },
    /// Say that a period closes soon
    Closing {
        #[command(flatten)]
        period: PeriodName,
        #[command(flatten)]
        why: Why,
    },
    /// Close a period: nothing in it can be signed any more
    Close {
        #[command(flatten)]
        period: PeriodName,
        #[command(flatten)]
        why: Why,
    },
    /// Open a period again
    Reopen {
        #[command(flatten)]
        period: PeriodName,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, Args)]
pub(super) struct PeriodName {
    /// The ledger entity, or * for every one without a period of its own
    pub(super) entity: String,
    /// The period's name, such as 2026-10
    pub(super) name: String,
}

#[derive(Debug, Args)]
pub(super) struct Why {
    /// Why, for the record
    #[arg(long, value_parser = reason)]
    pub(super) reason: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum WorkstationCommand {
    /// List the workstations; those that wait for confirmation come first
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Confirm the key a workstation asks for
    Confirm {
        /// The workstation
        id: Uuid,
        /// The fingerprint on the reviewer's screen
        #[arg(value_parser = read_fingerprint)]
        fingerprint: String,
    },
    /// Turn a workstation away from its next call on
    Revoke {
        /// The workstation
        id: Uuid,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum PartitionCommand {
    /// List the partitions with something undecided, the most urgent first
    List {
        /// Only those that somebody holds
        #[arg(long)]
        held: bool,
        /// How many
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Take partitions from whoever holds them; what they decide there from now on does not count
    Take {
        /// The partitions
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
        #[command(flatten)]
        why: Why,
    },
    /// Give partitions to a reviewer, whoever holds them now
    Assign {
        /// The partitions
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
        /// The reviewer's login
        #[arg(long, value_name = "LOGIN")]
        to: String,
        #[command(flatten)]
        why: Why,
    },
}
