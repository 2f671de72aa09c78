//! Receipts, read back by those who know nothing of who wrote them.

use countersign_paper::receipt::{BatchReceipt, FORMAT, Line, Total};
use countersign_paper::receipt_csv::receipt_csv;
use countersign_paper::receipt_json::receipt_json;
use countersign_paper::receipt_pdf::receipt_pdf;

use super::common::{at, csv_grid};

fn total(currency: &str, net: &str, count: u32) -> Total {
    let (net, zero) = (net.to_owned(), "0.00".to_owned());
    Total { currency: currency.to_owned(), count, debits: net.clone(), credits: zero, largest: net.clone(), net }
}

fn receipt(decisions: Vec<Line>) -> BatchReceipt {
    let count = |state: &str| u32::try_from(decisions.iter().filter(|line| line.state == state).count()).unwrap_or(0);
    let signed = u32::try_from(decisions.len()).unwrap_or(0);
    BatchReceipt {
        format: FORMAT,
        made_at: at(),
        batch: "7f0c2f9e-6a0e-4b7e-9d8d-0f6c1c0f7a11".into(),
        reviewer: "dana".into(),
        workstation: "desk-12".into(),
        decided_at: "2026-10-05T08:00:00.000Z".into(),
        decision: "APPROVE".into(),
        reason: None,
        comment: None,
        policy_version: 7,
        attestation: "I have examined these exceptions and their evidence, and I decide as stated.".into(),
        signed,
        committed: count("COMMITTED"),
        held: count("HELD"),
        awaiting: 0,
        refused: count("REFUSED"),
        waiting: count("READY"),
        totals: vec![total("EUR", "1234567.89", signed)],
        accepted: vec![total("EUR", "1234000.00", count("COMMITTED"))],
        hash_total: "5f".repeat(32),
        receipts: vec!["1042".into(), "1043".into()],
        decisions,
    }
}

fn line(number: u32, counterparty: &str) -> Line {
    let state = ["COMMITTED", "COMMITTED", "REFUSED", "READY"][number as usize % 4];
    let (outcome, message) = match state {
        "REFUSED" => (Some("OVER_LIMIT".to_owned()), Some("It is over your limit.".to_owned())),
        "READY" => (None, None),
        accepted => (Some(accepted.to_owned()), Some("Committed.".to_owned())),
    };
    Line {
        exception: (100_000 + number).to_string(),
        entity: "DE01".into(),
        counterparty: counterparty.to_owned(),
        amount: format!("-{number}.05"),
        currency: "EUR".into(),
        state: state.to_owned(),
        outcome,
        message,
        sign_off_key: format!("{number:064x}"),
    }
}

fn many(count: u32) -> BatchReceipt {
    receipt((0..count).map(|number| line(number, "Müller & Söhne Αθήνα Москва")).collect())
}

/// The text of each page.
fn pages(pdf: &[u8]) -> Vec<String> {
    let document = lopdf::Document::load_mem(pdf).expect("a PDF");
    document.get_pages().keys().map(|page| document.extract_text(&[*page]).expect("text")).collect()
}

#[test]
fn a_receipt_to_print_says_what_was_signed_on_numbered_pages() {
    let pdf = receipt_pdf(&many(200)).expect("written");
    let pages = pages(&pdf);
    assert!(pages.len() > 2, "{}", pages.len());
    for text in [
        "Receipt: 200 approvals",
        "dana",
        "200 signed = 100 committed + 0 held + 0 awaiting a second signature + 50 refused + 50 waiting",
        "1,234,567.89",
        "1042, 1043",
        "“I have examined these exceptions and their evidence, and I decide as stated.”",
        &"5f".repeat(32),
        "Müller & Söhne Αθήνα Москва",
        "Counterparty",
    ] {
        assert!(pages[0].contains(text), "{text} is not on the first page: {}", pages[0]);
    }
    for (number, page) in pages.iter().enumerate() {
        assert!(page.contains(&format!("Page {} of {}", number + 1, pages.len())), "{page}");
        assert!(page.contains("Answer"), "each page has the heading of the table");
    }
    let all = pages.concat();
    assert!((0..200).all(|number| all.contains(&(100_000 + number).to_string())), "every decision is there");
}

