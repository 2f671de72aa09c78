//! A deck as comma-separated text.
//!
//! UTF-8 with a byte order mark, without which spreadsheets take it for an old Windows code page; commas, and CR LF at the end
//! of each line, as RFC 4180 has it. Amounts are plain decimals, dates ISO 8601. Text is made harmless ([`crate::guard`]).

use thiserror::Error;

use crate::guard::guarded;
use crate::sheet::{Cell, Column, SheetRow};

/// It tells spreadsheets that the text is UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// The text could not be put together.
#[derive(Debug, Error)]
#[error("the comma-separated text could not be written")]
pub struct CsvError(#[source] pub(crate) csv::Error);

/// Writes a deck.
pub fn deck_csv(rows: &[SheetRow]) -> Result<Vec<u8>, CsvError> {
    write(std::iter::once(Column::ALL.map(|column| column.heading().to_owned()).to_vec()).chain(
        rows.iter().map(|row| Column::ALL.iter().map(|column| text(&row.cell(*column))).collect::<Vec<String>>()),
    ))
}

/// Writes records, each cell as it is given.
pub(crate) fn write(records: impl IntoIterator<Item = Vec<String>>) -> Result<Vec<u8>, CsvError> {
    let bytes = BYTE_ORDER_MARK.as_bytes().to_vec();
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(true).from_writer(bytes);
    for record in records {
        writer.write_record(&record).map_err(CsvError)?;
    }
    // Writing into memory does not fail.
    writer.into_inner().map_err(|error| CsvError(csv::Error::from(error.into_error())))
}

fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => guarded(text).into_owned(),
        // A number is no formula, also a negative one.
        Cell::Amount(money) => money.text(),
        Cell::Count(count) => count.to_string(),
        Cell::Date(day) => day.to_string(),
    }
}
