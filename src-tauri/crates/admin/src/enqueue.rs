//! Taking arrivals in: one line or record each, judged by the gates, and never more than a few chunks of them in memory.

mod cells;
mod chunk;
mod derive;
mod intake;
mod lane;
mod lines;
mod mapping;
mod records;

use std::fmt::Write as _;

use countersign_domain::code::{Code, FailureClass};
use countersign_domain::dead_letter::Cause;
use countersign_domain::gate::{self, ARRIVAL_BYTES};
use countersign_domain::hash;
use serde::Serialize;
use tokio::io::AsyncBufRead;

use crate::text::shown;
use crate::{AdminError, Database};

pub use mapping::Mapping;

use chunk::{DeadLetter, Item};
use intake::Intake;
use lines::{Line, Lines};
use records::{Record, Records};

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct EnqueueReport {
    /// Lines read: the sum of all below but the dead letters.
    pub lines: u64,
    /// Lines with nothing on them.
    pub blank: u64,
    /// New exceptions.
    pub enqueued: u64,
    /// New receipts that need no reviewer: they went on to policy validation.
    pub released: u64,
    /// New versions of pending exceptions.
    pub corrected: u64,
    /// Redeliveries, which change nothing.
    pub duplicates: u64,
    /// How many of the redeliveries carried another content under the same source hash; the first one stands.
    pub duplicates_with_other_content: u64,
    /// Corrections of what is decided, or lies in another partition.
    pub conflicts: u64,
    /// Arrivals that pass no gate.
    pub refused: u64,
    /// How many of the conflicts and refusals are new dead letters.
    pub dead_letters_new: u64,
    /// How many of them are dead letters already.
    pub dead_letters_seen_before: u64,
}

impl EnqueueReport {
    /// Whether nothing was taken in or known already, though something was there: most likely it is the wrong input.
    pub fn kept_out(&self) -> bool {
        self.enqueued + self.released + self.corrected + self.duplicates == 0 && self.refused + self.conflicts > 0
    }
}

/// Takes in everything that `reader` holds. `origin` names it in dead letters and messages.
///
/// Each chunk is one transaction on the database's side, and what is in already is a duplicate: after an error, or a kill, the
/// whole input may be run again.
pub async fn enqueue_reader<R>(database: &Database, reader: R, origin: &str) -> Result<EnqueueReport, AdminError>
where
    R: AsyncBufRead + Unpin,
{
    enqueue_reader_with(database, reader, origin, |_, _| {}).await
}

/// The same, and tells after each chunk how far it is, with the bytes that were read.
pub async fn enqueue_reader_with<R>(
    database: &Database,
    reader: R,
    origin: &str,
    mut progress: impl FnMut(&EnqueueReport, u64),
) -> Result<EnqueueReport, AdminError>
where
    R: AsyncBufRead + Unpin,
{
    let mut intake = Intake::connect(database, origin).await?;
    let mut lines = Lines::new(reader);
    loop {
        let next = lines.next().await.map_err(|source| AdminError::Unreadable { origin: shown(origin), source });
        let sorted = match next {
            Ok(Some(line)) => sort(&line),
            Ok(None) => break,
            Err(error) => return Err(intake.interrupted(error)),
        };
        if take(&mut intake, sorted).await? {
            progress(intake.report(), lines.bytes());
        }
    }
    intake.finish().await
}

/// Takes in the records of a delimited file, each made an arrival by `mapping`. A record that cannot be made one without guessing is
/// a dead letter; a head that does not fit the mapping is an error before anything went in.
pub async fn enqueue_records<R>(
    database: &Database,
    reader: R,
    mapping: &Mapping,
    origin: &str,
    mut progress: impl FnMut(&EnqueueReport, u64),
) -> Result<EnqueueReport, AdminError>
where
    R: std::io::Read + Send + 'static,
{
    let mut records = Records::open(reader, mapping.clone());
    // A head that does not fit is told before anybody connects.
    let mut next = records.next().await.map_err(|error| error.of(origin))?;
    let mut intake = Intake::connect(database, origin).await?;
    while let Some(record) = next {
        let bytes = record.until;
        if take(&mut intake, sort_record(record)).await? {
            progress(intake.report(), bytes);
        }
        next = records.next().await.map_err(|error| intake.interrupted(error.of(origin)))?;
    }
    intake.finish().await
}

