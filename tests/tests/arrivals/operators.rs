//! What operators do besides taking arrivals in.

use anyhow::Context as _;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, Failure, Hello, Problem};
use countersign_testkit::installation::Login;
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::admin::Admin;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::bad_lines::with;
use crate::{count, installed, number, project};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrating_twice_is_migrating_once_and_a_newer_schema_is_left_alone() -> anyhow::Result<()> {
    let database = TestDatabase::create().await?;
    let admin = Admin::at(database.admin_url())?;
    let early = admin.run(&["status"]).await?;
    assert!(early.code == 1 && early.stderr.contains("Run `countersign-admin migrate` first"), "{early:?}");
    let first = admin.run(&["migrate"]).await?;
    assert!(first.code == 0 && first.stdout.contains("Applied 0001_tables.\n"), "{first:?}");
    let version = countersign_backlog::migrate::latest();
    assert!(first.stdout.ends_with(&format!("Now at version {version}.\n")), "{first:?}");
    let second = admin.run(&["migrate"]).await?;
    assert_eq!((second.code, second.stdout), (0, format!("Already at version {version}.\n")));

    let owner = sqlx::PgPool::connect(&database.admin_url()).await?;
    owner::run(&owner, "INSERT INTO countersign.schema_migration (version, name, sha256) VALUES (999, 'later', '')")
        .await?;
    let objects = "SELECT count(*) FROM pg_class WHERE relnamespace = 'countersign'::regnamespace";
    let before = owner::number(&owner, objects).await?;
    let newer = admin.run(&["migrate"]).await?;
    assert!(
        newer.code == 1 && newer.stderr.contains("is at version 999") && newer.stderr.contains("newer release"),
        "{newer:?}"
    );
    assert_eq!(owner::number(&owner, objects).await?, before);
    assert_eq!(owner::number(&owner, "SELECT max(version)::bigint FROM countersign.schema_migration").await?, 999);
    owner.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_says_what_the_tables_hold() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let file = project().join("demo/exceptions.jsonl");
    installation.register_vendors(&std::fs::read_to_string(&file)?).await?;
    admin.enqueue(&file).await?;
    let alice = installation.reviewer("alice").await?;
    let (backlog, workstation) = installation.workstation(&alice).await?;
    let mut items = lease(&backlog, workstation, 40).await?.items;
    // What stays undecided holds up the effects of what is behind it.
    let undecided = items.remove(0);
    let mut batch: Vec<_> = items.iter().map(|item| decision(item, &alice, workstation, Decision::Approve)).collect();
    batch[0] = decision(&items[0], &alice, workstation, Decision::Reject);
    let answers = backlog.sign_off(workstation, &batch).await?.answers;
    assert!(answers.iter().all(|answer| answer.outcome.accepted()), "{answers:?}");
    let status = admin.json(&["status"]).await?;
    for (pointer, sql) in [
        ("/exceptions/pending", "SELECT count(*) FROM countersign.exception WHERE state = 'PENDING'"),
        ("/exceptions/approved", "SELECT count(*) FROM countersign.exception WHERE state = 'APPROVED'"),
        ("/exceptions/rejected", "SELECT count(*) FROM countersign.exception WHERE state = 'REJECTED'"),
        ("/exceptions/resolved", "SELECT count(*) FROM countersign.exception WHERE state = 'RESOLVED'"),
        ("/kinds/recon_break/total", "SELECT count(*) FROM countersign.exception WHERE kind = 'recon_break'"),
        (
            "/kinds/sales_claim/pending",
            "SELECT count(*) FROM countersign.exception WHERE kind = 'sales_claim' AND state = 'PENDING'",
        ),
        ("/kinds/receipt/total", "SELECT count(*) FROM countersign.exception WHERE kind = 'receipt'"),
        ("/held", "SELECT count(*) FROM countersign.exception WHERE state IN ('APPROVED', 'REJECTED')"),
        ("/leased", "SELECT sum(pending) FROM countersign.partition WHERE lease_until IS NOT NULL"),
        ("/partitions_leased", "SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL"),
        ("/partitions_ready", "SELECT count(*) FROM countersign.partition WHERE lease_until IS NULL AND pending > 0"),
        ("/sign_offs", "SELECT count(*) FROM countersign.sign_off"),
        ("/postings", "SELECT count(*) FROM countersign.posting"),
        ("/routings", "SELECT count(*) FROM countersign.routing"),
        ("/disputes", "SELECT count(*) FROM countersign.dispute"),
        ("/dead_letters", "SELECT count(*) FROM countersign.dead_letter"),
        ("/reviewers", "SELECT count(*) FROM countersign.reviewer WHERE active"),
    ] {
        let found =
            status.pointer(pointer).and_then(Value::as_u64).with_context(|| format!("{pointer} in {status}"))?;
        assert_eq!(found, number(&installation, sql).await?, "{pointer}");
    }
    let ages: u64 = ["0-30", "31-60", "61-90", "90+"].map(|age| count(&status["pending_age"], age)).iter().sum();
    assert_eq!(ages, count(&status["exceptions"], "pending"));
    assert!(count(&status, "leased") > 0 && count(&status, "postings") > 0, "{status}");
    assert_eq!(
        status.pointer("/sign_offs").and_then(Value::as_u64),
        Some(batch.len() as u64),
        "all but {} were signed",
        undecided.id
    );
    let words = admin.run(&["status"]).await?;
    assert!(
        words.code == 0 && words.stdout.contains(&format!("{} pending", count(&status["exceptions"], "pending"))),
        "{words:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_is_added_listed_and_disabled() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let login = format!("o'neil {}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let missing = admin.run(&["reviewer", "add", &login]).await?;
    assert!(missing.code == 1 && missing.stderr.contains("--create-login"), "{missing:?}");
    let password = [("COUNTERSIGN_NEW_PASSWORD", "correct horse")];
    let add = ["reviewer", "add", &login, "--create-login", "--name", "Zoë O'Neil"];
    let added = admin.run_with(&add, &password, b"").await?;
    assert_eq!((added.code, added.stdout), (0, format!("{login} is a reviewer now.\n")), "{}", added.stderr);
    let again = admin.run(&["reviewer", "add", &login]).await?;
    assert_eq!(again.stdout, format!("{login} was a reviewer already.\n"));

    let listed = admin.json(&["reviewer", "list"]).await?;
    let find =
        |list: &Value| list.as_array().and_then(|all| all.iter().find(|one| one["login"] == json!(login))).cloned();
    let entry = find(&listed).context("it is listed")?;
    assert_eq!(
        (&entry["display_name"], &entry["active"], &entry["can_connect"]),
        (&json!("Zoë O'Neil"), &json!(true), &json!(true))
    );

    let person = Login { user: login.clone(), password: "correct horse".to_owned().into() };
    let (backlog, workstation) = installation.workstation(&person).await.context("the new password opens the door")?;
    let disabled = admin.run(&["reviewer", "disable", &login]).await?;
    assert_eq!(disabled.stdout, format!("{login} may sign no more.\n"));
    let hello = Hello { workstation, name: "t".into(), app_version: "0".into(), settings: "{}".into() };
    let refused = backlog.hello(&hello).await.expect_err("not active any more");
    assert_eq!(refused.failure, Failure::Refused(Problem::NotAReviewer));
    backlog.close().await;
    let stranger = admin.run(&["reviewer", "disable", "nobody at all"]).await?;
    assert!(stranger.code == 1 && stranger.stderr.contains("is no reviewer"), "{stranger:?}");
    assert_eq!(find(&admin.json(&["reviewer", "list"]).await?).context("it stays listed")?["active"], json!(false));
    let audited =
        "SELECT string_agg(event, ' ' ORDER BY chain_seq) FROM countersign.audit_event WHERE event LIKE 'REVIEWER%'";
    let audited: String = sqlx::query_scalar(audited).fetch_one(&installation.owner).await?;
    assert_eq!(audited, "REVIEWER_SET REVIEWER_DISABLED");
    // Roles belong to the whole server, which outlives this test.
    sqlx::raw_sql(AssertSqlSafe(format!("DROP ROLE \"{login}\""))).execute(&installation.owner).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_dead_letters_cannot_steer_a_terminal() -> anyhow::Result<()> {
    let (_installation, admin) = installed().await?;
    let evil = "\u{1b}[2J\u{202e}gnp.exe\u{9b}";
    let text = [
        with(1, |it| it["kind"] = json!(format!("a{evil}"))),
        with(2, |it| {
            it.as_object_mut().expect("an object").insert(format!("field{evil}"), json!(1));
        }),
    ]
    .join(&b'\n');
    admin.run_with(&["enqueue", "-"], &[], &text).await?;
    let hides = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    for arguments in [&["dead-letters", "list"][..], &["dead-letters", "list", "--json"]] {
        let ran = admin.run(arguments).await?;
        assert!(ran.code == 0 && !ran.stdout.contains(hides), "{:?}", ran.stdout);
    }
    let words = admin.run(&["dead-letters", "list"]).await?.stdout;
    assert!(
        words.contains("`a<U+001B>[2J<U+202E>gnp.exe<U+009B>` is none of") && words.contains("field<U+001B>"),
        "{words}"
    );
    let list = admin.json(&["dead-letters", "list"]).await?;
    let reasons: Vec<&str> =
        list.as_array().context("a list")?.iter().filter_map(|letter| letter["reason"].as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains(evil)), "JSON keeps what was there: {reasons:?}");
    let latest = admin.json(&["dead-letters", "list", "--limit", "1"]).await?;
    assert_eq!(latest.as_array().map(Vec::len), Some(1));
    Ok(())
}
