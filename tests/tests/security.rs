//! A reviewer reaches the data through six functions and in their own name, and nobody rewrites what happened.

#[path = "security/audit.rs"]
mod audit;

use std::borrow::Cow;
use std::collections::BTreeSet;

use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{Backlog as _, Failure, Held, Hello, LeaseRequest, Problem};
use countersign_testkit::installation::Installation;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use secrecy::ExposeSecret as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

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
        ("sign off", his.sign_off(her_desk, std::slice::from_ref(&in_his_name)).await.err()),
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

/// Who may not sign any more holds nothing back: colleagues go on at once, with the releases on record.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disabled_reviewers_leases_are_given_back() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 2, 3).await?;
    let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
    let (hers, her_desk) = installation.workstation(&alice).await?;
    let (his, his_desk) = installation.workstation(&bob).await?;
    let leased = lease(&hers, her_desk, 50).await?;
    assert!(!leased.items.is_empty() && lease(&his, his_desk, 50).await?.items.is_empty());
    countersign_admin::reviewer::disable(&installation.for_admin()?, &alice.user).await?;
    assert_eq!(lease(&his, his_desk, 50).await?.items.len(), leased.items.len());
    let sql = "SELECT count(*) FROM countersign.audit_event WHERE event = 'RELEASED'";
    let released: i64 = sqlx::query_scalar(sql).fetch_one(&installation.owner).await?;
    assert_eq!(usize::try_from(released)?, leased.partitions.len());
    let late = decision(&leased.items[0], &alice, Decision::Approve);
    let refusal = hers.sign_off(her_desk, &[late]).await.expect_err("she may not sign any more");
    assert_eq!(refusal.failure, Failure::Refused(Problem::NotAReviewer), "{refusal}");
    Ok(())
}

/// A call that cannot be is refused whole: NULLs and uneven arrays pass no check by being neither true nor false.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_cannot_be_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let (installation, mut connection) = psql().await?;
    owner::enqueue(&installation, 2, 2).await?;
    let desk = "'00000000-0000-0000-0000-0000000000aa'";
    let hello = format!("SELECT countersign.hello({desk}, 'psql', '0', '{{}}')");
    assert_eq!(sqlstate(&mut connection, &hello).await, "it went through");
    // A decision with one part replaced.
    let sign = |part: usize, text: &str| {
        let good = ["sha256('')", "1::bigint", "sha256('')", "1::bigint", "'REJECT'", "'OTHER'", "''", "now()"];
        let array =
            |(index, value): (usize, &&str)| if index == part { text.to_owned() } else { format!("ARRAY[{value}]") };
        let arrays: Vec<String> = good.iter().enumerate().map(array).collect();
        format!("SELECT countersign.sign_off({desk}, {})", arrays.join(", "))
    };
    assert_eq!(sqlstate(&mut connection, &sign(9, "")).await, "it went through");
    let before = facts(&installation).await?;
    let (limit, parameter) = ("54000", "22023");
    for (code, call) in [
        (parameter, format!("SELECT countersign.hello({desk}, repeat('x', 201), '0', '{{}}')")),
        (parameter, format!("SELECT countersign.hello({desk}, 'psql', '0', to_jsonb(repeat('x', 10001)))")),
        (parameter, format!("SELECT countersign.lease({desk}, NULL, 5, true, 60000, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, NULL, true, 60000, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, 5, NULL, 60000, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, 5, true, NULL, NULL, NULL)")),
        (parameter, format!("SELECT countersign.renew({desk}, ARRAY['x'], ARRAY[1::bigint], NULL)")),
        (limit, sign(0, "NULL")),
        (limit, sign(0, "array_fill(sha256(''), ARRAY[1001])")),
        (parameter, sign(0, "ARRAY[NULL::bytea]")),
        (parameter, sign(0, "ARRAY['\\x00'::bytea]")),
        (parameter, sign(1, "NULL")),
        (parameter, sign(1, "ARRAY[1, 2]::bigint[]")),
        (parameter, sign(1, "ARRAY[NULL]::bigint[]")),
        (parameter, sign(2, "ARRAY[NULL::bytea]")),
        (parameter, sign(3, "ARRAY[NULL]::bigint[]")),
        (parameter, sign(4, "ARRAY['MAYBE']")),
        (parameter, sign(4, "ARRAY[NULL::text]")),
        (parameter, sign(5, "ARRAY[NULL::text]")),
        (parameter, sign(5, "ARRAY[repeat('x', 65)]")),
        (parameter, sign(6, "ARRAY[repeat('x', 2001)]")),
        (parameter, sign(7, "ARRAY['infinity'::timestamptz]")),
        (parameter, sign(7, "ARRAY['4713-01-01 BC'::timestamptz]")),
    ] {
        assert_eq!(sqlstate(&mut connection, &call).await, code, "{call}");
    }
    assert_eq!(facts(&installation).await?, before);
    Ok(())
}

/// Leases and records: what a refused call must not touch.
async fn facts(installation: &Installation) -> anyhow::Result<(i64, i64)> {
    let sql =
        "SELECT (SELECT sum(epoch)::bigint FROM countersign.partition), (SELECT count(*) FROM countersign.audit_event)";
    Ok(sqlx::query_as(sql).fetch_one(&installation.owner).await?)
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
            let code = error.as_database_error().and_then(|answer| answer.code().map(Cow::into_owned));
            code.unwrap_or_else(|| error.to_string())
        }
    }
}
