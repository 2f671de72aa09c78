//! What happened, counted from PostgreSQL, the journals and the input afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_domain::hash;
use countersign_domain::id::{SignOffKey, WorkstationId};
use countersign_engine::port::Stage;
use countersign_journal::{JournalKey, SqliteJournal};
use countersign_station::Vault;
use serde::Serialize;
use sqlx::{PgPool, Row as _};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use uuid::Uuid;

/// The numbers of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Counted {
    /// Exceptions, released receipts and dead letters in the database.
    pub arrived: i64,
    /// Receipts that needed no reviewer.
    pub released: i64,
    /// Dead letters.
    pub dead_lettered: i64,
    /// Undecided exceptions.
    pub pending: i64,
    /// Undecided exceptions in partitions under a lease.
    pub leased: i64,
    /// Approved, resolved or held.
    pub approved: i64,
    /// Rejected, resolved or held.
    pub rejected: i64,
    /// Decided, and waiting for an earlier item of the partition.
    pub held: i64,
    /// Decided, with their effect.
    pub resolved: i64,
    /// Postings, routings and disputes.
    pub effects: i64,
    /// Accepted sign-offs.
    pub sign_offs: i64,
    /// Decisions that arrived twice and took effect once, by the journals.
    pub duplicates_absorbed: u64,
    /// Decisions made without a connection, by the journals.
    pub signed_offline: u64,
    /// Those of them that were accepted later.
    pub drained_after_reconnect: u64,
    /// Decisions that no answer came for.
    pub outbox_left: u64,
    /// Exceptions with more than one effect or more than one accepted sign-off.
    pub duplicate_effects: i64,
    /// Lines that are neither an exception nor a dead letter, and decisions that one side knows and the other does not.
    pub lost: u64,
    /// Effects that came before that of an earlier item of their partition.
    pub order_violations: i64,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arrived, released, dead_lettered, pending, approved, rejected, held, effects, sign_offs, .. } = self;
        let Self { duplicates_absorbed, signed_offline, drained_after_reconnect, outbox_left, .. } = self;
        let Self { lost, duplicate_effects, order_violations, .. } = self;
        writeln!(f, "\nCounted in PostgreSQL and the journals:")?;
        writeln!(
            f,
            "{arrived:>7} arrived = {dead_lettered} dead letters + {released} released + {pending} pending + {approved} approved + {rejected} rejected ({held} held)"
        )?;
        writeln!(f, "{sign_offs:>7} sign-offs, {effects} effects")?;
        writeln!(
            f,
            "{signed_offline:>7} signed offline, {drained_after_reconnect} of them accepted after reconnecting, {outbox_left} left in outboxes"
        )?;
        writeln!(f, "{duplicates_absorbed:>7} duplicates absorbed")?;
        writeln!(f, "{lost:>7} lost, {duplicate_effects} effects doubled, {order_violations} out of order")
    }
}

/// Counts.
pub async fn count(owner: &PgPool, journals: &[PathBuf], input: &Path) -> anyhow::Result<Counted> {
    let mut counted = from_database(owner).await?;
    let mut accepted: BTreeSet<SignOffKey> = sqlx::query("SELECT sign_off_key FROM countersign.sign_off")
        .fetch_all(owner)
        .await?
        .iter()
        .filter_map(|row| countersign_domain::id::Digest::from_bytes(row.get(0)))
        .map(SignOffKey)
        .collect();
    for path in journals {
        let journal = SqliteJournal::open(path, &key_of(path)?, WorkstationId(Uuid::nil()))
            .with_context(|| format!("open {}", path.display()))?;
        let numbers = journal.counts()?;
        counted.duplicates_absorbed += numbers.duplicates;
        counted.signed_offline += numbers.signed_offline;
        journal.for_each_entry(|entry| {
            let known = accepted.remove(&entry.sign_off.key);
            match entry.stage {
                Stage::Ready | Stage::Dead => counted.outbox_left += 1,
                Stage::Committed => {
                    counted.lost += u64::from(!known);
                    counted.drained_after_reconnect += u64::from(entry.offline);
                }
                Stage::Refused => {}
            }
        })?;
    }
    counted.lost += accepted.len() as u64;
    counted.lost += missing_lines(owner, input).await?;
    Ok(counted)
}

/// A window without a keyring keeps its keys beside its journal; everybody else here has the same one.
fn key_of(journal: &Path) -> anyhow::Result<JournalKey> {
    let directory = journal.parent().context("a journal is in a directory")?;
    let found = Vault::new("", directory, false).find()?;
    Ok(found.map_or_else(crate::journal_key, |(secrets, _)| secrets.journal_key))
}

