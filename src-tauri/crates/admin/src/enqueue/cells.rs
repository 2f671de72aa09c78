//! Reading one cell, and never guessing.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use countersign_domain::dead_letter::Cause;
use serde_json::{Value, json};

use super::mapping::{CellType, Mapping};

/// Why a cell cannot be read.
pub(crate) struct CellFault {
    pub(crate) cause: Cause,
    pub(crate) reason: String,
}

impl Mapping {
    /// What a cell says; `None` if it is empty.
    pub(crate) fn cell(&self, kind: CellType, text: &str) -> Result<Option<Value>, CellFault> {
        if kind == CellType::Text {
            return Ok((!text.is_empty()).then(|| json!(text)));
        }
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let value = match kind {
            CellType::Text => json!(text),
            CellType::Decimal => json!(self.decimal(text)?),
            CellType::Integer => match text.parse::<i64>() {
                Ok(number) => json!(number),
                Err(_) => return Err(fault(Cause::Field, format!("{} is no whole number", quoted(text)))),
            },
            CellType::Date => json!(self.date(text)?),
            CellType::Instant => json!(self.instant(text)?),
            CellType::List => {
                let separator = self.list_separator.unwrap_or(';');
                json!(text.split(separator).map(str::trim).filter(|entry| !entry.is_empty()).collect::<Vec<_>>())
            }
        };
        Ok(Some(value))
    }

    /// A decimal as it goes on: digits, perhaps a sign before them and a point between them.
    fn decimal(&self, text: &str) -> Result<String, CellFault> {
        let wrong = |why: &str| Err(fault(Cause::Amount, format!("{} {why}", quoted(text))));
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = match self.decimal_mark {
            None if digits.contains(['.', ',']) => {
                return wrong("can be read in two ways: the mapping says no decimal_mark");
            }
            None => (digits, None),
            Some(mark) => match digits.split_once(mark) {
                Some((whole, fraction)) => (whole, Some(fraction)),
                None => (digits, None),
            },
        };
        let whole = match self.grouping_mark {
            Some(mark) if whole.contains(mark) => {
                let groups: Vec<&str> = whole.split(mark).collect();
                let right =
                    groups[0].len() <= 3 && !groups[0].is_empty() && groups[1..].iter().all(|group| group.len() == 3);
                if !right {
                    return wrong("has a grouping mark that does not stand between groups of three digits");
                }
                groups.concat()
            }
            _ => whole.to_owned(),
        };
        let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(&whole) || !fraction.is_none_or(all_digits) {
            return wrong("is no decimal as the mapping has them");
        }
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        let amount = fraction.map_or_else(|| whole.to_owned(), |fraction| format!("{whole}.{fraction}"));
        let zero = amount.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        Ok(if negative && !zero { format!("-{amount}") } else { amount })
    }

    fn date(&self, text: &str) -> Result<String, CellFault> {
        let format = self.date_format.as_deref().unwrap_or("%Y-%m-%d");
        // The library takes 1.2.26 for %d.%m.%Y too, as the year 26.
        let read = NaiveDate::parse_from_str(text, format).ok().filter(|day| year_is_whole(*day));
        read.map(|day| day.format("%Y-%m-%d").to_string()).ok_or_else(|| {
            let why = match &self.date_format {
                Some(format) => format!("{} is no date as {format}", quoted(text)),
                None => format!("{} is no date as 2026-10-31, and the mapping says no date_format", quoted(text)),
            };
            fault(Cause::Date, why)
        })
    }

    fn instant(&self, text: &str) -> Result<String, CellFault> {
        let read = match &self.instant_format {
            Some(format) => NaiveDateTime::parse_from_str(text, format)
                .ok()
                .filter(|at| year_is_whole(at.date()))
                .map(|at| at.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string()),
            None => DateTime::parse_from_rfc3339(text).ok().map(|_| text.to_owned()),
        };
        read.ok_or_else(|| {
            let why = match &self.instant_format {
                Some(format) => format!("{} is no instant as {format}", quoted(text)),
                None => format!(
                    "{} is no instant as 2026-10-05T00:10:03Z, and the mapping says no instant_format",
                    quoted(text)
                ),
            };
            fault(Cause::Date, why)
        })
    }
}

fn year_is_whole(day: NaiveDate) -> bool {
    use chrono::Datelike as _;
    (1000..=9999).contains(&day.year())
}

fn fault(cause: Cause, reason: String) -> CellFault {
    CellFault { cause, reason }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(60).collect::<String>())
}
