//! A table that comes back: from a workbook or from text, as far as it can be a deck's.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::sheet::Column;
use crate::{table_csv, table_xlsx};

/// The largest file that is read, in bytes.
pub const FILE_BYTES: usize = 20 << 20;
/// The most rows below the heading.
pub const ROWS: usize = 20_000;
/// The most columns.
pub const COLUMNS: usize = 200;
/// The most characters of one cell; more than any that is written.
pub(crate) const CELL_CHARS: usize = 40_000;

/// Why a file cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Unreadable {
    /// Too many bytes.
    #[error("The file has more than 20 MB. Delete what does not belong to the deck, and import again.")]
    TooLarge,
    /// Too many rows.
    #[error("The file has more than 20,000 rows. Import it in parts.")]
    TooManyRows,
    /// Too many columns.
    #[error("Row {0} has more than 200 columns. Import the file as it was exported, with the decisions filled in.")]
    TooManyColumns(u32),
    /// A cell has too much text.
    #[error("A cell of row {0} has more than 40,000 characters. Shorten it, and import again.")]
    CellTooLong(u32),
    /// Unpacked, it is far larger than a deck can be.
    #[error("Unpacked, the workbook is larger than a deck can be; it was not opened. Export the deck again.")]
    Unpacked,
    /// An older format, or one with a password.
    #[error("The file is a workbook of an old format, or one with a password. Save it as .xlsx without a password.")]
    OldWorkbook,
    /// Not a workbook after all.
    #[error("The workbook cannot be read: {0}. Open it in a spreadsheet, save it as .xlsx and import it again.")]
    Workbook(String),
    /// Text in another encoding.
    #[error(
        "Line {0} of the file is not UTF-8; it may have been saved for an old Windows code page. Save it as “CSV UTF-8” or as .xlsx."
    )]
    Encoding(u32),
    /// Text that is no table.
    #[error("The text cannot be taken apart: {0}. Save it again as “CSV UTF-8” or as .xlsx.")]
    Text(String),
    /// Nothing in it.
    #[error("The file is empty.")]
    Empty,
    /// No heading that is known.
    #[error("The heading lacks the column {0}. Import the file as it was exported, with the decisions filled in.")]
    ColumnMissing(&'static str),
    /// A heading twice.
    #[error("The heading has the column {0} twice. Delete the one that is not the deck's, and import again.")]
    ColumnTwice(&'static str),
}

/// A row below the heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Its number in the file, the heading being 1.
    pub number: u32,
    cells: Vec<String>,
    /// The places of formulas whose value is not in the file.
    unknown: Vec<usize>,
}

/// A table whose heading is a deck's. Rows without any text are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    places: [Option<usize>; Column::ALL.len()],
    /// How the file writes the decimal mark of an amount, besides `.`.
    pub(crate) comma_decimals: bool,
    /// At most [`ROWS`].
    pub rows: Vec<TableRow>,
}

impl Table {
    /// What a row says in a column, without the space around it; `None` when the file has no such column.
    pub fn cell<'a>(&self, row: &'a TableRow, column: Column) -> Option<&'a str> {
        let place = Column::ALL.iter().position(|other| *other == column)?;
        self.places[place].map(|place| row.cells.get(place).map_or("", |text| text.trim()))
    }

    /// Whether the cell is a formula whose value is not in the file.
    pub fn lacks_value(&self, row: &TableRow, column: Column) -> bool {
        let place = Column::ALL.iter().position(|other| *other == column).and_then(|place| self.places[place]);
        place.is_some_and(|place| row.unknown.contains(&place))
    }
}

/// Reads a file, by what is in it and not by its name.
pub fn read(bytes: &[u8]) -> Result<Table, Unreadable> {
    const ZIP: &[u8] = b"PK\x03\x04";
    const COMPOUND: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0];
    if bytes.len() > FILE_BYTES {
        return Err(Unreadable::TooLarge);
    }
    if bytes.starts_with(COMPOUND) {
        return Err(Unreadable::OldWorkbook);
    }
    let raw = if bytes.starts_with(ZIP) { table_xlsx::read(bytes)? } else { table_csv::read(bytes)? };
    assemble(raw)
}

/// Rows with their numbers, the heading first.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) rows: Vec<(u32, Vec<String>)>,
    /// The formulas whose value is not in the file: the row's number, and the place in it.
    pub(crate) unknown: BTreeMap<u32, Vec<usize>>,
    pub(crate) comma_decimals: bool,
}

/// Where each column is; the heading may have others and any order.
pub(crate) fn places(heading: &[String]) -> Result<[Option<usize>; Column::ALL.len()], Unreadable> {
    let mut places = [None; Column::ALL.len()];
    for (place, column) in places.iter_mut().zip(Column::ALL) {
        let is_it = |text: &&(usize, &String)| text.1.trim().eq_ignore_ascii_case(column.heading());
        let cells: Vec<(usize, &String)> = heading.iter().enumerate().collect();
        let mut found = cells.iter().filter(is_it).map(|(index, _)| *index);
        *place = found.next();
        if found.next().is_some() {
            return Err(Unreadable::ColumnTwice(column.heading()));
        }
    }
    Ok(places)
}

fn assemble(mut raw: Raw) -> Result<Table, Unreadable> {
    let mut rows = raw.rows.into_iter();
    let (_, heading) = rows.next().ok_or(Unreadable::Empty)?;
    let places = places(&heading)?;
    let missing =
        Column::ALL.iter().zip(places).find(|(column, place)| place.is_none() && Column::REQUIRED.contains(column));
    if let Some((column, _)) = missing {
        return Err(Unreadable::ColumnMissing(column.heading()));
    }
    let mut rows: Vec<TableRow> = rows
        .filter(|(number, cells)| cells.iter().any(|text| !text.trim().is_empty()) || raw.unknown.contains_key(number))
        .map(|(number, cells)| TableRow { number, cells, unknown: Vec::new() })
        .collect();
    for row in &mut rows {
        row.unknown = raw.unknown.remove(&row.number).unwrap_or_default();
    }
    if rows.len() > ROWS {
        return Err(Unreadable::TooManyRows);
    }
    Ok(Table { places, rows, comma_decimals: raw.comma_decimals })
}
