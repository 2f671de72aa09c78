//! What to know of an exception before it is decided.

use countersign_domain::sign_off::{Decision, Outcome};
use countersign_domain::standing::{Standing, Subject};
use countersign_engine::port::DeckItem;
use countersign_wire::{Mark, MarkKind};

use super::foresight::subject;

/// How much of a key tells it from others.
const KEY_PREFIX: usize = 8;

/// What to know of each exception before it is decided, in the same order. Neither who signed nor what they decided is ever said.
pub(super) fn marks(items: &[&DeckItem], standing: Option<&Standing>) -> Vec<Vec<Mark>> {
    let subjects: Vec<Subject<'_>> = items.iter().map(|item| subject(item, None)).collect();
    // A rejection takes nothing of a limit, so that each is looked at alone; what is refused then is refused in any case.
    let foreseen = standing.map(|standing| standing.foresee(Decision::Reject, &subjects, &[])).unwrap_or_default();
    let outcomes = foreseen.into_iter().map(Some).chain(std::iter::repeat(None));
    items.iter().zip(outcomes).map(|(item, outcome)| marks_of(item, outcome)).collect()
}

fn marks_of(item: &DeckItem, outcome: Option<Outcome>) -> Vec<Mark> {
    let signed = (item.signatures > 0).then(|| Mark {
        kind: MarkKind::Signed,
        label: signatures(item.signatures),
        explanation: "It takes effect with a second signature. Decide it for yourself.".to_owned(),
    });
    let reversal = item.reverses.as_ref().map(|key| Mark {
        kind: MarkKind::Reversal,
        label: format!("Reversal of {}", prefix(key)),
        explanation: format!("It undoes the exception with the key {key}."),
    });
    let refused = outcome.filter(|outcome| !outcome.accepted()).map(|outcome| Mark {
        kind: MarkKind::Refusal,
        label: upper_first(outcome.in_brief()),
        explanation: outcome.explanation().to_owned(),
    });
    signed.into_iter().chain(reversal).chain(refused).collect()
}

/// How far an exception that needs two signatures is.
pub(super) fn signatures(count: u32) -> String {
    format!("{count} of 2 signed")
}

/// The first letters of a key, with a mark where it goes on.
fn prefix(key: &str) -> String {
    match key.char_indices().nth(KEY_PREFIX) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    }
}

fn upper_first(words: &str) -> String {
    let mut words = words.to_owned();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use countersign_domain::standing::{Period, PeriodState};

    use super::super::samples::{item, standing};
    use super::*;

    #[test]
    fn a_mark_says_that_somebody_signed_and_neither_who_nor_what() {
        let signed = DeckItem { signatures: 1, reverses: Some("0123456789abcdef".into()), ..item(1, "600.00", "bob") };
        let closed = Standing {
            periods: vec![Period { state: PeriodState::Closed, ..standing().periods.remove(0) }],
            ..standing()
        };
        let labels = |standing: Option<&Standing>| -> Vec<String> {
            marks(&[&signed], standing).remove(0).into_iter().map(|mark| mark.label).collect()
        };
        assert_eq!(labels(None), ["1 of 2 signed", "Reversal of 01234567…"]);
        assert_eq!(labels(Some(&standing())), ["1 of 2 signed", "Reversal of 01234567…"]);
        assert_eq!(labels(Some(&closed)), ["1 of 2 signed", "Reversal of 01234567…", "Period closed"]);
        assert!(marks(&[&item(2, "1.00", "bob")], Some(&standing())).remove(0).is_empty());
    }
}
