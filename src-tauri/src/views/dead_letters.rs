//! The desk of dead letters, in words.

use chrono::{DateTime, Utc};
use countersign_domain::dead_letter::Cause;
use countersign_domain::difference::Change;
use countersign_domain::letter::{self, Field};
use countersign_domain::money::Money;
use countersign_engine::port::{CauseLine, Correction, Letter, LetterAnswer, LetterDetail, LetterStatus};
use countersign_wire::{
    Amount, CommandError, DeskView, LetterCause, LetterChange, LetterCorrection, LetterField, LetterOutcome, LetterRow,
    LetterView, LettersReply,
};

use super::history::past;
use super::{count, error, instant, sentence};

/// Who looks, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// Their login.
    pub(crate) login: &'a str,
    /// Ages are counted up to here.
    pub(crate) now: DateTime<Utc>,
}

/// What is asked of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Take,
    PutBack,
    Rehearse,
    Replay,
    Discard,
}

/// The whole desk.
pub(crate) fn desk(causes: Vec<CauseLine>, letters: Vec<Letter>, more: u32, reader: Reader<'_>) -> DeskView {
    let mut causes: Vec<LetterCause> = causes.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| (std::cmp::Reverse(cause.open + cause.taken), cause.words.clone()));
    DeskView { causes, letters: letters.into_iter().map(|letter| row(letter, reader)).collect(), more }
}

fn cause(line: CauseLine) -> LetterCause {
    LetterCause {
        cause: line.cause.as_str().to_owned(),
        words: line.cause.words().to_owned(),
        open: line.open,
        taken: line.taken,
        oldest: line.oldest.map(instant),
        at_risk: line.at_risk.into_iter().map(amount).collect(),
        without_amount: line.without_amount,
    }
}

fn amount(money: Money) -> Amount {
    Amount { amount: money.text(), currency: money.currency.code().to_owned() }
}

fn row(letter: Letter, reader: Reader<'_>) -> LetterRow {
    let days = (reader.now - letter.first_at).num_days();
    let line = letter.line.map(|line| format!(", line {line}")).unwrap_or_default();
    LetterRow {
        id: letter.id.0.to_string(),
        status: status(letter.status).to_owned(),
        status_words: status_words(&letter, reader.login),
        mine: letter.status == LetterStatus::Taken && letter.owner.as_deref() == Some(reader.login),
        cause: letter.cause.as_str().to_owned(),
        cause_words: letter.cause.words().to_owned(),
        field: letter.field,
        reason: sentence(&letter.reason),
        origin: format!("{}{line}", letter.origin),
        first_at: instant(letter.first_at),
        age_days: u32::try_from(days).unwrap_or(0),
        attempts: letter.attempts,
        owner: letter.owner,
        key: letter.key,
        kind: letter.kind.map(|kind| kind.as_str().to_owned()),
        entity: letter.entity,
        at_risk: letter.at_risk.map(amount),
        corrections: letter.corrections,
    }
}

fn status(status: LetterStatus) -> &'static str {
    match status {
        LetterStatus::Open => "OPEN",
        LetterStatus::Taken => "TAKEN",
        LetterStatus::Replayed => "REPLAYED",
        LetterStatus::Discarding => "DISCARDING",
        LetterStatus::Discarded => "DISCARDED",
    }
}

fn status_words(letter: &Letter, login: &str) -> String {
    let owner = letter.owner.as_deref();
    let by = match owner {
        Some(owner) if owner == login => " by you".to_owned(),
        Some(owner) => format!(" by {owner}"),
        None => String::new(),
    };
    match letter.status {
        LetterStatus::Open if letter.corrections > 0 => "Open, corrected".to_owned(),
        LetterStatus::Open => "Open".to_owned(),
        LetterStatus::Taken => format!("Taken{by}"),
        LetterStatus::Replayed => "Went in".to_owned(),
        LetterStatus::Discarding => "Waits for a supervisor to discard it".to_owned(),
        LetterStatus::Discarded => "Discarded".to_owned(),
    }
}

/// The text that a correction begins with: as it was last corrected, or the original. `None` for what a workstation gave up, which is
/// no arrival, and for an original that is too long to be here in full.
pub(crate) fn text_of(detail: &LetterDetail) -> Option<String> {
    if matches!(detail.letter.cause, Cause::Scoring | Cause::SignOff) {
        return None;
    }
    match detail.corrections.last() {
        Some(last) => Some(last.body.clone()),
        None => (!cut(detail)).then(|| letter::shown(&detail.original)),
    }
}

fn cut(detail: &LetterDetail) -> bool {
    u64::try_from(detail.original.len()).is_ok_and(|shown| shown < detail.original_size)
}

