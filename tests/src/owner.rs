//! What only the database's owner sees and does.

use std::net::SocketAddr;

use anyhow::{Context as _, bail, ensure};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_testkit::proxy::CuttingProxy;
use sqlx::{PgPool, Postgres, Transaction};
use tokio::time::{Duration, Instant, sleep};

use crate::DEADLINE;

/// Between two looks at the database.
const LOOK: Duration = Duration::from_millis(10);

/// How the close stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Undecided exceptions.
    pub pending: i64,
    /// Exceptions whose effect is written.
    pub resolved: i64,
    /// Accepted sign-offs.
    pub sign_offs: i64,
    /// Variances posted.
    pub postings: i64,
    /// Exceptions returned to their matching team.
    pub routings: i64,
}

impl Tally {
    /// Everything was approved, each once.
    pub fn all_approved(count: i64) -> Self {
        Self { resolved: count, sign_offs: count, postings: count, ..Self::default() }
    }
}

/// Counts.
pub async fn tally(owner: &PgPool) -> anyhow::Result<Tally> {
    let sql = "SELECT (SELECT count(*) FROM countersign.exception WHERE state = 'PENDING'),
                      (SELECT count(*) FROM countersign.exception WHERE state = 'RESOLVED'),
                      (SELECT count(*) FROM countersign.sign_off),
                      (SELECT count(*) FROM countersign.posting),
                      (SELECT count(*) FROM countersign.routing)";
    let (pending, resolved, sign_offs, postings, routings) =
        sqlx::query_as(sql).fetch_one(owner).await.context("count what is in the database")?;
    Ok(Tally { pending, resolved, sign_offs, postings, routings })
}

/// Asks for one number.
pub async fn number(owner: &PgPool, sql: &'static str) -> anyhow::Result<i64> {
    sqlx::query_scalar(sql).fetch_one(owner).await.with_context(|| format!("ask {sql}"))
}

/// Runs one statement.
pub async fn run(owner: &PgPool, sql: &'static str) -> anyhow::Result<()> {
    sqlx::raw_sql(sql).execute(owner).await.with_context(|| format!("run {sql}"))?;
    Ok(())
}

/// Waits until the database answers a question with yes.
pub async fn until(owner: &PgPool, what: &str, sql: &'static str) -> anyhow::Result<()> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if sqlx::query_scalar(sql).fetch_one(owner).await.with_context(|| format!("ask {sql}"))? {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("not within {DEADLINE:?}: {what}");
        }
        sleep(LOOK).await;
    }
}

/// Takes in `count` exceptions, dealt to partitions `p00`, `p01`, … in turn.
pub async fn enqueue(installation: &Installation, count: u64, partitions: u64) -> anyhow::Result<()> {
    take_in(installation, (0..count).map(|number| Arrival::new(number, &format!("p{:02}", number % partitions)).body()))
        .await
}

/// Takes more in, into one partition.
pub async fn enqueue_more(
    installation: &Installation,
    numbers: std::ops::Range<u64>,
    partition: &str,
) -> anyhow::Result<()> {
    take_in(installation, numbers.map(|number| Arrival::new(number, partition).body())).await
}

async fn take_in(installation: &Installation, bodies: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let bodies: Vec<String> = bodies.collect();
    let outcomes = installation.enqueue(&bodies).await?;
    ensure!(outcomes.iter().all(|outcome| outcome == "ENQUEUED"), "{outcomes:?}");
    Ok(())
}

/// A network in front of an installation.
pub async fn network(installation: &Installation) -> anyhow::Result<CuttingProxy> {
    let server: SocketAddr = installation.database().server().addr().await?;
    CuttingProxy::start(server).await
}

/// Holds a partition's row until the transaction ends, as a colleague's long transaction does.
pub async fn hold<'a>(owner: &'a PgPool, partition: &str) -> anyhow::Result<Transaction<'a, Postgres>> {
    let mut transaction = owner.begin().await.context("begin a transaction")?;
    sqlx::query("SELECT 1 FROM countersign.partition WHERE partition_key = $1 FOR UPDATE")
        .bind(partition)
        .fetch_one(&mut *transaction)
        .await
        .with_context(|| format!("hold {partition}"))?;
    Ok(transaction)
}

