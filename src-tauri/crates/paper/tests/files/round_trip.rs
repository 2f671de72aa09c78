//! Decks that go out, seen by readers that know nothing of who wrote them, and come back as they left.

use std::io::{Cursor, Write as _};

use super::common::{at, csv_grid, delimited, fill, place, row, said};
use calamine::{Data, Reader as _, SheetVisible, Xlsx};
use countersign_domain::policy::Policy;
use countersign_domain::sign_off::Decision;
use countersign_domain::visible::visible;
use countersign_paper::decisions::decisions;
use countersign_paper::deck_csv::deck_csv;
use countersign_paper::deck_xlsx::deck_xlsx;
use countersign_paper::sheet::{Column, SheetRow};
use countersign_paper::table::{self, Unreadable};
use proptest::prelude::*;

const HOSTILE: [&str; 14] = [
    "=HYPERLINK(\"http://example.org\",\"x\")",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "\t=1",
    "\r\n=1",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "a\u{202E}b\u{200B}c",
    "quotes \" and ' and , and ;",
    "'",
    "_x0041_ \u{0} \u{1F9FE}",
    "line one\nline two",
];

fn workbook(deck: &[SheetRow]) -> Vec<u8> {
    deck_xlsx(deck, &Policy::default().reason_codes, at()).expect("written")
}

fn opened(bytes: &[u8]) -> Xlsx<Cursor<&[u8]>> {
    calamine::open_workbook_from_rs(Cursor::new(bytes)).expect("a workbook")
}

fn hostile() -> Vec<SheetRow> {
    let one = |(id, text): (i64, &&str)| SheetRow {
        counterparty: (*text).to_owned(),
        entity: (*text).to_owned(),
        group: Some((*text).to_owned()),
        key: (*text).to_owned(),
        ..row(id, "-12.50", "EUR")
    };
    let long = SheetRow { counterparty: "x".repeat(40_000), ..row(99, "1.00", "EUR") };
    (1..).zip(&HOSTILE).map(one).chain([long]).collect()
}

#[test]
fn a_workbook_holds_numbers_as_numbers_and_text_as_text() {
    let deck =
        [row(1, "-1234567.89", "EUR"), row(2, "7", "JPY"), row(3, "12345678901234.567", "BHD"), row(4, "0.00", "USD")];
    let bytes = workbook(&deck);
    let mut book = opened(&bytes);
    assert_eq!(book.sheet_names(), ["Deck", "Reason codes", "How to"]);
    assert!(book.sheets_metadata().iter().all(|sheet| sheet.visible == SheetVisible::Visible));
    let sheet = book.worksheet_range("Deck").expect("the deck");
    let cell = |line: u32, column| sheet.get_value((line, u32::try_from(place(column)).expect("small"))).cloned();
    assert_eq!(cell(0, Column::Content), Some(Data::String("Content SHA-256".into())));
    assert_eq!(cell(1, Column::Variance), Some(Data::Float(-1_234_567.89)));
    assert_eq!(cell(2, Column::Variance), Some(Data::Float(7.0)));
    assert_eq!(
        cell(3, Column::Variance),
        Some(Data::String("12345678901234.567".into())),
        "17 digits do not fit a number"
    );
    assert_eq!(cell(1, Column::Exception), Some(Data::String("1".into())));
    assert_eq!(cell(1, Column::Version), Some(Data::Float(2.0)));
    assert!(
        matches!(cell(1, Column::Due), Some(Data::DateTime(day)) if day.to_string() == "46300"),
        "{:?}",
        cell(1, Column::Due)
    );
    let reasons = book.worksheet_range("Reason codes").expect("the codes");
    assert_eq!(reasons.height(), Policy::default().reason_codes.len() + 1);
}

#[test]
fn no_text_of_a_workbook_is_a_formula_or_a_link() {
    let bytes = workbook(&hostile());
    let mut book = opened(&bytes);
    assert_eq!(book.worksheet_formula("Deck").expect("the deck").used_cells().count(), 0);
    let sheet = book.worksheet_range("Deck").expect("the deck");
    let column = u32::try_from(place(Column::Counterparty)).expect("small");
    for (line, text) in (1..).zip(HOSTILE) {
        assert_eq!(sheet.get_value((line, column)), Some(&Data::String(visible(text).into_owned())), "{text:?}");
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).expect("an archive");
    let mut xml = String::new();
    std::io::Read::read_to_string(&mut archive.by_name("xl/worksheets/sheet1.xml").expect("the sheet"), &mut xml)
        .expect("text");
    assert!(!xml.contains("<f>") && !xml.contains("hyperlink"));
    for part in [
        "state=\"frozen\"",
        "<autoFilter",
        "APPROVE,REJECT",
        "'Reason codes'!$A$2:$A$7",
        "hidden=\"1\"",
        "numberStoredAsText",
    ] {
        assert!(xml.contains(part), "{part}");
    }
}

#[test]
fn no_cell_of_comma_separated_text_is_a_formula() {
    let deck = hostile();
    let bytes = deck_csv(&deck).expect("written");
    assert!(bytes.starts_with(b"\xEF\xBB\xBFDecision,Reason,Comment,Exception,"));
    let grid = csv_grid(&bytes);
    for cells in &grid[1..] {
        for (at, cell) in cells.iter().enumerate() {
            let number = at == place(Column::Variance);
            assert!(number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell:?}");
        }
    }
    assert_eq!(grid[1][place(Column::Variance)], "-12.50");
    for (line, text) in HOSTILE.iter().enumerate() {
        assert_eq!(said(&grid, line, Column::Counterparty), visible(text));
    }
}

