//! The sign-offs, or the records, as a file that others can read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use futures_util::TryStreamExt as _;
use serde_json::{Map, Value};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

use super::Session;
use super::session::Join;
use crate::text::shown;
use crate::{AdminError, Database};

/// The form of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line; amounts are strings.
    Jsonl,
    /// Comma-separated values (RFC 4180) for a spreadsheet.
    Csv,
}

/// What is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stream {
    /// Every accepted sign-off with its exception and effect.
    SignOffs,
    /// Every audit record.
    Events,
}

/// An export.
#[derive(Debug, Clone)]
pub struct Export {
    /// The form.
    pub format: Format,
    /// What.
    pub stream: Stream,
    /// Only the sign-offs of this close period.
    pub period: Option<String>,
}

/// Numbers that a spreadsheet may take for numbers; everything else is text.
const NUMBERS: [&str; 11] = [
    "amount",
    "figure",
    "posted",
    "disputed",
    "effect_no",
    "policy_version",
    "chain_seq",
    "receipt",
    "exception_id",
    "key_id",
    "enrolment",
];

/// Those that are decimals, and stay text in JSON.
const AMOUNTS: [&str; 4] = ["amount", "figure", "posted", "disputed"];

const SIGN_OFF_COLUMNS: [&str; 31] = [
    "idempotency_key",
    "ledger_entity",
    "counterparty",
    "kind",
    "currency",
    "amount",
    "decision",
    "reason",
    "comment",
    "reviewer",
    "workstation",
    "policy_version",
    "policy_in_force",
    "period",
    "decided_at",
    "signed_at",
    "outcome",
    "effect_no",
    "partition_key",
    "chain_seq",
    "receipt",
    "enrolment",
    "content_hash",
    "signature",
    "figure",
    "figure_currency",
    "effect",
    "posted",
    "posted_basis",
    "routed_to",
    "disputed",
];
const UTC: &str = "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'";
/// The signed content says what was approved; an instant is text in UTC, whatever the session's time zone is.
fn sign_offs(period: bool) -> String {
    format!(
        "SELECT e.idempotency_key, c.body::jsonb ->> 'ledger_entity', c.body::jsonb ->> 'counterparty', c.body::jsonb ->> 'kind', c.body::jsonb ->> 'currency',
                c.body::jsonb ->> 'variance_amount', s.decision, s.reason, s.comment, s.reviewer, s.workstation::text, s.policy_version::text,
                s.in_force::text, s.period, to_char(s.decided_at AT TIME ZONE 'UTC', {UTC}), to_char(s.signed_at AT TIME ZONE 'UTC', {UTC}),
                s.outcome, coalesce(p.effect_no, r.effect_no, d.effect_no)::text, e.partition_key, s.chain_seq::text, s.receipt_id::text, s.enrolment::text,
                encode(s.content_hash, 'hex'), encode(s.signature, 'hex'),
                s.figure_amount::text, s.figure_currency,
                CASE WHEN p.exception_id IS NOT NULL THEN 'POSTING' WHEN r.exception_id IS NOT NULL THEN 'ROUTING' WHEN d.exception_id IS NOT NULL THEN 'DISPUTE' END,
                p.amount::text, p.basis, r.routed_to, d.difference::text
         FROM countersign.sign_offs s
         JOIN countersign.exceptions e ON e.id = s.exception_id
         JOIN countersign.exception_contents c ON c.exception_id = s.exception_id AND c.version = s.version
         LEFT JOIN countersign.postings p ON p.exception_id = s.exception_id
         LEFT JOIN countersign.routings r ON r.exception_id = s.exception_id
         LEFT JOIN countersign.disputes d ON d.exception_id = s.exception_id
         {} ORDER BY e.partition_key, e.seq",
        if period { "WHERE s.period = $1" } else { "" }
    )
}

const EVENT_COLUMNS: [&str; 16] = [
    "partition_key",
    "chain_seq",
    "at",
    "event",
    "actor",
    "workstation",
    "exception_id",
    "trace_id",
    "source_hash",
    "match_decision",
    "content_hash",
    "outcome",
    "detail",
    "chain_hash",
    "key_id",
    "mac",
];
fn events() -> String {
    format!(
        "SELECT a.partition_key, a.chain_seq::text, to_char(a.at AT TIME ZONE 'UTC', {UTC}), a.event, a.actor, a.workstation::text, a.exception_id::text,
                a.trace_id::text, a.source_hash, a.match_decision, encode(a.content_hash, 'hex'), a.outcome, a.detail::text,
                encode(a.chain_hash, 'hex'), a.key_id::text, encode(a.mac, 'hex')
         FROM countersign.audit_events a ORDER BY a.partition_key, a.chain_seq"
    )
}

