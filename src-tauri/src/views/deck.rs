//! The deck.

use chrono::{DateTime, Local, Utc};
use countersign_domain::id::{ExceptionId, PartitionKey, Seq};
use countersign_domain::review::{self, Circumstances, Seen};
use countersign_domain::standing::Standing;
use countersign_engine::port::DeckItem;
use countersign_engine::{Engine, Now};
use countersign_wire::{Aging, DeckRow, HeldBehind, Mark, MarkKind, RowState, SuggestionView, Tone, Trait};

use super::{instant, marks, ms};

/// What a row is made of: the exception, and how long its lease lasts.
pub(crate) type Row = (DeckItem, u64);

/// Rows, and what they are seen with.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) items: Vec<Row>,
    /// What is in force.
    pub(crate) standing: Option<Standing>,
    /// When.
    pub(crate) at: DateTime<Utc>,
}

/// One row, and the undecided one before it in its partition.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) row: Row,
    pub(crate) before: Option<(ExceptionId, Seq)>,
    pub(crate) standing: Option<Standing>,
    pub(crate) at: DateTime<Utc>,
}

/// Copies the deck.
pub(crate) fn rows(engine: &Engine, now: Now) -> Rows {
    let items = engine.deck().map(|(slot, _)| with_lease(engine, &slot.item, now)).collect();
    Rows { items, standing: engine.standing().cloned(), at: now.wall }
}

/// Copies one exception of the deck.
pub(crate) fn row(engine: &Engine, now: Now, id: ExceptionId) -> Option<Opened> {
    let item = engine.deck_item(id)?;
    let earlier = engine.deck().map(|(slot, _)| &slot.item);
    let earlier = earlier.filter(|other| other.partition == item.partition && other.seq < item.seq);
    Some(Opened {
        before: earlier.max_by_key(|other| other.seq).map(|other| (other.id, other.seq)),
        row: with_lease(engine, item, now),
        standing: engine.standing().cloned(),
        at: now.wall,
    })
}

fn with_lease(engine: &Engine, item: &DeckItem, now: Now) -> Row {
    (item.clone(), engine.lease_ends_in_ms(&item.partition, now))
}

/// The rows as the grid shows them.
pub(crate) fn views(deck: Rows) -> Vec<DeckRow> {
    let Rows { items: rows, standing, at } = deck;
    let items: Vec<&DeckItem> = rows.iter().map(|(item, _)| item).collect();
    let marks = marks::marks(&items, standing.as_ref());
    let places: Vec<(&PartitionKey, Seq)> = items.iter().map(|item| (&item.partition, item.seq)).collect();
    let before: Vec<Option<(ExceptionId, Seq)>> = review::behind(&places)
        .into_iter()
        .map(|behind| behind.and_then(|index| items.get(index)).map(|item| (item.id, item.seq)))
        .collect();
    let beside = marks.into_iter().zip(before);
    rows.into_iter().zip(beside).map(|(row, (marks, before))| view(row, marks, before, standing.as_ref(), at)).collect()
}

/// One row as the grid shows it.
pub(super) fn view(
    (item, lease_ends_in_ms): Row,
    marks: Vec<Mark>,
    before: Option<(ExceptionId, Seq)>,
    standing: Option<&Standing>,
    at: DateTime<Utc>,
) -> DeckRow {
    let age_days = review::age_days(item.submitted_at, at);
    let traits = review::traits(standing.map(|standing| &standing.policy), seen(&item));
    let refusal = marks.iter().find(|mark| mark.kind == MarkKind::Refusal);
    let state = review::row_state(Circumstances {
        lease_ends_in_ms,
        note: item.note.as_deref(),
        refusal: refusal.map(|mark| (mark.label.as_str(), mark.explanation.as_str())),
        signatures: item.signatures,
        behind: before.map(|(_, seq)| seq),
        reverses: item.reverses.as_deref(),
    });
    DeckRow {
        id: item.id.to_string(),
        kind: item.kind.as_str().to_owned(),
        amount: item.variance.text(),
        currency: item.variance.currency.code().to_owned(),
        minor_units: item.variance.currency.minor_units(),
        entity: item.entity,
        counterparty: item.counterparty,
        submitted_at: instant(item.submitted_at),
        match_decision: item.match_decision.as_str().to_owned(),
        tier: item.tier.as_str().to_owned(),
        suggestion: SuggestionView {
            code: item.suggestion.route.as_str().to_owned(),
            label: item.suggestion.route.label().to_owned(),
            reasons: item.suggestion.reasons,
        },
        partition: item.partition.0,
        seq: item.seq.0.to_string(),
        group: item.group,
        version: item.version,
        lease_ends_in_ms: ms(lease_ends_in_ms),
        note: item.note,
        marks,
        age_days,
        aging: aging(review::Aging::of(age_days)),
        // A due date is a plain date: it is over when the day on the reviewer's calendar is a later one.
        overdue: item.due_on.is_some_and(|day| day < at.with_timezone(&Local).date_naive()),
        due_on: item.due_on.map(|day| day.to_string()),
        traits: traits.into_iter().map(named).collect(),
        held_behind: before.map(|(id, seq)| HeldBehind { id: Some(id.to_string()), seq: seq.0.to_string() }),
        state: RowState { label: state.label, explanation: state.explanation, tone: tone(state.tone) },
    }
}

