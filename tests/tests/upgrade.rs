//! A database of the previous release is brought along with everything in it.

use anyhow::Context as _;
use countersign_admin::audit::Verify;
use countersign_backlog::migrate::MIGRATIONS;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::Backlog as _;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::calls::{decision, lease};
use countersign_tests::{chain, owner};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The last migration of the previous release.
const PREVIOUS: usize = 5;
/// The workstation that signed under it.
const DESK: &str = "00000000-0000-0000-0000-0000000000aa";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_previous_release_recorded_stays_and_work_goes_on() -> anyhow::Result<()> {
    let database = previous_release().await?;
    migrate_and_finish(database).await
}

async fn migrate_and_finish(database: TestDatabase) -> anyhow::Result<()> {
    let installation = Installation::of(database).await?;
    let before = chain::audit(&installation.owner).await?;
    assert!(before.defects.is_empty() && before.records > 8, "{before:?}");

    let report = countersign_admin::migrate::migrate(&installation.for_admin()?).await?;
    assert_eq!(report.applied.len(), MIGRATIONS.len() - PREVIOUS);

    let after = chain::audit(&installation.owner).await?;
    // One record says where sealing began, and one where figures did; not one was touched.
    assert_eq!((after.records, after.defects.as_slice()), (before.records + 2, &[][..]));
    for (what, sql) in [
        (
            "records without a good seal",
            "SELECT count(*) FROM countersign.audit_event e WHERE NOT countersign.mac_holds(e.key_id, e.chain_hash, e.mac)",
        ),
        (
            "tables of somebody else",
            "SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relowner <> 'countersign_owner'::regrole",
        ),
        (
            "functions of somebody else",
            "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace AND p.proowner <> 'countersign_owner'::regrole",
        ),
    ] {
        assert_eq!(owner::number(&installation.owner, sql).await?, 0, "{what}");
    }
    // What was there is due too, and is in the overview's sums as it is.
    let due = "SELECT count(*) FROM countersign.exception e WHERE e.due_on = e.business_date + 30 AND e.counterparty LIKE 'Counterparty %'";
    assert_eq!(owner::number(&installation.owner, due).await?, 5);
    let recounted = countersign_admin::status::recount(&installation.for_admin()?).await?;
    assert_eq!((recounted.pending, recounted.differed), (3, 0));
    assert_eq!(states(&installation).await?, "APPROVED 1, PENDING 3, RESOLVED 1");

    // What did not get in under it is on the desk, and can be worked on.
    let letters: Vec<(String, Option<String>, Option<String>)> = sqlx::query_as(
        "SELECT d.cause, d.context ->> 'entity', d.context ->> 'amount' FROM countersign.dead_letter d
         WHERE d.status = 'OPEN' AND d.attempts = 1 AND d.reason = 'as it was said then' ORDER BY d.cause",
    )
    .fetch_all(&installation.owner)
    .await?;
    let (entity, amount) = (Some("US01".to_owned()), Some("1.50".to_owned()));
    assert_eq!(letters, [("CONFLICT".to_owned(), None, None), ("CURRENCY".to_owned(), entity, amount)]);
    let taken = "SELECT count(*) FROM countersign.letter_take(NULL, ARRAY(SELECT d.id FROM countersign.dead_letter d), false) AS t WHERE t.outcome = 'TAKEN'";
    assert_eq!(owner::number(&installation.owner, taken).await?, 2);

    // Who signed under the previous release holds the partition still; somebody else ends the day once that lease has lapsed.
    installation.lapse().await?;
    let bob = installation.reviewer("bob").await?;
    let (backlog, workstation) = installation.workstation(&bob).await?;
    let items = lease(&backlog, workstation, 50).await?.items;
    let batch: Vec<_> = items.iter().map(|item| decision(item, &bob, workstation, Decision::Approve)).collect();
    let answers = backlog.sign_off(workstation, &batch).await?.answers;
    assert_eq!(answers.iter().map(|answer| answer.outcome).collect::<Vec<_>>(), [Outcome::Committed; 3]);
    assert_eq!(states(&installation).await?, "RESOLVED 5");
    let end = chain::audit(&installation.owner).await?;
    assert!(end.defects.is_empty(), "{end:?}");
    let report = countersign_admin::audit::verify(&installation.for_admin()?, &Verify::default()).await?;
    assert!(report.holds() && report.counts.unsigned == 2 && report.counts.signatures == 3, "{report:#?}");
    Ok(())
}

