//! Delimited files, and inputs that are cut off and run again.

use countersign_testkit::generate::Arrival;
use serde_json::json;

use crate::bad_lines::with;
use crate::{count, installed, number};

const MAPPING: &str = r#"
delimiter = ";"
encoding = "windows-1252"
decimal_mark = ","
grouping_mark = "."
date_format = "%d.%m.%Y"
instant_format = "%d.%m.%Y %H:%M:%S"
list_separator = "|"
derive = ["source_hash", "trace_id", "correlation_id"]
ignore = ["Notiz"]

[constants]
schema_version = 1
kind = "recon_break"
match_decision = "PARTIAL"
routing_tier = "standard"
partition_key = "DE-01"
currency = "EUR"
"payload.ledger_entry.currency" = "EUR"

[columns]
"Beleg" = "idempotency_key"
"Buchungskreis" = "ledger_entity"
"Gegenpartei" = "counterparty"
"Differenz" = { field = "variance_amount", type = "decimal" }
"Erfasst von" = { field = "prepared_by", type = "list" }
"Erfasst am" = { field = "submitted_at", type = "instant" }
"Buchungstag" = { field = "payload.ledger_entry.date", type = "date" }
"Referenz" = "payload.ledger_entry.source_id"
"#;

const HEAD: &str = "Beleg;Buchungskreis;Gegenpartei;Differenz;Erfasst von;Erfasst am;Buchungstag;Referenz;Notiz\r\n";

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a letter of windows-1252")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delimited_file_is_read_as_its_mapping_says_and_nothing_is_guessed() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let (mapping, file) = (directory.path().join("m.toml"), directory.path().join("breaks.csv"));
    std::fs::write(&mapping, MAPPING)?;
    let good = "B-1;de-01;Müller & Söhne;-1.234,56;anna|bert;05.10.2026 00:10:03;04.10.2026;INV 1;\r\n";
    let quoted = "B-2;de-01;\"a;b\r\nc\";7;anna;05.10.2026 00:10:03;04.10.2026;INV 2;x\r\n";
    let bad = [
        (
            "B-3;de-01;x;12.34;anna;05.10.2026 00:10:03;04.10.2026;r;\r\n",
            "line 5, column 4 (`Differenz`): `12.34` has a grouping mark",
        ),
        ("B-4;de-01;x;1,5;anna;2026-10-05T00:10:03Z;04.10.2026;r;\r\n", "line 6, column 6 (`Erfasst am`)"),
        (
            "B-5;de-01;x;1,5;anna;05.10.2026 00:10:03;10/04/2026;r;\r\n",
            "line 7, column 7 (`Buchungstag`): `10/04/2026` is no date as %d.%m.%Y",
        ),
        ("B-6;de-01;x;1,5\r\n", "line 8: 9 columns are expected, there are 4"),
        ("B-7;de-01;x;1,5;anna;05.10.2026 00:10:03;30.02.2026;r;\r\n", "line 9, column 7"),
    ];
    let text = [HEAD, good, quoted].concat() + &bad.iter().map(|(line, _)| *line).collect::<String>();
    std::fs::write(&file, latin(&text))?;
    let arguments = ["enqueue", file.to_str().unwrap_or_default(), "--mapping", mapping.to_str().unwrap_or_default()];
    let report = admin.json(&arguments).await?;
    // A line end inside a quoted cell passes no gate of its own: a counterparty may have one.
    assert_eq!((count(&report, "enqueued"), count(&report, "refused")), (2, 5), "{report}");
    let row: (String, String, String, Vec<String>) = sqlx::query_as(
        "SELECT e.variance_amount::text, e.counterparty, to_char(e.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), e.prepared_by
         FROM countersign.exception e WHERE e.idempotency_key = 'B-1'",
    )
    .fetch_one(&installation.owner)
    .await?;
    let expected = ("-1234.56", "Müller & Söhne", "2026-10-05 00:10:03", vec!["anna".to_owned(), "bert".to_owned()]);
    assert_eq!((row.0.as_str(), row.1.as_str(), row.2.as_str(), row.3), expected);
    let letters: Vec<(i64, String, Vec<u8>)> =
        sqlx::query_as("SELECT line, reason, original FROM countersign.dead_letter ORDER BY line")
            .fetch_all(&installation.owner)
            .await?;
    for ((line, reason, original), (record, words)) in letters.iter().zip(bad) {
        assert!(reason.contains(words), "line {line}: `{words}` is not in: {reason}");
        assert_eq!(original, record.trim_end().as_bytes(), "the very bytes are kept");
    }
    let again = admin.json(&arguments).await?;
    assert_eq!((count(&again, "duplicates"), count(&again, "dead_letters_seen_before")), (2, 5), "{again}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_or_a_mapping_that_leaves_something_open_is_refused_before_anything_goes_in() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let (mapping, file) = (directory.path().join("m.toml"), directory.path().join("b.csv"));
    let row = "B-1;de-01;x;1,00;anna;05.10.2026 00:10:03;04.10.2026;r;\r\n";
    let head = |from: &str, to: &str| HEAD.replace(from, to) + row;
    for (map, text, words) in [
        (MAPPING.to_owned(), head("Notiz", "Beleg"), "`Beleg` is there twice"),
        (MAPPING.to_owned(), head("Notiz", "Betrag"), "column 9, `Betrag`, is not in the mapping"),
        (MAPPING.to_owned(), head(";Referenz", ""), "there is no column `Referenz`"),
        (MAPPING.to_owned(), format!("\u{ef}\u{bb}\u{bf}{HEAD}{row}"), "byte order mark"),
        (MAPPING.to_owned(), String::new(), "it is empty"),
        (MAPPING.replace("decimal_mark = \",\"\n", ""), head("", ""), "decimal_mark is said too"),
        (MAPPING.replace("%d.%m.%Y\"\ninst", "%d.%m.%y\"\ninst"), head("", ""), "four digits"),
        (MAPPING.replace("\"DE-01\"", "\"DE-01\"\nledger_entity = \"x\""), head("", ""), "would both be set"),
        (MAPPING.replace("windows-1252", "ebcdic"), head("", ""), "unknown variant `ebcdic`"),
    ] {
        std::fs::write(&mapping, map)?;
        std::fs::write(&file, latin(&text))?;
        let ran = admin
            .run(&["enqueue", file.to_str().unwrap_or_default(), "--mapping", mapping.to_str().unwrap_or_default()])
            .await?;
        assert!(ran.code == 1 && ran.stderr.contains(words), "{words}: {ran:?}");
    }
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.exception").await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_that_was_cut_off_anywhere_is_run_again_and_nothing_is_there_twice() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let whole: Vec<String> = (0..4_000).map(|n| Arrival::new(n, &format!("p-{}", n % 7)).line()).collect();
    for lines in [1, 999, 1_000, 1_001, 2_500] {
        admin.run_with(&["enqueue", "-"], &[], (whole[..lines].join("\n") + "\n").as_bytes()).await?;
        assert_eq!(number(&installation, "SELECT count(*) FROM countersign.exception").await?, lines as u64);
    }
    let ran = admin.run_with(&["enqueue", "-", "--json"], &[], whole.join("\n").as_bytes()).await?;
    let report: serde_json::Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!((count(&report, "enqueued"), count(&report, "duplicates")), (1_500, 2_500), "{report}");
    let gaps = "SELECT count(*) FROM countersign.partition p WHERE p.next_seq - 1 <> (SELECT count(*) FROM countersign.exception e WHERE e.partition_key = p.partition_key)";
    assert_eq!(number(&installation, gaps).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_arrivals_take_their_own_way_and_keep_their_place_in_their_partition() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let memo = "x".repeat(1_200_000);
    let mut text = Vec::new();
    for number in 0..40 {
        let heavy = number % 10 == 3;
        let line = with(number, |it| {
            if heavy {
                it["payload"]["memo"] = json!(memo);
            }
        });
        text.extend(line);
        text.push(b'\n');
    }
    let ran = admin.run_with(&["enqueue", "-", "--json"], &[], &text).await?;
    let report: serde_json::Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!(count(&report, "enqueued"), 40, "{report}");
    let out_of_order = "SELECT count(*) FROM countersign.exception e WHERE e.idempotency_key <> 'generated-' || lpad((e.seq - 1)::text, 9, '0')";
    assert_eq!(number(&installation, out_of_order).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_may_make_temporary_tables_arrivals_go_in_all_the_same() -> anyhow::Result<()> {
    let (installation, _) = installed().await?;
    let (login, password) = installation.database().login("bare").await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "GRANT countersign_producer TO {login}; REVOKE TEMPORARY ON DATABASE \"{}\" FROM PUBLIC",
        installation.database().name()
    )))
    .execute(&installation.owner)
    .await?;
    let admin = countersign_tests::admin::Admin::at(installation.database().url_for(&login, &password))?;
    let ran = admin.run_with(&["enqueue", "-"], &[], Arrival::new(1, "p").line().as_bytes()).await?;
    assert!(ran.code == 0 && ran.stdout.contains("1 enqueued"), "{ran:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_text_and_a_quote_that_is_not_closed_are_told_with_their_place() -> anyhow::Result<()> {
    let (installation, admin) = installed().await?;
    let directory = tempfile::tempdir()?;
    let (mapping, file) = (directory.path().join("m.toml"), directory.path().join("breaks.csv"));
    std::fs::write(&mapping, MAPPING)?;
    let line = |key: &str, whom: &str| format!("{key};de-01;{whom};7;anna;05.10.2026 00:10:03;04.10.2026;r;\r\n");
    // The bytes 81, 8D, 8F, 90 and 9D mean nothing in windows-1252; 80 is its euro sign.
    let text = [
        HEAD,
        &line("B-1", "\u{80}"),
        &line("B-2", "a\u{81}b"),
        &line("B-3", "\u{9d}"),
        &line("B-4", "\"a \"\"b\"\"\""),
        &line("B-5", "\"open"),
        &line("B-6", "x"),
        &line("B-7", "y"),
    ];
    std::fs::write(&file, latin(&text.concat()))?;
    let (file, mapping) = (file.to_str().unwrap_or_default(), mapping.to_str().unwrap_or_default());

    let refused = admin.run(&["enqueue", file]).await?;
    assert!(refused.code != 0 && refused.stderr.contains("--mapping"), "{refused:?}");
    assert_eq!(number(&installation, "SELECT count(*) FROM countersign.dead_letter").await?, 0);

    let report = admin.json(&["enqueue", file, "--mapping", mapping]).await?;
    assert_eq!((count(&report, "enqueued"), count(&report, "refused")), (2, 3), "{report}");
    let sql = "SELECT d.reason FROM countersign.dead_letter d ORDER BY d.line";
    let reasons: Vec<String> = sqlx::query_scalar(sql).fetch_all(&installation.owner).await?;
    for (reason, words) in reasons.iter().zip([
        "line 3, column 3 (`Gegenpartei`): it is not in the encoding",
        "line 4, column 3 (`Gegenpartei`): it is not in the encoding",
        "most likely the one that opens column 3 on line 6 is not closed",
    ]) {
        assert!(reason.contains(words), "{reason}");
    }
    Ok(())
}
