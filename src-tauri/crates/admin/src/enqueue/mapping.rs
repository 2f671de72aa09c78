//! How the columns of a delimited file make an arrival. Everything that could be read in two ways is said here, or refused.

use std::collections::BTreeMap;

use encoding_rs::{UTF_8, WINDOWS_1252};
use serde::Deserialize;
use serde_json::Value;

use crate::AdminError;

/// A mapping, as its file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// What separates columns: one ASCII character.
    #[serde(default = "comma")]
    pub(crate) delimiter: char,
    /// What encloses a cell that holds a delimiter, itself doubled inside.
    #[serde(default = "quote")]
    pub(crate) quote: char,
    /// `utf-8`, `windows-1252` or `iso-8859-1`.
    pub(crate) encoding: Charset,
    /// What separates the fraction of a decimal. Without one a decimal has no marks at all.
    #[serde(default)]
    pub(crate) decimal_mark: Option<char>,
    /// What may stand between groups of three digits before it.
    #[serde(default)]
    pub(crate) grouping_mark: Option<char>,
    /// How dates are written, such as `%d.%m.%Y`; without one only 2026-10-31 is a date.
    #[serde(default)]
    pub(crate) date_format: Option<String>,
    /// How instants are written, such as `%d.%m.%Y %H:%M:%S`; they are in UTC. Without one only RFC 3339 is an instant.
    #[serde(default)]
    pub(crate) instant_format: Option<String>,
    /// What separates the entries of a list in one cell.
    #[serde(default)]
    pub(crate) list_separator: Option<char>,
    /// Fields that are the same for every record, by their path.
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, Value>,
    /// Fields that follow from the others.
    #[serde(default)]
    pub(crate) derive: Vec<Derived>,
    /// Columns that mean nothing here.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    /// The field of each column, by its heading.
    pub(crate) columns: BTreeMap<String, Column>,
}

/// An encoding that is read byte by byte, so that delimiters and line ends are what they seem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Charset {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "windows-1252")]
    Windows1252,
    #[serde(rename = "iso-8859-1")]
    Iso8859_1,
}

/// A field that need not be a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Derived {
    /// As the kind prescribes it: of a claim or a receipt.
    IdempotencyKey,
    /// As a break prescribes it; for the others the SHA-256 of everything else in the arrival.
    SourceHash,
    /// A UUID of version 5 of the key.
    TraceId,
    /// The same as the trace.
    CorrelationId,
}

/// Where a column goes: its path alone for a text, or with a type.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Column {
    Text(String),
    Typed(Typed),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Typed {
    pub(crate) field: String,
    #[serde(rename = "type")]
    pub(crate) kind: CellType,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CellType {
    Text,
    Decimal,
    Integer,
    Date,
    Instant,
    List,
}

fn comma() -> char {
    ','
}

fn quote() -> char {
    '"'
}

impl Charset {
    /// The text of a cell; `None` if it is not in this encoding.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::Utf8 => UTF_8.decode_without_bom_handling_and_without_replacement(bytes).map(Into::into),
            Self::Windows1252 => {
                let text = WINDOWS_1252.decode_without_bom_handling_and_without_replacement(bytes)?;
                // Of the bytes that mean nothing in it, the library makes control characters.
                (!text.contains(|c| matches!(c, '\u{80}'..='\u{9f}'))).then(|| text.into_owned())
            }
            // The first 256 characters of Unicode, one byte each; what the web calls by this name is windows-1252.
            Self::Iso8859_1 => Some(encoding_rs::mem::decode_latin1(bytes).into_owned()),
        }
    }
}

impl Column {
    pub(crate) fn field(&self) -> &str {
        match self {
            Self::Text(field) => field,
            Self::Typed(typed) => &typed.field,
        }
    }

    pub(crate) fn kind(&self) -> CellType {
        match self {
            Self::Text(_) => CellType::Text,
            Self::Typed(typed) => typed.kind,
        }
    }
}

impl Mapping {
    /// Reads a mapping in TOML, or in JSON if it begins with a brace, and refuses what leaves something open.
    pub fn read(text: &str, name: &str) -> Result<Self, AdminError> {
        let wrong = |why: String| AdminError::Request(format!("the mapping {}: {why}", crate::text::shown(name)));
        let mapping: Self = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| wrong(error.to_string()))?
        };
        mapping.fault().map_or(Ok(()), |fault| Err(wrong(fault)))?;
        Ok(mapping)
    }

    fn fault(&self) -> Option<String> {
        let plain =
            |mark: char| mark.is_ascii() && !mark.is_ascii_alphanumeric() && !matches!(mark, '\n' | '\r' | '\0');
        for (name, mark) in [("delimiter", self.delimiter), ("quote", self.quote)] {
            if !plain(mark) {
                return Some(format!("{name} is one ASCII character that is no letter, digit or line end"));
            }
        }
        if self.delimiter == self.quote {
            return Some("delimiter and quote are the same".to_owned());
        }
        if self.decimal_mark.is_some_and(|mark| !matches!(mark, '.' | ',')) {
            return Some("decimal_mark is . or ,".to_owned());
        }
        if let Some(mark) = self.grouping_mark {
            if !matches!(mark, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2019}') {
                return Some("grouping_mark is one of . , ' and a space".to_owned());
            }
            if self.decimal_mark.is_none_or(|decimal| decimal == mark) {
                return Some("with a grouping_mark, decimal_mark is said too, and is another one".to_owned());
            }
        }
        for (name, format) in [("date_format", &self.date_format), ("instant_format", &self.instant_format)] {
            if let Some(format) = format
                && let Some(fault) = format_fault(format, name == "instant_format")
            {
                return Some(format!("{name}: {fault}"));
            }
        }
        if self.list_separator == Some(self.delimiter) {
            return Some("list_separator and delimiter are the same".to_owned());
        }
        if self.list_separator.is_none() && self.columns.values().any(|column| column.kind() == CellType::List) {
            return Some("a column is a list, and list_separator is not said".to_owned());
        }
        let derived = self.derive.iter().map(|derived| derived.field());
        let fields = self.columns.values().map(Column::field).chain(self.constants.keys().map(String::as_str));
        let mut fields: Vec<&str> = fields.chain(derived).collect();
        if let Some(bad) = fields.iter().find(|field| field.split('.').any(str::is_empty)) {
            return Some(format!("`{bad}` is no path of a field such as payload.statement_line.amount"));
        }
        fields.sort_unstable();
        for pair in fields.windows(2) {
            if pair[0] == pair[1] || pair[1].strip_prefix(pair[0]).is_some_and(|rest| rest.starts_with('.')) {
                return Some(format!("`{}` and `{}` would both be set", pair[0], pair[1]));
            }
        }
        None
    }
}

impl Derived {
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::IdempotencyKey => "idempotency_key",
            Self::SourceHash => "source_hash",
            Self::TraceId => "trace_id",
            Self::CorrelationId => "correlation_id",
        }
    }
}

/// A format has to say each part once, and the year with all its digits.
fn format_fault(format: &str, instant: bool) -> Option<String> {
    let parts: &[&str] = if instant { &["%d", "%m", "%Y", "%H", "%M"] } else { &["%d", "%m", "%Y"] };
    if format.contains("%y") {
        return Some("a year has four digits, %Y: of two digits nobody knows the century".to_owned());
    }
    parts.iter().find(|part| format.matches(*part).count() != 1).map(|part| format!("it has {part} once"))
}
