//! A table from a workbook.
//!
//! What it unpacks to is measured before it is believed, and the sheet is read cell by cell: a heading that claims a billion
//! rows costs nothing.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use calamine::{DataRef, Reader as _, SheetVisible, Xlsx, XlsxError};
use rust_decimal::Decimal;
use zip::ZipArchive;

use crate::deck_xlsx::DECK;
use crate::table::{CELL_CHARS, COLUMNS, ROWS, Raw, Unreadable};

/// The most bytes that a workbook may unpack to. A deck of 5,000 rows is some ten megabytes.
const UNPACKED_BYTES: u64 = 200 << 20;
/// The most files in a workbook.
const PARTS: usize = 1_000;

pub(crate) fn read(bytes: &[u8]) -> Result<Raw, Unreadable> {
    measure(bytes)?;
    let mut book: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(bytes)).map_err(|error| unreadable(&error))?;
    let sheets = book.sheets_metadata();
    let deck = sheets.iter().find(|sheet| sheet.name == DECK);
    let shown = deck.or_else(|| sheets.iter().find(|sheet| sheet.visible == SheetVisible::Visible));
    let name = shown.map(|sheet| sheet.name.clone()).ok_or(Unreadable::Empty)?;
    let mut cells = book.worksheet_cells_reader(&name).map_err(|error| unreadable(&error))?;
    let mut rows: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut unknown: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(|error| unreadable(&error))? {
        let (row, column) = cell.pos;
        let (number, column) = (row.saturating_add(1), usize::try_from(column).unwrap_or(usize::MAX));
        let text = text(&cell.value);
        // Formatted cells far out hold nothing.
        if text.is_empty() {
            if cell.formula.is_some()
                && matches!(cell.value, DataRef::Empty)
                && column < COLUMNS
                && rows.len() <= ROWS + 1
            {
                unknown.entry(number).or_default().push(column);
                rows.entry(number).or_default();
            }
            continue;
        }
        if column >= COLUMNS {
            return Err(Unreadable::TooManyColumns(number));
        }
        if text.len() > CELL_CHARS && text.chars().count() > CELL_CHARS {
            return Err(Unreadable::CellTooLong(number));
        }
        let cells = rows.entry(number).or_default();
        if cells.len() <= column {
            cells.resize(column + 1, String::new());
        }
        cells[column] = text;
        if rows.len() > ROWS + 1 {
            return Err(Unreadable::TooManyRows);
        }
    }
    Ok(Raw { rows: rows.into_iter().collect(), unknown, comma_decimals: false })
}

/// Unpacks everything once, to nowhere: what an archive says of its sizes may be wrong.
fn measure(bytes: &[u8]) -> Result<(), Unreadable> {
    let broken = |error: &dyn std::fmt::Display| Unreadable::Workbook(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    if archive.len() > PARTS {
        return Err(Unreadable::Unpacked);
    }
    let mut left = UNPACKED_BYTES;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| broken(&error))?;
        let read = std::io::copy(&mut part.take(left + 1), &mut std::io::sink()).map_err(|error| broken(&error))?;
        left = left.checked_sub(read).ok_or(Unreadable::Unpacked)?;
    }
    Ok(())
}

fn unreadable(error: &XlsxError) -> Unreadable {
    Unreadable::Workbook(error.to_string())
}

fn text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::Bool(flag) => flag.to_string(),
        // Dates are not compared: what is imported are decisions.
        DataRef::DateTime(date) => number_text(date.as_f64()),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// The decimal that a spreadsheet shows for its number: it keeps 15 significant digits.
fn number_text(number: f64) -> String {
    let shown = format!("{number:.14e}");
    Decimal::from_scientific(&shown).map_or(shown, |decimal| decimal.normalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_decimal_that_the_spreadsheet_shows() {
        for (number, expected) in [
            (0.1 + 0.2, "0.3"),
            (-1234.5, "-1234.5"),
            (123_456_789_012.345, "123456789012.345"),
            (0.0, "0"),
            (1e15, "1000000000000000"),
            (1e300, "1.00000000000000e300"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number_text(number), expected);
        }
    }
}
