//! A backlog by set-based inserts: the rows that `countersign.enqueue` would have written, in a fraction of its time.

use anyhow::Context as _;
use countersign_domain::gate;
use sqlx::PgConnection;

use crate::generate::Arrival;

/// Partitions of equal size.
#[derive(Debug, Clone)]
pub struct Backlog {
    /// What the keys of its partitions begin with.
    pub prefix: &'static str,
    /// How many partitions.
    pub partitions: u32,
    /// How many items each.
    pub items: u32,
    /// Who prepared all of it, and is therefore shut out of it.
    pub preparer: String,
    /// The currency of all of it, one of two decimal places.
    pub currency: &'static str,
    /// Whether each arrival has its audit record. A claim reads none, and a million take their time.
    pub audited: bool,
}

impl Backlog {
    /// So many partitions of so many items, prepared by nobody who signs.
    pub fn of(partitions: u32, items: u32) -> Self {
        Self { prefix: "entity", partitions, items, preparer: "preparer".to_owned(), currency: "USD", audited: true }
    }

    /// The key of a partition, from 1. Their order is that of the numbers.
    pub fn partition(&self, number: u32) -> String {
        format!("{}-{number:07}", self.prefix)
    }

    /// The canonical body of an arrival with its variable parts as placeholders.
    fn pattern(&self) -> anyhow::Result<String> {
        let mut arrival = Arrival::new(987_654_321, "@partition@");
        arrival.cents = 123_456_789;
        let preparers = [self.preparer.as_str()];
        arrival.prepared_by = &preparers;
        let line = arrival.line();
        let source_hash = countersign_domain::hash::recon_break_source_hash(
            &arrival.key(),
            arrival.partition,
            "1234567.89",
            "PARTIAL",
        );
        let trace = uuid::Uuid::from_u128(u128::from(arrival.number));
        let accepted = gate::judge(line.as_bytes()).ok().context("the pattern of an arrival passes no gate")?;
        Ok(accepted
            .body
            .replace("\"USD\"", &format!("\"{}\"", self.currency))
            .replace(&source_hash.to_string(), "@source@")
            .replace(&arrival.key(), "@key@")
            .replace("1234567.89", "@amount@")
            .replace(&trace.to_string(), "@trace@"))
    }
}

/// What varies from item to item, as expressions over the number of the partition and of the item in it.
const MADE: &str = "
    SELECT n.*, format('%s:%s:%s:PARTIAL', n.key, n.partition_key, n.amount) AS hashed
    FROM (SELECT p.n AS p, i.n AS seq, p.key AS partition_key, format('%s-%s', p.key, lpad(i.n::text, 4, '0')) AS key,
                 (((p.n - 1) * $3 + i.n) % 1000003 * 11 / 100.0)::numeric(12, 2)::text AS amount,
                 lpad(to_hex((p.n - 1) * $3 + i.n), 32, '0')::uuid AS trace
          FROM (SELECT n, format('%s-%s', $1, lpad(n::text, 7, '0')) AS key FROM generate_series(1, $2) AS n) AS p
          CROSS JOIN generate_series(1, $3) AS i (n)) AS n";

/// Writes the rows, and leaves the gathering of statistics to the caller.
pub async fn fill(connection: &mut PgConnection, backlog: &Backlog) -> anyhow::Result<()> {
    let (partitions, items) = (i32::try_from(backlog.partitions)?, i32::try_from(backlog.items)?);
    let pattern = backlog.pattern()?;
    let exceptions = format!(
        "WITH made AS ({MADE}), worded AS (
             SELECT m.*, encode(sha256(convert_to(m.hashed, 'UTF8')), 'hex') AS source_hash FROM made m
         )
         INSERT INTO countersign.exception (partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity,
             currency, variance_amount, prepared_by, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash, business_date, barred,
             counterparty, due_on, claim_rank)
         SELECT w.partition_key, w.seq, w.key, 'recon_break', 'PARTIAL', 'standard', w.partition_key, $6, w.amount::numeric, ARRAY[$5],
                w.trace, w.trace, w.source_hash, '2026-10-05T00:10:03Z', now(), sha256(convert_to({BODY}, 'UTF8')),
                '2026-10-05', ARRAY(SELECT x FROM unnest(ARRAY[lower($5), lower(session_user)]) AS x ORDER BY x),
                $4::jsonb ->> 'counterparty', date '2026-10-05' + countersign.due_days((countersign.policy()).document, 'standard'),
                countersign.claim_rank('2026-10-05T00:10:03Z', 'standard')
         FROM worded w ORDER BY w.p, w.seq"
    );
    run(connection, &exceptions, backlog, &pattern).await?;
    let contents = format!(
        "WITH worded AS (
             SELECT e.id, e.content_hash, e.idempotency_key AS key, e.partition_key, e.variance_amount::text AS amount, e.trace_id AS trace, e.source_hash
             FROM countersign.exception e WHERE e.partition_key BETWEEN $1 || '-' AND $1 || '-9' AND $2 > 0 AND $3 > 0 AND $5 = ANY (e.prepared_by) AND e.currency = $6
         )
         INSERT INTO countersign.exception_content (exception_id, version, content_hash, body, arrived_at)
         SELECT w.id, 1, w.content_hash, {BODY}, now() FROM worded w ORDER BY w.id"
    );
    run(connection, &contents, backlog, &pattern).await?;
    if backlog.audited {
        sqlx::query(
            "INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, exception_id, trace_id, source_hash,
                 match_decision, content_hash, detail, chain_hash, key_id, mac)
             SELECT c.*, k.id, countersign.hmac(k.inner_pad, k.outer_pad, c.chain_hash)
             FROM countersign.audit_key k CROSS JOIN LATERAL (
             SELECT e.partition_key, e.seq, now(), 'ARRIVED', session_user, e.id, e.trace_id, e.source_hash, e.match_decision, e.content_hash,
                    jsonb_build_object('version', 1),
                    countersign.chain(countersign.audit_record(e.partition_key, e.seq, now(), 'ARRIVED', session_user, NULL, e.id, e.trace_id,
                        e.source_hash, e.match_decision, e.content_hash, NULL, jsonb_build_object('version', 1)))
                        OVER (PARTITION BY e.partition_key ORDER BY e.seq) AS chain_hash
             FROM countersign.exception e ORDER BY e.id) AS c",
        )
        .execute(&mut *connection)
        .await
        .context("write the audit records of the arrivals")?;
    }
    sqlx::query(
        "INSERT INTO countersign.partition (partition_key, next_seq, pending, claim_rank, shut_out, chain_seq, chain_head, kinds, tiers, ledger_entity)
         SELECT p.key, $3 + 1, $3, countersign.claim_rank('2026-10-05T00:10:03Z', 'standard'), ARRAY(SELECT lower($4) WHERE EXISTS (SELECT 1 FROM countersign.reviewer r WHERE lower($4) = ANY (r.names))),
                coalesce(a.chain_seq, 0), coalesce(a.chain_hash, ''), 1, 1, p.key
         FROM (SELECT format('%s-%s', $1, lpad(n::text, 7, '0')) AS key FROM generate_series(1, $2) AS n) AS p
         LEFT JOIN countersign.audit_event a ON a.partition_key = p.key AND a.chain_seq = $3
         ORDER BY p.key",
    )
    .bind(backlog.prefix)
    .bind(partitions)
    .bind(items)
    .bind(&backlog.preparer)
    .execute(connection)
    .await
    .context("write the partitions")?;
    Ok(())
}

