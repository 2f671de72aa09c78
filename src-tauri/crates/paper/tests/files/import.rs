//! Decisions that come back, held against the deck.

use super::common::{Grid, csv_grid, delimited, fill, place, row};
use countersign_domain::id::ExceptionId;
use countersign_domain::policy::Policy;
use countersign_domain::sign_off::Decision;
use countersign_paper::decisions::{Group, Import, LISTED, decisions};
use countersign_paper::deck_csv::deck_csv;
use countersign_paper::sheet::{Column, SheetRow};
use countersign_paper::table::{self, Unreadable};

fn exported(deck: &[SheetRow]) -> Grid {
    csv_grid(&deck_csv(deck).expect("written"))
}

fn imported(grid: &Grid, deck: &[SheetRow]) -> Import {
    imported_bytes(&delimited(grid, b','), deck)
}

fn imported_bytes(bytes: &[u8], deck: &[SheetRow]) -> Import {
    decisions(&table::read(bytes).expect("readable"), deck, &Policy::default())
}

fn deck() -> Vec<SheetRow> {
    vec![row(1, "12.50", "EUR"), row(2, "-7", "JPY"), row(3, "0.001", "BHD"), row(4, "1000000.00", "USD")]
}

fn group(decision: Decision, reason: Option<&str>, comment: Option<&str>, ids: &[i64]) -> Group {
    Group {
        decision,
        reason: reason.map(str::to_owned),
        comment: comment.map(str::to_owned),
        ids: ids.iter().copied().map(ExceptionId).collect(),
    }
}

#[test]
fn what_is_decided_alike_is_signed_together() {
    let mut grid = exported(&deck());
    fill(&mut grid, 0, Column::Decision, "approve");
    fill(&mut grid, 1, Column::Decision, " Reject ");
    fill(&mut grid, 1, Column::Reason, "wrong_amount");
    fill(&mut grid, 1, Column::Comment, "'=see invoice");
    fill(&mut grid, 2, Column::Decision, "APPROVE");
    let import = imported(&grid, &deck());
    assert_eq!((import.rows, import.undecided), (4, 1));
    assert_eq!(
        import.groups,
        [
            group(Decision::Approve, None, None, &[1, 3]),
            group(Decision::Reject, Some("WRONG_AMOUNT"), Some("=see invoice"), &[2]),
        ]
    );
    assert_eq!((import.problems, import.differences), (vec![], vec![]));
}

#[test]
fn a_row_that_cannot_be_signed_says_why_and_the_others_can() {
    let long = "x".repeat(2_001);
    for (change, expected) in [
        (vec![(Column::Exception, "99")], "99 is not in the deck"),
        (vec![(Column::Exception, "1e3")], "1e3 is not in the deck"),
        (vec![(Column::Exception, "")], "names no exception"),
        (vec![(Column::Exception, "2")], "more than once, in rows 2, 3"),
        (vec![(Column::Exception, "02")], "more than once, in rows 2, 3"),
        (vec![(Column::Version, "1")], "about version 1, the deck has version 2"),
        (vec![(Column::Content, "00")], "content hash"),
        (vec![(Column::Decision, "yes")], "`yes` is no decision"),
        (vec![(Column::Decision, "APPROVED\u{202E}")], "`APPROVED<U+202E>` is no decision"),
        (vec![(Column::Decision, "REJECT")], "needs a reason"),
        (vec![(Column::Decision, "REJECT"), (Column::Reason, "BECAUSE")], "`BECAUSE` is no reason code"),
        (vec![(Column::Reason, "BECAUSE")], "`BECAUSE` is no reason code"),
        (vec![(Column::Comment, long.as_str())], "more than 2000 characters"),
    ] {
        let mut grid = exported(&deck());
        fill(&mut grid, 0, Column::Decision, "APPROVE");
        fill(&mut grid, 3, Column::Decision, "APPROVE");
        for (column, text) in &change {
            fill(&mut grid, 0, *column, text);
        }
        let import = imported(&grid, &deck());
        assert_eq!(import.problems.len(), 1, "{change:?}");
        assert_eq!(import.problems[0].row, 2);
        assert!(import.problems[0].message.contains(expected), "{}", import.problems[0].message);
        assert_eq!(import.groups, [group(Decision::Approve, None, None, &[4])]);
    }
}

#[test]
fn a_row_without_a_decision_is_no_problem_whatever_it_says() {
    let mut grid = exported(&deck());
    fill(&mut grid, 0, Column::Exception, "99");
    grid.push(vec![String::new(); 3]);
    let import = imported(&grid, &deck());
    assert_eq!((import.rows, import.undecided), (4, 4));
    assert_eq!((import.groups, import.problems), (vec![], vec![]));
}

