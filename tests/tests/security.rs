//! A reviewer reaches the data through six functions and in their own name, and nobody rewrites what happened.

use std::collections::BTreeSet;

use countersign_domain::hash;
use countersign_domain::id::ExceptionId;
use countersign_domain::sign_off::{Decision, Outcome, SignOff};
use countersign_engine::port::{Backlog as _, Failure, Held, Hello, LeaseRequest, LeasedItem, Problem};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::calls::{decision, lease};
use countersign_tests::chain;
use countersign_tests::owner;
use secrecy::ExposeSecret as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool};

/// What a reviewer may call.
const DOORS: [&str; 6] = ["hello", "lease", "release", "renew", "schema_version", "sign_off"];
/// `insufficient_privilege`
const REFUSED: &str = "42501";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_has_no_right_on_any_table_or_sequence() -> anyhow::Result<()> {
    let (installation, mut reviewer) = psql().await?;
    let relations: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT c.relname, c.relkind::text, (SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
                 AND a.attidentity = '' AND a.attgenerated = '' ORDER BY a.attnum LIMIT 1)
         FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S') ORDER BY 1",
    )
    .fetch_all(&installation.owner)
    .await?;
    assert!(relations.len() > 13, "the whole schema: {relations:?}");
    for (name, kind, column) in relations {
        let statements = if kind == "S" {
            vec![
                format!("SELECT nextval('countersign.{name}')"),
                format!("SELECT setval('countersign.{name}', 1)"),
                format!("SELECT last_value FROM countersign.{name}"),
            ]
        } else {
            vec![
                format!("SELECT 1 FROM countersign.{name}"),
                format!("SELECT {column} FROM countersign.{name} FOR UPDATE"),
                format!("INSERT INTO countersign.{name} DEFAULT VALUES"),
                format!("UPDATE countersign.{name} SET {column} = {column}"),
                format!("DELETE FROM countersign.{name}"),
                format!("TRUNCATE countersign.{name}"),
                format!("COPY countersign.{name} TO STDOUT"),
                format!("DROP TABLE countersign.{name}"),
                format!("ALTER TABLE countersign.{name} DISABLE TRIGGER ALL"),
            ]
        };
        for statement in statements {
            assert_eq!(sqlstate(&mut reviewer, &statement).await, REFUSED, "{statement}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_may_call_six_functions_and_no_other() -> anyhow::Result<()> {
    let (installation, mut reviewer) = psql().await?;
    let functions: Vec<(String, String, bool)> = sqlx::query_as(
        "SELECT p.proname, 'SELECT countersign.' || p.proname || '(' || coalesce((
                    SELECT string_agg('NULL::' || format_type(t, NULL), ', ' ORDER BY n) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, n)), '')
                || ')', has_function_privilege($1, p.oid, 'EXECUTE')
         FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace ORDER BY 1",
    )
    .bind(sqlx::query_scalar::<_, String>("SELECT session_user::text").fetch_one(&mut reviewer).await?)
    .fetch_all(&installation.owner)
    .await?;
    let open: Vec<&str> = functions.iter().filter(|(.., may)| *may).map(|(name, ..)| name.as_str()).collect();
    assert_eq!(open, DOORS);
    let closed: BTreeSet<&str> =
        functions.iter().map(|(name, ..)| name.as_str()).filter(|name| !DOORS.contains(name)).collect();
    for name in
        ["enqueue", "dead_letter", "expire_leases", "free_partitions", "hand_out", "audit_installation", "append_only"]
    {
        assert!(closed.contains(name), "{name} is gone: this test has to be brought along");
    }
    for (name, call, _) in functions.iter().filter(|(name, ..)| closed.contains(name.as_str())) {
        assert_eq!(sqlstate(&mut reviewer, call).await, REFUSED, "{name}: {call}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_can_become_nobody_else_and_leave_nothing_behind() -> anyhow::Result<()> {
    let (_installation, mut reviewer) = psql().await?;
    for statement in [
        "SET SESSION AUTHORIZATION postgres",
        "SET ROLE postgres",
        "SET ROLE countersign_producer",
        "SET session_replication_role = replica",
        "CREATE TABLE countersign.mine (id integer)",
        "CREATE FUNCTION countersign.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE OR REPLACE FUNCTION countersign.caller(uuid) RETURNS text LANGUAGE sql AS 'SELECT session_user::text'",
        "CREATE TABLE public.reviewer (login text)",
        "CREATE SCHEMA mine",
        "SELECT pg_read_file('/etc/hostname')",
        "SELECT rolpassword FROM pg_authid",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ] {
        assert_eq!(sqlstate(&mut reviewer, statement).await, REFUSED, "{statement}");
    }
    Ok(())
}

/// A temporary table of the same name as one of ours, and a search path that finds it first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_functions_are_not_led_astray_by_what_a_reviewer_puts_in_their_way() -> anyhow::Result<()> {
    let (installation, mut reviewer) = psql().await?;
    let stranger = installation.reviewer("stranger").await?;
    let (_, workstation) = installation.workstation(&stranger).await?;
    sqlx::raw_sql(
        "CREATE TEMPORARY TABLE reviewer (login text, active boolean); CREATE TEMPORARY TABLE workstation (id uuid, reviewer text);
         CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT ''\\x00''::bytea';
         INSERT INTO reviewer VALUES (session_user, true); SET search_path = pg_temp, countersign, pg_catalog",
    )
    .execute(&mut reviewer)
    .await?;
    sqlx::query("INSERT INTO workstation VALUES ($1, session_user)").bind(workstation.0).execute(&mut reviewer).await?;
    let call = format!("SELECT countersign.renew('{}', '{{}}', '{{}}', 60000)", workstation.0);
    assert_eq!(sqlstate(&mut reviewer, &call).await, "CS002");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_works_in_the_name_of_another_workstation() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 3, 1).await?;
    let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
    let (hers, her_desk) = installation.workstation(&alice).await?;
    let (his, his_desk) = installation.workstation(&bob).await?;
    let leased = lease(&hers, her_desk, 50).await?;
    let held: Vec<Held> = leased
        .partitions
        .iter()
        .map(|leased| Held { partition: leased.partition.clone(), epoch: leased.epoch })
        .collect();
    let greeting = Hello { workstation: her_desk, name: "x".into(), app_version: "0".into(), settings: "{}".into() };
    let request = LeaseRequest { want: 1, room: 1, empty: true, ttl_ms: 60_000, held: Vec::new() };
    let in_his_name = decision(&leased.items[0], &bob, Decision::Approve);
    let in_her_name = decision(&leased.items[0], &alice, Decision::Approve);
    let refusals = [
        ("hello", his.hello(&greeting).await.err()),
        ("lease", his.lease(her_desk, &request).await.err()),
        ("renew", his.renew(her_desk, &held, 60_000).await.err()),
        ("release", his.release(her_desk, &held).await.err()),
        ("sign off", his.sign_off(her_desk, &[in_his_name.clone()]).await.err()),
    ];
    for (call, error) in refusals {
        let error = error.unwrap_or_else(|| panic!("{call} went through"));
        assert_eq!(error.failure, Failure::Refused(Problem::UnknownWorkstation), "{call}: {error}");
    }
    // With his own desk he cannot use her lease, nor her name.
    assert!(his.renew(his_desk, &held, 60_000).await?.is_empty());
    his.release(his_desk, &held).await?;
    let answers = his.sign_off(his_desk, &[in_his_name, in_her_name.clone()]).await?;
    assert_eq!(
        answers.iter().map(|answer| answer.outcome).collect::<Vec<_>>(),
        [Outcome::LeaseSuperseded, Outcome::KeyReused]
    );
    assert_eq!(hers.renew(her_desk, &held, 60_000).await?.len(), 1, "her lease is as it was");
    assert_eq!(hers.sign_off(her_desk, &[in_her_name]).await?[0].outcome, Outcome::Committed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_even_the_owner_rewrites_what_happened() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    mixed_run(&installation).await?;
    let (append_only, kept) =
        (["audit_event", "sign_off", "posting", "routing", "exception_content"], ["dead_letter", "exception"]);
    let mut statements = Vec::new();
    for table in append_only.iter().chain(&kept) {
        assert!(count(&installation.owner, table).await? > 0, "{table} has something to lose");
        statements.push((table, format!("DELETE FROM countersign.{table}")));
        statements.push((table, format!("TRUNCATE countersign.{table} CASCADE")));
    }
    for (table, column) in
        append_only.iter().zip(["outcome = 'X'", "reviewer = 'x'", "amount = 0", "routed_to = 'x'", "body = ''"])
    {
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
        ("a sign-off and its record", "SELECT (SELECT count(*) FROM countersign.sign_off) = (SELECT count(*) FROM countersign.audit_event WHERE event = 'SIGNED' AND outcome IN ('COMMITTED', 'HELD'))"),
        ("an effect and its record", "SELECT (SELECT count(*) FROM countersign.posting) + (SELECT count(*) FROM countersign.routing)
            = (SELECT count(*) FROM countersign.audit_event WHERE outcome = 'COMMITTED' AND event IN ('SIGNED', 'EFFECT'))"),
        ("a dead letter and its record", "SELECT (SELECT count(*) FROM countersign.dead_letter) = (SELECT count(*) FROM countersign.audit_event WHERE event = 'DEAD_LETTERED')"),
        ("a lease and its record", "SELECT (SELECT sum(epoch) FROM countersign.partition) <= (SELECT count(*) FROM countersign.audit_event WHERE event = 'LEASED')"),
    ];
    for (what, sql) in pairs {
        assert!(sqlx::query_scalar::<_, bool>(sql).fetch_one(&installation.owner).await?, "{what}");
    }
    let refusals: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT outcome FROM countersign.audit_event WHERE event = 'SIGNED' AND outcome NOT IN ('COMMITTED', 'HELD') ORDER BY 1",
    )
    .fetch_all(&installation.owner)
    .await?;
    assert_eq!(
        refusals,
        ["ALREADY_DECIDED", "KEY_REUSED", "LEASE_SUPERSEDED", "NOT_ELIGIBLE", "PREPARER", "STALE_VERSION"]
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
            "INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, chain_hash)
            VALUES ('ghost', 1, clock_timestamp(), 'SIGNED', 'nobody', '\\x00')",
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

/// A reviewer with a plain client in place of the application.
async fn psql() -> anyhow::Result<(Installation, PgConnection)> {
    let installation = Installation::create().await?;
    let login = installation.reviewer("mallory").await?;
    let url = installation.database().url_for(&login.user, login.password.expose_secret());
    Ok((installation, PgConnection::connect(&url).await?))
}

/// How a statement ended: its SQLSTATE, or that it went through.
async fn sqlstate(connection: &mut PgConnection, statement: &str) -> String {
    match sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(connection).await {
        Ok(_) => "it went through".to_owned(),
        Err(error) => {
            let code = error.as_database_error().and_then(|answer| answer.code().map(|code| code.into_owned()));
            code.unwrap_or_else(|| error.to_string())
        }
    }
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
    hers.sign_off(her_desk, &[decision(&a[2], &alice, Decision::Approve), decision(&a[1], &alice, Decision::Reject)])
        .await?;
    let first = decision(&a[0], &alice, Decision::Approve);
    hers.sign_off(her_desk, &[first.clone(), decision(&a[0], &alice, Decision::Reject)]).await?;
    let other_words = SignOff { comment: Some("other words".to_owned()), ..first.clone() };
    let ghost = SignOff { exception: ExceptionId(i64::MAX), ..first.clone() };
    hers.sign_off(her_desk, &[first, other_words, ghost]).await?;
    // One that she prepared, and one that changes after she saw it.
    let own = LeasedItem {
        id: ExceptionId(c[3].id.0 + 1),
        body: Arrival { prepared_by: &[&alice.user], ..Arrival::new(30, "c") }.body(),
        ..c[3].clone()
    };
    let own = LeasedItem { content: hash::content_hash(&own.body), ..own };
    hers.sign_off(her_desk, &[decision(&own, &alice, Decision::Approve)]).await?;
    installation.enqueue(&[Arrival { revision: 2, ..Arrival::new(20, "c") }.body()]).await?;
    hers.sign_off(her_desk, &[decision(&c[0], &alice, Decision::Approve)]).await?;
    // One partition is given back, the others lapse; he takes what he gets, and her late decision is superseded.
    let held = |partition: &str| -> Vec<Held> {
        let leases = leased.partitions.iter().filter(|leased| leased.partition.0 == partition);
        leases.map(|leased| Held { partition: leased.partition.clone(), epoch: leased.epoch }).collect()
    };
    hers.release(her_desk, &held("c")).await?;
    installation.lapse().await?;
    hers.renew(her_desk, &held("a"), 60_000).await?;
    let taken = lease(&his, his_desk, 50).await?;
    let his_b = taken.items.iter().find(|item| item.partition.0 == "b").expect("it lapsed and was free");
    his.sign_off(his_desk, &[decision(his_b, &bob, Decision::Reject)]).await?;
    hers.sign_off(her_desk, &[decision(&b[0], &alice, Decision::Approve)]).await?;
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