/// One letter with everything about it.
pub(crate) fn letter(detail: LetterDetail, reader: Reader<'_>) -> LetterView {
    let original = letter::shown(&detail.original);
    let body = text_of(&detail);
    let corrected = !detail.corrections.is_empty();
    // Bytes that are no text have no fields: who corrects another field would put what is shown for them in their place.
    let readable = corrected || std::str::from_utf8(&detail.original).is_ok();
    let fault = detail.letter.field.as_deref();
    let fields = body.as_deref().filter(|_| readable).map(|body| letter::fields(body, fault)).unwrap_or_default();
    let changes = match (&body, corrected) {
        (Some(body), true) => changes(&original, body),
        _ => Vec::new(),
    };
    let (discard_by, discard_reason) = detail.discard.clone().unzip();
    LetterView {
        cut: cut(&detail),
        original_size: detail.original_size.to_string(),
        fields: told_fields(fields, &original),
        body: body.as_deref().map(letter::indented),
        revision: detail.corrections.last().map_or(0, |last| last.revision),
        changes,
        corrections: corrections(&original, &detail.corrections),
        history: detail.history.into_iter().map(past).collect(),
        discard_by,
        discard_reason,
        row: row(detail.letter, reader),
        original,
    }
}

fn told_fields(fields: Vec<Field>, original: &str) -> Vec<LetterField> {
    let before = letter::fields(original, None);
    let was = |path: &str| before.iter().find(|field| field.path == path).map(|field| field.value.clone());
    let told = |field: Field| LetterField {
        original: was(&field.path).filter(|was| *was != field.value),
        path: field.path,
        value: field.value,
        text: field.text,
        at_fault: field.at_fault,
        missing: field.missing,
    };
    fields.into_iter().map(told).collect()
}

fn corrections(original: &str, corrections: &[Correction]) -> Vec<LetterCorrection> {
    let before = std::iter::once(original).chain(corrections.iter().map(|correction| correction.body.as_str()));
    let told = |(correction, before): (&Correction, &str)| LetterCorrection {
        revision: correction.revision,
        by: correction.by.clone(),
        at: instant(correction.at),
        changes: changes(before, &correction.body),
    };
    corrections.iter().zip(before).map(told).collect()
}

fn changes(before: &str, after: &str) -> Vec<LetterChange> {
    let told = |Change { path, before, after }| LetterChange { path, before, after };
    letter::changes(before, after).into_iter().map(told).collect()
}

/// A correction was made from another text than the one that is kept now.
pub(crate) fn corrected_meanwhile() -> CommandError {
    error("REVISION_CONFLICT", "Somebody else corrected it meanwhile: what you wrote is not kept yet. Look at both.")
}

/// Why a correction was not kept; `None` if it was.
pub(crate) fn not_corrected(answer: &LetterAnswer) -> Option<CommandError> {
    let said = |otherwise: &str| sentence(answer.detail.as_deref().unwrap_or(otherwise));
    match answer.outcome.as_str() {
        "KEPT" => None,
        "CONFLICT" => Some(corrected_meanwhile()),
        "NOT_YOURS" => Some(error("NOT_YOURS", said("It is not taken by you: take it first."))),
        "DONE" => Some(error("DONE", said("It is done already: nothing can be corrected in it."))),
        other => Some(error(other, said("It was not corrected."))),
    }
}

/// What became, or would become, of letters. Those that have to wait are left out.
pub(crate) fn letters_reply(asked: Asked, answers: Vec<LetterAnswer>) -> LettersReply {
    let (later, answers): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.outcome == "LATER");
    // So many seconds, as the database counts its minutes.
    let wait = |answer: &LetterAnswer| answer.detail.as_deref().and_then(|seconds| seconds.parse().ok()).unwrap_or(5);
    let wait_s: Option<u32> = later.iter().map(wait).max();
    let letters: Vec<LetterOutcome> = answers.into_iter().map(|answer| outcome(asked, answer)).collect();
    let done = letters.iter().filter(|letter| letter.passes).count();
    LettersReply {
        message: reply_words(asked, count(done), count(letters.len())),
        letters,
        wait_ms: wait_s.map(|wait_s| wait_s.min(60) * 1_000),
    }
}

fn outcome(asked: Asked, answer: LetterAnswer) -> LetterOutcome {
    let passes = match asked {
        Asked::Rehearse | Asked::Replay => answer.passes(),
        Asked::Take => answer.outcome == "TAKEN",
        Asked::PutBack => answer.outcome == "PUT_BACK",
        Asked::Discard => matches!(answer.outcome.as_str(), "DISCARDING" | "DISCARDED"),
    };
    let words = match answer.outcome.as_str() {
        "ENQUEUED" => "As a new exception, pending",
        "CORRECTED" => "As a new version of the exception that is there",
        "DUPLICATE" => "It is there already: nothing happens twice",
        "RELEASED" => "It needs no reviewer: on to policy validation",
        "CONFLICT" => "Contradicts what is there",
        "REFUSED" => "Refused",
        "TAKEN" => "Taken by you",
        "PUT_BACK" => "Put back for others",
        "DISCARDING" if asked != Asked::Discard => "It waits to be discarded: put it back first",
        "DISCARDING" => "Waits for a supervisor who is somebody else",
        "DISCARDED" => "Discarded",
        "NOT_YOURS" => "Somebody else works on it",
        "DONE" => "It is done already",
        other => other,
    };
    let words = match answer.detail.as_deref().filter(|detail| !detail.is_empty()) {
        Some(detail) if matches!(answer.outcome.as_str(), "REFUSED" | "NOT_YOURS") => sentence(detail),
        Some(detail) => format!("{words}: {detail}"),
        None => format!("{words}."),
    };
    LetterOutcome { id: answer.id.0.to_string(), outcome: answer.outcome, passes, words, field: answer.field }
}

