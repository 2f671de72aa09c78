//! The outbox: everything unanswered and the latest answers.

use countersign_domain::sign_off::{Answer, Decision};
use countersign_engine::port::{Entry, Stage};
use countersign_engine::{Engine, Now, Pending, next_step};
use countersign_wire::{DecisionChoice, NextStep, OutboxRow, OutboxState, OutboxView, TheirDecision};

use super::{count, instant, ms};

/// The most rows one view carries; the counts are of all.
const ROWS: usize = 500;

/// What a reviewer decides, in the domain's words.
pub(crate) fn decision(choice: DecisionChoice) -> Decision {
    match choice {
        DecisionChoice::Approve => Decision::Approve,
        DecisionChoice::Reject => Decision::Reject,
    }
}

/// The outbox as it is shown.
pub(crate) fn outbox(engine: &Engine, now: Now) -> OutboxView {
    let counts = engine.counts(now);
    let link = engine.link(now);
    let unanswered = || engine.outbox().filter(|pending| pending.unanswered());
    let waits_ms = || unanswered().filter(|pending| !pending.sending).map(|pending| wait_ms(pending, now));
    let next_attempt_in_ms = if link.online { waits_ms().min() } else { link.next_attempt_in_ms };
    let attention = engine.outbox().filter(|pending| !pending.unanswered());
    let rows = attention
        .chain(unanswered())
        .map(|pending| pending_row(pending, now))
        .chain(engine.answered().map(|entry| row(entry, OutboxState::Committed, None)))
        .take(ROWS)
        .collect();
    OutboxView {
        version: engine.versions().1,
        held: count(counts.held),
        ready: count(counts.ready),
        sending: count(counts.sending),
        committed: count(counts.committed),
        refused: count(counts.refused),
        dead: count(counts.dead),
        oldest_unsent: unanswered().map(|pending| pending.entry.sign_off.decided_at).min().map(instant),
        next_attempt_in_ms: next_attempt_in_ms.filter(|_| counts.held + counts.ready > 0).map(ms),
        rows,
    }
}

/// Until a decision may be sent; 0 when it could be now.
fn wait_ms(pending: &Pending, now: Now) -> u64 {
    pending.send_after_ms.max(pending.next_attempt_ms).saturating_sub(now.mono_ms)
}

pub(super) fn pending_row(pending: &Pending, now: Now) -> OutboxRow {
    let state = match pending.entry.stage {
        Stage::Ready if pending.sending => OutboxState::Sending,
        Stage::Ready if pending.send_after_ms > now.mono_ms => OutboxState::Held,
        Stage::Ready => OutboxState::Ready,
        Stage::Committed => OutboxState::Committed,
        Stage::Refused => OutboxState::Refused,
        Stage::Dead => OutboxState::Dead,
    };
    let waits = matches!(state, OutboxState::Held | OutboxState::Ready).then(|| wait_ms(pending, now));
    row(&pending.entry, state, waits.filter(|wait| *wait > 0))
}

pub(super) fn row(entry: &Entry, state: OutboxState, next_attempt_in_ms: Option<u64>) -> OutboxRow {
    let (sign_off, item) = (&entry.sign_off, &entry.item);
    OutboxRow {
        key: sign_off.key.0.to_string(),
        exception_id: sign_off.exception.to_string(),
        counterparty: item.counterparty.clone(),
        entity: item.entity.clone(),
        amount: item.variance.text(),
        currency: item.variance.currency.code().to_owned(),
        minor_units: item.variance.currency.minor_units(),
        decision: choice(sign_off.decision),
        decided_at: instant(sign_off.decided_at),
        state,
        // A decision that was sent again stands as it was answered first.
        outcome: entry.answer.as_ref().map(|answer| answer.first_outcome.unwrap_or(answer.outcome).as_str().to_owned()),
        message: entry.answer.as_ref().map(explanation).or_else(|| entry.problem.clone()),
        attempts: entry.attempts,
        next_attempt_in_ms: next_attempt_in_ms.map(ms),
        batch: entry.batch.0.to_string(),
        reason: sign_off.reason.clone(),
        comment: sign_off.comment.clone(),
        theirs: entry.answer.as_ref().and_then(|answer| answer.other.as_ref()).map(|other| TheirDecision {
            reviewer: other.reviewer.clone(),
            decision: choice(other.decision),
            at: instant(other.at),
        }),
        next_step: match next_step(entry.stage, entry.answer.as_ref().map(|answer| answer.outcome)) {
            countersign_engine::NextStep::Nothing => NextStep::Nothing,
            countersign_engine::NextStep::ReviewAgain => NextStep::ReviewAgain,
            countersign_engine::NextStep::PutAway => NextStep::PutAway,
            countersign_engine::NextStep::SendAgain => NextStep::SendAgain,
            countersign_engine::NextStep::AskSupervisor => NextStep::AskSupervisor,
        },
    }
}

/// A decision in the window's words.
fn choice(decision: Decision) -> DecisionChoice {
    match decision {
        Decision::Approve => DecisionChoice::Approve,
        Decision::Reject => DecisionChoice::Reject,
    }
}

/// What an answer means and, where somebody else's decision stands, which.
fn explanation(answer: &Answer) -> String {
    let meaning = answer.explanation();
    match &answer.other {
        Some(other) => {
            let verb = match other.decision {
                Decision::Approve => "approved",
                Decision::Reject => "rejected",
            };
            format!("{meaning} {} {verb} it at {}.", other.reviewer, instant(other.at))
        }
        None => meaning,
    }
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone as _, Utc};
    use countersign_domain::sign_off::{OtherDecision, Outcome};

    use super::*;

    #[test]
    fn a_conflict_shows_both_decisions() {
        let at = Utc.with_ymd_and_hms(2026, 10, 5, 8, 0, 0).single().expect("a date that exists");
        let other = Some(OtherDecision { reviewer: "bob".into(), decision: Decision::Reject, at });
        let text = explanation(&Answer { other, ..Answer::plain(Outcome::AlreadyDecided) });
        assert!(text.ends_with("compare with that decision. bob rejected it at 2026-10-05T08:00:00.000Z."), "{text}");
    }
}
