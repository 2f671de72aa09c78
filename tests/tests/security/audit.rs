//! What happened is written down once, and stays as it was written.

use countersign_domain::hash;
use countersign_domain::id::ExceptionId;
use countersign_domain::sign_off::{Decision, SignOff};
use countersign_engine::port::{Backlog as _, Held, LeasedItem};
use countersign_testkit::enrolment::sealed;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::calls::{decision, lease};
use countersign_tests::{chain, owner};
use sqlx::{AssertSqlSafe, PgPool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_even_the_owner_rewrites_what_happened() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    mixed_run(&installation).await?;
    let (append_only, kept) = (
        ["audit_event", "sign_off", "posting", "routing", "exception_content", "receipt", "policy_version"],
        ["dead_letter", "exception"],
    );
    let mut statements = Vec::new();
    for table in append_only.iter().chain(&kept) {
        assert!(count(&installation.owner, table).await? > 0, "{table} has something to lose");
        statements.push((table, format!("DELETE FROM countersign.{table}")));
        statements.push((table, format!("TRUNCATE countersign.{table} CASCADE")));
    }
    for (table, column) in append_only.iter().zip([
        "outcome = 'X'",
        "reviewer = 'x'",
        "amount = 0",
        "routed_to = 'x'",
        "body = ''",
        "reviewer = 'x'",
        "comment = 'x'",
    ]) {
        statements.push((table, format!("UPDATE countersign.{table} SET {column}")));
        statements.push((table, format!("UPDATE countersign.{table} SET {column} WHERE false")));
    }
    for (table, statement) in statements {
        let before = count(&installation.owner, table).await?;
        let error =
            sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&installation.owner).await.expect_err(&statement);
        assert!(error.to_string().contains(&format!("countersign.{table} is append-only")), "{statement}: {error}");
        assert_eq!(count(&installation.owner, table).await?, before);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_chains_recompute_from_their_records_and_every_change_has_one() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    mixed_run(&installation).await?;
    let findings = chain::audit(&installation.owner).await?;
    assert!(findings.records > 40 && findings.chains == 4, "three partitions and the installation: {findings:?}");
    assert_eq!(findings.defects, Vec::<String>::new());
    let pairs = [
        ("an exception and its arrival", "SELECT (SELECT count(*) FROM countersign.exception) = (SELECT count(*) FROM countersign.audit_event WHERE event = 'ARRIVED')"),
        ("a version and its record", "SELECT (SELECT count(*) FROM countersign.exception_content) = (SELECT count(*) FROM countersign.audit_event WHERE event IN ('ARRIVED', 'CORRECTED'))"),
        ("a sign-off and its record", "SELECT (SELECT count(*) FROM countersign.sign_off) = (SELECT count(*) FROM countersign.audit_event WHERE event = 'SIGNED' AND outcome IN ('COMMITTED', 'HELD', 'AWAITING_SECOND'))"),
        ("an effect and its record", "SELECT (SELECT count(*) FROM countersign.posting) + (SELECT count(*) FROM countersign.routing)
            = (SELECT count(*) FROM countersign.audit_event WHERE outcome = 'COMMITTED' AND event IN ('SIGNED', 'EFFECT'))"),
        ("a dead letter and its record", "SELECT (SELECT count(*) FROM countersign.dead_letter) = (SELECT count(*) FROM countersign.audit_event WHERE event = 'DEAD_LETTERED')"),
        ("a lease and its record", "SELECT (SELECT sum(epoch) FROM countersign.partition) <= (SELECT count(*) FROM countersign.audit_event WHERE event = 'LEASED')"),
    ];
    for (what, sql) in pairs {
        assert!(sqlx::query_scalar::<_, bool>(sql).fetch_one(&installation.owner).await?, "{what}");
    }
    let refusals: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT outcome FROM countersign.audit_event WHERE event = 'SIGNED' AND outcome NOT IN ('COMMITTED', 'HELD', 'AWAITING_SECOND') ORDER BY 1",
    )
    .fetch_all(&installation.owner)
    .await?;
    assert_eq!(
        refusals,
        ["ALREADY_DECIDED", "FORGED", "KEY_REUSED", "LEASE_SUPERSEDED", "NOT_ELIGIBLE", "PREPARER", "STALE_VERSION"]
    );
    Ok(())
}

/// Who switches the triggers off, as only a superuser can, is found out by the chain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_gets_around_the_triggers_is_found_out() -> anyhow::Result<()> {
    for (what, tampering, found) in [
        (
            "an edit",
            "UPDATE countersign.audit_event SET actor = 'somebody else' WHERE partition_key = 'a' AND chain_seq = 3",
            "record 3 was changed",
        ),
        (
            "a changed time",
            "UPDATE countersign.audit_event SET at = at + interval '1 microsecond' WHERE partition_key = 'a' AND chain_seq = 2",
            "record 2 was changed",
        ),
        (
            "a hole",
            "DELETE FROM countersign.audit_event WHERE partition_key = 'a' AND chain_seq = 2",
            "record 3 follows 1",
        ),
        (
            "a cut end",
            "DELETE FROM countersign.audit_event WHERE partition_key = 'b' AND chain_seq = (SELECT max(chain_seq) FROM countersign.audit_event WHERE partition_key = 'b')",
            "its head says",
        ),
        ("a removed chain", "DELETE FROM countersign.audit_event WHERE partition_key = 'c'", "the stream ends at 0"),
        (
            "an invented record",
            "INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, chain_hash, key_id, mac)
            VALUES ('ghost', 1, clock_timestamp(), 'SIGNED', 'nobody', '\\x00', 1, '\\x00')",
            "it has no head",
        ),
    ] {
        let installation = Installation::create().await?;
        mixed_run(&installation).await?;
        let statements = format!("SET LOCAL session_replication_role = replica; {tampering}");
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&installation.owner).await?;
        let defects = chain::audit(&installation.owner).await?.defects;
        assert!(defects.iter().any(|defect| defect.contains(found)), "{what}: {defects:?}");
    }
    Ok(())
}

