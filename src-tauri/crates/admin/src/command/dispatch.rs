//! What each command of a supervisor calls.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use countersign_admin::reviewer::{self, Added, Registered, Rights, Scope};
use countersign_admin::role::{Revoked, Role};
use countersign_admin::text::shown;
use countersign_admin::{AdminError, Database, partition, period, policy, reversal, role, workstation};
use countersign_domain::standing::PeriodState;
use tokio::io::AsyncReadExt as _;

use super::operators::{
    PartitionCommand, PeriodCommand, PolicyCommand, ReviewerCommand, RightsArguments, RoleCommand, Supervise,
    WorkstationCommand,
};
use super::{new_password, open};

/// The most bytes of a policy's file; the database takes less.
const POLICY_BYTES: u64 = 1024 * 1024;

pub(super) async fn run(database: &Database, command: Supervise) -> Result<String, AdminError> {
    match command {
        Supervise::Reviewer(command) => reviewers(database, command).await,
        Supervise::Role(command) => roles(database, command).await,
        Supervise::Policy(command) => policies(database, command).await,
        Supervise::Period(command) => periods(database, command).await,
        Supervise::Workstation(command) => workstations(database, command).await,
        Supervise::Partition(command) => partitions(database, command).await,
        Supervise::Reverse { key, why, output } => {
            let reversed = reversal::reverse(database, &key, &why.reason).await?;
            output.of(&reversed, || reversal::describe(&reversed))
        }
    }
}

async fn reviewers(database: &Database, command: ReviewerCommand) -> Result<String, AdminError> {
    match command {
        ReviewerCommand::Add { login, rights, create_login } => {
            let password = if create_login { Some(new_password(&login)?) } else { None };
            let registered = reviewer::register(database, &login, &rights.read(), password.as_ref()).await?;
            Ok(registered_words(&shown(&login), &registered))
        }
        ReviewerCommand::Set { login, rights } => {
            let rights = rights.read();
            if rights == Rights::default() {
                return Err(AdminError::Request(
                    "nothing is named that could be set: see `countersign-admin reviewer set --help`".to_owned(),
                ));
            }
            reviewer::set(database, &login, &rights).await?;
            Ok(format!("What {} may sign is set.\n", shown(&login)))
        }
        ReviewerCommand::Limit { login, currency, largest, per_period, none: _ } => {
            reviewer::limit(database, &login, &currency, largest, per_period).await?;
            let login = shown(&login);
            let of = if currency == "*" { "every currency without such a limit of its own" } else { currency.as_str() };
            Ok(match (largest, per_period) {
                (None, None) => format!("{login} has no limits in {of}.\n"),
                (Some(largest), None) => format!("{login} may sign up to {largest} each in {of}.\n"),
                (None, Some(most)) => format!("{login} may approve up to {most} a period in {of}.\n"),
                (Some(largest), Some(most)) => {
                    format!("{login} may sign up to {largest} each, and approve up to {most} a period, in {of}.\n")
                }
            })
        }
        ReviewerCommand::DeadLetters { login, on, off: _ } => {
            let changed = reviewer::remediates(database, &login, on).await?;
            let (login, may) = (shown(&login), if on { "may" } else { "may not" });
            let already = if changed { "" } else { ", as before" };
            Ok(format!("{login} {may} work at the desk of dead letters{already}.\n"))
        }
        ReviewerCommand::List { output } => {
            let reviewers = reviewer::list(database).await?;
            output.of(&reviewers, || reviewer::describe(&reviewers))
        }
        ReviewerCommand::Disable { login } => {
            let active = reviewer::disable(database, &login).await?;
            let login = shown(&login);
            Ok(if active { format!("{login} may sign no more.\n") } else { format!("{login} was disabled already.\n") })
        }
    }
}

fn registered_words(login: &str, registered: &Registered) -> String {
    let mut text = match registered.added {
        Added::New => format!("{login} is a reviewer now.\n"),
        Added::Again => format!("{login} is a reviewer again.\n"),
        Added::Changed => format!("{login} was a reviewer already; what is named was set.\n"),
        Added::Already => format!("{login} was a reviewer already.\n"),
    };
    if let Some(statement) = &registered.to_run {
        let _ = writeln!(
            text,
            "The login opens nothing yet, and you may not grant roles. Have somebody run who may: {}",
            shown(statement)
        );
    }
    text
}

impl RightsArguments {
    fn read(self) -> Rights {
        let scope = |names: Vec<String>, any: bool| match (names.is_empty(), any) {
            (_, true) => Scope::Any,
            (true, false) => Scope::Keep,
            (false, false) => Scope::Only(names),
        };
        Rights {
            name: self.name,
            also: scope(self.also, self.no_also),
            kinds: scope(self.kind.iter().map(|kind| kind.as_str().to_owned()).collect(), self.any_kind),
            tiers: scope(self.tier.iter().map(|tier| tier.as_str().to_owned()).collect(), self.any_tier),
            entities: scope(self.entity, self.any_entity),
        }
    }
}

async fn roles(database: &Database, command: RoleCommand) -> Result<String, AdminError> {
    match command {
        RoleCommand::Grant { login, role, create_login } => {
            let password = if create_login { Some(new_password(&login)?) } else { None };
            let fresh = role::grant(database, &login, role, password.as_ref()).await?;
            let login = shown(&login);
            Ok(if fresh { format!("{login} is {role} now.\n") } else { format!("{login} was {role} already.\n") })
        }
        RoleCommand::Revoke { login, role } => {
            let revoked = role::revoke(database, &login, role).await?;
            Ok(revoked_words(&shown(&login), role, revoked))
        }
        RoleCommand::List { output } => {
            let holders = role::list(database).await?;
            output.of(&holders, || role::describe(&holders))
        }
    }
}

