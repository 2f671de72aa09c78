//! One exception of the deck, in full.

use countersign_domain::calculation::calculation;
use countersign_domain::difference::difference;
use countersign_domain::evidence::{Line, evidence};
use countersign_domain::scan::{self, Band, ReadLine};
use countersign_domain::sign_off::Decision;
use countersign_domain::standing::{PeriodState, Standing};
use countersign_domain::{gate, hash};
use countersign_engine::port::DeckItem;
use countersign_wire::{
    CalculationLine, CommandError, Confidence, ContentChange, DetailView, EvidenceField, Fact, OcrLine, ReceiptScan,
};

use super::deck::{Opened, view};
use super::{detail_text, error, marks};

/// The version before, and its content.
pub(crate) type Previous = (u32, String);

/// Everything about one exception, from its row and the content it was leased with.
pub(crate) fn detail(opened: Opened, body: &str, previous: Option<Previous>) -> Result<DetailView, CommandError> {
    let Opened { row, before, standing, at } = opened;
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
    let changes = previous.as_ref().map(|(_, earlier)| changes(earlier, body)).transpose()?;
    let marks = marks::marks(&[&row.0], standing.as_ref()).pop().unwrap_or_default();
    let mut view = DetailView {
        key: row.0.key.clone(),
        content_hash: row.0.content.0.to_string(),
        trace_id: row.0.trace_id.to_string(),
        control: control(&row.0, standing.as_ref()),
        row: view(row, marks, before, standing.as_ref(), at),
        left_title: evidence.left.to_owned(),
        right_title: evidence.right.to_owned(),
        evidence: evidence.lines.iter().map(|line| field(line, evidence.differs(line))).collect(),
        payload,
        previous_version: previous.map(|(version, _)| version),
        changes: changes.unwrap_or_default(),
        calculation: calculation(&content)
            .into_iter()
            .map(|step| CalculationLine { label: step.label, working: step.working, result: step.result })
            .collect(),
        scan: scan::scan(&content).map(|scan| ReceiptScan {
            picture: scan.picture,
            read_from: scan.read_from,
            lines: scan.lines.into_iter().map(ocr_line).collect(),
        }),
        facts: evidence.facts.into_iter().map(|(label, value)| Fact { label, value }).collect(),
        prepared_by: content.prepared_by,
        text: String::new(),
    };
    view.text = detail_text::text(&view);
    Ok(view)
}

fn changes(earlier: &str, body: &str) -> Result<Vec<ContentChange>, CommandError> {
    let changes = difference(earlier, body).map_err(|which| {
        error("UNREADABLE", format!("{which} of the exception cannot be read, so nothing is compared."))
    })?;
    let change = |change: countersign_domain::difference::Change| ContentChange {
        path: change.path,
        before: change.before,
        after: change.after,
    };
    Ok(changes.into_iter().map(change).collect())
}

/// What decides whether it can be signed.
fn control(item: &DeckItem, standing: Option<&Standing>) -> Vec<Fact> {
    let fact = |label: &str, value: String| Fact { label: label.to_owned(), value };
    let signatures = (item.signatures > 0).then(|| fact("Signatures", marks::signatures(item.signatures)));
    let reverses = item.reverses.as_ref().map(|key| fact("Reverses", key.clone()));
    let day = fact("Business date", item.business_date.to_string());
    let due = item.due_on.map(|day| fact("Due", day.to_string()));
    let in_force = standing.map(|standing| {
        let (period, state) = standing.period_of(&item.entity, item.business_date);
        let state = match state {
            PeriodState::Open => "open",
            PeriodState::Closing => "closing",
            PeriodState::Closed => "closed",
        };
        [fact("Period", format!("{period}, {state}")), fact("Policy", format!("version {}", standing.policy_version))]
    });
    let effects = [("Approving it", Decision::Approve), ("Rejecting it", Decision::Reject)]
        .into_iter()
        .filter_map(|(label, decision)| item.outlook.words(decision).map(|words| fact(label, words.to_owned())));
    effects.chain(signatures).chain([day]).chain(due).chain(in_force.into_iter().flatten()).chain(reverses).collect()
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

fn ocr_line(line: ReadLine) -> OcrLine {
    let [x, y, width, height] = line.place;
    let band = match line.band {
        Band::High => Confidence::High,
        Band::Medium => Confidence::Medium,
        Band::Low => Confidence::Low,
    };
    OcrLine { text: line.text, confidence: line.confidence, band, x, y, width, height }
}

#[cfg(test)]
mod tests {
    use countersign_domain::id::ContentHash;
    use countersign_wire::Confidence;

    use super::super::samples::{at, item, standing};
    use super::*;

    fn demo(kind: &str) -> String {
        let demo = include_str!("../../../demo/exceptions.jsonl");
        let arrivals = demo.lines().filter_map(|line| gate::judge(line.as_bytes()).ok());
        arrivals.filter(|arrival| arrival.content.kind.as_str() == kind).map(|arrival| arrival.body).next().expect(kind)
    }

    fn opened(body: &str) -> Opened {
        let item = DeckItem { content: hash::content_hash(body), ..item(7, "8.98", "bob") };
        Opened { row: (item, 200_000), before: None, standing: Some(standing()), at: at(8) }
    }

    #[test]
    fn a_claim_is_written_out_and_what_changed_is_told_field_by_field() {
        let body = demo("sales_claim");
        let earlier = body.replacen("\"qualifying_units\":\"14\"", "\"qualifying_units\":\"15\"", 1);
        assert_ne!(earlier, body);
        let view = detail(opened(&body), &body, Some((1, earlier))).expect("readable");
        assert_eq!(view.previous_version, Some(1));
        let change = ContentChange {
            path: "payload.qualifying_units".into(),
            before: Some("15".into()),
            after: Some("14".into()),
        };
        assert_eq!(view.changes, [change]);
        let rounded = view.calculation.iter().find(|line| line.label == "Units × rate").expect("a rate");
        assert_eq!((rounded.working.as_str(), rounded.result.as_str()), ("14 × 0.55", "7.7"));
        for part in
            ["Exception         7", "8.98 EUR", "Changed since version 1", "qualifying_units: 15 → 14", "Units × rate"]
        {
            assert!(view.text.contains(part), "{part} is not in\n{}", view.text);
        }
        assert!(view.text.contains(&view.content_hash));
    }

    #[test]
    fn a_receipt_shows_its_lines_with_their_boxes() {
        let body = demo("receipt");
        let view = detail(opened(&body), &body, None).expect("readable");
        let scan = view.scan.expect("a scan");
        assert_eq!(scan.lines[0].band, Confidence::High);
        assert!(scan.lines[0].width > 0);
        assert!(view.facts.iter().any(|fact| fact.label.starts_with("Drift")));
    }

    #[test]
    fn another_content_than_the_deck_shows_is_not_opened() {
        let body = demo("receipt");
        let mut changed = opened(&body);
        changed.row.0.content = ContentHash(hash::sha256(b"other"));
        assert_eq!(detail(changed, &body, None).expect_err("it changed").code, "CHANGED");
    }
}
