//! Records of a delimited file, each made an arrival, with the very bytes it came in.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_domain::dead_letter::Cause;
use countersign_domain::gate::ARRIVAL_BYTES;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::AdminError;
use crate::text::shown;

use super::derive::derive;
use super::mapping::{CellType, Charset, Column, Mapping};

/// Records that wait to be taken in.
const WAITING: usize = 64;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One record of the file.
pub(crate) struct Record {
    /// The line it begins on, from 1; the head is line 1.
    pub(crate) line: u64,
    /// Its bytes, without the line's end.
    pub(crate) original: Vec<u8>,
    /// The arrival as JSON, or why there is none.
    pub(crate) arrival: Result<Vec<u8>, Fault>,
    /// Where in the file it ends.
    pub(crate) until: u64,
}

/// Why a record is no arrival.
pub(crate) struct Fault {
    pub(crate) field: Option<String>,
    pub(crate) cause: Cause,
    pub(crate) reason: String,
}

/// Why there are no more records.
pub(crate) enum RecordError {
    Unreadable(io::Error),
    Head(String),
}

impl RecordError {
    pub(crate) fn of(self, origin: &str) -> AdminError {
        match self {
            Self::Unreadable(source) => AdminError::Unreadable { origin: shown(origin), source },
            Self::Head(why) => AdminError::Request(format!("{}: {why}", shown(origin))),
        }
    }
}

/// A file that is read in the background.
pub(crate) struct Records {
    receiver: mpsc::Receiver<Result<Record, RecordError>>,
}

impl Records {
    pub(crate) fn open<R: Read + Send + 'static>(reader: R, mapping: Mapping) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        // Reading blocks, on a pipe for as long as nobody writes.
        std::thread::spawn(move || {
            let outcome = read(reader, &mapping, |record| sender.blocking_send(Ok(record)).is_ok());
            if let Err(error) = outcome {
                let _ = sender.blocking_send(Err(error));
            }
        });
        Self { receiver }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Record>, RecordError> {
        self.receiver.recv().await.transpose()
    }
}

fn read<R: Read>(reader: R, mapping: &Mapping, mut give: impl FnMut(Record) -> bool) -> Result<(), RecordError> {
    let kept = Kept::default();
    let tee = Tee { reader, kept: kept.clone() };
    let mut reader = ReaderBuilder::new()
        .delimiter(ascii(mapping.delimiter))
        .quote(ascii(mapping.quote))
        .has_headers(false)
        .flexible(true)
        .from_reader(tee);
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(unreadable)? {
        return Err(RecordError::Head("it is empty, and has no head".to_owned()));
    }
    let begins = kept.take(reader.position().byte());
    // The library passes over the mark, whatever the encoding.
    if begins.starts_with(BYTE_ORDER_MARK) && mapping.encoding != Charset::Utf8 {
        let why = "it begins with the byte order mark of UTF-8, and the mapping says another encoding";
        return Err(RecordError::Head(why.to_owned()));
    }
    if let Some((line, column)) = unclosed(&begins, 1, mapping) {
        return Err(RecordError::Head(not_closed(line, column)));
    }
    let columns = head(&record, mapping)?;
    // It counts lines too, but not those that end with CR LF.
    let mut line = 1 + ends(&begins);
    while reader.read_byte_record(&mut record).map_err(unreadable)? {
        let until = reader.position().byte();
        let original = kept.take(until);
        // What stands between two records belongs to neither.
        let blank = original.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        line += ends(&original[..blank]);
        let begins_on = line;
        line += ends(&original[blank..]);
        let mut original = original[blank..].to_vec();
        while matches!(original.last(), Some(b'\r' | b'\n')) {
            original.pop();
        }
        let arrival = match unclosed(&original, begins_on, mapping) {
            Some((line, column)) => {
                Err(Fault { field: None, cause: Cause::Unreadable, reason: not_closed(line, column) })
            }
            None => arrival(&record, begins_on, &columns, mapping),
        };
        if !give(Record { line: begins_on, original, arrival, until }) {
            return Ok(());
        }
    }
    Ok(())
}

/// Where the quote begins that a record leaves open, as only the last one of a file can: its line, and the number of its column. The library
/// closes it at the end of the file.
fn unclosed(record: &[u8], mut line: u64, mapping: &Mapping) -> Option<(u64, usize)> {
    let (delimiter, quote) = (ascii(mapping.delimiter), ascii(mapping.quote));
    let mut column = 1;
    let mut opened = None;
    let mut begins = true;
    let mut bytes = record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record).iter().peekable();
    while let Some(&byte) = bytes.next() {
        line += u64::from(byte == b'\n');
        if byte == quote && opened.is_some() {
            // Doubled, it is one in the text.
            if bytes.next_if(|next| **next == quote).is_none() {
                opened = None;
            }
        } else if byte == quote && begins {
            opened = Some((line, column));
        } else if byte == delimiter && opened.is_none() {
            column += 1;
            begins = true;
            continue;
        }
        begins = false;
    }
    opened
}

