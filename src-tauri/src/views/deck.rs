//! The deck and one exception of it.

use countersign_domain::evidence::{Line, evidence};
use countersign_domain::gate;
use countersign_domain::hash;
use countersign_domain::id::ExceptionId;
use countersign_domain::standing::{PeriodState, Standing};
use countersign_engine::port::DeckItem;
use countersign_engine::{Engine, Now};
use countersign_wire::{CommandError, DeckRow, DetailView, EvidenceField, Fact, Mark, SuggestionView};

use super::{error, foresight, instant, ms};

/// What a row is made of.
pub(crate) type Row = (DeckItem, u64);
/// Rows, and what is in force.
pub(crate) type Rows = (Vec<Row>, Option<Standing>);

/// Copies the deck.
pub(crate) fn rows(engine: &Engine, now: Now) -> Rows {
    let rows = engine.deck().map(|(slot, _)| with_lease(engine, &slot.item, now)).collect();
    (rows, engine.standing().cloned())
}

/// Copies one exception of the deck.
pub(crate) fn row(engine: &Engine, now: Now, id: ExceptionId) -> Option<(Row, Option<Standing>)> {
    engine.deck_item(id).map(|item| (with_lease(engine, item, now), engine.standing().cloned()))
}

fn with_lease(engine: &Engine, item: &DeckItem, now: Now) -> Row {
    (item.clone(), engine.lease_ends_in_ms(&item.partition, now))
}

/// The rows as the grid shows them.
pub(crate) fn views((rows, standing): Rows) -> Vec<DeckRow> {
    let items: Vec<&DeckItem> = rows.iter().map(|(item, _)| item).collect();
    let marks = foresight::marks(&items, standing.as_ref());
    rows.into_iter().zip(marks).map(|(row, marks)| view(row, marks)).collect()
}

fn view((item, lease_ends_in_ms): Row, marks: Vec<Mark>) -> DeckRow {
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
    }
}

/// Everything about one exception, from its row and the content it was leased with.
pub(crate) fn detail((row, standing): (Row, Option<Standing>), body: &str) -> Result<DetailView, CommandError> {
    // What is shown has to be what a signature binds; between the two reads a newer version may have come.
    if hash::content_hash(body) != row.0.content {
        return Err(error("CHANGED", "The exception changed while it was being opened. Open it again."));
    }
    let content = gate::read_body(body).map_err(|rejection| {
        error("UNREADABLE", format!("The exception's content cannot be read: {}.", rejection.reason))
    })?;
    let evidence = evidence(&content);
    let payload = serde_json::to_string_pretty(&content.payload.json)
        .map_err(|reason| error("UNREADABLE", format!("The exception's payload cannot be shown: {reason}.")))?;
    let control = control(&row.0, standing.as_ref());
    let marks = foresight::marks(&[&row.0], standing.as_ref()).pop().unwrap_or_default();
    Ok(DetailView {
        key: row.0.key.clone(),
        content_hash: row.0.content.0.to_string(),
        trace_id: row.0.trace_id.to_string(),
        row: view(row, marks),
        prepared_by: content.prepared_by,
        left_title: evidence.left.to_owned(),
        right_title: evidence.right.to_owned(),
        evidence: evidence.lines.iter().map(|line| field(line, evidence.differs(line))).collect(),
        facts: evidence.facts.into_iter().map(|(label, value)| Fact { label, value }).collect(),
        control,
        payload,
    })
}

/// What decides whether it can be signed.
fn control(item: &DeckItem, standing: Option<&Standing>) -> Vec<Fact> {
    let fact = |label: &str, value: String| Fact { label: label.to_owned(), value };
    let signatures = (item.signatures > 0).then(|| fact("Signatures", foresight::signatures(item.signatures)));
    let reverses = item.reverses.as_ref().map(|key| fact("Reverses", key.clone()));
    let day = fact("Business date", item.business_date.to_string());
    let in_force = standing.map(|standing| {
        let (period, state) = standing.period_of(&item.entity, item.business_date);
        let state = match state {
            PeriodState::Open => "open",
            PeriodState::Closing => "closing",
            PeriodState::Closed => "closed",
        };
        [fact("Period", format!("{period}, {state}")), fact("Policy", format!("version {}", standing.policy_version))]
    });
    signatures.into_iter().chain([day]).chain(in_force.into_iter().flatten()).chain(reverses).collect()
}

fn field(line: &Line, differs: bool) -> EvidenceField {
    EvidenceField {
        label: line.label.to_owned(),
        differs,
        left: line.left.clone(),
        right: line.right.clone(),
        numeric: line.numeric,
    }
}
