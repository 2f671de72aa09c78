//! What a superuser of the database can do who gets around its functions, with and without the key of the seal.

use countersign_testkit::postgres::TestDatabase;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Runs statements as the superuser with every trigger off.
pub(crate) async fn tamper(database: &TestDatabase, sql: &str) -> anyhow::Result<()> {
    let mut connection = PgConnection::connect(&database.admin_url()).await?;
    let statements = format!("SET session_replication_role = replica; {sql}");
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

/// Hashes a chain anew from a record on, and its head; with the seal that belongs to it, or with the old one.
pub(crate) fn rechain(chain: &str, from: i64, sealed: bool) -> String {
    format!(
        "DO $$ DECLARE r countersign.audit_event; h bytea; n bigint; k countersign.audit_key; BEGIN
             SELECT a.chain_hash INTO h FROM countersign.audit_event a WHERE a.partition_key = '{chain}' AND a.chain_seq = {from} - 1;
             h := coalesce(h, '');
             FOR r IN SELECT * FROM countersign.audit_event a WHERE a.partition_key = '{chain}' AND a.chain_seq >= {from} ORDER BY a.chain_seq LOOP
                 n := r.chain_seq;
                 SELECT * INTO k FROM countersign.audit_key o WHERE o.id = r.key_id;
                 h := sha256(h || countersign.audit_record(r.partition_key, r.chain_seq, r.at, r.event, r.actor, r.workstation, r.exception_id,
                     r.trace_id, r.source_hash, r.match_decision, r.content_hash, r.outcome, r.detail));
                 UPDATE countersign.audit_event a SET chain_hash = h,
                     mac = CASE WHEN {sealed} THEN countersign.hmac(k.inner_pad, k.outer_pad, h) ELSE a.mac END
                 WHERE a.partition_key = '{chain}' AND a.chain_seq = r.chain_seq;
             END LOOP;
             UPDATE countersign.partition p SET chain_seq = n, chain_head = h WHERE p.partition_key = '{chain}' AND n IS NOT NULL;
             UPDATE countersign.installation i SET chain_seq = n, chain_head = h WHERE '{chain}' = '' AND n IS NOT NULL;
         END $$;"
    )
}

/// A decision that nobody made: its row, its record, its effect, all as they would be.
pub(crate) fn invented(recorded: bool) -> String {
    let item = "FROM countersign.exception e, countersign.sign_off s
                WHERE e.partition_key = 'd' AND e.seq = 1 AND s.partition_key = 'c' AND s.outcome = 'COMMITTED' AND s.decision = 'APPROVE'
                ORDER BY s.signed_at LIMIT 1";
    let key = "countersign.sign_off_key(e.idempotency_key, e.content_hash, 'APPROVE', s.reviewer)";
    let payload = "countersign.sign_off_payload(e.id, NULL, NULL, s.decided_at, NULL, NULL)";
    let row = format!(
        "INSERT INTO countersign.sign_off (sign_off_key, payload_hash, exception_id, version, content_hash, reviewer, workstation, epoch, decision,
             decided_at, signed_at, outcome, partition_key, chain_seq, receipt_id, policy_version, in_force, enrolment, signature, mac, period,
             currency, amount)
         SELECT {key}, {payload}, e.id, e.version, e.content_hash, s.reviewer, s.workstation, 1, 'APPROVE', s.decided_at, s.signed_at, 'COMMITTED', 'd',
             (SELECT p.chain_seq + 1 FROM countersign.partition p WHERE p.partition_key = 'd'), s.receipt_id, 1, s.in_force, 1, s.signature, s.mac,
             s.period, e.currency, e.variance_amount {item};"
    );
    if !recorded {
        return row;
    }
    let record = format!(
        "INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash,
             match_decision, content_hash, outcome, detail, chain_hash, key_id, mac)
         SELECT 'd', (SELECT p.chain_seq + 1 FROM countersign.partition p WHERE p.partition_key = 'd'), s.signed_at, 'SIGNED', s.reviewer, s.workstation, e.id,
             e.trace_id, e.source_hash, e.match_decision, e.content_hash, 'COMMITTED',
             jsonb_build_object('key', encode({key}, 'hex'), 'payload', encode({payload}, 'hex'), 'decision', 'APPROVE', 'decided_at', s.decided_at, 'epoch', 1,
                 'receipt', s.receipt_id, 'policy', s.in_force, 'seal', encode(s.mac, 'hex')), '', 1, '' {item};"
    );
    let effect = "
        INSERT INTO countersign.posting (exception_id, effect_no, ledger_entity, currency, amount, posted_at, period)
        SELECT e.id, nextval('countersign.effect_no'), e.ledger_entity, e.currency, e.variance_amount, s.signed_at, s.period
        FROM countersign.exception e JOIN countersign.sign_off s ON s.exception_id = e.id WHERE e.partition_key = 'd' AND e.seq = 1;
        UPDATE countersign.exception e SET state = 'RESOLVED', decision = 'APPROVE', decided_by = s.reviewer, decided_at = s.signed_at, resolved_at = s.signed_at
        FROM countersign.sign_off s WHERE s.exception_id = e.id AND e.partition_key = 'd' AND e.seq = 1;";
    format!("{row} {record} {effect} {}", rechain("d", 1, true))
}