#[test]
fn hostile_text_comes_back_without_a_difference() {
    let deck = hostile();
    let mut grid = csv_grid(&deck_csv(&deck).expect("written"));
    for line in 0..deck.len() {
        fill(&mut grid, line, Column::Decision, "APPROVE");
    }
    let import = decisions(&table::read(&delimited(&grid, b',')).expect("readable"), &deck, &Policy::default());
    assert_eq!((import.differences, import.problems), (vec![], vec![]));
    assert_eq!(import.groups[0].ids.len(), deck.len());
}

#[test]
fn the_same_deck_at_the_same_time_is_the_same_file() {
    let deck = hostile();
    assert_eq!(workbook(&deck), workbook(&deck));
    assert_eq!(deck_csv(&deck).expect("written"), deck_csv(&deck).expect("written"));
}

#[test]
fn an_empty_deck_is_a_file_that_comes_back_empty() {
    for bytes in [workbook(&[]), deck_csv(&[]).expect("written")] {
        let import = decisions(&table::read(&bytes).expect("readable"), &[], &Policy::default());
        assert_eq!((import.rows, import.groups, import.problems), (0, vec![], vec![]));
    }
}

#[test]
fn a_bomb_is_not_unpacked_into_memory() {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("xl/workbook.xml", zip::write::SimpleFileOptions::default()).expect("a part");
    let zeros = vec![0_u8; 1 << 20];
    for _ in 0..201 {
        archive.write_all(&zeros).expect("in memory");
    }
    let bytes = archive.finish().expect("in memory").into_inner();
    assert!(bytes.len() < 1 << 20);
    assert_eq!(table::read(&bytes).expect_err("refused"), Unreadable::Unpacked);
    assert!(matches!(table::read(b"PK\x03\x04 and nothing more"), Err(Unreadable::Workbook(_))));
}

#[test]
fn a_cell_far_out_costs_nothing() {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (at, heading) in (0..).zip(["Decision", "Exception", "Version", "Content SHA-256"]) {
        sheet.write_string(0, at, heading).expect("written");
    }
    sheet.write_string(1_048_575, 1, "7").expect("written");
    let bytes = book.save_to_buffer().expect("in memory");
    let table = table::read(&bytes).expect("readable");
    assert_eq!(table.rows.iter().map(|row| row.number).collect::<Vec<_>>(), [1_048_576]);
}

fn any_row() -> impl Strategy<Value = SheetRow> {
    let text = prop_oneof![".{0,12}", "[=+@'\\-]{1,3}[a-z]{0,3}", "[ \t\r\n]{0,3}x"];
    let amount = (any::<i64>(), 0_usize..5).prop_map(|(units, which)| {
        let (code, digits) = [("JPY", 0), ("EUR", 2), ("BHD", 3), ("CLF", 4), ("USD", 2)][which];
        (rust_decimal::Decimal::new(units, digits).to_string(), code)
    });
    (1..i64::MAX, amount, text.clone(), text).prop_map(|(id, (amount, currency), counterparty, entity)| SheetRow {
        counterparty,
        entity,
        ..row(id, &amount, currency)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_leaves_comes_back(mut deck in prop::collection::vec(any_row(), 1..8), xlsx in any::<bool>(), comment in "\\PC{0,20}") {
        deck.sort_by_key(|item| item.id);
        deck.dedup_by_key(|item| item.id);
        let mut grid = csv_grid(&deck_csv(&deck).expect("written"));
        if xlsx {
            // What a spreadsheet would save: the sheet as it was read, as text.
            let read = opened(&workbook(&deck)).worksheet_range("Deck").expect("the deck");
            grid = read.rows().map(|cells| cells.iter().map(ToString::to_string).collect()).collect();
        }
        for line in 0..deck.len() {
            fill(&mut grid, line, Column::Decision, "REJECT");
            fill(&mut grid, line, Column::Reason, "OTHER");
            fill(&mut grid, line, Column::Comment, &countersign_paper::guard::guarded(&comment));
        }
        let bytes = if xlsx { saved(&grid) } else { delimited(&grid, b';') };
        let import = decisions(&table::read(&bytes).expect("readable"), &deck, &Policy::default());
        prop_assert_eq!(&import.problems, &vec![]);
        prop_assert_eq!(&import.differences, &vec![]);
        prop_assert_eq!(import.groups.len(), 1);
        prop_assert_eq!(import.groups[0].decision, Decision::Reject);
        let ids: Vec<_> = deck.iter().map(|item| item.id).collect();
        prop_assert_eq!(&import.groups[0].ids, &ids);
    }
}

/// A workbook of text, as one that a spreadsheet saved.
fn saved(grid: &super::common::Grid) -> Vec<u8> {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (line, cells) in (0..).zip(grid) {
        for (at, text) in (0..).zip(cells) {
            sheet.write_string(line, at, text).expect("written");
        }
    }
    book.save_to_buffer().expect("in memory")
}
