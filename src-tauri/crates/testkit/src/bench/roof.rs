//! The roof: the rows that a call of the product writes, by one bare SQL statement and one commit.
//!
//! It takes the same arrays and returns the same columns, and it knows everything beforehand: which partitions come next, that
//! every decision is good, and what each hash and record would be (constants of the same length). It checks, locks and computes
//! nothing, so that no implementation of the rules can be faster; how near one comes is what the bench reports.

use std::time::{Duration, Instant};

use countersign_domain::hash;
use countersign_domain::id::{ContentHash, Digest, Epoch, ExceptionId, PartitionKey, Seq};
use countersign_domain::sign_off::SignOff;
use countersign_engine::port::{Held, LeaseReply, LeasedItem, LeasedPartition};
use sqlx::{Connection as _, PgConnection, Row as _};
use uuid::Uuid;

use super::fill::Backlog;
use super::product::TTL_MS;
use super::server::REVIEWER;

/// The owner, with a list of partitions to go through.
pub(crate) struct Roof {
    connection: PgConnection,
    backlog: Backlog,
    next: u32,
}

impl Roof {
    pub(crate) fn new(connection: PgConnection, backlog: Backlog) -> Self {
        Self { connection, backlog, next: 1 }
    }

    pub(crate) async fn lease(&mut self, want: u32) -> anyhow::Result<(Duration, LeaseReply)> {
        let end = self.next + want / self.backlog.items;
        let keys: Vec<String> = (self.next..end).map(|number| self.backlog.partition(number)).collect();
        self.next = end;
        let query = sqlx::query(LEASE)
            .bind(&keys)
            .bind(Uuid::from_u128(1))
            .bind(REVIEWER)
            .bind(hash::sha256(b"").0.to_vec())
            .bind(i64::from(TTL_MS));
        let began = Instant::now();
        let rows = query.fetch_all(&mut self.connection).await?;
        let mut reply = LeaseReply::default();
        for row in &rows {
            let partition = PartitionKey(row.try_get("partition_key")?);
            let epoch = Epoch(row.try_get("epoch")?);
            if reply.partitions.last().is_none_or(|last| last.partition != partition) {
                let after = Seq(i64::from(self.backlog.items));
                let leased =
                    LeasedPartition { partition: partition.clone(), epoch, lease_ms: TTL_MS, after, more: false };
                reply.partitions.push(leased);
            }
            let content = Digest::from_bytes(row.try_get("content_hash")?).map(ContentHash);
            reply.items.push(LeasedItem {
                id: ExceptionId(row.try_get("id")?),
                partition,
                epoch,
                seq: Seq(row.try_get("seq")?),
                version: u32::try_from(row.try_get::<i32, _>("version")?)?,
                content: content.ok_or_else(|| anyhow::anyhow!("a hash has 32 bytes"))?,
                body: row.try_get("body")?,
                signatures: 0,
                due_on: None,
            });
        }
        let took = began.elapsed();
        anyhow::ensure!(reply.items.len() == want as usize, "{} of {want} items were leased", reply.items.len());
        Ok((took, reply))
    }

    pub(crate) async fn sign_off(&mut self, decisions: &[SignOff]) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let rows = sqlx::query(SIGN_OFF)
            .bind(decisions.iter().map(|item| &item.key.0.0[..]).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.exception.0).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| &item.content.0.0[..]).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.epoch.0).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.decision.as_str()).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.reason.as_deref()).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.comment.as_deref()).collect::<Vec<_>>())
            .bind(decisions.iter().map(|item| item.decided_at).collect::<Vec<_>>())
            .bind(Uuid::from_u128(1))
            .bind(REVIEWER)
            .bind(hash::sha256(b"").0.to_vec())
            .bind(i64::from(self.backlog.items) + 1)
            .fetch_all(&mut self.connection)
            .await?;
        let took = began.elapsed();
        anyhow::ensure!(rows.len() == decisions.len(), "{} of {} were written", rows.len(), decisions.len());
        Ok(took)
    }

    pub(crate) async fn release(&mut self, held: &[Held]) -> anyhow::Result<Duration> {
        let keys: Vec<&str> = held.iter().map(|lease| lease.partition.0.as_str()).collect();
        let began = Instant::now();
        sqlx::query(RELEASE)
            .bind(keys)
            .bind(Uuid::from_u128(1))
            .bind(REVIEWER)
            .bind(hash::sha256(b"").0.to_vec())
            .execute(&mut self.connection)
            .await?;
        Ok(began.elapsed())
    }

    pub(crate) async fn close(self) -> anyhow::Result<()> {
        Ok(self.connection.close().await?)
    }
}