fn not_closed(line: u64, column: usize) -> String {
    format!(
        "the file ends inside a quote: most likely the one that opens column {column} on line {line} is not closed, and everything behind it is in that cell"
    )
}

/// How many lines end in these bytes.
fn ends(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count().saturating_sub(1) as u64
}

fn ascii(mark: char) -> u8 {
    u8::try_from(mark).unwrap_or(b',')
}

fn unreadable(error: csv::Error) -> RecordError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => RecordError::Unreadable(error),
        other => RecordError::Unreadable(io::Error::new(io::ErrorKind::InvalidData, format!("{other:?}"))),
    }
}

/// What each place of a record is; `None` is ignored.
fn head<'a>(record: &ByteRecord, mapping: &'a Mapping) -> Result<Vec<(String, Option<&'a Column>)>, RecordError> {
    let mut columns: Vec<(String, Option<&Column>)> = Vec::new();
    for (place, cell) in record.iter().enumerate() {
        let number = place + 1;
        let name = mapping
            .encoding
            .decode(cell)
            .ok_or_else(|| RecordError::Head(format!("the heading of column {number} is not in its encoding")))?;
        let name = name.trim().to_owned();
        if columns.iter().any(|(other, _)| *other == name) {
            return Err(RecordError::Head(format!("the heading `{name}` is there twice, again as column {number}")));
        }
        let column = mapping.columns.get(&name);
        if column.is_none() && !mapping.ignore.contains(&name) {
            return Err(RecordError::Head(format!(
                "column {number}, `{name}`, is not in the mapping: map it under [columns], or name it in ignore"
            )));
        }
        columns.push((name, column));
    }
    match mapping.columns.keys().find(|name| !columns.iter().any(|(there, _)| there == *name)) {
        Some(missing) => Err(RecordError::Head(format!("there is no column `{missing}`, which the mapping names"))),
        None => Ok(columns),
    }
}

fn arrival(
    record: &ByteRecord,
    line: u64,
    columns: &[(String, Option<&Column>)],
    mapping: &Mapping,
) -> Result<Vec<u8>, Fault> {
    if record.len() != columns.len() {
        let reason = format!("line {line}: {} columns are expected, there are {}", columns.len(), record.len());
        return Err(Fault { field: None, cause: Cause::Unreadable, reason });
    }
    let mut arrival = Map::new();
    for (path, value) in &mapping.constants {
        set(&mut arrival, path, value.clone());
    }
    for (place, (cell, (name, column))) in record.iter().zip(columns).enumerate() {
        let Some(column) = column else { continue };
        let at = |cause, why: String| Fault {
            field: Some(column.field().to_owned()),
            cause,
            reason: format!("line {line}, column {} (`{name}`): {why}", place + 1),
        };
        let text = mapping
            .encoding
            .decode(cell)
            .ok_or_else(|| at(Cause::Unreadable, "it is not in the encoding that the mapping says".to_owned()))?;
        let value = mapping.cell(column.kind(), &text).map_err(|fault| at(fault.cause, fault.reason))?;
        match value {
            Some(value) => set(&mut arrival, column.field(), value),
            // A text may be empty where it has to be there.
            None if column.kind() == CellType::Text && column.field() == "counterparty" => {
                set(&mut arrival, column.field(), Value::String(String::new()));
            }
            None => {}
        }
    }
    derive(&mapping.derive, &mut arrival);
    Ok(Value::Object(arrival).to_string().into_bytes())
}

/// Sets the field at a path such as `payload.statement_line.amount`; the mapping was checked for paths that cross.
fn set(fields: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            fields.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = fields.entry(first.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

/// The bytes that were read and belong to no record yet, and where in the file they begin.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<(u64, Vec<u8>)>>);

impl Kept {
    /// Takes what comes before a place.
    fn take(&self, until: u64) -> Vec<u8> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = usize::try_from(until.saturating_sub(kept.0)).unwrap_or(usize::MAX).min(kept.1.len());
        let rest = kept.1.split_off(count);
        kept.0 = until;
        std::mem::replace(&mut kept.1, rest)
    }
}

struct Tee<R> {
    reader: R,
    kept: Kept,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.1.len() > ARRIVAL_BYTES {
            let why = "a record is larger than an arrival may be: most likely a quote is not closed";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        kept.1.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
