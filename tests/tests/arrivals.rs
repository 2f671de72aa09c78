//! Taking arrivals in, through the program that operators run: every line is accounted for, whatever is on it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_domain::hash;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, Failure, Hello, Problem};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::admin::Admin;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// The lines of the exceptions that ship with the project.
const SHIPPED: u64 = 1_485;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_of_the_shipped_exceptions_is_accounted_for_and_a_second_run_changes_nothing() -> anyhow::Result<()>
{
    let (installation, admin) = installed().await?;
    let file = project().join("demo/exceptions.jsonl");
    let first = admin.enqueue(&file).await?;
    let (enqueued, dead) = (count(&first, "enqueued"), count(&first, "dead_letters_new"));
    assert_eq!((count(&first, "lines"), enqueued + dead), (SHIPPED, SHIPPED), "{first}");
    assert!(dead > 0 && dead < SHIPPED / 10, "some are bad on purpose: {first}");
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.exception").await?, enqueued);
    assert_eq!(
        number(&installation, "SELECT count(*) FROM countersign.dead_letter WHERE code = 'POISON_MESSAGE'").await?,
        dead
    );
    let lines =
        "SELECT count(DISTINCT line) FROM countersign.dead_letter WHERE line BETWEEN 1 AND 1485 AND reason <> ''";
    assert_eq!(number(&installation, lines).await?, dead);

    let second = admin.enqueue(&file).await?;
    assert_eq!(
        (count(&second, "duplicates"), count(&second, "dead_letters_seen_before")),
        (enqueued, dead),
        "{second}"
    );
    assert_eq!(
        count(&second, "enqueued") + count(&second, "corrected") + count(&second, "dead_letters_new"),
        0,
        "{second}"
    );
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.exception WHERE version > 1").await?, 0);
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.dead_letter WHERE times = 2").await?, dead);
    Ok(())
}

/// Real resubmissions, and records whose licences do not allow shipping; they lie beside the project where it is developed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_of_the_records_beside_the_project_is_accounted_for() -> anyhow::Result<()> {
    let data = project().join("../shared/data");
    let (duplicates, more) = (data.join("exceptions-duplicates.jsonl"), data.join("exceptions-test-only.jsonl"));
    if !duplicates.exists() || !more.exists() {
        println!("skipped: {} is not here", data.display());
        return Ok(());
    }
    let (installation, admin) = installed().await?;
    let first = admin.enqueue(&project().join("demo/exceptions.jsonl")).await?;
    for (file, enqueues) in [(more, true), (duplicates, false)] {
        let lines = std::fs::read_to_string(&file)?.lines().count() as u64;
        let report = admin.enqueue(&file).await?;
        let good = ["enqueued", "corrected", "duplicates"].map(|name| count(&report, name)).iter().sum::<u64>();
        let kept = count(&report, "dead_letters_new") + count(&report, "dead_letters_seen_before");
        assert_eq!((count(&report, "lines"), good + kept), (lines, lines), "{report}");
        assert_eq!(kept, count(&report, "refused") + count(&report, "conflicts"), "{report}");
        assert_eq!(count(&report, "enqueued") > 0, enqueues, "{report}");
    }
    let keys = "SELECT count(DISTINCT idempotency_key) FROM countersign.exception";
    let exceptions = number(&installation, "SELECT count(*) FROM countersign.exception").await?;
    assert_eq!(number(&installation, keys).await?, exceptions, "no key is there twice");
    assert!(exceptions > count(&first, "enqueued"));
    Ok(())
}

/// A good arrival, changed.
fn with(number: u64, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut arrival: Value =
        serde_json::from_str(&Arrival::new(number, "p").line()).expect("a generated arrival is JSON");
    change(&mut arrival);
    arrival.to_string().into_bytes()
}

/// The text of a good arrival with something replaced.
fn replaced(number: u64, from: &str, to: &str) -> Vec<u8> {
    let line = Arrival::new(number, "p").line();
    assert!(line.contains(from), "{from} is not in {line}");
    line.replacen(from, to, 1).into_bytes()
}

