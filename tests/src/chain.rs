//! Recomputes the audit chains.

use std::collections::BTreeMap;

use anyhow::Context as _;
use countersign_domain::hash;
use sqlx::PgPool;

/// A record's bytes come from the database, because its JSON is; that they hash to what stands beside them is computed here.
const RECORDS: &str = "
    SELECT partition_key, chain_seq,
           countersign.audit_record(partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash,
                                    match_decision, content_hash, outcome, detail),
           chain_hash
    FROM countersign.audit_event ORDER BY partition_key, chain_seq";
const HEADS: &str = "
    SELECT partition_key, chain_seq, chain_head FROM countersign.partition
    UNION ALL SELECT '', chain_seq, chain_head FROM countersign.installation";

/// What an auditor finds in the stream: how many records there are, and what is wrong with them.
#[derive(Debug, PartialEq, Eq)]
pub struct Findings {
    /// How many records were read.
    pub records: usize,
    /// How many chains they form.
    pub chains: usize,
    /// Gaps, edits and cut ends, in words.
    pub defects: Vec<String>,
}

/// Reads the whole stream: `hash(n) = SHA-256(hash(n-1) || record(n))`, from an empty `hash(0)` to the head that is kept elsewhere.
pub async fn audit(owner: &PgPool) -> anyhow::Result<Findings> {
    let records: Vec<(String, i64, Vec<u8>, Vec<u8>)> =
        sqlx::query_as(RECORDS).fetch_all(owner).await.context("read the audit stream")?;
    let heads: Vec<(String, i64, Vec<u8>)> =
        sqlx::query_as(HEADS).fetch_all(owner).await.context("read the heads of the chains")?;
    let mut ends: BTreeMap<&str, (i64, Vec<u8>)> = BTreeMap::new();
    let mut defects = Vec::new();
    for (chain, seq, record, chain_hash) in &records {
        let (last, hash) = ends.entry(chain).or_default();
        if *seq != *last + 1 {
            defects.push(format!("chain {chain:?}: record {seq} follows {last}"));
        }
        let expected = hash::sha256(&[hash.as_slice(), record].concat()).0;
        if chain_hash != &expected {
            defects.push(format!("chain {chain:?}: record {seq} was changed"));
        }
        (*last, *hash) = (*seq, chain_hash.clone());
    }
    for (chain, seq, head) in &heads {
        let end = ends.get(chain.as_str()).cloned().unwrap_or_default();
        if end != (*seq, head.clone()) {
            defects.push(format!("chain {chain:?}: the stream ends at {}, its head says {seq}", end.0));
        }
    }
    for chain in ends.keys().filter(|chain| !heads.iter().any(|(head, ..)| head == **chain)) {
        defects.push(format!("chain {chain:?}: it has no head"));
    }
    Ok(Findings { records: records.len(), chains: ends.len(), defects })
}