const LEASE: &str = r#"
    WITH leased AS (
        UPDATE countersign.partition p SET
            epoch = p.epoch + 1, holder = $2, holder_reviewer = $3, lease_until = now() + $5 * interval '1 millisecond',
            chain_seq = p.chain_seq + 1, chain_head = $4
        WHERE p.partition_key = ANY ($1)
        RETURNING p.partition_key, p.epoch, p.chain_seq
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
        SELECT l.partition_key, l.chain_seq, now(), 'LEASED', $3, $2, '{"epoch": 1, "reviewer": "bench_reviewer"}', $4, 1, $4 FROM leased l
    )
    SELECT l.partition_key, l.epoch, $5 AS lease_ms, e.seq AS after_seq, false AS more, e.id, e.seq, e.version, c.content_hash, c.body
    FROM leased l
    JOIN countersign.exception e ON e.partition_key = l.partition_key AND e.state = 'PENDING'
    JOIN countersign.exception_content c ON c.exception_id = e.id AND c.version = e.version
    ORDER BY l.partition_key, e.seq"#;

const SIGN_OFF: &str = r#"
    WITH item AS (
        SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
            WITH ORDINALITY AS i (key, id, content_hash, epoch, decision, reason, comment, decided_at, n)
    ), moved AS (
        UPDATE countersign.exception e SET
            state = 'RESOLVED', decision = i.decision, decided_by = $10, decided_at = now(), resolved_at = now()
        FROM item i WHERE e.id = i.id
        RETURNING i.*, e.partition_key, e.seq, e.version, e.ledger_entity, e.currency, e.variance_amount, e.trace_id, e.source_hash,
            e.match_decision
    ), posted AS (
        INSERT INTO countersign.posting (exception_id, effect_no, ledger_entity, currency, amount, posted_at, period)
        SELECT m.id, nextval('countersign.effect_no'), m.ledger_entity, m.currency, m.variance_amount, now(), '2026-10' FROM moved m
    ), signed AS (
        INSERT INTO countersign.sign_off (sign_off_key, payload_hash, exception_id, version, content_hash, reviewer, workstation, epoch,
            decision, reason, comment, decided_at, signed_at, outcome,
            partition_key, chain_seq, receipt_id, policy_version, in_force, enrolment, signature, mac, period, currency, amount)
        SELECT m.key, $11, m.id, m.version, m.content_hash, $10, $9, m.epoch, m.decision, m.reason, m.comment, m.decided_at, now(), 'COMMITTED',
               m.partition_key, $12 + m.seq, 1, 1, 1, 1, $11 || $11, $11, '2026-10', m.currency, m.variance_amount
        FROM moved m
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash,
            match_decision, content_hash, outcome, detail, chain_hash, key_id, mac)
        SELECT m.partition_key, $12 + m.seq, now(), 'SIGNED', $10, $9, m.id, m.trace_id, m.source_hash, m.match_decision, m.content_hash,
               'COMMITTED', '{"key": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "epoch": 1, "decision": "APPROVE", "decided_at": "2026-10-05T09:00:00+00:00", "policy": 1, "receipt": 1000, "payload": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "seal": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}', $11, 1, $11
        FROM moved m
    ), advanced AS (
        UPDATE countersign.partition p SET
            chain_seq = p.chain_seq + m.count, chain_head = $11, head_seq = p.head_seq + m.count, pending = p.pending - m.count
        FROM (SELECT m.partition_key, count(*)::integer AS count FROM moved m GROUP BY m.partition_key) AS m
        WHERE p.partition_key = m.partition_key
    ), used AS (
        UPDATE countersign.reviewer_usage u SET approved = u.approved + (SELECT sum(abs(m.variance_amount)) FROM moved m)
        WHERE u.reviewer = $10 AND u.period = ''
    ), receipted AS (
        INSERT INTO countersign.receipt (id, at, reviewer, workstation, document, key_id, mac)
        SELECT nextval('countersign.receipt_no'), now(), $10, $9,
               jsonb_build_object('records', jsonb_agg(DISTINCT jsonb_build_array(m.partition_key, 1, 100))), 1, $11
        FROM moved m
    )
    SELECT m.n::integer AS ordinal, 'COMMITTED' AS outcome, NULL::text AS first_outcome, m.version, NULL::text AS decided_by,
           NULL::text AS decision, NULL::timestamptz AS decided_at
    FROM moved m"#;

const RELEASE: &str = r#"
    WITH freed AS (
        UPDATE countersign.partition p SET
            lease_until = NULL, chain_seq = p.chain_seq + 1, chain_head = $4, claim_rank = 'infinity', shut_out = '{}'
        WHERE p.partition_key = ANY ($1)
        RETURNING p.partition_key, p.chain_seq
    )
    INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
    SELECT f.partition_key, f.chain_seq, now(), 'RELEASED', $3, $2, '{"epoch": 1, "reviewer": "bench_reviewer"}', $4, 1, $4 FROM freed f"#;
