//! Every record: its chain, its seal, and for a sign-off that it and its row are the same.

use countersign_domain::record::Record;
use futures_util::TryStreamExt as _;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

use super::finding::{Finding, unreadable};
use super::session::Join;
use super::verify::Audit;
use super::{Micros, VerifyingKeys};
use crate::AdminError;

/// Beside each record the head of its chain, and the row of the sign-off that says to be recorded here.
const COLUMNS: &str = "
    SELECT a.partition_key, a.chain_seq, a.at, a.event, a.actor, a.workstation, a.exception_id, a.trace_id, a.source_hash,
           a.match_decision, a.content_hash, a.outcome, a.detail::text, a.chain_hash, a.key_id, a.mac,
           h.chain_seq, h.chain_head, s.sign_off_key, s.payload_hash, s.exception_id, s.content_hash, s.reviewer, s.workstation,
           s.decision, s.outcome, s.mac, s.receipt_id, s.in_force, s.epoch,
           s.signed_at, s.decided_at";
const JOINS: &str = "
    LEFT JOIN countersign.chain_heads h ON h.partition_key = a.partition_key
    LEFT JOIN countersign.sign_offs s ON s.partition_key = a.partition_key AND s.chain_seq = a.chain_seq";
/// From an instant on: the first such record of each chain, the one before it, whose hash is where the chain begins, and all after.
const SINCE: &str = "
    JOIN (SELECT f.partition_key, min(f.chain_seq) AS first FROM countersign.audit_events f
          WHERE f.at >= '1970-01-01Z'::timestamptz + $1 * interval '1 microsecond' GROUP BY f.partition_key) AS f
      ON f.partition_key = a.partition_key AND a.chain_seq >= f.first - 1";

/// Which records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The installation's own, all of them: what was in force when.
    Installation,
    /// The partitions', perhaps from an instant on.
    Partitions(Option<i64>),
}

impl Which {
    fn sql(self, ask: bool) -> String {
        let (since, of) = match self {
            Self::Installation => ("", "="),
            Self::Partitions(None) => ("", "<>"),
            Self::Partitions(Some(_)) => (SINCE, "<>"),
        };
        let holds = if ask { "countersign.mac_holds(a.key_id, a.chain_hash, a.mac)" } else { "NULL::boolean" };
        format!(
            "{COLUMNS}, {holds} FROM countersign.audit_events a {JOINS} {since} WHERE a.partition_key {of} '' ORDER BY a.partition_key, a.chain_seq"
        )
    }
}

/// How far a chain has been read.
#[derive(Default)]
pub(crate) struct Chain {
    key: Option<String>,
    last: i64,
    hash: Vec<u8>,
    head: Option<(i64, Vec<u8>)>,
    /// The latest record, for what is found at the end.
    latest: Option<Finding>,
    signed_twice: bool,
}

impl Audit<'_> {
    /// Reads the records in the order of their chains.
    pub(crate) async fn chains(&mut self, which: Which) -> Result<(), AdminError> {
        let sql = which.sql(self.keys.is_none());
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = if let Which::Partitions(Some(since)) = which { query.bind(since) } else { query };
        self.session.join(Join::InOrder).await?;
        let refused = self.session.refused();
        let mut chain = Chain::default();
        let mut rows = query.fetch(&mut self.session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            let since = if let Which::Partitions(Some(since)) = which { since } else { i64::MIN };
            if let Err(error) = self.state.record(&mut chain, &row, since, self.keys.as_ref()) {
                self.state.findings.add(unreadable("the record", &error).place(&row, 0, 1));
            }
            self.progress.at(self.state.counts.records);
        }
        self.state.end(&mut chain);
        Ok(())
    }
}

