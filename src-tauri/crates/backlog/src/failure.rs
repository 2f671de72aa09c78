//! What an error means: whether to try again, whether something may have happened, and who has to act.

mod verdict;

use std::io;

use countersign_engine::port::{BacklogError, Failure, Problem};

use crate::connect::Target;

/// What was being done when it failed; a few SQLSTATEs mean different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Connecting and logging in.
    Connect,
    /// Asking for the schema's version, which everybody who may use the schema may ask.
    Version,
    /// Calling a function.
    Call,
}

/// Sorts an error of sqlx.
pub fn failure_of(step: Step, error: &sqlx::Error) -> Failure {
    match error {
        sqlx::Error::Database(answer) => sqlstate(step, answer.code().as_deref().unwrap_or_default(), answer.message()),
        sqlx::Error::Io(error) => io_failure(error),
        // A certificate's file that is none, a name that no certificate can have, a server without TLS, or one that asks for a password
        // in a form that could be read on the way.
        sqlx::Error::Tls(_) => Failure::Refused(Problem::Tls),
        // A conversation that broke off or went wrong: what was asked for may have happened.
        sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => Failure::Offline,
        _ => Failure::Structural,
    }
}

/// Sorts an answer by its SQLSTATE. The message decides only where one SQLSTATE stands for many things.
pub fn sqlstate(step: Step, code: &str, message: &str) -> Failure {
    match code {
        "28P01" | "28000" => Failure::Refused(Problem::BadPassword),
        "3D000" => Failure::Refused(Problem::NoDatabase),
        "CS001" => Failure::Refused(Problem::NotAReviewer),
        "CS002" => Failure::Refused(Problem::UnknownWorkstation),
        "CS003" => Failure::Refused(Problem::NotEnrolled),
        "CS004" => Failure::Refused(Problem::Revoked),
        // Whoever may ask for the schema's version and may not call a function is no reviewer.
        "42501" if step == Step::Call => Failure::Refused(Problem::NotAReviewer),
        "42501" | "3F000" | "42883" => Failure::Refused(Problem::NoSchema),
        // A read-only replica, a lock that was not to be had, a cancelled statement, a server that starts.
        "25006" | "55P03" | "57014" | "57P03" => Failure::Transient,
        // A function was replaced since this connection prepared its statement; the next connection prepares it anew.
        "0A000" if message.contains("cached plan") => Failure::Transient,
        // Whether the statement took place is unknown (40003); the server ended the session (57P…); a prepared statement is gone,
        // or somebody else's, so that a pooler is between here and the server (26000, 42P05).
        "40003" | "57P01" | "57P02" | "57P04" | "57P05" | "26000" | "42P05" => Failure::Offline,
        _ => match code.get(..2) {
            Some("08") => Failure::Offline,
            // Deadlocks and serialization; out of memory, disk or connections; input and output of the server itself.
            Some("40" | "53" | "58") => Failure::Transient,
            _ => Failure::Structural,
        },
    }
}

/// What went wrong, in a few words, without what sqlx puts before it.
pub fn cause(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(answer) => {
            let code = answer.code().unwrap_or_default();
            format!("{} ({code})", answer.message())
        }
        sqlx::Error::Io(error) => rustls_error(error).map_or_else(|| error.to_string(), verdict::in_words),
        sqlx::Error::Tls(source) => source.to_string(),
        other => other.to_string(),
    }
}

/// The error of a port's call, with its message for a person.
pub(crate) fn explain(operation: &'static str, target: &Target, step: Step, error: &sqlx::Error) -> BacklogError {
    let failure = failure_of(step, error);
    let cause = cause(error);
    let message = if is_pooler(error) {
        format!(
            "{target} is behind a connection pooler (such as PgBouncer), which Countersign cannot work through: {cause}. \
             Enter the address of PostgreSQL itself"
        )
    } else {
        message(failure, target, &cause, error)
    };
    BacklogError { operation, failure, message }
}

fn message(failure: Failure, target: &Target, cause: &str, error: &sqlx::Error) -> String {
    let Target { host, database, user, .. } = target;
    match failure {
        Failure::Offline => offline(target, cause),
        Failure::Transient if has_code(error, "25006") => format!(
            "{target} is a read-only replica, or read-only for now: {cause}. Enter the address of the primary server if this stays so"
        ),
        Failure::Transient => format!("{target} cannot do this right now: {cause}. It is tried again"),
        Failure::Structural => format!("{target} refused the request: {cause}. Tell the administrator of the database"),
        Failure::Refused(Problem::BadPassword) if has_code(error, "28000") && cause.contains("client certificate") => {
            format!("{target} does not let {user} in: {cause}. Name the login's certificate and its key in the profile")
        }
        Failure::Refused(Problem::BadPassword) => {
            format!("{target} does not let {user} in: {cause}. Check the login and enter the password again")
        }
        Failure::Refused(Problem::NoDatabase) => format!("{host} has no database {database}: {cause}. Check the name"),
        Failure::Refused(Problem::NoSchema) => format!(
            "{target} has no Countersign that {user} may use: {cause}. Ask an administrator to run `countersign-admin migrate` and \
             `countersign-admin reviewer add {user}`"
        ),
        Failure::Refused(Problem::NotAReviewer) => format!(
            "{user} is no active reviewer in {target}: {cause}. Ask a supervisor to run `countersign-admin reviewer add {user}`"
        ),
        Failure::Refused(Problem::NotEnrolled) => {
            format!("no supervisor has confirmed this workstation in {target} yet: {cause}")
        }
        Failure::Refused(Problem::Revoked) => format!(
            "this workstation was revoked in {target}: {cause}. What it had leased was removed from it; ask a supervisor how to go on"
        ),
        Failure::Refused(Problem::Tls) => unsafe_connection(target, cause),
        Failure::Refused(
            Problem::UnknownWorkstation | Problem::SchemaOlder | Problem::SchemaNewer | Problem::OtherInstallation,
        ) => format!("{target} does not know this workstation: {cause}"),
    }
}

/// No answer came.
pub(crate) fn offline(target: &Target, cause: &str) -> String {
    format!("{target} does not answer: {cause}. Nothing is lost; it is tried again by itself")
}

/// The connection was not made, because it would not have been safe.
pub(crate) fn unsafe_connection(target: &Target, cause: &str) -> String {
    format!("the connection to {target} is not safe and was not made: {cause}")
}

fn io_failure(error: &io::Error) -> Failure {
    // rustls reports its verdict on a certificate as an IO error. Anything else it says is a conversation that went wrong.
    match rustls_error(error) {
        Some(
            rustls::Error::InvalidCertificate(_)
            | rustls::Error::InvalidCertRevocationList(_)
            | rustls::Error::NoCertificatesPresented
            | rustls::Error::UnsupportedNameType
            | rustls::Error::AlertReceived(_)
            | rustls::Error::PeerIncompatible(_)
            | rustls::Error::PeerMisbehaved(_),
        ) => Failure::Refused(Problem::Tls),
        _ => Failure::Offline,
    }
}

fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some(code)
}

/// PgBouncer refuses the bounds that are sent with the login, or mixes up prepared statements.
pub(crate) fn is_pooler(error: &sqlx::Error) -> bool {
    has_code(error, "26000")
        || has_code(error, "42P05")
        || error.as_database_error().is_some_and(|answer| answer.message().contains("unsupported startup parameter"))
}

#[cfg(test)]
mod tests;
