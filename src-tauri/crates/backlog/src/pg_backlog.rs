//! The port over the schema's functions.

use std::fmt;

use countersign_domain::focus::Focus;
use countersign_domain::id::{PartitionKey, WorkstationId};
use countersign_domain::seal::{Enrolment, PublicKey, Seal};
use countersign_domain::sign_off::SignOff;
use countersign_engine::port::{
    Backlog, BacklogError, Failure, GivenUp, Held, Hello, LeaseReply, LeaseRequest, Problem, Renewed, SignOffReply,
    Welcome,
};
use secrecy::SecretString;
use sqlx::Row as _;

use crate::connect::{Target, Timing};
use crate::connections::Connections;
use crate::failure::Step;
use crate::migrate;
use crate::reply::{self, Malformed};

/// The shared backlog in PostgreSQL.
pub struct PgBacklog {
    pub(crate) connections: Connections,
}

impl PgBacklog {
    /// Connects when it is first asked something.
    pub fn new(target: Target, password: Option<SecretString>) -> Self {
        Self::with_timing(target, password, Timing::default())
    }

    /// The same with bounds of one's own.
    pub fn with_timing(target: Target, password: Option<SecretString>, timing: Timing) -> Self {
        Self { connections: Connections::new(target, password, timing) }
    }

    /// Where it connects to.
    pub fn target(&self) -> &Target {
        self.connections.target()
    }

    /// Disconnects what rests. It can be used again afterwards.
    pub async fn close(&self) {
        self.connections.close().await;
    }

    async fn check_schema(&self, operation: &'static str) -> Result<(), BacklogError> {
        let query = sqlx::query("SELECT countersign.schema_version()");
        let rows = self.connections.rows(operation, Step::Version, query).await?;
        let found = rows.first().and_then(|row| row.try_get::<Option<i32>, _>(0).ok().flatten());
        judge_version(self.target(), found, migrate::latest()).map_err(|(problem, message)| BacklogError {
            operation,
            failure: Failure::Refused(problem),
            message,
        })
    }

    pub(crate) fn malformed(&self, operation: &'static str, error: &Malformed) -> BacklogError {
        if matches!(error, Malformed::TurnedAway) {
            let message = format!("{} does not know this workstation as yours", self.target());
            return BacklogError { operation, failure: Failure::Refused(Problem::UnknownWorkstation), message };
        }
        let message = format!("{} answered in a way this release does not understand: {error}", self.target());
        BacklogError { operation, failure: Failure::Structural, message }
    }
}

impl fmt::Debug for PgBacklog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgBacklog").field("target", self.target()).finish_non_exhaustive()
    }
}