/// Writes to a new file, or to the standard output; returns how many rows.
pub async fn export(database: &Database, what: &Export, path: Option<&Path>) -> Result<u64, AdminError> {
    let failed = |error: io::Error| {
        let place = path.map_or_else(|| "the output".to_owned(), |path| shown(&path.to_string_lossy()));
        AdminError::Request(format!("cannot write {place}: {error}"))
    };
    let out: Box<dyn Write> = match path {
        Some(path) => Box::new(File::create_new(path).map_err(failed)?),
        None => Box::new(io::stdout()),
    };
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match write(database, what, &mut out).await {
        Ok(rows) => out.flush().map(|()| rows).or_else(enough).map_err(failed),
        Err(Failed::Database(error)) => Err(error),
        Err(Failed::Output(error)) => enough(error).map_err(failed),
    }
}

/// A reader that has seen enough (`| head`) is no error.
fn enough(error: io::Error) -> io::Result<u64> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(0) } else { Err(error) }
}

enum Failed {
    Database(AdminError),
    Output(io::Error),
}

async fn write(database: &Database, what: &Export, out: &mut impl Write) -> Result<u64, Failed> {
    let mut session = Session::begin(database, "export").await.map_err(Failed::Database)?;
    let refused = session.refused();
    let refused = |error| Failed::Database(refused(error));
    let (columns, sql): (&[&str], String) = match what.stream {
        Stream::SignOffs => (&SIGN_OFF_COLUMNS, sign_offs(what.period.is_some())),
        Stream::Events => (&EVENT_COLUMNS, events()),
    };
    session.join(Join::ByKey).await.map_err(Failed::Database)?;
    let query = sqlx::query(AssertSqlSafe(sql));
    let query = match (&what.period, what.stream) {
        (Some(period), Stream::SignOffs) => query.bind(period),
        _ => query,
    };
    let mut rows = query.fetch(&mut session.connection);
    let mut count = 0;
    if what.format == Format::Csv {
        record(out, columns.iter().map(|name| (*name).to_owned())).map_err(Failed::Output)?;
    }
    while let Some(row) = rows.try_next().await.map_err(refused)? {
        match what.format {
            Format::Csv => csv_row(&row, columns, out).map_err(refused)?.map_err(Failed::Output)?,
            Format::Jsonl => json_row(&row, columns, out).map_err(refused)?.map_err(Failed::Output)?,
        }
        count += 1;
    }
    drop(rows);
    session.end().await;
    Ok(count)
}

fn json_row(row: &PgRow, columns: &[&str], out: &mut impl Write) -> Result<io::Result<()>, sqlx::Error> {
    let mut object = Map::new();
    for (index, name) in columns.iter().enumerate() {
        let text: Option<&str> = row.try_get(index)?;
        let value = match text {
            Some(text) if *name == "detail" => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            Some(text) if !AMOUNTS.contains(name) && (NUMBERS.contains(name) || *name == "policy_in_force") => {
                text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
            }
            Some(text) => text.into(),
            None => Value::Null,
        };
        object.insert((*name).to_owned(), value);
    }
    Ok(writeln!(out, "{}", Value::Object(object)))
}

fn csv_row(row: &PgRow, columns: &[&str], out: &mut impl Write) -> Result<io::Result<()>, sqlx::Error> {
    let mut cells = Vec::with_capacity(columns.len());
    for (index, name) in columns.iter().enumerate() {
        let text: &str = row.try_get::<Option<&str>, _>(index)?.unwrap_or_default();
        cells.push(if NUMBERS.contains(name) && is_number(text) { text.to_owned() } else { harmless(text) });
    }
    Ok(record(out, cells.into_iter()))
}

/// One record of RFC 4180.
fn record(out: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let mut first = true;
    for cell in cells {
        if !std::mem::take(&mut first) {
            out.write_all(b",")?;
        }
        if cell.contains(['"', ',', '\r', '\n']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Text that no spreadsheet takes for a formula: one that begins like a formula, perhaps after blanks, gets an apostrophe in front.
fn harmless(text: &str) -> String {
    let begins = |character: char| {
        matches!(
            character,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫' | '−'
        )
    };
    let blank = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    };
    if text.starts_with(begins) || text.trim_start_matches(blank).starts_with(begins) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_and_every_number_stays_one() {
        for text in
            ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\u{a0}=1", "\u{feff}=1", "＝1", " ＠x", "\r\n", "−1"]
        {
            assert_eq!(harmless(text), format!("'{text}"), "{text:?}");
        }
        for text in ["", "plain", "a=b", "Zoë 東京", "12"] {
            assert_eq!(harmless(text), text);
        }
        for (text, number) in
            [("-12.50", true), ("12", true), ("-1+cmd", false), ("", false), ("-", false), ("1e5", false)]
        {
            assert_eq!(is_number(text), number, "{text}");
        }
    }

    #[test]
    fn a_record_reads_back_whatever_is_in_it() {
        let mut out = Vec::new();
        record(&mut out, ["a,b", "say \"so\"", "two\r\nlines", "", "x"].into_iter().map(str::to_owned))
            .expect("memory takes all");
        assert_eq!(String::from_utf8(out).expect("UTF-8"), "\"a,b\",\"say \"\"so\"\"\",\"two\r\nlines\",,x\r\n");
    }
}
