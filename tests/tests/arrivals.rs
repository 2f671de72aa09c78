//! Taking arrivals in, through the program that operators run: every line is accounted for, whatever is on it.

#[path = "arrivals/bad_lines.rs"]
mod bad_lines;
#[path = "arrivals/claim_lines.rs"]
mod claim_lines;
#[path = "arrivals/delimited.rs"]
mod delimited;
#[path = "arrivals/operators.rs"]
mod operators;
#[path = "arrivals/receipts.rs"]
mod receipts;
#[path = "arrivals/same_gates.rs"]
mod same_gates;
#[path = "arrivals/sql_gates.rs"]
mod sql_gates;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bad_lines::{Bad, bad_lines, shape, with};
use countersign_domain::hash;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::admin::Admin;
use countersign_tests::owner;
use serde_json::{Value, json};

/// The lines of the exceptions that ship with the project.
const SHIPPED: u64 = 1_485;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_of_the_shipped_exceptions_is_accounted_for_and_a_second_run_changes_nothing() -> anyhow::Result<()>
{
    let (installation, admin) = installed().await?;
    let file = project().join("demo/exceptions.jsonl");
    let vendors = project().join("demo/vendors.csv");
    let ran = admin.run(&["vendor", "import", vendors.to_str().context("a path in UTF-8")?]).await?;
    assert_eq!(ran.code, 0, "{ran:?}");
    let first = admin.enqueue(&file).await?;
    let unknown = "SELECT count(*) FROM countersign.dead_letter WHERE cause = 'VENDOR'";
    assert_eq!(number(&installation, unknown).await?, 0, "every vendor ships with its claims");
    let (enqueued, released) = (count(&first, "enqueued"), count(&first, "released"));
    let dead = count(&first, "dead_letters_new");
    assert_eq!((count(&first, "lines"), enqueued + released + dead), (SHIPPED, SHIPPED), "{first}");
    assert_eq!(released, 10, "of the twelve receipts that were read well, ten match");
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.released").await?, released);
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
        (enqueued + released, dead),
        "{second}"
    );
    assert_eq!(
        ["enqueued", "released", "corrected", "dead_letters_new"].map(|name| count(&second, name)).iter().sum::<u64>(),
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
    let shipped = project().join("demo/exceptions.jsonl");
    for file in [&shipped, &more, &duplicates] {
        installation.register_vendors(&std::fs::read_to_string(file)?).await?;
    }
    let first = admin.enqueue(&shipped).await?;
    for (file, enqueues) in [(more, true), (duplicates, false)] {
        let lines = std::fs::read_to_string(&file)?.lines().count() as u64;
        let report = admin.enqueue(&file).await?;
        let good =
            ["enqueued", "released", "corrected", "duplicates"].map(|name| count(&report, name)).iter().sum::<u64>();
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

/// What is kept of a dead letter: line, field, reason, code and class, hash and size of the original.
type Kept = (i64, Option<String>, String, String, Vec<u8>, i64);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bad_line_is_a_dead_letter_with_its_line_field_and_reason_and_its_neighbours_go_in() -> anyhow::Result<()>
{
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let (mut cases, file) = (bad_lines(), directory.path().join("bad.jsonl"));
    let mut text = Vec::new();
    for (good, bad) in (0..).zip(&cases) {
        text.extend([Arrival::new(good, "p").line().as_bytes(), b"\n", &bad.line, b"\n"].concat());
    }
    // The last line was cut off; before it come a good one that ends as on Windows, and one with nothing on it.
    let cut = Arrival::new(400, "p").line()[..100].to_owned();
    text.extend([Arrival::new(399, "p").line().as_bytes(), b"\r\n\n", cut.as_bytes()].concat());
    cases.push(shape("a line that was cut off", cut, "not JSON: EOF while parsing"));
    std::fs::write(&file, &text)?;

    let report = admin.enqueue(&file).await?;
    let bad = cases.len() as u64;
    assert_eq!((count(&report, "enqueued"), count(&report, "dead_letters_new")), (bad, bad), "{report}");
    assert_eq!((count(&report, "lines"), count(&report, "blank")), (2 * bad + 1, 1), "{report}");
    let kept: Vec<Kept> = sqlx::query_as(
        "SELECT line, field, reason, code || ' ' || class, original_hash, original_size
         FROM countersign.dead_letter ORDER BY line",
    )
    .fetch_all(&installation.owner)
    .await?;
    let last = cases.len() - 1;
    let mut differing = Vec::new();
    for (place, (case, letter)) in cases.iter().zip(&kept).enumerate() {
        let Bad { what, line, field, words } = case;
        let (found_line, found_field, reason, verdict, original_hash, size) = letter;
        let number = 2 * (place + 1) + usize::from(place == last);
        assert_eq!(*found_line, i64::try_from(number)?, "{what}");
        if found_field.as_deref() != *field || !reason.contains(words) {
            differing.push(format!("{what}: {found_field:?}: {reason}"));
        }
        assert_eq!(verdict, "POISON_MESSAGE STRUCTURAL", "{what}");
        assert_eq!(
            (original_hash.as_slice(), *size),
            (&hash::sha256(line).0[..], i64::try_from(line.len())?),
            "{what}"
        );
    }
    assert!(differing.is_empty(), "{differing:#?}");
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
async fn an_input_of_which_nothing_gets_in_is_refused_and_kept() -> anyhow::Result<()> {
    let (_installation, admin) = installed().await?;
    for (input, code) in [
        ("no arrival\n\n{}\n".to_owned(), 1),
        ("\n\n".to_owned(), 0),
        (format!("no arrival\n{}\n", Arrival::new(1, "p").line()), 0),
        // Known already is as good as in.
        (format!("{}\nno arrival\n", Arrival::new(1, "p").line()), 0),
    ] {
        for arguments in [&["enqueue", "-"][..], &["enqueue", "-", "--json"]] {
            let ran = admin.run_with(arguments, &[], input.as_bytes()).await?;
            let last = "countersign-admin: nothing of standard input went in: every line was refused\n";
            assert_eq!(
                (ran.code, ran.stderr.as_str()),
                (code, if code == 1 { last } else { "" }),
                "{input:?}: {ran:?}"
            );
            assert!(ran.stdout.contains("refused") || input == "\n\n", "what became of it is told: {}", ran.stdout);
        }
    }
    let kept = admin.json(&["dead-letters", "list"]).await?;
    assert_eq!(kept.as_array().map(Vec::len), Some(2), "one for each different line: {kept}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_or_reached_ends_with_2_and_says_what() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let nowhere = Admin::at("postgres://postgres:secret@127.0.0.1:1/close".to_owned())?;
    let no_database = Admin::at(installation.database().server().admin_url("nowhere"))?;
    let no_url = Admin::at("the close".to_owned())?;
    let another = Admin::at("mysql://root:secret@127.0.0.1/close".to_owned())?;
    for (admin, arguments, words) in [
        (&admin, vec!["enqueue", "/nowhere/arrivals.jsonl"], &["/nowhere/arrivals.jsonl", "No such file"][..]),
        (&admin, vec!["enqueue", directory.path().to_str().context("UTF-8")?], &["cannot read", "directory"]),
        (&nowhere, vec!["status"], &["cannot reach the database close at 127.0.0.1:1", "refused"]),
        (&no_database, vec!["status"], &["cannot reach", "nowhere", "3D000"]),
        (&no_url, vec!["status"], &["the database's URL cannot be used"]),
        (&another, vec!["status"], &["the database's URL cannot be used", "postgresql://"]),
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
    let number = report[name].as_u64();
    assert!(number.is_some(), "{name} is not in {report}");
    number.unwrap_or_default()
}

async fn number(installation: &Installation, sql: &'static str) -> anyhow::Result<u64> {
    Ok(u64::try_from(owner::number(&installation.owner, sql).await?)?)
}
