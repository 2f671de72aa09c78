//! From the engine's words to the window's.
//!
//! Everything here copies and renames; nothing decides. The closures that look at the engine run on its own task, so that they
//! clone what they need and the rest is done outside.

mod batches;
mod close;
mod connection;
mod dead_letters;
mod deck;
mod detail;
mod detail_text;
mod diagnostics;
mod figures;
mod files;
mod focus;
mod foresight;
mod history;
#[cfg(test)]
pub(crate) mod letter_samples;
mod marks;
mod outbox;
mod receipts;
#[cfg(test)]
pub(crate) mod samples;
mod session;
mod settings;
mod totals;

use chrono::{DateTime, SecondsFormat, Utc};
use countersign_engine::port::{BacklogError, JournalError};
use countersign_engine::{CommandFailure, DrainState};
use countersign_station::Gone;
use countersign_wire::{CommandError, DrainView, HandOverReply};

pub(crate) use batches::{batch, batch_row, no_batch, pending, receipt as batch_receipt};
pub(crate) use close::{backlog, close, midnight, next_period};
pub(crate) use connection::{connection_test, step_name};
pub(crate) use dead_letters::{
    Asked, Reader, corrected_meanwhile, desk, letter, letters_reply, not_corrected, text_of,
};
pub(crate) use deck::{row, rows, views as deck_rows};
pub(crate) use detail::detail;
pub(crate) use diagnostics::{Diagnostics, Works, diagnostics};
pub(crate) use figures::{figures, figures_that_read};
pub(crate) use files::{chosen, import, not_saved, saved, sheet};
pub(crate) use focus::{extended, focus, label as focus_label, no_focus, read_focus};
pub(crate) use foresight::{glance, preflight};
pub(crate) use history::{history, picture, steps};
pub(crate) use outbox::{decision, outbox};
pub(crate) use receipts::receipts;
pub(crate) use session::{Frame, leaving, session};
pub(crate) use settings::{config_error, settings};
pub(crate) use totals::{amounts, check_typed, choose, subtotals, totals};

/// An error with a code of the shell's own.
pub(crate) fn error(code: &str, message: impl Into<String>) -> CommandError {
    CommandError { code: code.to_owned(), message: message.into() }
}

/// The workstation ended while it was asked.
pub(crate) fn gone(_: Gone) -> CommandError {
    error("CLOSING", "Countersign is closing; nothing was done.")
}

/// The engine did nothing.
pub(crate) fn failure(failure: CommandFailure) -> CommandError {
    error(failure.code, failure.message)
}

/// A failure that repeats what was being done before it says why.
pub(crate) fn failure_of(operation: &str, failure: &CommandFailure) -> CommandError {
    let message = failure.message.strip_prefix(operation).and_then(|rest| rest.strip_prefix(": "));
    error(failure.code, sentence(message.unwrap_or(&failure.message)))
}

/// The backlog refused, or did not answer.
pub(crate) fn backlog_error(problem: &BacklogError) -> CommandError {
    error(problem.code(), sentence(&problem.message))
}

/// The journal refused.
pub(crate) fn journal_error(problem: &JournalError) -> CommandError {
    error(problem.fault.code(), sentence(&problem.message))
}

/// What the ports say stands behind "connect: " in the log; on its own it is a sentence. A name or a path that it begins with
/// stays as it is.
pub(crate) fn sentence(message: &str) -> String {
    const WORDS: [&str; 4] = ["the", "a", "another", "this"];
    let (first, rest) = message.split_once(' ').unwrap_or((message, ""));
    let mut text = message.to_owned();
    if WORDS.contains(&first) && !rest.is_empty() {
        text.replace_range(..1, &first[..1].to_ascii_uppercase());
    }
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// What handing over came to.
pub(crate) fn handed_over(partitions: usize, to: &str) -> HandOverReply {
    let message = match partitions {
        0 => "Nothing was handed over: the selection is not leased to you any more.".to_owned(),
        1 => format!("1 partition is with {to} now."),
        many => format!("{many} partitions are with {to} now."),
    };
    HandOverReply { partitions: count(partitions), message }
}

/// How closing goes.
pub(crate) fn drain(state: DrainState) -> DrainView {
    DrainView {
        unsent: count(state.unsent),
        sent: count(state.sent),
        to_release: count(state.to_release),
        gives_up_in_ms: ms(state.gives_up_in_ms),
        online: state.online,
        done: state.done,
    }
}

/// Milliseconds; more than seven weeks are shown as seven weeks.
pub(crate) fn ms(duration_ms: u64) -> u32 {
    u32::try_from(duration_ms).unwrap_or(u32::MAX)
}

/// A length of time in words, to its largest unit; from two of the next one down on it is told in that.
pub(crate) fn span(duration_ms: u64) -> String {
    let minutes = duration_ms / 60_000;
    let (number, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..120 if minutes != 60 => (minutes, "minute"),
        60..2_880 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

/// A count; bounded long before the type is.
pub(crate) fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// An instant, RFC 3339 in UTC.
pub(crate) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_own_unit() {
        for (minutes, expected) in [
            (0, "less than a minute"),
            (1, "1 minute"),
            (60, "1 hour"),
            (90, "90 minutes"),
            (150, "2 hours"),
            (2_880, "2 days"),
        ] {
            assert_eq!(span(minutes * 60_000), expected);
        }
    }

    #[test]
    fn a_message_becomes_a_sentence_and_names_stay_as_they_are() {
        for (message, expected) in [
            ("the disk is full: free space", "The disk is full: free space."),
            ("another Countersign has it open", "Another Countersign has it open."),
            ("alice is no active reviewer", "alice is no active reviewer."),
            ("/data/journal.db is damaged.", "/data/journal.db is damaged."),
        ] {
            assert_eq!(sentence(message), expected);
        }
    }
}
