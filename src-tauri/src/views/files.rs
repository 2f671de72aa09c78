//! Decks that go out as files, and decisions that come back in them.

use std::collections::HashMap;

use countersign_domain::id::ExceptionId;
use countersign_domain::policy::Policy;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::DeckItem;
use countersign_paper::decisions::{Import, decisions};
use countersign_paper::save::{SaveError, Saved};
use countersign_paper::sheet::SheetRow;
use countersign_paper::table::Table;
use countersign_wire::{
    CommandError, DecisionChoice, ImportDifference, ImportGroup, ImportProblem, ImportView, SavedFile,
};

use super::deck::{Rows, views};
use super::totals::currency_totals;
use super::{count, error, sentence};

/// How much of a file's name is shown.
const NAME_CHARS: usize = 255;

/// The deck as the rows of a sheet, with the policy in force.
pub(crate) fn sheet(deck: Rows) -> (Vec<SheetRow>, Option<Policy>) {
    let policy = deck.standing.as_ref().map(|standing| standing.policy.clone());
    let items: Vec<DeckItem> = deck.items.iter().map(|(item, _)| item.clone()).collect();
    let rows = items.into_iter().zip(views(deck)).map(|(item, shown)| SheetRow {
        id: item.id,
        version: item.version,
        content: item.content,
        key: item.key,
        kind: item.kind,
        entity: item.entity,
        counterparty: item.counterparty,
        variance: item.variance,
        submitted_at: item.submitted_at,
        age_days: shown.age_days,
        business_date: item.business_date,
        due_on: item.due_on,
        tier: item.tier,
        match_decision: item.match_decision,
        suggestion: shown.suggestion.label,
        state: shown.state.label,
        group: item.group,
        partition: item.partition.0,
        seq: item.seq.0,
    });
    (rows.collect(), policy)
}

/// The rows of these exceptions, in the order in which they are named. All of them have to be in the deck.
pub(crate) fn chosen(rows: Vec<SheetRow>, ids: &[ExceptionId]) -> Result<Vec<SheetRow>, CommandError> {
    let mut by_id: HashMap<ExceptionId, SheetRow> = rows.into_iter().map(|row| (row.id, row)).collect();
    let chosen: Vec<SheetRow> = ids.iter().filter_map(|id| by_id.remove(id)).collect();
    match ids.len() - chosen.len() {
        0 => Ok(chosen),
        gone => Err(error(
            "NOT_IN_DECK",
            format!(
                "{gone} of the exceptions to be exported left the deck, or are named twice. Nothing was written; export again."
            ),
        )),
    }
}

/// What a table comes to.
pub(crate) fn import(
    file: &str,
    table: &Table,
    deck: &[SheetRow],
    policy: &Policy,
) -> Result<ImportView, CommandError> {
    let Import { rows, undecided, groups, differences, problems } = decisions(table, deck, policy);
    let amounts: HashMap<ExceptionId, _> = deck.iter().map(|row| (row.id, row.variance)).collect();
    let groups = groups.into_iter().map(|group| {
        Ok(ImportGroup {
            decision: match group.decision {
                Decision::Approve => DecisionChoice::Approve,
                Decision::Reject => DecisionChoice::Reject,
            },
            totals: currency_totals(group.ids.iter().filter_map(|id| amounts.get(id)).copied())?,
            reason: group.reason,
            comment: group.comment,
            ids: group.ids.iter().map(ToString::to_string).collect(),
        })
    });
    Ok(ImportView {
        file: file.chars().take(NAME_CHARS).collect(),
        rows: count(rows),
        undecided: count(undecided),
        groups: groups.collect::<Result<_, CommandError>>()?,
        differences: differences
            .into_iter()
            .map(|one| ImportDifference {
                row: one.row,
                id: one.id.to_string(),
                column: one.column.heading().to_owned(),
                in_file: one.in_file,
                in_deck: one.in_deck,
            })
            .collect(),
        problems: problems
            .into_iter()
            .map(|problem| ImportProblem { row: problem.row, id: problem.id, message: problem.message })
            .collect(),
    })
}

/// A file that was written.
pub(crate) fn saved(saved: Saved) -> SavedFile {
    SavedFile {
        path: saved.path.display().to_string(),
        name: saved.name,
        bytes: count(saved.bytes),
        sha256: saved.sha256.to_string(),
    }
}

/// Nothing was written.
pub(crate) fn not_saved(problem: &SaveError) -> CommandError {
    let why = std::error::Error::source(problem).map(|source| format!(": {source}")).unwrap_or_default();
    error("NOT_SAVED", sentence(&format!("{problem}{why}")))
}

#[cfg(test)]
mod tests {
    use countersign_paper::deck_xlsx::deck_xlsx;
    use countersign_paper::table;

    use super::super::samples::{at, item, standing};
    use super::*;

    fn deck() -> (Vec<SheetRow>, Option<Policy>) {
        let rows = vec![(item(1, "10.00", "bob"), 200_000), (item(2, "-2.50", "dana"), 200_000)];
        sheet(Rows { items: rows, standing: Some(standing()), at: at(8) })
    }

    #[test]
    fn what_is_exported_is_what_was_chosen_in_its_order() {
        let (rows, _) = deck();
        assert_eq!(rows[1].state, "You prepared it");
        let ids = |chosen: Vec<SheetRow>| chosen.iter().map(|row| row.id.0).collect::<Vec<_>>();
        assert_eq!(chosen(rows.clone(), &[ExceptionId(2), ExceptionId(1)]).map(ids), Ok(vec![2, 1]));
        let gone = chosen(rows, &[ExceptionId(2), ExceptionId(9)]).expect_err("9 is not in the deck");
        assert_eq!(gone.code, "NOT_IN_DECK");
    }

    #[test]
    fn a_deck_that_comes_back_undecided_has_nothing_to_sign() {
        let (rows, policy) = deck();
        let policy = policy.expect("a standing");
        let bytes = deck_xlsx(&rows, &policy.reason_codes, at(8)).expect("written");
        let table = table::read(&bytes).expect("readable");
        let view = import("deck.xlsx", &table, &rows, &policy).expect("small sums");
        assert_eq!((view.rows, view.undecided), (2, 2));
        assert!(view.groups.is_empty() && view.differences.is_empty() && view.problems.is_empty());
    }

    #[test]
    fn each_set_of_decisions_has_its_totals() {
        let (rows, policy) = deck();
        let text = format!(
            "Exception,Version,Content SHA-256,Decision,Variance,Counterparty\n1,1,{0},APPROVE,10,Other\n2,1,{0},APPROVE,-2.5,ACME\n3,1,{0},APPROVE,1,ACME\n",
            rows[0].content.0
        );
        let table = table::read(text.as_bytes()).expect("readable");
        let view = import("deck.csv", &table, &rows, &policy.expect("a standing")).expect("small sums");
        assert_eq!(view.groups[0].ids, ["1", "2"]);
        assert_eq!(view.groups[0].totals[0].net, "7.50", "what the deck says is what is signed");
        assert_eq!((view.differences[0].in_file.as_str(), view.differences[0].in_deck.as_str()), ("Other", "ACME"));
        assert_eq!((view.problems[0].row, view.problems[0].id.as_deref()), (4, Some("3")));
    }
}
