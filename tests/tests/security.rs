//! Each role reaches the data through its functions and views and in its own name, and nobody rewrites what happened.

#[path = "security/audit.rs"]
mod audit;
#[path = "security/catalogue.rs"]
mod catalogue;
#[path = "security/chain.rs"]
mod chain;
#[path = "security/impostor.rs"]
mod impostor;
#[path = "security/roles.rs"]
mod roles;

use std::borrow::Cow;

use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, Failure, Problem};
use countersign_testkit::enrolment::confirm_all;
use countersign_testkit::installation::Installation;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use secrecy::ExposeSecret as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// What a reviewer may call.
const DOORS: [&str; 23] = [
    "capture",
    "close_overview",
    "enrol",
    "give_up",
    "hand_over",
    "hello",
    "history",
    "lease",
    "letter",
    "letter_bodies",
    "letter_causes",
    "letter_correct",
    "letter_discard",
    "letter_replay",
    "letter_take",
    "letters",
    "overview",
    "picture_of",
    "release",
    "renew",
    "schema_version",
    "sign_off",
    "workstation_revoke",
];
/// `insufficient_privilege`
const REFUSED: &str = "42501";

/// A temporary table of the same name as one of ours, and a search path that finds it first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_functions_are_not_led_astray_by_what_a_reviewer_puts_in_their_way() -> anyhow::Result<()> {
    let (installation, mut reviewer) = psql().await?;
    let stranger = installation.reviewer("stranger").await?;
    let (_, workstation) = installation.workstation(&stranger).await?;
    impostor::lay_traps(&mut reviewer).await?;
    sqlx::query("INSERT INTO workstation VALUES ($1, session_user)").bind(workstation.0).execute(&mut reviewer).await?;
    sqlx::query("INSERT INTO workstation_key VALUES ($1, 1, now())").bind(workstation.0).execute(&mut reviewer).await?;
    let call = format!("SELECT countersign.renew('{}', '{{}}', '{{}}', 60000)", workstation.0);
    assert_eq!(sqlstate(&mut reviewer, &call).await, "it went through", "and was turned away");
    assert_eq!(impostor::turned_away(&installation).await?, ["renew"]);
    // A workstation that only the trap knows.
    let unknown =
        "SELECT countersign.lease('00000000-0000-0000-0000-0000000000bb', 5, 5, true, 60000, NULL, NULL, NULL)";
    assert_eq!(sqlstate(&mut reviewer, unknown).await, "CS002");
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
    let late = decision(&leased.items[0], &alice, her_desk, Decision::Approve);
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
    // Before its key is confirmed, a workstation leases and signs nothing; the call is judged first all the same.
    let lease = format!("SELECT countersign.lease({desk}, 5, 5, true, 60000, NULL, NULL, NULL)");
    assert_eq!(sqlstate(&mut connection, &lease).await, "CS003");
    let enrol = format!("SELECT countersign.enrol({desk}, sha256('key'))");
    assert_eq!(sqlstate(&mut connection, &enrol).await, "it went through");
    assert_eq!(sqlstate(&mut connection, &lease).await, "CS003");
    confirm_all(&installation.owner).await?;
    // A decision with one part replaced.
    let sign = |part: usize, text: &str| {
        let good = [
            "sha256('')",
            "1::bigint",
            "sha256('')",
            "1::bigint",
            "'REJECT'",
            "'OTHER'",
            "''",
            "now()",
            "1",
            "1",
            "sha256('') || sha256('')",
            "sha256('')",
            "NULL::text",
            "NULL::text",
        ];
        let array =
            |(index, value): (usize, &&str)| if index == part { text.to_owned() } else { format!("ARRAY[{value}]") };
        let arrays: Vec<String> = good.iter().enumerate().map(array).collect();
        format!("SELECT countersign.sign_off({desk}, {})", arrays.join(", "))
    };
    assert_eq!(sqlstate(&mut connection, &sign(99, "")).await, "it went through");
    let before = facts(&installation).await?;
    let (limit, parameter) = ("54000", "22023");
    for (code, call) in [
        (parameter, format!("SELECT countersign.hello({desk}, repeat('x', 201), '0', '{{}}')")),
        (parameter, format!("SELECT countersign.hello({desk}, 'psql', '0', to_jsonb(repeat('x', 10001)))")),
        (parameter, format!("SELECT countersign.lease({desk}, NULL, 5, true, 60000, NULL, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, NULL, true, 60000, NULL, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, 5, NULL, 60000, NULL, NULL, NULL)")),
        (parameter, format!("SELECT countersign.lease({desk}, 5, 5, true, NULL, NULL, NULL, NULL)")),
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
        (parameter, sign(8, "ARRAY[NULL::integer]")),
        (parameter, sign(9, "ARRAY[NULL::integer]")),
        (parameter, sign(9, "ARRAY[1, 1]")),
        (parameter, sign(10, "ARRAY[sha256('')]")),
        (parameter, sign(10, "ARRAY[NULL::bytea]")),
        (parameter, sign(11, "ARRAY['\\x00'::bytea]")),
        (parameter, sign(11, "ARRAY[NULL::bytea]")),
        (parameter, sign(12, "ARRAY['1.00']")),
        (parameter, sign(13, "ARRAY['USD']")),
        (parameter, sign(13, "NULL")),
        (parameter, format!("SELECT countersign.enrol({desk}, '\\x00')")),
        (parameter, format!("SELECT countersign.enrol({desk}, NULL)")),
        (parameter, format!("SELECT countersign.hand_over({desk}, NULL, NULL, 'x', 60000)")),
        (parameter, format!("SELECT countersign.hand_over({desk}, ARRAY['p00'], '{{}}', 'x', 60000)")),
        (parameter, format!("SELECT countersign.hand_over({desk}, ARRAY['p00'], ARRAY[1::bigint], 'nobody', 60000)")),
        (parameter, format!("SELECT countersign.hand_over({desk}, ARRAY['p00'], ARRAY[1::bigint], NULL, 60000)")),
        (
            parameter,
            format!("SELECT countersign.hand_over({desk}, ARRAY['p00'], ARRAY[1::bigint], session_user::text, 60000)"),
        ),
        (parameter, format!("SELECT countersign.workstation_revoke({desk}, ' ')")),
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