/// What is wrong, the line, and the field and the words it is refused with.
fn bad_lines() -> Vec<(&'static str, Vec<u8>, Option<&'static str>, &'static str)> {
    let amount = Some("variance_amount");
    let n = 500;
    vec![
        ("an amount as a float", with(n, |it| it["variance_amount"] = json!(10.5)), amount, "10.5 is a JSON number"),
        ("an amount as an integer", with(n, |it| it["variance_amount"] = json!(10)), amount, "10 is a JSON number"),
        (
            "an amount that is no number",
            with(n, |it| it["variance_amount"] = json!("NaN")),
            amount,
            "`NaN` is not a plain decimal",
        ),
        (
            "an amount without an end",
            with(n, |it| it["variance_amount"] = json!("-Infinity")),
            amount,
            "`-Infinity` is not a plain decimal",
        ),
        (
            "an amount with an exponent",
            with(n, |it| it["variance_amount"] = json!("1e29")),
            amount,
            "`1e29` is not a plain decimal",
        ),
        (
            "an amount with too many digits",
            with(n, |it| it["variance_amount"] = json!("123456789012345678901234567890")),
            amount,
            "more than 28 significant digits",
        ),
        (
            "a tenth of a cent",
            with(n, |it| it["variance_amount"] = json!("1.005")),
            amount,
            "has 3 decimal places, USD has 2",
        ),
        (
            "a part of a yen",
            with(n, |it| {
                it["currency"] = json!("JPY");
                it["variance_amount"] = json!("1.5");
            }),
            amount,
            "has 1 decimal places, JPY has 0",
        ),
        ("a bare NaN", replaced(n, "\"variance_amount\":\"", "\"variance_amount\":NaN,\"x\":\""), None, "not JSON"),
        (
            "a withdrawn currency",
            with(n, |it| it["currency"] = json!("DEM")),
            Some("currency"),
            "withdrawn; it is EUR now",
        ),
        (
            "no currency",
            with(n, |it| it["currency"] = json!("usd")),
            Some("currency"),
            "`usd` is not an ISO 4217 currency",
        ),
        ("gold", with(n, |it| it["currency"] = json!("XAU")), Some("currency"), "no minor units"),
        (
            "an amount in a side",
            with(n, |it| it["payload"]["statement_line"]["amount"] = json!(1)),
            Some("payload.statement_line.amount"),
            "1 is a JSON number",
        ),
        (
            "an empty date",
            with(n, |it| it["payload"]["statement_line"]["date"] = json!("")),
            Some("payload.statement_line.date"),
            "premature end of input",
        ),
        (
            "no side at all",
            with(n, |it| it["payload"]["statement_line"] = Value::Null),
            Some("payload"),
            "neither statement_line nor ledger_entry",
        ),
        (
            "an unknown decision",
            with(n, |it| it["match_decision"] = json!("MAYBE")),
            Some("match_decision"),
            "`MAYBE` is none of MATCHED, PARTIAL, UNMATCHED",
        ),
        (
            "an unknown kind",
            with(n, |it| it["kind"] = json!("invoice")),
            Some("kind"),
            "`invoice` is none of recon_break",
        ),
        (
            "an unknown tier",
            with(n, |it| it["routing_tier"] = json!("STANDARD")),
            Some("routing_tier"),
            "`STANDARD` is none of standard",
        ),
        (
            "an unknown version",
            with(n, |it| it["schema_version"] = json!(2)),
            Some("schema_version"),
            "version 2 is not supported",
        ),
        ("an unknown field", with(n, |it| it["approved_by"] = json!("mallory")), Some("approved_by"), "unknown field"),
        ("an empty key", with(n, |it| it["idempotency_key"] = json!("")), Some("idempotency_key"), "empty"),
        ("a blank key", with(n, |it| it["idempotency_key"] = json!("  ")), Some("idempotency_key"), "empty"),
        (
            "a key that is too long",
            with(n, |it| it["idempotency_key"] = json!("k".repeat(201))),
            Some("idempotency_key"),
            "longer than 200 characters",
        ),
        (
            "no key",
            with(n, |it| {
                it.as_object_mut().expect("an object").remove("idempotency_key");
            }),
            None,
            "missing field `idempotency_key`",
        ),
        (
            "no preparer",
            with(n, |it| it["prepared_by"] = json!([])),
            Some("prepared_by"),
            "expected 1 to 50 people, got 0",
        ),
        (
            "another hash",
            with(n, |it| it["source_hash"] = json!("0".repeat(64))),
            Some("source_hash"),
            "the SHA-256 of idempotency_key:ledger_entity",
        ),
        ("no trace", with(n, |it| it["trace_id"] = json!("none")), Some("trace_id"), "UUID"),
        (
            "another time zone",
            with(n, |it| it["submitted_at"] = json!("2026-10-05T02:10:03+02:00")),
            Some("submitted_at"),
            "is not in UTC",
        ),
        (
            "no time",
            with(n, |it| it["submitted_at"] = json!("2026-10-05")),
            Some("submitted_at"),
            "expected an instant of RFC 3339",
        ),
        (
            "a NUL character",
            with(n, |it| it["counterparty"] = json!("a\u{0}b")),
            Some("counterparty"),
            "NUL character (U+0000)",
        ),
        ("a NUL byte", replaced(n, "Counterparty ", "Counter\u{0}party "), None, "not JSON: control character"),
        (
            "a control character in a name",
            with(n, |it| it["partition_key"] = json!("a\u{1b}[2J")),
            Some("partition_key"),
            "control character U+001B",
        ),
        (
            "a byte that is no UTF-8",
            [b"{\"kind\":\"\xff".as_slice(), b"\"}"].concat(),
            None,
            "not UTF-8: the byte at position 10 is invalid",
        ),
        ("another document", b"[1, 2]".to_vec(), None, "expected a JSON object"),
        ("two documents", b"{} {}".to_vec(), None, "not JSON: trailing characters"),
        ("words", b"call me back".to_vec(), None, "not JSON"),
        ("a deep nest", "[".repeat(100_000).into_bytes(), None, "recursion limit"),
        (
            "fifty megabytes",
            with(n, |it| it["payload"]["memo"] = json!("x".repeat(50_000_000))),
            None,
            "at most 16777216 are allowed; its first 65536 are kept",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bad_line_is_a_dead_letter_with_its_line_field_and_reason_and_its_neighbours_go_in() -> anyhow::Result<()>
{
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let (cases, file) = (bad_lines(), directory.path().join("bad.jsonl"));
    let mut text = Vec::new();
    for (good, (_, bad, ..)) in (0..).zip(&cases) {
        text.extend([Arrival::new(good, "p").line().as_bytes(), b"\n", bad, b"\n"].concat());
    }
    let cut = Arrival::new(400, "p").line();
    let cut = &cut[..cut.len() / 2];
    text.extend([Arrival::new(399, "p").line().as_bytes(), b"\r\n\n", cut.as_bytes()].concat());
    std::fs::write(&file, &text)?;

    let report = admin.enqueue(&file).await?;
    let bad = cases.len() as u64 + 1;
    assert_eq!(
        (count(&report, "enqueued"), count(&report, "dead_letters_new"), count(&report, "blank")),
        (bad, bad, 1),
        "{report}"
    );
    let kept: Vec<(i64, Option<String>, String, String, String, Vec<u8>, i64)> = sqlx::query_as(
        "SELECT line, field, reason, code, class, original_hash, original_size FROM countersign.dead_letter ORDER BY line",
    )
    .fetch_all(&installation.owner)
    .await?;
    let last = ("a line that was cut off", cut.as_bytes().to_vec(), None, "not JSON: EOF while parsing");
    for (place, ((what, original, field, words), letter)) in (1..).zip(cases.iter().chain([&last]).zip(&kept)) {
        let (line, found_field, reason, code, class, original_hash, size) = letter;
        // The last one comes after a good and a blank line.
        assert_eq!(*line, place * 2 + i64::from(*what == last.0), "{what}");
        assert_eq!(found_field.as_deref(), *field, "{what}: {reason}");
        assert!(reason.contains(words), "{what}: `{words}` is not in: {reason}");
        assert_eq!((code.as_str(), class.as_str()), ("POISON_MESSAGE", "STRUCTURAL"), "{what}");
        assert_eq!(
            (original_hash.as_slice(), *size),
            (&hash::sha256(original).0[..], i64::try_from(original.len())?),
            "{what}"
        );
    }
    let whole = "SELECT count(*) FROM countersign.dead_letter WHERE sha256(original) = original_hash AND length(original) = original_size";
    assert_eq!(number(&installation, whole).await?, bad - 1, "all but the one that is too long are kept byte for byte");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_megabytes_go_in_in_the_memory_of_a_few() -> anyhow::Result<()> {
    const PEAK_KIB: u64 = 64 * 1024;
    let (_installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let memo = "x".repeat(9_000);
    let good = |number: u64| with(number, |it| it["payload"]["memo"] = json!(memo));
    let bad = |number: u64| with(number, |it| it["payload"]["memo"] = json!({"amount": 1, "text": memo}));
    for (what, line) in [("arrivals", &good as &dyn Fn(u64) -> Vec<u8>), ("dead letters", &bad)] {
        let file = directory.path().join("many.jsonl");
        let mut text = Vec::new();
        let mut lines = 0;
        while text.len() < 50_000_000 {
            text.extend(line(lines));
            text.push(b'\n');
            lines += 1;
        }
        std::fs::write(&file, &text)?;
        let ran = admin.run(&["enqueue", file.to_str().context("a path in UTF-8")?, "--json"]).await?;
        let report: Value = serde_json::from_str(&ran.stdout).context(ran.stderr)?;
        assert_eq!(count(&report, "enqueued") + count(&report, "dead_letters_new"), lines, "{what}: {report}");
        println!("50 MB of {what}: a peak of {} KiB", ran.peak_kib);
        assert!(ran.peak_kib < PEAK_KIB, "{what}: {} KiB", ran.peak_kib);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arrivals_come_in_on_the_standard_input_too() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let text = [Arrival::new(1, "p").line(), "no arrival".to_owned(), Arrival::new(2, "p").line()].join("\n");
    let ran = admin.run_with(&["enqueue", "-"], &[], text.as_bytes()).await?;
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.stdout.starts_with("standard input: 3 lines read, 2 enqueued, 1 refused by the gates.\n"),
        "{}",
        ran.stdout
    );
    let origin: (String, i64) =
        sqlx::query_as("SELECT origin, line FROM countersign.dead_letter").fetch_one(&installation.owner).await?;
    assert_eq!(origin, ("standard input".to_owned(), 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_or_reached_ends_with_2_and_says_what() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let nowhere = Admin::at("postgres://postgres:secret@127.0.0.1:1/close".to_owned())?;
    let no_database = Admin::at(installation.database().server().admin_url("nowhere"))?;
    let no_url = Admin::at("the close".to_owned())?;
    for (admin, arguments, words) in [
        (&admin, vec!["enqueue", "/nowhere/arrivals.jsonl"], &["/nowhere/arrivals.jsonl", "No such file"][..]),
        (&admin, vec!["enqueue", directory.path().to_str().context("UTF-8")?], &["cannot read", "directory"]),
        (&nowhere, vec!["status"], &["cannot reach the database close at 127.0.0.1:1", "refused"]),
        (&no_database, vec!["status"], &["cannot reach", "nowhere", "3D000"]),
        (&no_url, vec!["status"], &["the database's URL cannot be used"]),
    ] {
        let ran = admin.run(&arguments).await?;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{arguments:?}: `{word}` is not in: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    Ok(())
}

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
    admin.enqueue(&project().join("demo/exceptions.jsonl")).await?;
    let alice = installation.reviewer("alice").await?;
    let (backlog, workstation) = installation.workstation(&alice).await?;
    let mut items = lease(&backlog, workstation, 40).await?.items;
    // What stays undecided holds up the effects of what is behind it.
    let undecided = items.remove(0);
    let mut batch: Vec<_> = items.iter().map(|item| decision(item, &alice, Decision::Approve)).collect();
    batch[0] = decision(&items[0], &alice, Decision::Reject);
    let answers = backlog.sign_off(workstation, &batch).await?;
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
    assert_eq!(audited, "REVIEWER_ADDED REVIEWER_DISABLED");
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

async fn installed() -> anyhow::Result<(Installation, Admin)> {
    let installation = Installation::create().await?;
    let admin = Admin::at(installation.database().admin_url())?;
    Ok((installation, admin))
}

/// The root of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A number in a report.
fn count(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("{name} is not in {report}"))
}

async fn number(installation: &Installation, sql: &'static str) -> anyhow::Result<u64> {
    Ok(u64::try_from(owner::number(&installation.owner, sql).await?)?)
}