impl super::verify::State {
    fn record(
        &mut self,
        chain: &mut Chain,
        row: &PgRow,
        since: i64,
        keys: Option<&VerifyingKeys>,
    ) -> Result<(), sqlx::Error> {
        let record = Record {
            chain: row.try_get(0)?,
            number: row.try_get(1)?,
            at: row.try_get::<Micros, _>(2)?.0,
            event: row.try_get(3)?,
            actor: row.try_get(4)?,
            workstation: row.try_get(5)?,
            exception: row.try_get(6)?,
            trace: row.try_get(7)?,
            source_hash: row.try_get(8)?,
            match_decision: row.try_get(9)?,
            content: row.try_get(10)?,
            outcome: row.try_get(11)?,
            detail: row.try_get(12)?,
        };
        let hash: &[u8] = row.try_get(13)?;
        if chain.key.as_deref() != Some(record.chain) {
            self.end(chain);
            *chain = Chain { key: Some(record.chain.to_owned()), ..Chain::default() };
            if let Some(seq) = row.try_get::<Option<i64>, _>(16)? {
                chain.head = Some((seq, row.try_get::<&[u8], _>(17)?.to_vec()));
                self.heads += 1;
            }
            self.counts.chains += 1;
            if since > i64::MIN && record.at < since && record.number > 0 {
                // Where the chain is taken up: its own place was proven before.
                chain.last = record.number;
                chain.hash = hash.to_vec();
                return Ok(());
            }
        }
        self.counts.records += 1;
        let about = |finding: Finding| {
            finding.record(record.chain, record.number).at(record.at).event(record.event).by(record.actor)
        };
        if record.number == chain.last && chain.last > 0 {
            // One record and several rows that say to be recorded here.
            if !chain.signed_twice {
                self.findings.add(about(Finding::new(
                    "several sign-offs say that this is their record",
                    "A sign-off has one record of its own: the others were put in without one",
                )));
            }
            chain.signed_twice = true;
            self.counts.records -= 1;
            return self.signed(&record, row);
        }
        chain.signed_twice = false;
        if record.number == chain.last + 1 {
            if record.chain_hash(&chain.hash).0 != hash {
                self.findings.add(about(Finding::new(
                    "its fields and the record before it do not hash to its chain hash",
                    "This record was changed after it was written, or moved from another place",
                )));
            }
        } else {
            let missing = match (chain.last + 1, record.number - 1) {
                (first, last) if first == last => format!("record {first} is missing before it"),
                (first, last) if first < last => format!("records {first} to {last} are missing before it"),
                _ => format!("it follows record {}", chain.last),
            };
            self.findings.add(about(Finding::new(missing, "Records were removed, or this one was put in")));
        }
        let (key_id, mac): (i32, &[u8]) = (row.try_get(14)?, row.try_get(15)?);
        let holds = match keys {
            Some(keys) => keys.holds(key_id, hash, mac),
            None => Some(row.try_get(32)?),
        };
        self.seal(&about, holds, key_id, record.at);
        chain.last = record.number;
        chain.hash.clear();
        chain.hash.extend_from_slice(hash);
        chain.latest = Some(about(Finding::new("", "")));
        self.attempts.consider(&record);
        match record.event {
            "ARRIVED" => self.arrived += 1,
            "CORRECTED" => self.corrected += 1,
            "EFFECT" => self.effect_records += 1,
            "SIGNED" => return self.signed(&record, row),
            _ => {
                if record.chain.is_empty()
                    && let Some(unreadable) = self.history.take(&record)
                {
                    self.findings.add(unreadable);
                }
                if row.try_get::<Option<&[u8]>, _>(18)?.is_some() {
                    self.matched += 1;
                    self.findings.add(about(Finding::new(
                        "a sign-off says that this is its record, which is of something else",
                        "The sign-off was put in without a record of its own",
                    )));
                }
            }
        }
        Ok(())
    }

    /// The seal of a record or a receipt.
    pub(crate) fn seal(&mut self, about: &impl Fn(Finding) -> Finding, holds: Option<bool>, key: i32, at: i64) {
        match holds {
            Some(true) if self.history.retired(key, at) => self.findings.add(about(Finding::new(
                format!("it is sealed with the key {key}, which had been retired before"),
                "Whoever holds the retired key wrote it later than it says",
            ))),
            Some(true) => self.counts.seals += 1,
            Some(false) => self.findings.add(about(Finding::new(
                format!("its seal is not that of the key {key}"),
                "It was written by somebody who does not know the key of the seal: not by the database's own functions",
            ))),
            None => self.findings.add(about(Finding::new(
                format!("the key {key} of its seal is not known"),
                "Export the keys again if the key was rotated since; otherwise it was written by somebody else",
            ))),
        }
    }

    /// A chain ends where its head says.
    fn end(&mut self, chain: &mut Chain) {
        let Some(key) = chain.key.take() else { return };
        let wrong = match &chain.head {
            None => Some("the chain has no head".to_owned()),
            Some((head, _)) if *head > chain.last => Some(format!(
                "the chain goes on to record {head} according to its head, and ends at record {}",
                chain.last
            )),
            Some((head, _)) if *head < chain.last => {
                Some(format!("the head of the chain says that it ends at record {head}"))
            }
            Some((_, hash)) if *hash != chain.hash => {
                Some("its hash is not the one at the head of the chain".to_owned())
            }
            Some(_) => None,
        };
        if let Some(what) = wrong {
            let mut finding = chain.latest.take().unwrap_or_else(|| Finding::new("", "").chain(&key));
            finding.what = what;
            finding.means = "Records at the end of the chain were removed, added or written anew";
            self.findings.add(finding);
        }
    }
}
