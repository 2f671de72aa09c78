//! What happened, in words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{History, PastEvent, Picture, Step, What};
use countersign_wire::{Fact, HistoryEvent, HistoryView, PictureView};

use super::instant;

/// What the database tells of an exception.
pub(crate) fn history(history: History) -> HistoryView {
    let events = |events: Vec<PastEvent>| events.into_iter().map(past).collect();
    HistoryView {
        as_of: instant(history.at),
        exception: events(history.exception),
        partition: events(history.partition),
        counterparty: events(history.counterparty),
        approved: history.approved,
        rejected: history.rejected,
        pending: history.pending,
    }
}

/// One event.
pub(super) fn past(past: PastEvent) -> HistoryEvent {
    let detail = |name: &str| past.details.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
    let words = words(&past.event, detail("decision"), detail("outcome"));
    let facts = past
        .details
        .iter()
        .filter(|(name, _)| name != "decision" && name != "outcome")
        .map(|(name, value)| Fact { label: readable(name), value: value.clone() })
        .collect();
    HistoryEvent {
        at: instant(past.at),
        words,
        actor: Some(past.actor).filter(|actor| !actor.is_empty()),
        event: past.event,
        facts,
    }
}

fn words(event: &str, decision: Option<&str>, outcome: Option<&str>) -> String {
    let decided = match decision {
        Some("APPROVE") => "Approved",
        Some("REJECT") => "Rejected",
        _ => "Signed",
    };
    match event {
        "DECIDED" => decided.to_owned(),
        "SIGNED" => match outcome.and_then(|outcome| outcome.parse::<Outcome>().ok()) {
            Some(outcome) if outcome.accepted() => format!("{decided}. {}", outcome.explanation()),
            Some(outcome) => format!("Not {}: {}", decided.to_lowercase(), lower(outcome)),
            None => decided.to_owned(),
        },
        "ARRIVED" => "Arrived".to_owned(),
        "CORRECTED" => "Corrected upstream".to_owned(),
        "LEASED" => "Leased".to_owned(),
        "RELEASED" => "Given back".to_owned(),
        "LEASE_EXPIRED" => "The lease ran out".to_owned(),
        "ASSIGNED" => "Handed to a colleague".to_owned(),
        "TAKEN_AWAY" => "Taken away by a supervisor".to_owned(),
        "DEAD_LETTERED" => "Became a dead letter".to_owned(),
        "LETTER_TAKEN" => "Taken to work on".to_owned(),
        "LETTER_PUT_BACK" => "Put back".to_owned(),
        "LETTER_CORRECTED" => "Corrected".to_owned(),
        "LETTER_REPLAYED" => "Sent in again".to_owned(),
        "LETTER_DISCARD_ASKED" => "Asked to be discarded".to_owned(),
        "LETTER_DISCARDED" => "Discarded".to_owned(),
        other => readable(other),
    }
}

fn lower(outcome: Outcome) -> String {
    readable(outcome.as_str()).to_lowercase()
}

/// A name such as `DECIDED_BY` or `decided_by`, to be read.
fn readable(name: &str) -> String {
    let mut text = name.to_lowercase().replace('_', " ");
    if let Some(first) = text.get(..1).map(str::to_ascii_uppercase) {
        text.replace_range(..1, &first);
    }
    text
}

/// What this workstation did for a decision.
pub(crate) fn steps(steps: Vec<Step>) -> Vec<HistoryEvent> {
    steps.into_iter().map(step).collect()
}

fn step(step: Step) -> HistoryEvent {
    let (event, words) = match step.what {
        What::Signed { offline: false } => ("SIGNED", "Signed; on this computer's disk.".to_owned()),
        What::Signed { offline: true } => {
            ("SIGNED", "Signed while the database could not be reached; on this computer's disk.".to_owned())
        }
        What::Attempted { problem: None } => ("ATTEMPTED", "Sent.".to_owned()),
        What::Attempted { problem: Some(problem) } => {
            ("ATTEMPTED", format!("Sent, without an answer to it: {problem}"))
        }
        What::Answered(outcome) => ("ANSWERED", format!("{}: {}", outcome.as_str(), outcome.explanation())),
        What::GivenUp(problem) => ("GIVEN_UP", format!("Given up until you send it again: {problem}")),
        What::Retried => ("RETRIED", "To be sent again.".to_owned()),
        What::Withdrawn => ("WITHDRAWN", "Withdrawn before it was sent.".to_owned()),
    };
    HistoryEvent { at: instant(step.at), event: event.to_owned(), words, actor: None, facts: Vec::new() }
}

/// A picture as the window draws it.
pub(crate) fn picture(picture: &Picture) -> PictureView {
    PictureView {
        data_url: format!("data:{};base64,{}", picture.media_type, STANDARD.encode(&picture.bytes)),
        page_width: picture.page_width,
        page_height: picture.page_height,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::samples::at;

    fn event(event: &str, details: &[(&str, &str)]) -> HistoryEvent {
        let details = details.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        past(PastEvent { at: at(8), event: event.to_owned(), actor: "alice".to_owned(), details })
    }

    #[test]
    fn what_happened_is_told_in_words() {
        for (name, details, expected) in [
            ("ARRIVED", vec![], "Arrived"),
            ("SIGNED", vec![("decision", "APPROVE"), ("outcome", "COMMITTED")], "Approved. Committed."),
            ("SIGNED", vec![("decision", "REJECT"), ("outcome", "OVER_LIMIT")], "Not rejected: over limit"),
            ("DECIDED", vec![("decision", "REJECT")], "Rejected"),
            ("SOMETHING_NEW", vec![], "Something new"),
        ] {
            assert_eq!(event(name, &details).words, expected);
        }
        let facts = event("CORRECTED", &[("version", "2"), ("decided_by", "bob")]).facts;
        let facts: Vec<_> = facts.iter().map(|fact| (fact.label.as_str(), fact.value.as_str())).collect();
        assert_eq!(facts, [("Version", "2"), ("Decided by", "bob")]);
    }

    #[test]
    fn an_actor_who_is_not_told_has_no_name() {
        let hidden = past(PastEvent { at: at(8), event: "SIGNED".into(), actor: String::new(), details: Vec::new() });
        assert_eq!((hidden.actor, hidden.words.as_str()), (None, "Signed"));
    }
}