async fn count(owner: &PgPool, table: &str) -> anyhow::Result<i64> {
    let sql = format!("SELECT count(*) FROM countersign.{table}");
    Ok(sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(owner).await?)
}

/// Two reviewers and three partitions, through everything that leaves a record.
async fn mixed_run(installation: &Installation) -> anyhow::Result<()> {
    let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
    let (hers, her_desk) = installation.workstation(&alice).await?;
    let (his, his_desk) = installation.workstation(&bob).await?;
    for (numbers, partition) in [(0..6, "a"), (10..16, "b"), (20..24, "c")] {
        owner::enqueue_more(installation, numbers, partition).await?;
    }
    let prepared = Arrival { prepared_by: &[&alice.user], ..Arrival::new(30, "c") }.body();
    let corrected = Arrival { revision: 2, ..Arrival::new(1, "a") }.body();
    installation.enqueue(&[prepared, Arrival::new(0, "a").body()]).await?;
    installation.enqueue(&[corrected]).await?;
    dead_letter(installation).await?;

    let leased = lease(&hers, her_desk, 50).await?;
    let of = |partition: &str| -> Vec<LeasedItem> {
        leased.items.iter().filter(|item| item.partition.0 == partition).cloned().collect()
    };
    let (a, b, c) = (of("a"), of("b"), of("c"));
    // Held behind the first, then released by it; rejected; sent twice; decided otherwise; with other words; a ghost.
    hers.sign_off(
        her_desk,
        &[decision(&a[2], &alice, her_desk, Decision::Approve), decision(&a[1], &alice, her_desk, Decision::Reject)],
    )
    .await?;
    let first = decision(&a[0], &alice, her_desk, Decision::Approve);
    hers.sign_off(her_desk, &[first.clone(), decision(&a[0], &alice, her_desk, Decision::Reject)]).await?;
    let forged = SignOff { comment: Some("other words".to_owned()), ..first.clone() };
    let other_words = sealed(forged.clone(), &Arrival::new(0, "a").key(), &alice.user, her_desk);
    let ghost = SignOff { exception: ExceptionId(i64::MAX), ..first.clone() };
    hers.sign_off(her_desk, &[first, other_words, forged, ghost]).await?;
    // One that she prepared, and one that changes after she saw it.
    let own = LeasedItem {
        id: ExceptionId(c[3].id.0 + 1),
        body: Arrival { prepared_by: &[&alice.user], ..Arrival::new(30, "c") }.body(),
        ..c[3].clone()
    };
    let own = LeasedItem { content: hash::content_hash(&own.body), ..own };
    hers.sign_off(her_desk, &[decision(&own, &alice, her_desk, Decision::Approve)]).await?;
    installation.enqueue(&[Arrival { revision: 2, ..Arrival::new(20, "c") }.body()]).await?;
    hers.sign_off(her_desk, &[decision(&c[0], &alice, her_desk, Decision::Approve)]).await?;
    // One partition is given back, the others lapse; he takes what he gets, and her late decision is superseded.
    let held = |partition: &str| -> Vec<Held> {
        let found = leased.partitions.iter().filter(|one| one.partition.0 == partition);
        found.map(|one| Held { partition: one.partition.clone(), epoch: one.epoch }).collect()
    };
    hers.release(her_desk, &held("c")).await?;
    installation.lapse().await?;
    hers.renew(her_desk, &held("a"), 60_000).await?;
    let taken = lease(&his, his_desk, 50).await?;
    let his_b = taken.items.iter().find(|item| item.partition.0 == "b").expect("it lapsed and was free");
    his.sign_off(his_desk, &[decision(his_b, &bob, his_desk, Decision::Reject)]).await?;
    hers.sign_off(her_desk, &[decision(&b[0], &alice, her_desk, Decision::Approve)]).await?;
    Ok(())
}

async fn dead_letter(installation: &Installation) -> anyhow::Result<()> {
    sqlx::query(
        "SELECT countersign.dead_letter(ARRAY['x'::bytea], ARRAY[sha256('x')], ARRAY[1::bigint], ARRAY['test'], ARRAY[1::bigint],
            ARRAY['POISON_MESSAGE'], ARRAY['STRUCTURAL'], ARRAY[NULL::text], ARRAY['it is no JSON'], ARRAY[NULL::text])",
    )
    .execute(&installation.owner)
    .await?;
    Ok(())
}