impl Backlog for PgBacklog {
    async fn hello(&self, hello: &Hello) -> Result<Welcome, BacklogError> {
        const OPERATION: &str = "hello";
        self.check_schema(OPERATION).await?;
        let query = sqlx::query(
            "SELECT installation, reviewer, display_name, server_now, enrolment, public_key, confirmed, snapshot::text AS snapshot \
             FROM countersign.hello($1, $2, $3, $4::jsonb)",
        )
        .bind(hello.workstation.0)
        .bind(&hello.name)
        .bind(&hello.app_version)
        .bind(&hello.settings);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::welcome(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn enrol(&self, workstation: WorkstationId, key: PublicKey) -> Result<Enrolment, BacklogError> {
        const OPERATION: &str = "enrol";
        let query =
            sqlx::query("SELECT enrolment, secret FROM countersign.enrol($1, $2)").bind(workstation.0).bind(&key.0[..]);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::enrolled(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn lease(&self, workstation: WorkstationId, request: &LeaseRequest) -> Result<LeaseReply, BacklogError> {
        const OPERATION: &str = "lease";
        let (keys, after): (Vec<&str>, Vec<i64>) =
            request.held.iter().map(|cursor| (cursor.partition.0.as_str(), cursor.after.0)).unzip();
        let focus = request.focus.as_ref().map(|focus| focus_document(OPERATION, focus)).transpose()?;
        let query = sqlx::query(
            "SELECT partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures, due_on \
             FROM countersign.lease($1, $2, $3, $4, $5, $6, $7, $8::jsonb)",
        )
        .bind(workstation.0)
        .bind(integer(request.want))
        .bind(integer(request.room))
        .bind(request.empty)
        .bind(integer(request.ttl_ms))
        .bind(keys)
        .bind(after)
        .bind(focus);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::leased(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn renew(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        ttl_ms: u32,
    ) -> Result<Vec<Renewed>, BacklogError> {
        const OPERATION: &str = "renew leases";
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let (keys, epochs) = columns(held);
        let query = sqlx::query("SELECT partition_key, epoch, lease_ms FROM countersign.renew($1, $2, $3, $4)")
            .bind(workstation.0)
            .bind(keys)
            .bind(epochs)
            .bind(integer(ttl_ms));
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::renewed(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn release(&self, workstation: WorkstationId, held: &[Held]) -> Result<(), BacklogError> {
        if held.is_empty() {
            return Ok(());
        }
        let (keys, epochs) = columns(held);
        let query = sqlx::query("SELECT countersign.release($1, $2, $3)").bind(workstation.0).bind(keys).bind(epochs);
        let rows = self.connections.rows("release leases", Step::Call, query).await?;
        reply::released(&rows).map_err(|error| self.malformed("release leases", &error))
    }

    async fn hand_over(
        &self,
        workstation: WorkstationId,
        held: &[Held],
        to: &str,
        ttl_ms: u32,
    ) -> Result<Vec<PartitionKey>, BacklogError> {
        const OPERATION: &str = "hand over";
        let (keys, epochs) = columns(held);
        let query = sqlx::query("SELECT k FROM countersign.hand_over($1, $2, $3, $4, $5) AS k")
            .bind(workstation.0)
            .bind(keys)
            .bind(epochs)
            .bind(to)
            .bind(integer(ttl_ms));
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::handed_over(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn sign_off(&self, workstation: WorkstationId, sign_offs: &[SignOff]) -> Result<SignOffReply, BacklogError> {
        const OPERATION: &str = "sign off";
        if sign_offs.is_empty() {
            return Ok(SignOffReply { answers: Vec::new(), receipt: None });
        }
        let seals: Vec<Seal> = sign_offs.iter().filter_map(|item| item.seal).collect();
        if seals.len() != sign_offs.len() {
            let message = "a decision is not sealed".to_owned();
            return Err(BacklogError { operation: OPERATION, failure: Failure::Structural, message });
        }
        let query = sqlx::query(
            "SELECT ordinal, outcome, first_outcome, version, decided_by, decision, decided_at, body, receipt::text AS receipt, \
                    figure_amount, figure_currency \
             FROM countersign.sign_off($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        )
        .bind(workstation.0)
        .bind(sign_offs.iter().map(|item| &item.key.0.0[..]).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.exception.0).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| &item.content.0.0[..]).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.epoch.0).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.decision.as_str()).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.reason.as_deref()).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.comment.as_deref()).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.decided_at).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| integer(item.policy_version)).collect::<Vec<_>>())
        .bind(seals.iter().map(|seal| integer(seal.enrolment)).collect::<Vec<_>>())
        .bind(seals.iter().map(|seal| &seal.signature[..]).collect::<Vec<_>>())
        .bind(seals.iter().map(|seal| &seal.mac.0[..]).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.figure.map(|figure| figure.text())).collect::<Vec<_>>())
        .bind(sign_offs.iter().map(|item| item.figure.map(|figure| figure.currency.code())).collect::<Vec<_>>());
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::answers(&rows, sign_offs.len()).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn give_up(&self, workstation: WorkstationId, letters: &[GivenUp]) -> Result<(), BacklogError> {
        const OPERATION: &str = "give up";
        if letters.is_empty() {
            return Ok(());
        }
        let query = sqlx::query("SELECT countersign.give_up($1, $2, $3, $4, $5, $6, $7, $8, $9)")
            .bind(workstation.0)
            .bind(letters.iter().map(|letter| letter.cause.as_str()).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| letter.exception.0).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| integer(letter.version)).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| letter.key.map(|key| key.0.0.to_vec())).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| letter.original.as_str()).collect::<Vec<_>>())
            // What a scorer says as it falls over may be anything; the database takes every character but one.
            .bind(letters.iter().map(|letter| letter.reason.replace('\0', "\u{fffd}")).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| integer(letter.attempts)).collect::<Vec<_>>())
            .bind(letters.iter().map(|letter| letter.at).collect::<Vec<_>>());
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        reply::given_up(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }
}

fn judge_version(target: &Target, found: Option<i32>, latest: i32) -> Result<(), (Problem, String)> {
    match found {
        Some(found) if found == latest => Ok(()),
        Some(found) if found < latest => Err((
            Problem::SchemaOlder,
            format!(
                "{target} is at version {found}, this release needs {latest}. Ask an administrator to run `countersign-admin migrate`"
            ),
        )),
        Some(found) => Err((
            Problem::SchemaNewer,
            format!(
                "{target} is at version {found}, this release knows {latest}. Update Countersign on this workstation"
            ),
        )),
        None => Err((
            Problem::NoSchema,
            format!("{target} has an unfinished Countersign. Ask an administrator to run `countersign-admin migrate`"),
        )),
    }
}

/// A focus as the database reads it. `at_most` is the workstation's own bound.
fn focus_document(operation: &'static str, focus: &Focus) -> Result<String, BacklogError> {
    serde_json::to_string(focus).map_err(|error| BacklogError {
        operation,
        failure: Failure::Structural,
        message: format!("the focus cannot be written: {error}"),
    })
}

fn columns(held: &[Held]) -> (Vec<&str>, Vec<i64>) {
    held.iter().map(|lease| (lease.partition.0.as_str(), lease.epoch.0)).unzip()
}

/// A number beyond the database's range is beyond every bound it checks too, and is refused there in words.
fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::Tls;

    #[test]
    fn a_database_of_another_release_is_told_apart_by_its_age() {
        let target = Target {
            host: "db".into(),
            port: 5432,
            database: "close".into(),
            user: "alice".into(),
            tls: Tls::VerifyFull,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
            application_name: "countersign".into(),
        };
        assert!(judge_version(&target, Some(5), 5).is_ok());
        let problem = |found| judge_version(&target, found, 5).expect_err("another version").0;
        assert_eq!(problem(Some(4)), Problem::SchemaOlder);
        assert_eq!(problem(Some(6)), Problem::SchemaNewer);
        assert_eq!(problem(None), Problem::NoSchema);
    }
}