#[test]
fn a_group_is_decided_whole_and_with_one_verdict() {
    let mut deck = deck();
    for item in deck.iter_mut().take(3) {
        item.group = Some("ER-1".into());
    }
    let decide =
        |grid: &mut Grid, rows: &[usize]| rows.iter().for_each(|row| fill(grid, *row, Column::Decision, "APPROVE"));
    let mut whole = exported(&deck);
    decide(&mut whole, &[0, 1, 2]);
    assert_eq!(imported(&whole, &deck).groups, [group(Decision::Approve, None, None, &[1, 2, 3])]);

    let mut part = exported(&deck);
    decide(&mut part, &[0, 2, 3]);
    let import = imported(&part, &deck);
    assert_eq!(import.groups, [group(Decision::Approve, None, None, &[4])]);
    assert_eq!(import.problems.iter().map(|problem| problem.row).collect::<Vec<_>>(), [2, 4]);
    assert!(import.problems[0].message.starts_with("2 of the 3 exceptions of its group ER-1"), "{:?}", import.problems);

    let mut differing = whole.clone();
    fill(&mut differing, 1, Column::Comment, "not so sure");
    let import = imported(&differing, &deck);
    assert_eq!((import.groups.len(), import.problems.len()), (0, 3));
    assert!(import.problems[2].message.contains("differ in decision, reason or comment"));
}

#[test]
fn what_the_file_says_differently_is_shown_and_numbers_are_compared_as_decimals() {
    let mut grid = exported(&deck());
    for line in 0..4 {
        fill(&mut grid, line, Column::Decision, "APPROVE");
    }
    fill(&mut grid, 0, Column::Variance, "12.5");
    fill(&mut grid, 1, Column::Variance, "-7.00");
    fill(&mut grid, 3, Column::Counterparty, "Müller");
    fill(&mut grid, 3, Column::Entity, " DE01 ");
    let import = imported(&grid, &deck());
    let told: Vec<(u32, &str, &str, &str)> = import
        .differences
        .iter()
        .map(|one| (one.row, one.column.heading(), one.in_file.as_str(), one.in_deck.as_str()))
        .collect();
    assert_eq!(told, [(5, "Counterparty", "Müller", "Müller & Söhne"),]);
    assert_eq!(import.groups[0].ids.len(), 4, "a difference is shown and hinders nothing");
}

#[test]
fn a_row_about_another_amount_or_currency_is_left_out() {
    for (column, said, message) in [
        (
            Column::Variance,
            "999.99",
            "Variance: the sheet says 999.99, the deck 12.50. Export the deck again, or correct it.",
        ),
        (Column::Variance, "-12.50", "Variance: the sheet says -12.50, the deck 12.50."),
        (Column::Variance, "", "Variance: the sheet says nothing, the deck 12.50."),
        (Column::Variance, "a lot", "Variance: the sheet says a lot, the deck 12.50."),
        (Column::Currency, "USD", "Currency: the sheet says USD, the deck EUR."),
    ] {
        let mut grid = exported(&deck());
        fill(&mut grid, 0, Column::Decision, "APPROVE");
        fill(&mut grid, 3, Column::Decision, "APPROVE");
        fill(&mut grid, 0, column, said);
        let import = imported(&grid, &deck());
        assert_eq!(import.groups, [group(Decision::Approve, None, None, &[4])], "{said}");
        assert_eq!((import.problems.len(), import.problems[0].row), (1, 2), "{said}");
        assert!(import.problems[0].message.starts_with(message), "{}", import.problems[0].message);
        assert_eq!(import.differences, []);
    }
}

/// A workbook whose deck is filled in by `fill`, which counts rows from 1 below the heading.
fn filled_in(deck: &[SheetRow], fill: impl FnOnce(&mut rust_xlsxwriter::Worksheet)) -> Vec<u8> {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Deck").expect("a name");
    for (row, cells) in (0..).zip(exported(deck)) {
        for (column, text) in (0..).zip(cells) {
            sheet.write_string(row, column, text).expect("written");
        }
    }
    fill(sheet);
    book.save_to_buffer().expect("in memory")
}

fn at_column(column: Column) -> u16 {
    u16::try_from(place(column)).expect("few")
}

#[test]
fn a_formula_without_a_value_is_not_taken_for_nothing() {
    let deck = deck();
    for (column, value, problems) in
        [(Column::Decision, "", 1), (Column::Reason, "", 1), (Column::Comment, "", 1), (Column::Comment, "seen", 0)]
    {
        let bytes = filled_in(&deck, |sheet| {
            for row in [1, 2] {
                sheet.write_string(row, at_column(Column::Decision), "APPROVE").expect("written");
            }
            let formula = rust_xlsxwriter::Formula::new("=A9").set_result(value);
            sheet.write_formula(1, at_column(column), formula).expect("written");
        });
        let bytes = if value.is_empty() { without_values(&bytes) } else { bytes };
        let import = imported_bytes(&bytes, &deck);
        assert_eq!(import.problems.len(), problems, "{column:?}: {:?}", import.problems);
        if let Some(problem) = import.problems.first() {
            assert_eq!(problem.row, 2);
            assert!(problem.message.starts_with(column.heading()), "{}", problem.message);
            assert!(problem.message.contains("a formula whose value is not in the file"), "{}", problem.message);
            assert_eq!(import.groups, [group(Decision::Approve, None, None, &[2])]);
        } else {
            assert_eq!(import.groups[0], group(Decision::Approve, None, Some("seen"), &[1]));
        }
    }
}