fn seen(item: &DeckItem) -> Seen {
    Seen {
        kind: item.kind,
        tier: item.tier,
        variance: item.variance,
        signatures: item.signatures,
        returned: item.note.is_some(),
    }
}

fn aging(aging: review::Aging) -> Aging {
    match aging {
        review::Aging::UpTo30 => Aging::UpTo30,
        review::Aging::UpTo60 => Aging::UpTo60,
        review::Aging::UpTo90 => Aging::UpTo90,
        review::Aging::Over90 => Aging::Over90,
    }
}

fn named(named: review::Trait) -> Trait {
    match named {
        review::Trait::ZeroVariance => Trait::ZeroVariance,
        review::Trait::BelowMateriality => Trait::BelowMateriality,
        review::Trait::Large => Trait::Large,
        review::Trait::NeedsSecond => Trait::NeedsSecond,
        review::Trait::Returned => Trait::Returned,
    }
}

fn tone(tone: review::Tone) -> Tone {
    match tone {
        review::Tone::Calm => Tone::Calm,
        review::Tone::Info => Tone::Info,
        review::Tone::Warning => Tone::Warning,
        review::Tone::Bad => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, item, standing};
    use super::*;

    fn shown(rows: Vec<Row>) -> Vec<DeckRow> {
        views(Rows { items: rows, standing: Some(standing()), at: at(8) })
    }

    #[test]
    fn a_row_says_what_keeps_it_back_when_it_is_due_and_what_policy_makes_of_it() {
        let today = at(8).with_timezone(&Local).date_naive();
        let first = DeckItem { due_on: today.pred_opt(), ..item(3, "0.00", "bob") };
        let second = DeckItem { due_on: Some(today), note: Some("Changed".into()), ..item(7, "-600.00", "bob") };
        let rows = shown(vec![(second, 200_000), (first, 200_000)]);
        assert_eq!(rows[0].held_behind, Some(HeldBehind { id: Some("3".into()), seq: "3".into() }));
        assert_eq!((rows[0].overdue, rows[1].overdue), (false, true));
        assert_eq!(rows[0].traits, [Trait::BelowMateriality, Trait::NeedsSecond, Trait::Returned]);
        assert_eq!(rows[1].traits, [Trait::ZeroVariance]);
        assert_eq!((rows[0].state.label.as_str(), rows[0].state.tone), ("Came back", Tone::Bad));
        assert_eq!((rows[1].state.label.as_str(), rows[1].held_behind.as_ref()), ("", None));
        assert_eq!((rows[1].age_days, rows[1].aging), (0, Aging::UpTo30));
    }

    #[test]
    fn a_refusal_that_came_is_the_state_also_where_none_is_foreseen() {
        let refused = DeckItem { note: Some("Refused: period closed".into()), ..item(1, "700.00", "bob") };
        let rows = shown(vec![(refused, 200_000)]);
        assert_eq!((rows[0].state.label.as_str(), rows[0].state.tone), ("Came back", Tone::Bad));
        assert!(rows[0].state.explanation.starts_with("Refused: period closed."), "{}", rows[0].state.explanation);
        assert!(rows[0].traits.contains(&Trait::Returned));
    }

    #[test]
    fn a_refusal_that_is_foreseen_is_the_state() {
        let rows = shown(vec![(item(1, "5000.00", "bob"), 200_000), (item(2, "1.00", "DANA"), 0)]);
        assert_eq!((rows[0].state.label.as_str(), rows[0].state.tone), ("Over your limit", Tone::Bad));
        assert_eq!((rows[1].state.label.as_str(), rows[1].state.tone), ("Lease lapsed", Tone::Warning));
        assert!(rows[1].state.explanation.contains("You prepared it"), "{}", rows[1].state.explanation);
    }
}
