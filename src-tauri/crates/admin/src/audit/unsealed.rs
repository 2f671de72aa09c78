//! What counting finds: rows that no record leads to, records that lead to no row, and decisions from before they were sealed.

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::Row as _;

use super::Micros;
use super::finding::Finding;
use super::session::Join;
use super::verify::Audit;
use crate::AdminError;

/// How many are named of each kind.
const NAMED: usize = 20;

/// Rows that nothing led to, with what is said of them.
struct Orphans {
    sql: &'static str,
    what: &'static str,
    means: &'static str,
}

// Each is asked only if the counts differ. They give: chain, number, when, who, exception.
const SIGN_OFFS: Orphans = Orphans {
    sql: "SELECT s.partition_key, s.chain_seq, s.signed_at, s.reviewer, s.exception_id FROM countersign.sign_offs s
          LEFT JOIN countersign.audit_events a ON a.partition_key = s.partition_key AND a.chain_seq = s.chain_seq
          WHERE s.partition_key IS NOT NULL AND a.chain_seq IS NULL ORDER BY 1, 2 LIMIT 20",
    what: "the sign-off says to be recorded here, and there is no such record",
    means: "The sign-off was put in without a record, or its record was removed",
};
const HEADS: Orphans = Orphans {
    sql: "SELECT h.partition_key, h.chain_seq, NULL::timestamptz, NULL, NULL::bigint FROM countersign.chain_heads h
          WHERE h.chain_seq > 0 AND NOT EXISTS (SELECT FROM countersign.audit_events a WHERE a.partition_key = h.partition_key) ORDER BY 1 LIMIT 20",
    what: "the chain ends here according to its head, and has no record at all",
    means: "The records of the chain were removed",
};
const DECISIONS: Orphans = Orphans {
    sql: "SELECT s.partition_key, s.chain_seq, s.signed_at, s.reviewer, s.exception_id FROM countersign.sign_offs s
          LEFT JOIN countersign.exceptions e ON e.id = s.exception_id WHERE e.id IS NULL ORDER BY 1, 2 LIMIT 20",
    what: "the exception of this sign-off is not there",
    means: "The exception was removed, or the sign-off put in",
};
const EFFECTS: Orphans = Orphans {
    sql: "SELECT NULL, NULL::bigint, f.at, NULL, f.exception_id
          FROM (SELECT exception_id, posted_at AS at FROM countersign.postings UNION ALL SELECT exception_id, routed_at FROM countersign.routings
                UNION ALL SELECT exception_id, opened_at FROM countersign.disputes) AS f
          LEFT JOIN countersign.exceptions e ON e.id = f.exception_id
          GROUP BY f.at, f.exception_id, e.id HAVING e.id IS NULL OR count(*) > 1 ORDER BY f.at LIMIT 20",
    what: "there is an effect of an exception that is not there, or several equal ones",
    means: "A posting, a return or a dispute was put in",
};

const NUMBERS: Orphans = Orphans {
    sql: "SELECT min(e.partition_key), NULL::bigint, max(f.at), NULL, max(f.exception_id)
          FROM (SELECT exception_id, effect_no, posted_at AS at FROM countersign.postings
                UNION ALL SELECT exception_id, effect_no, routed_at FROM countersign.routings
                UNION ALL SELECT exception_id, effect_no, opened_at FROM countersign.disputes) AS f
          LEFT JOIN countersign.exceptions e ON e.id = f.exception_id
          GROUP BY f.effect_no HAVING count(*) > 1 ORDER BY f.effect_no LIMIT 20",
    what: "its effect has the number of another",
    means: "Each effect has a number of its own: one was put in or changed",
};
const EXCEPTIONS: Orphans = Orphans {
    sql: "SELECT e.partition_key, NULL::bigint, e.arrived_at, NULL, e.id FROM countersign.exceptions e
          LEFT JOIN countersign.audit_events a ON a.event = 'ARRIVED' AND a.exception_id = e.id AND a.partition_key = e.partition_key
          WHERE a.chain_seq IS NULL ORDER BY e.id LIMIT 20",
    what: "there is no record of its arrival",
    means: "The exception was put in, or its record was removed",
};

/// Decisions from before they were sealed name their record by their key alone.
const UNSEALED: &str = "
    SELECT s.signed_at, s.reviewer, s.exception_id, e.partition_key, min(a.chain_seq), count(a.chain_seq)
    FROM countersign.sign_offs s
    LEFT JOIN countersign.exceptions e ON e.id = s.exception_id
    LEFT JOIN countersign.audit_events a ON a.event = 'SIGNED' AND a.partition_key = e.partition_key AND a.outcome = s.outcome
        AND a.actor = s.reviewer AND a.exception_id = s.exception_id AND a.content_hash = s.content_hash AND a.workstation = s.workstation
        AND a.at = s.signed_at AND a.detail ->> 'key' = encode(s.sign_off_key, 'hex') AND a.detail ->> 'decision' = s.decision
        AND NOT a.detail ? 'seal'
    WHERE s.partition_key IS NULL OR s.signature IS NULL
    GROUP BY s.sign_off_key, s.signed_at, s.reviewer, s.exception_id, e.partition_key HAVING count(a.chain_seq) <> 1 ORDER BY 1 LIMIT 20";