/// As a program writes formulas that does not calculate them.
fn without_values(book: &[u8]) -> Vec<u8> {
    use std::io::{Cursor, Read as _, Write as _};
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).expect("a workbook");
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).expect("a part");
        let name = part.name().expect("UTF-8").into_owned();
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).expect("it unpacks");
        if name.starts_with("xl/worksheets/sheet") {
            let text = String::from_utf8(bytes).expect("UTF-8");
            let (before, after) = text.split_once("<f>A9</f>").expect("the formula");
            let (_, after) = after.split_once("</c>").expect("the end of its cell");
            bytes = format!("{before}<f>A9</f></c>{after}").into_bytes();
        }
        out.start_file(name, zip::write::SimpleFileOptions::default()).expect("begun");
        out.write_all(&bytes).expect("written");
    }
    out.finish().expect("finished").into_inner()
}

#[test]
fn the_dialects_of_spreadsheets_are_read() {
    let deck = deck();
    let mut grid = exported(&deck);
    fill(&mut grid, 0, Column::Decision, "APPROVE");
    let mut german = grid.clone();
    fill(&mut german, 0, Column::Variance, "12,50");
    let utf16 = |little: bool| -> Vec<u8> {
        let text = String::from_utf8(delimited(&grid, b'\t')).expect("UTF-8");
        let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        unit(0xFEFF).into_iter().chain(text.encode_utf16().flat_map(unit)).collect()
    };
    let mut bom = "\u{FEFF}".as_bytes().to_vec();
    bom.extend(delimited(&grid, b','));
    for bytes in
        [delimited(&grid, b','), delimited(&german, b';'), delimited(&grid, b'\t'), bom, utf16(true), utf16(false)]
    {
        let import = imported_bytes(&bytes, &deck);
        assert_eq!(import.groups, [group(Decision::Approve, None, None, &[1])]);
        assert_eq!(import.differences, []);
    }
}

#[test]
fn columns_may_be_moved_and_added_and_those_not_needed_removed() {
    let deck = deck();
    let mut grid = exported(&deck);
    fill(&mut grid, 0, Column::Decision, "APPROVE");
    let wanted = [Column::Version, Column::Content, Column::Decision, Column::Exception];
    let moved: Grid = grid
        .iter()
        .map(|cells| {
            std::iter::once("mine".to_owned()).chain(wanted.map(|column| cells[place(column)].clone())).collect()
        })
        .collect();
    assert_eq!(imported(&moved, &deck).groups, [group(Decision::Approve, None, None, &[1])]);
}

#[test]
fn a_file_that_is_no_deck_is_refused_with_advice() {
    let grid = exported(&deck());
    let without = |column: Column| -> Vec<u8> {
        let cells = |cells: &Vec<String>| {
            cells.iter().enumerate().filter(|(at, _)| *at != place(column)).map(|(_, text)| text.clone()).collect()
        };
        delimited(&grid.iter().map(cells).collect(), b',')
    };
    let mut twice = grid.clone();
    twice[0][place(Column::Kind)] = "DECISION".into();
    let mut wide = grid.clone();
    wide[1].resize(201, "x".into());
    let mut long = grid.clone();
    long[1][2] = "x".repeat(40_001);
    let mut latin: Vec<u8> = delimited(&grid, b',');
    latin.extend(b"\nM\xFCller");
    for (bytes, expected) in [
        (vec![], Unreadable::Empty),
        (without(Column::Content), Unreadable::ColumnMissing("Content SHA-256")),
        (without(Column::Decision), Unreadable::ColumnMissing("Decision")),
        (delimited(&twice, b','), Unreadable::ColumnTwice("Decision")),
        (delimited(&wide, b','), Unreadable::TooManyColumns(2)),
        (delimited(&long, b','), Unreadable::CellTooLong(2)),
        (latin, Unreadable::Encoding(7)),
        (vec![0xD0, 0xCF, 0x11, 0xE0, 0], Unreadable::OldWorkbook),
        (vec![b'x'; (20 << 20) + 1], Unreadable::TooLarge),
        (b"a\nb".repeat(20_001), Unreadable::TooManyRows),
        (vec![0xFF, 0xFE, 0], Unreadable::Text("it ends in the middle of a character of UTF-16".into())),
    ] {
        assert_eq!(table::read(&bytes).expect_err("refused"), expected);
    }
}

#[test]
fn the_lists_are_bounded_and_say_how_many_more_there_are() {
    let deck: Vec<SheetRow> = (1..=600).map(|id| row(id, "1.00", "EUR")).collect();
    let mut grid = exported(&deck);
    for line in 0..600 {
        fill(&mut grid, line, Column::Decision, "?");
    }
    let problems = imported(&grid, &deck).problems;
    assert_eq!(problems.len(), LISTED + 1);
    assert_eq!(problems[LISTED].row, 0);
    assert!(problems[LISTED].message.starts_with("100 more rows"), "{:?}", problems[LISTED]);
}
