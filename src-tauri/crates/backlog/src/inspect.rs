//! Trying a connection out, step by step, before anybody relies on it.
//!
//! It goes the way that every connection goes, and stops at each step to say what it found and, where something is wrong, what to do.
//! Nothing is kept, here or there: what it asks of the database is asked in a transaction that is rolled back.

mod database;
mod network;

use std::time::Duration;

use chrono::{DateTime, Utc};
use countersign_domain::id::WorkstationId;
use secrecy::SecretString;
use tokio::time::timeout;

use crate::connect::Target;

/// The longest that one step may take.
pub const STEP: Duration = Duration::from_secs(10);

/// What is tried, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The host's name is one that can be found.
    Name,
    /// Somebody answers at the port.
    Port,
    /// The server proves who it is.
    Tls,
    /// The server lets this login in, and into this database.
    Login,
    /// The login is an active reviewer's.
    Role,
    /// The database is at this release's schema.
    Schema,
    /// The clocks agree.
    Clock,
    /// A supervisor has confirmed this workstation's key.
    Enrolment,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 8] =
        [Self::Name, Self::Port, Self::Tls, Self::Login, Self::Role, Self::Schema, Self::Clock, Self::Enrolment];
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Good.
    Passed,
    /// Good enough, with something to know.
    Warned,
    /// Not good.
    Failed,
    /// Not tried, because an earlier step failed.
    Skipped,
}

/// What one step found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub step: Step,
    /// How it went.
    pub outcome: Outcome,
    /// What was found.
    pub message: String,
    /// What to do; only when something is to be done.
    pub remedy: Option<String>,
}

/// The workstation as it is known here, if it ever connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desk {
    /// Its number.
    pub workstation: WorkstationId,
    /// The fingerprint of its key; `None` where the keys are not at hand.
    pub fingerprint: Option<String>,
}

/// Good, or good enough.
#[derive(Debug)]
struct Good {
    message: String,
    /// What to know or do all the same.
    remedy: Option<String>,
}

/// Not good.
#[derive(Debug)]
struct Bad {
    message: String,
    remedy: String,
}

fn passed(message: impl Into<String>) -> Good {
    Good { message: message.into(), remedy: None }
}

fn warned(message: impl Into<String>, remedy: impl Into<String>) -> Good {
    Good { message: message.into(), remedy: Some(remedy.into()) }
}

fn failed(message: impl Into<String>, remedy: impl Into<String>) -> Bad {
    Bad { message: message.into(), remedy: remedy.into() }
}

/// Tries a connection out. Every step is in the answer once, in order; after one that failed the others are not tried. `clock` reads
/// this machine's clock.
pub async fn inspect(
    target: &Target,
    password: Option<&SecretString>,
    desk: Option<&Desk>,
    clock: impl Fn() -> DateTime<Utc>,
) -> Vec<Finding> {
    let mut report = Report::default();
    let _all: Option<()> = go(&mut report, target, password, desk, clock).await;
    for step in &Step::ALL[report.findings.len()..] {
        let message = "not tried, because an earlier step failed".to_owned();
        report.findings.push(Finding { step: *step, outcome: Outcome::Skipped, message, remedy: None });
    }
    report.findings
}

/// `None` as soon as a step failed.
async fn go(
    report: &mut Report,
    target: &Target,
    password: Option<&SecretString>,
    desk: Option<&Desk>,
    clock: impl Fn() -> DateTime<Utc>,
) -> Option<()> {
    let addresses = report.step(Step::Name, network::name(target)).await?;
    report.step(Step::Port, network::port(target, &addresses)).await?;
    report.step(Step::Tls, network::tls(target, &addresses, &clock)).await?;
    let mut connection = report.step(Step::Login, database::login(target, password)).await?;
    let standing = report.step(Step::Role, database::role(&mut connection, target, desk)).await?;
    report.step(Step::Schema, async { database::schema(&standing).map(|good| (good, ())) }).await?;
    report.step(Step::Clock, database::clock(&mut connection, &clock)).await?;
    report.step(Step::Enrolment, async { database::enrolment(&standing, desk).map(|good| (good, ())) }).await
}

#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Notes what a step finds, and hands on what the next one needs.
    async fn step<T>(&mut self, step: Step, work: impl Future<Output = Result<(Good, T), Bad>>) -> Option<T> {
        let found = timeout(STEP, work).await.unwrap_or_else(|_| {
            Err(failed(
                format!("no answer within {} seconds", STEP.as_secs()),
                "Check host and port, and that this computer is on the network from which the database can be reached.",
            ))
        });
        let (finding, next) = match found {
            Ok((Good { message, remedy }, next)) => {
                let outcome = if remedy.is_some() { Outcome::Warned } else { Outcome::Passed };
                (Finding { step, outcome, message, remedy }, Some(next))
            }
            Err(Bad { message, remedy }) => {
                (Finding { step, outcome: Outcome::Failed, message, remedy: Some(remedy) }, None)
            }
        };
        self.findings.push(finding);
        next
    }
}
