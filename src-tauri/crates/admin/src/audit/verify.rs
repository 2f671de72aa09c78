//! The whole stream, from the first record to the last, in one look.

use std::path::PathBuf;
use std::time::Instant;

use chrono::{DateTime, Utc};
use countersign_domain::policy::Policy;
use countersign_domain::seal::PublicKey;
use serde::Serialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::types::Uuid;

use super::chains::Which;
use super::effects::Order;
use super::finding::{Finding, unreadable};
use super::history::{CALL_MICROS, History};
use super::session::Progress;
use super::signatures::Signatures;
use super::{Attempts, Findings, Micros, Session, VerifyingKeys};
use crate::{AdminError, Database};

/// What is verified, and with what.
#[derive(Debug, Default, Clone)]
pub struct Verify {
    /// Only what is recorded at or after this instant. The installation's own chain is always read whole.
    pub from: Option<DateTime<Utc>>,
    /// The file of anchors.
    pub anchors: Option<PathBuf>,
    /// The key that every anchor has to be signed with.
    pub anchor_key: Option<PublicKey>,
    /// The exported keys of the seal; without them the database is asked.
    pub keys: Option<PathBuf>,
}

/// What was gone through.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Audit records.
    pub records: u64,
    /// Chains.
    pub chains: u64,
    /// Seals of records and receipts that hold.
    pub seals: u64,
    /// Exceptions, decided or not.
    pub exceptions: u64,
    /// Accepted sign-offs.
    pub sign_offs: u64,
    /// Signatures that hold.
    pub signatures: u64,
    /// Sign-offs without a signature, from before decisions were sealed.
    pub unsigned: u64,
    /// Postings and returns.
    pub effects: u64,
    /// Receipts.
    pub receipts: u64,
    /// Lines of the file of anchors.
    pub anchors: u64,
    /// Heads of chains in them that are still there.
    pub anchored_heads: u64,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The installation.
    pub installation: Uuid,
    /// The moment that was looked at, by the database's clock.
    pub at: String,
    /// From when on, if not from the beginning.
    pub from: Option<String>,
    /// Who vouched for the seals: `keys` for a file, `database` for the database itself.
    pub seals_by: &'static str,
    /// What was not looked at, or only believed.
    pub not_checked: Vec<&'static str>,
    /// What was gone through.
    pub counts: Counts,
    /// What was tried and refused.
    pub attempts: Attempts,
    /// How many things do not hold.
    pub findings: u64,
    /// The first of them, in the order of reading.
    pub first: Vec<Finding>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl Report {
    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.findings == 0
    }

    /// Records in a second.
    pub fn rate(&self) -> u64 {
        self.counts.records.saturating_mul(1_000) / self.took_ms.max(1)
    }
}

/// What is known so far.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) installation: Uuid,
    pub(crate) counts: Counts,
    pub(crate) findings: Findings,
    pub(crate) attempts: Attempts,
    pub(crate) history: History,
    pub(crate) order: Order,
    /// Chains with a head.
    pub(crate) heads: u64,
    /// Sign-offs beside their record.
    pub(crate) matched: u64,
    pub(crate) arrived: u64,
    pub(crate) corrected: u64,
    pub(crate) effect_records: u64,
    pub(crate) committed_records: u64,
    pub(crate) unsealed_records: u64,
}

/// A verification under way.
pub(crate) struct Audit<'a> {
    pub(crate) session: Session<'a>,
    pub(crate) keys: Option<VerifyingKeys>,
    pub(crate) state: State,
    pub(crate) signatures: Signatures,
    pub(crate) progress: Progress,
}

