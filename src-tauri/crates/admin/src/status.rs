//! How the close stands, in one look at the database.

mod sessions;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use countersign_domain::exception::Kind;
use serde::{Deserialize, Serialize};

use crate::text::table;
use crate::{AdminError, Database};

pub use sessions::Session;

/// Counts of one moment. No amounts: they belong to reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// The schema's version.
    pub schema_version: i32,
    /// Exceptions by state.
    pub exceptions: ByState,
    /// Exceptions by kind.
    pub kinds: BTreeMap<Kind, OfKind>,
    /// Pending exceptions by their age.
    pub pending_age: ByAge,
    /// When the oldest pending exception was submitted.
    pub oldest_pending: Option<DateTime<Utc>>,
    /// Pending exceptions in partitions that somebody holds.
    pub leased: u64,
    /// Decided exceptions whose effect waits for an earlier one.
    pub held: u64,
    /// Partitions that can be leased.
    pub partitions_ready: u64,
    /// Partitions that somebody holds.
    pub partitions_leased: u64,
    /// Accepted sign-offs.
    pub sign_offs: u64,
    /// Variances and accruals posted.
    pub postings: u64,
    /// Exceptions sent on: to policy validation, or back to where they came from.
    pub routings: u64,
    /// Claims that are disputed.
    pub disputes: u64,
    /// Different arrivals that did not get in.
    pub dead_letters: u64,
    /// Reviewers who may sign.
    pub reviewers: u64,
    /// Approvals that wait for a second one.
    pub awaiting_second: u64,
    /// Workstations whose key waits for a supervisor.
    pub workstations_waiting: u64,
    /// Transactions that somebody left open, and that hold Countersign's tables.
    #[serde(default)]
    pub left_open: Vec<Session>,
    /// What a recount came to, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recounted: Option<Recounted>,
}

/// The sums of the overview, made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recounted {
    /// Undecided exceptions.
    pub pending: u64,
    /// Lines of the overview that said something else before.
    pub differed: u64,
}

/// Exceptions by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByState {
    /// Undecided.
    pub pending: u64,
    /// Approved; the effect waits.
    pub approved: u64,
    /// Rejected; the effect waits.
    pub rejected: u64,
    /// Done.
    pub resolved: u64,
}

/// Exceptions of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfKind {
    /// All of them.
    pub total: u64,
    /// The undecided ones.
    pub pending: u64,
}

/// Pending exceptions by whole days since they were submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByAge {
    /// 0 to 30 days.
    #[serde(rename = "0-30")]
    pub to_30: u64,
    /// 31 to 60 days.
    #[serde(rename = "31-60")]
    pub to_60: u64,
    /// 61 to 90 days.
    #[serde(rename = "61-90")]
    pub to_90: u64,
    /// More than 90 days.
    #[serde(rename = "90+")]
    pub over_90: u64,
}

/// One statement, so that the counts are of one moment and add up.
const COUNTS: &str = "
    WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
    counted AS (
        SELECT e.state, e.kind,
               CASE WHEN e.state = 'PENDING' THEN width_bucket(extract(day FROM clock.now - e.submitted_at), ARRAY[31, 61, 91]::numeric[]) END AS age,
               count(*) AS n, min(e.submitted_at) FILTER (WHERE e.state = 'PENDING') AS oldest
        FROM countersign.exceptions e CROSS JOIN clock GROUP BY 1, 2, 3
    ), state AS (
        SELECT jsonb_build_object('pending', 0, 'approved', 0, 'rejected', 0, 'resolved', 0)
            || coalesce((SELECT jsonb_object_agg(lower(s.state), s.n)
                         FROM (SELECT c.state, sum(c.n) AS n FROM counted c GROUP BY c.state) AS s), '{}') AS counts
    ), kind AS (
        SELECT jsonb_object_agg(k.name, jsonb_build_object(
                   'total', coalesce((SELECT sum(c.n) FROM counted c WHERE c.kind = k.name), 0),
                   'pending', coalesce((SELECT sum(c.n) FROM counted c WHERE c.kind = k.name AND c.state = 'PENDING'), 0))) AS counts
        FROM unnest($1::text[]) AS k (name)
    ), age AS (
        SELECT jsonb_object_agg(b.name, coalesce((SELECT sum(c.n) FROM counted c WHERE c.age = b.n - 1), 0)) AS counts
        FROM unnest(ARRAY['0-30', '31-60', '61-90', '90+']) WITH ORDINALITY AS b (name, n)
    )
    SELECT jsonb_build_object(
        'at', to_jsonb(clock.now), 'schema_version', countersign.schema_version(),
        'exceptions', state.counts, 'kinds', kind.counts, 'pending_age', age.counts,
        'oldest_pending', (SELECT min(c.oldest) FROM counted c),
        'leased', coalesce((SELECT sum(p.pending) FROM countersign.partitions p WHERE p.lease_until > clock.now), 0),
        'held', coalesce((SELECT sum(c.n) FROM counted c WHERE c.state IN ('APPROVED', 'REJECTED')), 0),
        'partitions_ready', (SELECT count(*) FROM countersign.partitions p WHERE p.pending > 0 AND (p.lease_until IS NULL OR p.lease_until <= clock.now)),
        'partitions_leased', (SELECT count(*) FROM countersign.partitions p WHERE p.lease_until > clock.now),
        'sign_offs', (SELECT count(*) FROM countersign.sign_offs),
        'postings', (SELECT count(*) FROM countersign.postings),
        'routings', (SELECT count(*) FROM countersign.routings),
        'disputes', (SELECT count(*) FROM countersign.disputes),
        'dead_letters', (SELECT count(*) FROM countersign.dead_letters),
        'reviewers', (SELECT count(*) FROM countersign.reviewers r WHERE r.active),
        'awaiting_second', (SELECT count(*) FROM countersign.exceptions e WHERE e.first_by IS NOT NULL),
        'workstations_waiting', (SELECT count(*) FROM countersign.workstation_keys k JOIN countersign.workstations w ON w.id = k.workstation
                                 WHERE k.confirmed_at IS NULL AND w.revoked_at IS NULL))::text
    FROM clock, state, kind, age";