/// A database as the previous release left it: one exception resolved, one held behind another, three undecided.
async fn previous_release() -> anyhow::Result<TestDatabase> {
    let database = TestDatabase::create().await?;
    let mut admin = PgConnection::connect(&database.admin_url()).await?;
    run(&mut admin, "SET search_path = pg_catalog, pg_temp").await?;
    for migration in &MIGRATIONS[..PREVIOUS] {
        run(&mut admin, migration.sql()).await.with_context(|| migration.name)?;
    }
    run(
        &mut admin,
        "CREATE TABLE countersign.schema_migration (version integer PRIMARY KEY, name text NOT NULL, sha256 bytea NOT NULL,
             applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), applied_by text NOT NULL DEFAULT session_user);
         CREATE FUNCTION countersign.schema_version() RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
         SET search_path = pg_catalog, pg_temp AS 'SELECT max(m.version) FROM countersign.schema_migration m'",
    )
    .await?;
    for migration in &MIGRATIONS[..PREVIOUS] {
        sqlx::query("INSERT INTO countersign.schema_migration (version, name, sha256) VALUES ($1, $2, $3)")
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.sha256())
            .execute(&mut admin)
            .await?;
    }
    let (login, password) = database.login("alice").await?;
    let bodies: Vec<String> = (0..5).map(|number| Arrival::new(number, "p").body()).collect();
    sqlx::query("SELECT countersign.enqueue($1)").bind(bodies).execute(&mut admin).await?;
    sqlx::query("INSERT INTO countersign.reviewer (login, display_name, added_by) VALUES ($1, $1, session_user)")
        .bind(&login)
        .execute(&mut admin)
        .await?;
    run(&mut admin, &format!("GRANT countersign_reviewer TO {login}")).await?;

    // What it kept said the reason in its record, and named no cause.
    run(
        &mut admin,
        "SELECT countersign.dead_letter(ARRAY[o.x], ARRAY[sha256(o.x)], ARRAY[length(o.x)::bigint], ARRAY['old.jsonl'], ARRAY[7::bigint], ARRAY[o.code], ARRAY['STRUCTURAL'],
             ARRAY[o.field], ARRAY['as it was said then'], ARRAY[NULL::text])
         FROM (VALUES ('POISON_MESSAGE', 'currency', '{\"ledger_entity\":\"US01\",\"currency\":\"HRK\",\"variance_amount\":\"1.50\"}'::bytea),
                      ('CONFLICT', NULL, '\\xff'::bytea)) AS o (code, field, x)",
    )
    .await?;

    let mut reviewer = PgConnection::connect(&database.url_for(&login, &password)).await?;
    run(&mut reviewer, &format!("SELECT countersign.hello('{DESK}', 'desk', '0.1.0', '{{}}')")).await?;
    run(&mut reviewer, &format!("SELECT countersign.lease('{DESK}', 50, 50, true, 900000, '{{}}', '{{}}')")).await?;
    // The first one is resolved; the third is approved and waits for the second.
    let signed: Vec<(String,)> = sqlx::query_as(AssertSqlSafe(format!(
        "WITH item AS (SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) AS i (key, id, content))
         SELECT outcome FROM countersign.sign_off('{DESK}', (SELECT array_agg(key ORDER BY id) FROM item), (SELECT array_agg(id ORDER BY id) FROM item),
             (SELECT array_agg(content ORDER BY id) FROM item), '{{1,1}}', '{{APPROVE,APPROVE}}', '{{NULL,NULL}}', '{{NULL,NULL}}', ARRAY[now(), now()])
         ORDER BY ordinal"
    )))
    .bind(keys(&mut admin, &login).await?.0)
    .bind(vec![1_i64, 3])
    .bind(keys(&mut admin, &login).await?.1)
    .fetch_all(&mut reviewer)
    .await?;
    anyhow::ensure!(signed == [("COMMITTED".to_owned(),), ("HELD".to_owned(),)], "{signed:?}");
    reviewer.close().await?;
    admin.close().await?;
    Ok(database)
}

/// Keys and content hashes of the first and the third exception.
async fn keys(admin: &mut PgConnection, login: &str) -> anyhow::Result<(Vec<Vec<u8>>, Vec<Vec<u8>>)> {
    let rows: Vec<(Vec<u8>, Vec<u8>)> = sqlx::query_as(
        "SELECT countersign.sign_off_key(e.idempotency_key, e.content_hash, 'APPROVE', $1), e.content_hash
         FROM countersign.exception e WHERE e.id IN (1, 3) ORDER BY e.id",
    )
    .bind(login)
    .fetch_all(admin)
    .await?;
    Ok(rows.into_iter().unzip())
}

async fn states(installation: &Installation) -> anyhow::Result<String> {
    let sql = "SELECT string_agg(state || ' ' || n, ', ' ORDER BY state) FROM (SELECT state, count(*) AS n FROM countersign.exception GROUP BY 1) AS s";
    Ok(sqlx::query_scalar(sql).fetch_one(&installation.owner).await?)
}

async fn run(connection: &mut PgConnection, statement: &str) -> anyhow::Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(connection).await?;
    Ok(())
}
