//! A table from delimited text: commas, semicolons or tabs; UTF-8, or UTF-16 with a byte order mark.

use std::borrow::Cow;

use crate::guard::unguarded;
use crate::table::{CELL_CHARS, COLUMNS, ROWS, Raw, Unreadable, places};

const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

pub(crate) fn read(bytes: &[u8]) -> Result<Raw, Unreadable> {
    let text = decoded(bytes)?;
    let delimiter = delimiter(&text);
    let mut reader = reader(&text, delimiter);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Unreadable::Text(error.to_string()))?;
        // The heading, the rows, and one more that says that there are too many.
        if rows.len() > ROWS {
            return Err(Unreadable::TooManyRows);
        }
        let number = u32::try_from(rows.len() + 1).unwrap_or(u32::MAX);
        if record.len() > COLUMNS {
            return Err(Unreadable::TooManyColumns(number));
        }
        if record.iter().any(|cell| cell.len() > CELL_CHARS && cell.chars().count() > CELL_CHARS) {
            return Err(Unreadable::CellTooLong(number));
        }
        rows.push((number, record.iter().map(|cell| unguarded(cell).to_owned()).collect()));
    }
    // Where the comma is the decimal mark, it does not delimit.
    Ok(Raw { rows, comma_decimals: delimiter != b',', ..Raw::default() })
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// The one by which the heading falls into most of a deck's columns.
fn delimiter(text: &str) -> u8 {
    let known = |delimiter: &u8| {
        let heading = reader(text, *delimiter).records().next().and_then(Result::ok);
        let cells: Vec<String> = heading.iter().flat_map(|record| record.iter().map(str::to_owned)).collect();
        places(&cells).map_or(usize::MAX, |places| places.iter().flatten().count())
    };
    let mut best = DELIMITERS[0];
    let mut most = known(&best);
    for delimiter in DELIMITERS.into_iter().skip(1) {
        if known(&delimiter) > most {
            (best, most) = (delimiter, known(&delimiter));
        }
    }
    best
}

fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    if let Some(rest) = bytes.strip_prefix(&[0xFF, 0xFE]) {
        return utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0xFE, 0xFF]) {
        return utf16(rest, u16::from_be_bytes);
    }
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes);
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        Unreadable::Encoding(u32::try_from(line).unwrap_or(u32::MAX))
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, Unreadable> {
    let odd = || Unreadable::Text("it ends in the middle of a character of UTF-16".to_owned());
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(odd());
    }
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).map(Cow::Owned).map_err(|_| odd())
}