/// Counts.
pub async fn status(database: &Database) -> Result<Status, AdminError> {
    const OPERATION: &str = "count";
    let mut connection = database.connect().await?;
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let json: String =
        sqlx::query_scalar(COUNTS).bind(kinds).fetch_one(&mut connection).await.map_err(database.refused(OPERATION))?;
    let status: Status = serde_json::from_str(&json).map_err(|error| AdminError::Refused {
        operation: OPERATION,
        place: database.place().to_owned(),
        cause: format!("the counts came in a form this release does not know: {error}"),
    })?;
    Ok(Status { left_open: sessions::left_open(database, &mut connection).await?, ..status })
}

/// Makes the sums of the overview anew from the exceptions. Nothing is signed and nothing arrives meanwhile.
pub async fn recount(database: &Database) -> Result<Recounted, AdminError> {
    let mut connection = database.connect().await?;
    let (pending, differed): (i64, i64) = sqlx::query_as("SELECT pending, differed FROM countersign.recount()")
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("recount"))?;
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(Recounted { pending: count(pending), differed: count(differed) })
}

/// The status in words.
pub fn describe(status: &Status) -> String {
    let ByState { pending, approved, rejected, resolved } = status.exceptions;
    let ByAge { to_30, to_60, to_90, over_90 } = status.pending_age;
    let oldest = status.oldest_pending.map_or_else(|| "nothing is pending".to_owned(), |at| at.to_rfc3339());
    let exceptions = format!("{pending} pending, {approved} approved, {rejected} rejected, {resolved} resolved");
    let exceptions = std::iter::once(vec!["Exceptions".to_owned(), exceptions]);
    let kinds = status.kinds.iter().map(|(kind, count)| {
        vec![capitalized(kind.module().plural()), format!("{} pending of {}", count.pending, count.total)]
    });
    let rows = [
        ("Pending by age", format!("{to_30} to 30 days, {to_60} to 60, {to_90} to 90, {over_90} older")),
        ("Oldest pending", oldest),
        ("Leased", format!("{} pending in {} partitions", status.leased, status.partitions_leased)),
        ("Ready", format!("{} partitions", status.partitions_ready)),
        ("Held", format!("{} decided behind an undecided one", status.held)),
        ("Sign-offs", status.sign_offs.to_string()),
        ("Effects", format!("{} posted, {} sent on, {} disputed", status.postings, status.routings, status.disputes)),
        ("Dead letters", status.dead_letters.to_string()),
        ("Awaiting a second", format!("{} approved once", status.awaiting_second)),
        ("Reviewers", format!("{} active", status.reviewers)),
        ("Workstations", format!("{} wait for confirmation", status.workstations_waiting)),
        ("Schema", format!("version {}", status.schema_version)),
    ];
    let recounted = status.recounted.map(|Recounted { pending, differed }| {
        let value = format!("{pending} pending; {differed} lines of the overview said something else before");
        vec!["Recounted".to_owned(), value]
    });
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
    let lines: Vec<Vec<String>> = exceptions.chain(kinds).chain(rows).chain(recounted).collect();
    table(&lines) + &sessions::describe(&status.left_open)
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