async fn from_database(owner: &PgPool) -> anyhow::Result<Counted> {
    let sql = "
        WITH effect AS (
            SELECT exception_id, effect_no FROM countersign.posting UNION ALL SELECT exception_id, effect_no FROM countersign.routing
            UNION ALL SELECT exception_id, effect_no FROM countersign.dispute
        ), placed AS (
            SELECT e.state, f.effect_no,
                   max(f.effect_no) OVER earlier AS earlier_effect,
                   coalesce(bool_or(e.state <> 'RESOLVED') OVER earlier, false) AS earlier_unresolved
            FROM countersign.exception e LEFT JOIN effect f ON f.exception_id = e.id
            WINDOW earlier AS (PARTITION BY e.partition_key ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        )
        SELECT (SELECT count(*) FROM countersign.exception) + (SELECT count(*) FROM countersign.released) + (SELECT count(*) FROM countersign.dead_letter) AS arrived,
               (SELECT count(*) FROM countersign.released) AS released,
               (SELECT count(*) FROM countersign.dead_letter) AS dead_lettered,
               (SELECT count(*) FROM countersign.exception WHERE state = 'PENDING') AS pending,
               (SELECT coalesce(sum(pending), 0) FROM countersign.partition WHERE lease_until IS NOT NULL) AS leased,
               (SELECT count(*) FROM countersign.exception WHERE decision = 'APPROVE') AS approved,
               (SELECT count(*) FROM countersign.exception WHERE decision = 'REJECT') AS rejected,
               (SELECT count(*) FROM countersign.exception WHERE state IN ('APPROVED', 'REJECTED')) AS held,
               (SELECT count(*) FROM countersign.exception WHERE state = 'RESOLVED') AS resolved,
               (SELECT count(*) FROM effect) AS effects,
               (SELECT count(*) FROM countersign.sign_off) AS sign_offs,
               (SELECT count(*) FROM (SELECT exception_id FROM effect GROUP BY 1 HAVING count(*) > 1
                                      UNION SELECT exception_id FROM countersign.sign_off GROUP BY 1 HAVING count(*) > 1) AS twice) AS duplicate_effects,
               (SELECT count(*) FROM placed WHERE effect_no IS NOT NULL AND (effect_no < earlier_effect OR earlier_unresolved)) AS order_violations";
    let row = sqlx::query(sql).fetch_one(owner).await.context("count in the database")?;
    let number = |name| row.try_get::<i64, _>(name);
    Ok(Counted {
        arrived: number("arrived")?,
        released: number("released")?,
        dead_lettered: number("dead_lettered")?,
        pending: number("pending")?,
        leased: number("leased")?,
        approved: number("approved")?,
        rejected: number("rejected")?,
        held: number("held")?,
        resolved: number("resolved")?,
        effects: number("effects")?,
        sign_offs: number("sign_offs")?,
        duplicate_effects: number("duplicate_effects")?,
        order_violations: number("order_violations")?,
        ..Counted::default()
    })
}

/// Lines of the input that the database knows neither by their key nor by their bytes.
async fn missing_lines(owner: &PgPool, input: &Path) -> anyhow::Result<u64> {
    let mut reader = BufReader::new(tokio::fs::File::open(input).await?);
    let (mut line, mut wanted, mut missing) = (Vec::new(), BTreeMap::new(), 0);
    loop {
        line.clear();
        let ended = reader.read_until(b'\n', &mut line).await? == 0;
        let text = line.trim_ascii();
        if !text.is_empty() {
            let key = serde_json::from_slice::<serde_json::Value>(text)
                .ok()
                .and_then(|value| value["idempotency_key"].as_str().map(str::to_owned));
            let end = line.strip_suffix(b"\n").unwrap_or(&line);
            wanted.insert(hash::sha256(end.strip_suffix(b"\r").unwrap_or(end)).0.to_vec(), key.unwrap_or_default());
        }
        if ended || wanted.len() >= 1_000 {
            let (hashes, keys): (Vec<Vec<u8>>, Vec<String>) = std::mem::take(&mut wanted).into_iter().unzip();
            let sql = "SELECT count(*) FROM unnest($1::bytea[], $2::text[]) AS i (hash, key)
                       WHERE NOT EXISTS (SELECT FROM countersign.exception e WHERE e.idempotency_key = i.key)
                         AND NOT EXISTS (SELECT FROM countersign.released r WHERE r.idempotency_key = i.key)
                         AND NOT EXISTS (SELECT FROM countersign.dead_letter d WHERE d.original_hash = i.hash)";
            let count: i64 = sqlx::query_scalar(sql)
                .bind(hashes)
                .bind(keys)
                .fetch_one(owner)
                .await
                .context("look for lost lines")?;
            missing += u64::try_from(count).unwrap_or_default();
        }
        if ended {
            return Ok(missing);
        }
    }
}
