//! Taking arrivals in: one line each, judged by the gates, and never more than a chunk of them in memory.

mod chunk;
mod intake;
mod lines;

use std::fmt::Write as _;

use countersign_domain::code::{Code, FailureClass};
use countersign_domain::gate::{self, ARRIVAL_BYTES};
use countersign_domain::hash;
use serde::Serialize;
use tokio::io::AsyncBufRead;

use crate::text::shown;
use crate::{AdminError, Database};

use chunk::{DeadLetter, Item};
use intake::Intake;
use lines::{Line, Lines};

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct EnqueueReport {
    /// Lines read: the sum of all below but the dead letters.
    pub lines: u64,
    /// Lines with nothing on them.
    pub blank: u64,
    /// New exceptions.
    pub enqueued: u64,
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
        self.enqueued + self.corrected + self.duplicates == 0 && self.refused + self.conflicts > 0
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
    enqueue_reader_with(database, reader, origin, |_| {}).await
}

/// The same, and tells after each chunk how far it is.
pub async fn enqueue_reader_with<R>(
    database: &Database,
    reader: R,
    origin: &str,
    mut progress: impl FnMut(&EnqueueReport),
) -> Result<EnqueueReport, AdminError>
where
    R: AsyncBufRead + Unpin,
{
    let mut intake = Intake::connect(database, origin).await?;
    let mut lines = Lines::new(reader);
    loop {
        let next = lines.next().await.map_err(|source| AdminError::Unreadable { origin: shown(origin), source });
        let line = match next {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => return Err(intake.interrupted(error)),
        };
        let outcome = match sort(&line) {
            Sorted::Blank => {
                intake.blank();
                continue;
            }
            Sorted::Good(item) => intake.item(item).await,
            Sorted::Bad(letter) => intake.dead_letter(letter).await,
        };
        if outcome.map_err(|error| intake.interrupted(error))? {
            progress(intake.report());
        }
    }
    intake.finish().await
}

enum Sorted {
    Blank,
    Good(Item),
    Bad(DeadLetter),
}

fn sort(line: &Line<'_>) -> Sorted {
    match *line {
        Line::Whole { bytes, .. } if bytes.iter().all(u8::is_ascii_whitespace) => Sorted::Blank,
        Line::Whole { number, bytes } => match gate::judge(bytes) {
            Ok(arrival) => Sorted::Good(Item {
                line: number,
                key: arrival.content.idempotency_key,
                body: arrival.body,
                original: bytes.to_vec(),
            }),
            Err(rejection) => Sorted::Bad(DeadLetter {
                line: number,
                hash: hash::sha256(bytes),
                size: bytes.len() as u64,
                original: bytes.to_vec(),
                code: Code::PoisonMessage.as_str(),
                class: FailureClass::Structural,
                field: rejection.field,
                reason: rejection.reason,
                key: rejection.idempotency_key,
            }),
        },
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
        }),
    }
}

/// The report in words.
pub fn describe(report: &EnqueueReport, origin: &str) -> String {
    let mut text = format!("{}: {} read", shown(origin), counted(report.lines, "line", "lines"));
    let parts = [
        (report.enqueued, "enqueued".to_owned()),
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
            "Dead letters: {} new, {} seen before. See `countersign-admin dead-letters list`.",
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
