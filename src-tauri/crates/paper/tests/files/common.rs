//! Decks, and filling them in as a reviewer would.

use chrono::{DateTime, TimeZone as _, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::hash::content_hash;
use countersign_domain::id::ExceptionId;
use countersign_domain::money::Money;
use countersign_paper::guard::unguarded;
use countersign_paper::sheet::{Column, SheetRow};

/// When the tests happen.
pub(crate) fn at() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 10, 5, 8, 0, 0).single().expect("a date that exists")
}

/// An exception of the deck.
pub(crate) fn row(id: i64, amount: &str, currency: &str) -> SheetRow {
    SheetRow {
        id: ExceptionId(id),
        version: 2,
        content: content_hash(&id.to_string()),
        key: format!("key-{id}"),
        kind: Kind::ReconBreak,
        entity: "DE01".into(),
        counterparty: "Müller & Söhne".into(),
        variance: Money::parse(amount, currency.parse().expect("a currency")).expect("an amount"),
        submitted_at: at(),
        age_days: 3,
        business_date: at().date_naive(),
        due_on: Some(at().date_naive()),
        tier: RoutingTier::Standard,
        match_decision: MatchDecision::Partial,
        suggestion: "Review".into(),
        state: String::new(),
        group: None,
        partition: "p".into(),
        seq: id,
    }
}

/// A table as an independent reader sees it: the heading first.
pub(crate) type Grid = Vec<Vec<String>>;

/// Reads comma-separated text back.
pub(crate) fn csv_grid(bytes: &[u8]) -> Grid {
    let text = std::str::from_utf8(bytes).expect("UTF-8").trim_start_matches('\u{FEFF}');
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|record| record.expect("a record").iter().map(str::to_owned).collect()).collect()
}

/// Writes a table with a delimiter.
pub(crate) fn delimited(grid: &Grid, delimiter: u8) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(Vec::new());
    for record in grid {
        writer.write_record(record).expect("written");
    }
    writer.into_inner().expect("in memory")
}

/// Where a column is.
pub(crate) fn place(column: Column) -> usize {
    Column::ALL.iter().position(|other| *other == column).expect("a column")
}

/// Fills a cell in; rows count from 0 below the heading.
pub(crate) fn fill(grid: &mut Grid, row: usize, column: Column, text: &str) {
    text.clone_into(&mut grid[row + 1][place(column)]);
}

/// What a cell says, without the mark that makes it harmless.
pub(crate) fn said(grid: &Grid, row: usize, column: Column) -> &str {
    unguarded(&grid[row + 1][place(column)])
}