fn reply_words(asked: Asked, done: u32, of: u32) -> String {
    let what = match asked {
        Asked::Take => "taken",
        Asked::PutBack => "put back",
        Asked::Rehearse => "would go in",
        Asked::Replay => "went in",
        Asked::Discard => "wait for a supervisor who is somebody else to agree",
    };
    match (done, of) {
        (done, of) if done == of => format!("{done} {what}."),
        (done, of) => format!("{done} of {of} {what}; {} stay as they are.", of - done),
    }
}

#[cfg(test)]
mod tests {
    use countersign_engine::port::LetterId;

    use super::*;
    use crate::views::letter_samples::{a_letter, detail};

    const READER: Reader<'_> =
        Reader { login: "dana", now: DateTime::from_timestamp(1_791_360_000, 0).expect("an instant") };

    #[test]
    fn a_letter_says_whose_it_is_where_it_came_from_and_how_old_it_is() {
        let mine = row(a_letter(), READER);
        assert_eq!(
            (mine.status_words.as_str(), mine.mine, mine.origin.as_str()),
            ("Taken by you", true, "day.jsonl, line 12")
        );
        assert_eq!(mine.age_days, 2);
        let theirs = row(Letter { owner: Some("erin".into()), ..a_letter() }, READER);
        assert_eq!((theirs.status_words.as_str(), theirs.mine), ("Taken by erin", false));
    }

    #[test]
    fn a_correction_is_shown_beside_what_came() {
        let original = br#"{"variance_amount": 1.005, "z": "a"}"#;
        let view = letter(detail(original, &[r#"{"variance_amount": "1.01", "z": "a"}"#]), READER);
        let fields: Vec<_> =
            view.fields.iter().map(|field| (field.path.as_str(), field.original.as_deref(), field.at_fault)).collect();
        assert_eq!(fields, [("variance_amount", Some("1.005"), true), ("z", None, false)]);
        assert_eq!(view.revision, 1);
        assert_eq!(view.changes, view.corrections[0].changes);
        assert_eq!(view.changes[0].after.as_deref(), Some("1.01"));
        assert_eq!(view.original.as_bytes(), original);
    }

    #[test]
    fn what_is_no_text_is_corrected_as_a_whole_and_what_a_workstation_gave_up_not_at_all() {
        let view = letter(detail(b"{\"a\":\"caf\xE9\"}", &[]), READER);
        assert_eq!((view.fields.len(), view.body.as_deref()), (0, Some("{\n  \"a\": \"caf<E9>\"\n}")));
        let mut given_up = detail(b"{\"a\":1}", &[]);
        given_up.letter.cause = Cause::Scoring;
        assert_eq!(letter(given_up, READER).body, None);
        let mut long = detail(b"{\"a\":1}", &[]);
        long.original_size = 5_000_000;
        let view = letter(long, READER);
        assert_eq!((view.body, view.cut), (None, true));
    }

    #[test]
    fn what_became_of_letters_is_told_with_counts() {
        let answer = |id, outcome: &str, detail: Option<&str>| LetterAnswer {
            id: LetterId(id),
            outcome: outcome.into(),
            field: None,
            detail: detail.map(str::to_owned),
        };
        let reply = letters_reply(
            Asked::Rehearse,
            vec![answer(1, "ENQUEUED", None), answer(2, "REFUSED", Some("the vendor is not known"))],
        );
        assert_eq!(reply.message, "1 of 2 would go in; 1 stay as they are.");
        assert_eq!(reply.letters[1].words, "The vendor is not known.");
        assert!(reply.letters[0].passes && !reply.letters[1].passes);
        let reply = letters_reply(Asked::Take, vec![answer(1, "TAKEN", None)]);
        assert_eq!((reply.message.as_str(), reply.letters[0].passes), ("1 taken.", true));
        assert_eq!(
            not_corrected(&answer(1, "CONFLICT", None)).map(|error| error.code).as_deref(),
            Some("REVISION_CONFLICT")
        );
        assert_eq!(not_corrected(&answer(1, "KEPT", None)), None);
        let reply = letters_reply(Asked::Replay, vec![answer(1, "ENQUEUED", None), answer(2, "LATER", Some("12"))]);
        assert_eq!((reply.letters.len(), reply.wait_ms), (1, Some(12_000)));
    }
}