fn revoked_words(login: &str, role: Role, revoked: Revoked) -> String {
    let mut text =
        if revoked.had { format!("{login} is {role} no more.\n") } else { format!("{login} was no {role}.\n") };
    if revoked.still {
        let _ = writeln!(
            text,
            "What a {role} may is open to {login} all the same, through another role or as a superuser: see `countersign-admin role list`."
        );
    }
    text
}

async fn policies(database: &Database, command: PolicyCommand) -> Result<String, AdminError> {
    match command {
        PolicyCommand::Show { version, output } => {
            let version = policy::show(database, version).await?;
            output.of(&version, || policy::describe(&version))
        }
        PolicyCommand::History { output } => {
            let versions = policy::history(database).await?;
            output.of(&versions, || policy::describe_history(&versions))
        }
        PolicyCommand::Explain { exception, version, output } => {
            let explained = policy::explain(database, &exception, version).await?;
            output.of(&explained, || policy::describe_explained(&explained))
        }
        PolicyCommand::Set { file, comment, yes } => {
            let origin = if file == *"-" { "standard input".into() } else { file.to_string_lossy().into_owned() };
            let mut text = String::new();
            let unreadable = |source| AdminError::Unreadable { origin: shown(&origin), source };
            open(&file, &origin).await?.take(POLICY_BYTES).read_to_string(&mut text).await.map_err(unreadable)?;
            let policy = policy::read(&text, &origin)?;
            let before = policy::show(database, None).await?;
            let difference = policy::difference(&before, &policy)?;
            if difference.is_empty() {
                return Ok(format!("Nothing changes: version {} says the same.\n", before.version));
            }
            if !yes && !agreed(&difference)? {
                return Err(AdminError::Request("nothing was changed".to_owned()));
            }
            let version = policy::set(database, &policy, &comment).await?;
            Ok(format!("{difference}Version {version} is in force.\n"))
        }
    }
}

/// Asks where somebody can answer; where nobody can, the answer has to come with the command.
fn agreed(difference: &str) -> Result<bool, AdminError> {
    if !io::stdin().is_terminal() {
        return Err(AdminError::Request(format!(
            "nothing was changed: nobody can be asked here, so that --yes is needed to put this in force: {}",
            difference.trim_end().replace('\n', "; ")
        )));
    }
    let mut answer = String::new();
    eprint!("{difference}Put this in force? [y/N] ");
    io::stderr()
        .flush()
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|source| AdminError::Unreadable { origin: "the terminal".to_owned(), source })?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

async fn periods(database: &Database, command: PeriodCommand) -> Result<String, AdminError> {
    let (period, state, why) = match command {
        PeriodCommand::List { output } => {
            let periods = period::list(database).await?;
            return output.of(&periods, || period::describe(&periods));
        }
        PeriodCommand::Deadline { period, closes_at, none: _, why } => {
            period::deadline(database, &period.entity, &period.name, closes_at, &why.reason).await?;
            return Ok(period::describe_deadline(&period.entity, &period.name, closes_at));
        }
        PeriodCommand::Add { period, first, last, closes_at } => {
            period::add(database, &period.entity, &period.name, first, last, closes_at).await?;
            let (name, entity) = (shown(&period.name), shown(&period.entity));
            return Ok(format!("The period {name} of {entity}, {first} to {last}, is open.\n"));
        }
        PeriodCommand::Closing { period, why } => (period, PeriodState::Closing, why),
        PeriodCommand::Close { period, why } => (period, PeriodState::Closed, why),
        PeriodCommand::Reopen { period, why } => (period, PeriodState::Open, why),
    };
    let undecided = period::move_to(database, &period.entity, &period.name, state, &why.reason).await?;
    Ok(period::describe_move(&period.entity, &period.name, state, undecided))
}

async fn workstations(database: &Database, command: WorkstationCommand) -> Result<String, AdminError> {
    match command {
        WorkstationCommand::List { output } => {
            let workstations = workstation::list(database).await?;
            output.of(&workstations, || workstation::describe(&workstations))
        }
        WorkstationCommand::Confirm { id, fingerprint } => {
            let reviewer = workstation::confirm(database, id, &fingerprint).await?;
            Ok(format!("The workstation {id} of {} may sign now.\n", shown(&reviewer)))
        }
        WorkstationCommand::Revoke { id, why } => Ok(if workstation::revoke(database, id, &why.reason).await? {
            format!("The workstation {id} is turned away from its next call on; what it held is free.\n")
        } else {
            format!("The workstation {id} was revoked already.\n")
        }),
    }
}

async fn partitions(database: &Database, command: PartitionCommand) -> Result<String, AdminError> {
    let (keys, to, why) = match command {
        PartitionCommand::List { held, limit, output } => {
            let partitions = partition::list(database, held, limit).await?;
            return output.of(&partitions, || partition::describe(&partitions));
        }
        PartitionCommand::Take { keys, why } => (keys, None, why),
        PartitionCommand::Assign { keys, to, why } => (keys, Some(to), why),
    };
    let moved = partition::assign(database, &keys, to.as_deref(), &why.reason).await?;
    Ok(partition::describe_move(&keys, &moved, to.as_deref()))
}