impl Audit<'_> {
    /// Whether every row was come upon.
    pub(crate) async fn complete(&mut self) -> Result<(), AdminError> {
        self.session.join(Join::Whole).await?;
        let chains =
            self.session.number("SELECT count(*) FROM countersign.chain_heads h WHERE h.chain_seq > 0").await?;
        if u64::try_from(chains) != Ok(self.state.heads) {
            self.orphans(&HEADS).await?;
        }
        let sealed = "SELECT count(*) FROM countersign.sign_offs s WHERE s.partition_key IS NOT NULL";
        if u64::try_from(self.session.number(sealed).await?) != Ok(self.state.matched) {
            self.orphans(&SIGN_OFFS).await?;
        }
        let exceptions = self.session.number("SELECT count(*) FROM countersign.exceptions").await?;
        if u64::try_from(exceptions) != Ok(self.state.arrived) {
            self.equal(exceptions, self.state.arrived, "exceptions", "records of arrivals");
            self.orphans(&EXCEPTIONS).await?;
        }
        let versions = self.session.number("SELECT count(*) FROM countersign.exception_contents").await?;
        self.equal(
            versions,
            self.state.arrived + self.state.corrected,
            "contents",
            "records of arrivals and corrections",
        );
        Ok(())
    }

    /// Whether every decision and every effect was come upon with its exception.
    pub(crate) async fn decided(&mut self) -> Result<(), AdminError> {
        self.session.join(Join::Whole).await?;
        let sign_offs = self.session.number("SELECT count(*) FROM countersign.sign_offs").await?;
        if u64::try_from(sign_offs) != Ok(self.state.counts.sign_offs) {
            self.orphans(&DECISIONS).await?;
        }
        let effects = "SELECT (SELECT count(*) FROM countersign.postings) + (SELECT count(*) FROM countersign.routings) + (SELECT count(*) FROM countersign.disputes)";
        let effects = self.session.number(effects).await?;
        if u64::try_from(effects) != Ok(self.state.counts.effects) {
            self.orphans(&EFFECTS).await?;
        }
        let records = self.state.committed_records + self.state.effect_records;
        self.equal(effects, records, "effects", "records of effects");
        self.orphans(&NUMBERS).await
    }

    fn equal(&mut self, rows: i64, records: u64, of: &str, and: &str) {
        if u64::try_from(rows) != Ok(records) {
            let what = format!("there are {rows} {of} and {records} {and}");
            self.state
                .findings
                .add(Finding::new(what, "Each has exactly one record: rows or records were put in or removed"));
        }
    }

    async fn orphans(&mut self, orphans: &Orphans) -> Result<(), AdminError> {
        let refused = self.session.refused();
        let rows = sqlx::query(orphans.sql).fetch_all(&mut self.session.connection).await.map_err(&refused)?;
        for row in rows.iter().take(NAMED) {
            let mut finding = Finding::new(orphans.what, orphans.means);
            finding = finding.place(row, 0, 1);
            if let Ok(Some(at)) = row.try_get::<Option<Micros>, _>(2) {
                finding = finding.at(at.0);
            }
            finding.actor = row.try_get(3).unwrap_or_default();
            finding.exception = row.try_get(4).unwrap_or_default();
            self.state.findings.add(finding);
        }
        Ok(())
    }

    /// Decisions without a signature are those that the beginning of sealing counted, and no others.
    pub(crate) async fn unsealed(&mut self, whole: bool) -> Result<(), AdminError> {
        const KEYS: &str = "SELECT s.sign_off_key FROM countersign.sign_offs s WHERE s.partition_key IS NULL OR s.signature IS NULL ORDER BY s.sign_off_key";
        let refused = self.session.refused();
        let (mut rows, mut keys) = (0, Sha256::new());
        let mut stream = sqlx::query(KEYS).fetch(&mut self.session.connection);
        while let Some(row) = stream.try_next().await.map_err(&refused)? {
            rows += 1;
            keys.update(row.try_get::<Option<&[u8]>, _>(0).ok().flatten().unwrap_or_default());
        }
        drop(stream);
        let keys = hex::encode(keys.finalize());
        match &self.state.history.sealing[..] {
            [sealing] if sealing.sign_offs == rows && sealing.keys == keys => {}
            [sealing] => {
                let what = format!(
                    "{rows} sign-offs have no signature, and there were {} of them when sealing began, or others",
                    sealing.sign_offs
                );
                let means = "A sign-off was put in without a signature or lost it, or an old one was removed";
                self.state.findings.add(Finding::new(what, means).chain("").event("SEALING_BEGAN").at(sealing.at));
            }
            several => {
                let what = format!("{} records say when sealing began", several.len());
                let means = "There is one in every installation: it cannot be told which sign-offs need no signature";
                self.state.findings.add(Finding::new(what, means).chain(""));
            }
        }
        if !whole || (rows == 0 && self.state.unsealed_records == 0) {
            return Ok(());
        }
        self.session.join(Join::Whole).await?;
        self.unsealed_records(rows).await
    }

    async fn unsealed_records(&mut self, rows: u64) -> Result<(), AdminError> {
        let refused = self.session.refused();
        let found = sqlx::query(UNSEALED).fetch_all(&mut self.session.connection).await.map_err(&refused)?;
        for row in &found {
            let count: i64 = row.try_get(5).unwrap_or_default();
            let what = if count == 0 {
                "it has no signature, and no record from before decisions were sealed says the same"
            } else {
                "it has no signature, and several records say the same"
            };
            let mut finding =
                Finding::new(what, "The sign-off was put in or changed, or a later one was made to look old")
                    .event("SIGNED")
                    .at(row.try_get(0).map_or(i64::MIN, |at: Micros| at.0))
                    .place(row, 3, 4);
            finding.actor = row.try_get(1).unwrap_or_default();
            finding.exception = row.try_get(2).unwrap_or_default();
            self.state.findings.add(finding);
        }
        if found.is_empty() {
            self.equal(
                i64::try_from(rows).unwrap_or(i64::MAX),
                self.state.unsealed_records,
                "sign-offs without a signature",
                "records of such",
            );
        }
        Ok(())
    }
}