/// Adds what a line holds. Whether something was sent for it.
async fn take(intake: &mut Intake<'_>, sorted: Sorted) -> Result<bool, AdminError> {
    let outcome = match sorted {
        Sorted::Blank => {
            intake.blank();
            Ok(false)
        }
        Sorted::Good(item) => intake.item(item).await,
        Sorted::Bad(letter) => intake.dead_letter(letter).await,
    };
    outcome.map_err(|error| intake.interrupted(error))
}

enum Sorted {
    Blank,
    Good(Item),
    Bad(DeadLetter),
}

fn sort(line: &Line<'_>) -> Sorted {
    match *line {
        Line::Whole { bytes, .. } if bytes.iter().all(u8::is_ascii_whitespace) => Sorted::Blank,
        Line::Whole { number, bytes } => judged(number, bytes, bytes),
        Line::TooLong { number, start, size, hash } => Sorted::Bad(DeadLetter {
            line: number,
            hash,
            size,
            original: start.to_vec(),
            code: Code::PoisonMessage.as_str(),
            class: FailureClass::Structural,
            field: None,
            reason: format!(
                "the arrival has {size} bytes, at most {ARRIVAL_BYTES} are allowed; its first {} are kept",
                start.len()
            ),
            key: None,
            cause: Some(Cause::Unreadable.as_str().to_owned()),
        }),
    }
}

fn sort_record(record: Record) -> Sorted {
    match record.arrival {
        Ok(arrival) => judged(record.line, &arrival, &record.original),
        Err(fault) => Sorted::Bad(DeadLetter {
            line: record.line,
            hash: hash::sha256(&record.original),
            size: record.original.len() as u64,
            original: record.original,
            code: Code::PoisonMessage.as_str(),
            class: FailureClass::Structural,
            field: fault.field,
            reason: fault.reason,
            key: None,
            cause: Some(fault.cause.as_str().to_owned()),
        }),
    }
}

fn judged(line: u64, arrival: &[u8], original: &[u8]) -> Sorted {
    match gate::judge(arrival) {
        Ok(arrival) => Sorted::Good(Item {
            line,
            key: arrival.content.idempotency_key,
            partition: arrival.content.partition_key,
            body: arrival.body,
            original: original.to_vec(),
        }),
        Err(rejection) => Sorted::Bad(DeadLetter {
            line,
            hash: hash::sha256(original),
            size: original.len() as u64,
            original: original.to_vec(),
            code: Code::PoisonMessage.as_str(),
            class: FailureClass::Structural,
            field: rejection.field,
            cause: Some(rejection.cause.as_str().to_owned()),
            reason: rejection.reason,
            key: rejection.idempotency_key,
        }),
    }
}

/// The report in words.
pub fn describe(report: &EnqueueReport, origin: &str) -> String {
    let mut text = format!("{}: {} read", shown(origin), counted(report.lines, "line", "lines"));
    let parts = [
        (report.enqueued, "enqueued".to_owned()),
        (report.released, "released to policy validation without a reviewer".to_owned()),
        (report.corrected, "corrected".to_owned()),
        (report.duplicates, duplicates(report)),
        (report.conflicts, "in conflict with what is decided or lies elsewhere".to_owned()),
        (report.refused, "refused by the gates".to_owned()),
        (report.blank, "blank".to_owned()),
    ];
    for (count, name) in parts {
        if count > 0 || name == "enqueued" {
            let _ = write!(text, ", {count} {name}");
        }
    }
    text.push_str(".\n");
    if report.dead_letters_new + report.dead_letters_seen_before > 0 {
        let _ = writeln!(
            text,
            "Dead letters: {} new, {} seen before. A supervisor or a reviewer with the right to the desk sees them under dead letters.",
            report.dead_letters_new, report.dead_letters_seen_before
        );
    }
    text
}

fn duplicates(report: &EnqueueReport) -> String {
    match report.duplicates_with_other_content {
        0 => "known already".to_owned(),
        other => format!("known already ({other} of them with another content; the first one stands)"),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