/// The body of a row `w`.
const BODY: &str = "replace(replace(replace(replace(replace($4, '@source@', w.source_hash), '@key@', w.key), '@partition@', w.partition_key),
                        '@amount@', w.amount), '@trace@', w.trace::text)";

async fn run(connection: &mut PgConnection, sql: &str, backlog: &Backlog, pattern: &str) -> anyhow::Result<()> {
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned()))
        .bind(backlog.prefix)
        .bind(i32::try_from(backlog.partitions)?)
        .bind(i32::try_from(backlog.items)?)
        .bind(pattern)
        .bind(&backlog.preparer)
        .bind(backlog.currency)
        .execute(connection)
        .await
        .context("fill the backlog")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installation::Installation;

    const ROWS: &str = "
        SELECT to_jsonb(e) - 'id' - 'arrived_at' - 'resolved_at' - 'claim_rank' || jsonb_build_object('body', c.body, 'hash', c.content_hash, 'v', c.version)
        FROM countersign.exception e JOIN countersign.exception_content c ON c.exception_id = e.id ORDER BY e.partition_key, e.seq";
    // All at once is more than a fair share: what arrives has a lag that depends on its place.
    const PARTITIONS: &str =
        "SELECT to_jsonb(p) - 'chain_head' - 'claim_rank' FROM countersign.partition p ORDER BY p.partition_key";

    const LINES: &str = "
        SELECT to_jsonb(l) - 'class' - 'claim_rank' || jsonb_build_object('said', t.pending) FROM countersign.pending_line l
        CROSS JOIN LATERAL (SELECT sum(d.pending) AS pending FROM countersign.backlog_delta d WHERE d.class = l.class) AS t
        ORDER BY l.partition_key, l.line";

    #[tokio::test]
    async fn a_filled_backlog_has_the_rows_that_enqueueing_it_would_have_written() {
        let (filled, enqueued) = (Installation::create().await.unwrap(), Installation::create().await.unwrap());
        let backlog = Backlog::of(3, 7);
        let mut connection = filled.owner.acquire().await.unwrap();
        fill(&mut connection, &backlog).await.unwrap();
        let bodies: Vec<String> =
            sqlx::query_scalar("SELECT body FROM countersign.exception_content ORDER BY exception_id")
                .fetch_all(&mut *connection)
                .await
                .unwrap();
        assert_eq!(bodies.len(), 21);
        for body in &bodies {
            assert_eq!(&gate::judge(body.as_bytes()).expect("a filled body passes its gates").body, body);
        }
        assert!(enqueued.enqueue(&bodies).await.unwrap().iter().all(|outcome| outcome == "ENQUEUED"));
        for sql in [ROWS, PARTITIONS, LINES] {
            assert_eq!(texts(&filled, sql).await, texts(&enqueued, sql).await);
        }
        let sql = "SELECT count(*) FROM countersign.audit_event WHERE partition_key <> ''";
        let records: i64 = sqlx::query_scalar(sql).fetch_one(&filled.owner).await.unwrap();
        assert_eq!(records, 21);
    }

    async fn texts(installation: &Installation, sql: &str) -> Vec<String> {
        let sql = format!("SELECT j::text FROM ({sql}) AS r (j)");
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&installation.owner).await.unwrap()
    }
}