/// Waits until the server has noticed that every reviewer is gone: a call that was under way when the network was cut is done.
pub async fn until_nobody_is_connected(owner: &PgPool) -> anyhow::Result<()> {
    let sql = "SELECT count(*) = 0 FROM pg_stat_activity
               WHERE datname = current_database() AND backend_type = 'client backend' AND usename <> current_user";
    until(owner, "nobody is connected", sql).await
}

/// Waits until so many calls of `sign_off` wait for a lock in the server.
pub async fn until_waiting(owner: &PgPool, calls: i64) -> anyhow::Result<()> {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
               AND state = 'active' AND query LIKE '%countersign.sign_off(%'";
    let deadline = Instant::now() + DEADLINE;
    while number(owner, sql).await? != calls {
        ensure!(Instant::now() < deadline, "not within {DEADLINE:?}: {calls} calls of sign_off wait for a lock");
        sleep(LOOK).await;
    }
    Ok(())
}

/// What a fast producer would have left behind after years: `count` pending exceptions, a hundred in each partition. They go in
/// past the function that takes arrivals in, so that a million take seconds; there are no audit records of them.
pub async fn enqueue_in_bulk(owner: &PgPool, count: i64) -> anyhow::Result<()> {
    let contents = "
        INSERT INTO countersign.exception_content (exception_id, version, content_hash, body, arrived_at)
        SELECT b.n + 1, 1, sha256(convert_to(b.body, 'UTF8')), b.body, clock_timestamp()
        FROM (SELECT n, format('{\"correlation_id\":\"%s\",\"counterparty\":\"Counterparty %s\",\"currency\":\"USD\",'
                     '\"group_key\":null,\"idempotency_key\":\"bulk-%s\",\"kind\":\"sales_claim\",\"ledger_entity\":\"BULK\",'
                     '\"match_decision\":\"PARTIAL\",\"partition_key\":\"bulk-%s\",\"payload\":{\"memo\":\"%s\"},'
                     '\"prepared_by\":[\"preparer\"],\"routing_tier\":\"standard\",\"schema_version\":1,\"source_hash\":\"bulk-%s\",'
                     '\"submitted_at\":\"2026-10-05T00:10:03Z\",\"trace_id\":\"%s\",\"variance_amount\":\"%s.25\"}',
                     lpad(to_hex(n), 32, '0')::uuid, n % 997, n, lpad((n / 100)::text, 6, '0'), repeat('x', 200), n,
                     lpad(to_hex(n), 32, '0')::uuid, n % 100000) AS body
              FROM generate_series(0, $1 - 1) AS n) AS b";
    let exceptions = "
        INSERT INTO countersign.exception (id, partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity,
            currency, variance_amount, prepared_by, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash, business_date, barred)
        OVERRIDING SYSTEM VALUE
        SELECT c.exception_id, 'bulk-' || lpad(((c.exception_id - 1) / 100)::text, 6, '0'), (c.exception_id - 1) % 100 + 1,
               'bulk-' || (c.exception_id - 1), 'sales_claim', 'PARTIAL', 'standard', 'BULK', 'USD', (c.exception_id - 1) % 100000 + 0.25,
               ARRAY['preparer'], lpad(to_hex(c.exception_id - 1), 32, '0')::uuid, lpad(to_hex(c.exception_id - 1), 32, '0')::uuid,
               'bulk-' || (c.exception_id - 1), '2026-10-05T00:10:03Z', c.arrived_at, c.content_hash, '2026-10-05', ARRAY['preparer']
        FROM countersign.exception_content c WHERE c.exception_id <= $1";
    let partitions = "
        INSERT INTO countersign.partition (partition_key, next_seq, pending, claim_rank)
        SELECT 'bulk-' || lpad(n::text, 6, '0'), 101, 100, '2026-10-05T00:10:03Z' FROM generate_series(0, $1 / 100 - 1) AS n";
    for sql in [contents, exceptions, partitions] {
        sqlx::query(sql).bind(count).execute(owner).await.context("fill the database")?;
    }
    run(owner, "ANALYZE countersign.exception, countersign.exception_content, countersign.partition").await
}