#[test]
fn what_is_held_is_counted_for_itself() {
    let mut held = line(0, "ACME");
    (held.state, held.outcome) = ("COMMITTED".to_owned(), Some("HELD".to_owned()));
    let mut receipt = receipt(vec![line(1, "ACME"), held, line(2, "ACME")]);
    (receipt.committed, receipt.held) = (1, 1);
    let words = "3 signed = 1 committed + 1 held + 0 awaiting a second signature + 1 refused + 0 waiting";
    assert_eq!(receipt.reconciliation().as_deref(), Ok(words));
    let text = pages(&receipt_pdf(&receipt).expect("written")).concat();
    assert!(text.contains(words) && text.matches("HELD").count() == 1, "{text}");
    let json: serde_json::Value = serde_json::from_slice(&receipt_json(&receipt).expect("written")).expect("JSON");
    assert_eq!((&json["committed"], &json["held"]), (&1.into(), &1.into()));
    let grid = csv_grid(&receipt_csv(&receipt).expect("written"));
    assert_eq!((grid[2][12].as_str(), grid[2][13].as_str()), ("COMMITTED", "HELD"));
}

#[test]
fn what_could_hide_in_a_receipt_is_spelled_out() {
    let mut hostile = receipt(vec![
        line(0, "a\u{202E}b\u{200B}\n=1"),
        line(1, "株式会社"),
        line(2, "شركة"),
        line(3, &"x".repeat(10_000)),
    ]);
    hostile.comment = Some(format!("one\ntwo\u{7} {}", "ж".repeat(1_900)));
    let pages = pages(&receipt_pdf(&hostile).expect("written"));
    let all = pages.concat();
    for text in ["a<U+202E>b<U+200B><U+000A…", "two<U+0007>", "□□□□", "□ stands for a character", "xxx…"]
    {
        assert!(all.contains(text), "{text}: {all}");
    }
    assert_eq!(all.matches('ж').count(), 1_900, "a long word is broken and not cut");
}

#[test]
fn a_receipt_that_does_not_add_up_says_so() {
    let mut wrong = many(4);
    assert!(wrong.reconciliation().is_ok());
    wrong.committed += 1;
    assert!(wrong.reconciliation().is_err());
    assert!(pages(&receipt_pdf(&wrong).expect("written"))[0].contains("THIS DOES NOT ADD UP"));
}

#[test]
fn the_same_receipt_is_the_same_file_and_its_fonts_are_in_it() {
    let pdf = receipt_pdf(&many(10)).expect("written");
    assert_eq!(pdf, receipt_pdf(&many(10)).expect("written"));
    let document = lopdf::Document::load_mem(&pdf).expect("a PDF");
    let embedded =
        document.objects.values().filter(|object| object.as_dict().is_ok_and(|dict| dict.has(b"FontFile2"))).count();
    assert_eq!(embedded, 2, "regular and bold");
    assert!(pdf.len() < 100_000, "{} bytes: subsets, not whole fonts", pdf.len());
}

#[test]
fn five_thousand_decisions_are_one_file_of_many_pages() {
    let pdf = receipt_pdf(&many(5_000)).expect("written");
    let pages = pages(&pdf);
    assert_eq!(pages.len(), 84);
    assert!(pages[83].contains("104999") && pages[83].contains("Page 84 of 84"), "{}", pages[83]);
    assert!(pdf.len() < 1 << 20, "{} bytes", pdf.len());
}

#[test]
fn json_has_every_field_and_amounts_as_text() {
    let receipt = many(3);
    let value: serde_json::Value = serde_json::from_slice(&receipt_json(&receipt).expect("written")).expect("JSON");
    assert_eq!(value["format"], FORMAT);
    assert_eq!(value["made_at"], "2026-10-05T08:00:00.000Z");
    assert_eq!(value["decisions"][2]["amount"], "-2.05");
    assert_eq!(value["decisions"][2]["outcome"], "OVER_LIMIT");
    assert_eq!(value["totals"][0]["net"], "1234567.89");
    let names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(names.len(), 22, "{names:?}");
}

#[test]
fn comma_separated_text_has_one_harmless_line_a_decision() {
    let mut receipt = receipt(vec![line(1, "=1+1"), line(2, "ACME")]);
    receipt.comment = Some("@SUM(1)".into());
    let grid = csv_grid(&receipt_csv(&receipt).expect("written"));
    assert_eq!(grid.len(), 3);
    assert_eq!((grid[1][9].as_str(), grid[1][10].as_str(), grid[1][5].as_str()), ("'=1+1", "-1.05", "'@SUM(1)"));
    assert_eq!(grid[2][13], "OVER_LIMIT");
}
