//! What the tables say happened.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::policy::Policy;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlx::PgPool;

/// An accepted decision.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Signed {
    pub(crate) exception: i64,
    pub(crate) version: i32,
    pub(crate) reviewer: String,
    pub(crate) decision: String,
    pub(crate) outcome: String,
    pub(crate) in_force: i32,
    pub(crate) receipt: i64,
    pub(crate) period: String,
    pub(crate) currency: String,
    #[serde(with = "rust_decimal::serde::str")]
    pub(crate) amount: Decimal,
    pub(crate) at: i64,
    pub(crate) chain_seq: i64,
}

/// An exception, with who prepared or sent each version.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Item {
    pub(crate) id: i64,
    pub(crate) partition: String,
    pub(crate) seq: i64,
    pub(crate) state: String,
    pub(crate) group: Option<String>,
    pub(crate) reverses: Option<i64>,
    pub(crate) first_by: Option<String>,
    pub(crate) effects: Vec<i64>,
    pub(crate) versions: Vec<Version>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Version {
    pub(crate) number: i32,
    pub(crate) at: i64,
    pub(crate) kind: String,
    pub(crate) tier: String,
    pub(crate) prepared_by: BTreeSet<String>,
}

/// A period's move.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Moved {
    pub(crate) period: String,
    pub(crate) to: String,
    pub(crate) at: i64,
}

/// A limit that was set.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LimitSet {
    pub(crate) login: String,
    pub(crate) currency: String,
    #[serde(with = "rust_decimal::serde::str")]
    pub(crate) largest: Decimal,
    #[serde(with = "rust_decimal::serde::str")]
    pub(crate) per_period: Decimal,
    pub(crate) at: i64,
}

/// What a receipt says it accepted.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Receipted {
    pub(crate) receipt: i64,
    pub(crate) committed: usize,
}

/// What is kept as used.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Used {
    pub(crate) reviewer: String,
    pub(crate) period: String,
    pub(crate) currency: String,
    #[serde(with = "rust_decimal::serde::str")]
    pub(crate) approved: Decimal,
}

/// Everything together.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) signed: Vec<Signed>,
    pub(crate) items: BTreeMap<i64, Item>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) limits: Vec<LimitSet>,
    pub(crate) receipts: Vec<Receipted>,
    pub(crate) used: Vec<Used>,
    pub(crate) policies: BTreeMap<i32, Policy>,
}

const SIGNED: &str = "
    SELECT jsonb_build_object('exception', s.exception_id, 'version', s.version, 'reviewer', s.reviewer, 'decision', s.decision, 'outcome', s.outcome,
               'in_force', s.in_force, 'receipt', s.receipt_id, 'period', s.period, 'currency', s.currency, 'amount', s.amount::text,
               'at', (extract(epoch FROM s.signed_at) * 1000000)::bigint, 'chain_seq', s.chain_seq)::text
    FROM countersign.sign_off s ORDER BY s.receipt_id, s.chain_seq";
const ITEMS: &str = "
    SELECT jsonb_build_object('id', e.id, 'partition', e.partition_key, 'seq', e.seq, 'state', e.state, 'group', e.group_key, 'reverses', e.reverses,
               'first_by', e.first_by,
               'effects', (SELECT coalesce(jsonb_agg(f.effect_no), '[]') FROM (SELECT p.effect_no FROM countersign.posting p WHERE p.exception_id = e.id
                           UNION ALL SELECT r.effect_no FROM countersign.routing r WHERE r.exception_id = e.id) AS f),
               'versions', (SELECT jsonb_agg(jsonb_build_object('number', c.version, 'at', (extract(epoch FROM c.arrived_at) * 1000000)::bigint,
                                'kind', c.body::jsonb -> 'kind', 'tier', c.body::jsonb -> 'routing_tier', 'prepared_by', (
                                SELECT jsonb_agg(lower(x)) FROM jsonb_array_elements_text(c.body::jsonb -> 'prepared_by') AS x)) ORDER BY c.version)
                            FROM countersign.exception_content c WHERE c.exception_id = e.id))::text
    FROM countersign.exception e";
const MOVED: &str = "
    SELECT jsonb_build_object('period', a.detail -> 'name', 'to', a.detail -> 'to', 'at', (extract(epoch FROM a.at) * 1000000)::bigint)::text
    FROM countersign.audit_event a WHERE a.event IN ('PERIOD_MOVED', 'PERIOD_REOPENED') ORDER BY a.chain_seq";
const LIMITS: &str = "
    SELECT (a.detail || jsonb_build_object('at', (extract(epoch FROM a.at) * 1000000)::bigint))::text
    FROM countersign.audit_event a WHERE a.event = 'LIMIT_SET' ORDER BY a.chain_seq";
const RECEIPTS: &str = "SELECT jsonb_build_object('receipt', r.id, 'committed', r.document -> 'committed')::text FROM countersign.receipt r";
const USED: &str = "
    SELECT jsonb_build_object('reviewer', u.reviewer, 'period', u.period, 'currency', u.currency, 'approved', u.approved::text)::text
    FROM countersign.reviewer_usages u";
const POLICIES: &str = "SELECT jsonb_build_array(p.version, p.document)::text FROM countersign.policy_version p";

pub(crate) async fn read(owner: &PgPool) -> anyhow::Result<Facts> {
    let items: Vec<Item> = rows(owner, ITEMS).await?;
    let policies: Vec<(i32, Policy)> = rows(owner, POLICIES).await?;
    Ok(Facts {
        signed: rows(owner, SIGNED).await?,
        items: items.into_iter().map(|item| (item.id, item)).collect(),
        moved: rows(owner, MOVED).await?,
        limits: rows(owner, LIMITS).await?,
        receipts: rows(owner, RECEIPTS).await?,
        used: rows(owner, USED).await?,
        policies: policies.into_iter().collect(),
    })
}

async fn rows<T: DeserializeOwned>(owner: &PgPool, sql: &'static str) -> anyhow::Result<Vec<T>> {
    let texts: Vec<String> = sqlx::query_scalar(sql).fetch_all(owner).await?;
    Ok(texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>()?)
}