/// Verifies as an auditor.
pub async fn verify(database: &Database, what: &Verify) -> Result<Report, AdminError> {
    let began = Instant::now();
    let keys = what.keys.as_deref().map(VerifyingKeys::read).transpose()?;
    let mut session = Session::begin(database, "verify the audit stream").await?;
    let refused = session.refused();
    let (installation, Micros(now), total): (Uuid, Micros, i64) = sqlx::query_as(
        "SELECT i.id, now(), (SELECT least(coalesce(sum(h.chain_seq), 0), 1e18)::bigint FROM countersign.chain_heads h) FROM countersign.installations i",
    )
    .fetch_one(&mut session.connection)
    .await
    .map_err(&refused)?;
    if keys.as_ref().is_some_and(|keys| keys.installation != installation) {
        return Err(AdminError::Request("the keys of the seal are another installation's".to_owned()));
    }
    let state = State { installation, ..State::default() };
    let from = what.from.map(|from| from.timestamp_micros());
    let seals_by = if keys.is_some() { "keys" } else { "database" };
    let progress = Progress::new("records", u64::try_from(total).unwrap_or_default());
    let mut audit = Audit { session, keys, state, signatures: Signatures::default(), progress };
    audit.chains(Which::Installation).await?;
    audit.policies().await?;
    audit.chains(Which::Partitions(from)).await?;
    if from.is_none() {
        audit.complete().await?;
    }
    let exceptions = audit.session.number("SELECT count(*) FROM countersign.exceptions").await?;
    audit.progress = Progress::new("exceptions", u64::try_from(exceptions).unwrap_or_default());
    audit.decisions(from).await?;
    if from.is_none() {
        audit.decided().await?;
        audit.arrivals().await?;
        audit.released().await?;
        audit.claim_lines().await?;
    }
    audit.receipts(from).await?;
    audit.unsealed(from.is_none()).await?;
    audit.tables(from.is_none()).await?;
    if let Some(path) = &what.anchors {
        audit.anchored(path, what.anchor_key).await?;
    }
    let Audit { session, state, progress, .. } = audit;
    drop(progress);
    session.end().await;
    Ok(Report {
        installation,
        at: super::instant(now),
        from: from.map(super::instant),
        seals_by,
        not_checked: not_checked(what, &state.counts),
        counts: state.counts,
        attempts: state.attempts,
        findings: state.findings.total(),
        first: state.findings.into_kept(),
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// What an answer to this says nothing about.
fn not_checked(what: &Verify, counts: &Counts) -> Vec<&'static str> {
    let mut not = Vec::new();
    if what.from.is_some() {
        not.push("what was recorded before, apart from the installation's chain");
        not.push("whether exceptions are as they arrived, and every row has its record and every record its row");
        if counts.exceptions == 0 {
            not.push("any decision: none was signed from then on");
        }
    }
    if what.from.is_none() && counts.exceptions == 0 {
        not.push("anything but the installation's chain: nothing has arrived");
    }
    if what.keys.is_none() {
        not.push("the seals, but by the database's own word (--keys)");
    }
    match (&what.anchors, what.anchor_key) {
        (None, _) => not.push("whether an end was cut off or written anew by somebody who knows the keys (--anchors)"),
        (Some(_), None) => not.push("who signed the anchors: their key was taken from the file itself (--anchor-key)"),
        (Some(_), Some(_)) => {}
    }
    not
}

impl Audit<'_> {
    /// The policies in the table are those that were put in force.
    async fn policies(&mut self) -> Result<(), AdminError> {
        const SQL: &str = "SELECT p.version, p.document::text, p.comment, p.set_by, p.set_at FROM countersign.policies p ORDER BY p.version";
        let refused = self.session.refused();
        let rows = sqlx::query(SQL).fetch_all(&mut self.session.connection).await.map_err(refused)?;
        let state = &mut self.state;
        state.history.installed_policy(Policy::default());
        let known = state.history.policies.len();
        for row in &rows {
            let (version, same) = match same_policy(&state.history, row) {
                Ok(found) => found,
                Err(error) => {
                    state.findings.add(unreadable("a policy", &error));
                    continue;
                }
            };
            if !same {
                let what = format!("the policy {version} is not the one that was put in force");
                state.findings.add(Finding::new(what, "Decisions were judged by a policy that nobody set"));
            }
        }
        if known != rows.len() {
            let what = format!("{known} policies were put in force, and {} are there", rows.len());
            state.findings.add(Finding::new(what, "Policies were removed or put in"));
        }
        Ok(())
    }
}

/// The number of a policy, and whether it is as its record says. It was written just before its record.
fn same_policy(history: &History, row: &PgRow) -> Result<(i32, bool), sqlx::Error> {
    let version: i32 = row.try_get(0)?;
    let Some(put) = u32::try_from(version).ok().and_then(|version| history.policies.get(&version)) else {
        return Ok((version, false));
    };
    let set_at = row.try_get::<Micros, _>(4)?.0;
    let by: Option<&str> = row.try_get(3)?;
    let just_before = set_at <= put.at && put.at.saturating_sub(set_at) <= CALL_MICROS;
    let document: serde_json::Value = serde_json::from_str(row.try_get(1)?).unwrap_or_default();
    let same = document == put.document
        && row.try_get::<Option<&str>, _>(2)? == Some(put.comment.as_str())
        && put.by.as_deref().is_none_or(|put_by| by == Some(put_by) && just_before);
    Ok((version, same))
}
