//! Decisions of a table, held against the deck. Nothing is signed by reading them.

use std::collections::{BTreeMap, HashMap, HashSet};

use countersign_domain::id::ExceptionId;
use countersign_domain::money::{Money, parse_decimal};
use countersign_domain::policy::Policy;
use countersign_domain::sign_off::{COMMENT_CHARS, Decision};
use countersign_domain::visible::visible;
use rust_decimal::Decimal;

use crate::sheet::{Cell, Column, SheetRow};
use crate::table::{Table, TableRow};

/// The most problems, and the most differences, that are listed.
pub const LISTED: usize = 500;
/// What is filled in.
const FILLED_IN: [Column; 3] = [Column::Decision, Column::Reason, Column::Comment];
/// How much of a cell is repeated in a message.
const SHOWN_CHARS: usize = 60;

/// What can be signed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Approve or reject.
    pub decision: Decision,
    /// The reason code.
    pub reason: Option<String>,
    /// The comment.
    pub comment: Option<String>,
    /// The exceptions, in the order of the file.
    pub ids: Vec<ExceptionId>,
}

/// A decided row that says something else than the deck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The row's number in the file.
    pub row: u32,
    /// The exception.
    pub id: ExceptionId,
    /// The column.
    pub column: Column,
    /// What the file says.
    pub in_file: String,
    /// What the deck says.
    pub in_deck: String,
}

/// A row that cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The row's number in the file; 0 for the file as a whole.
    pub row: u32,
    /// The exception, as the file names it.
    pub id: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a table comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Import {
    /// Rows with data.
    pub rows: usize,
    /// Rows in which nothing is decided.
    pub undecided: usize,
    /// What can be signed.
    pub groups: Vec<Group>,
    /// At most [`LISTED`].
    pub differences: Vec<Difference>,
    /// At most [`LISTED`], and one that counts the others.
    pub problems: Vec<Problem>,
}

/// What is decided with one confirmation: a group of exceptions has to have it in common.
type Verdict = (Decision, Option<String>, Option<String>);

struct Decided<'a> {
    row: &'a TableRow,
    item: &'a SheetRow,
    verdict: Verdict,
}

/// Holds a table against the deck and the policy in force.
pub fn decisions(table: &Table, deck: &[SheetRow], policy: &Policy) -> Import {
    let deck_by_id: HashMap<ExceptionId, &SheetRow> = deck.iter().map(|item| (item.id, item)).collect();
    let mut problems = Vec::new();
    let mut undecided = 0;
    let mut decided: Vec<Decided<'_>> = Vec::new();
    let twice = twice(table);
    for row in &table.rows {
        let text = |column| table.cell(row, column).unwrap_or_default();
        if let Some(column) = FILLED_IN.into_iter().find(|column| table.lacks_value(row, *column)) {
            let message = format!(
                "{} is a formula whose value is not in the file. Write what it stands for instead, or open and save the file in a spreadsheet.",
                column.heading()
            );
            problems.push(problem(table, row, message));
            continue;
        }
        if text(Column::Decision).is_empty() {
            undecided += 1;
            continue;
        }
        match read_row(table, row, &deck_by_id, &twice, policy) {
            Ok((item, verdict)) => decided.push(Decided { row, item, verdict }),
            Err(message) => problems.push(problem(table, row, message)),
        }
    }
    let whole = whole_groups(table, deck, decided, &mut problems);
    let differences = whole.iter().flat_map(|decided| differences(table, decided)).take(LISTED).collect();
    problems.sort_by_key(|problem| problem.row);
    if problems.len() > LISTED {
        let more = problems.len() - LISTED;
        problems.truncate(LISTED);
        let message = format!("{more} more rows cannot be signed. Correct those that are listed, and import again.");
        problems.push(Problem { row: 0, id: None, message });
    }
    Import { rows: table.rows.len(), undecided, groups: grouped(whole), differences, problems }
}

/// The rows of each exception that is in the file more than once, however its identifier is written.
fn twice(table: &Table) -> HashMap<ExceptionId, Vec<u32>> {
    let mut rows: HashMap<ExceptionId, Vec<u32>> = HashMap::new();
    for row in &table.rows {
        if let Some(id) = table.cell(row, Column::Exception).and_then(|id| id.parse().ok()) {
            rows.entry(id).or_default().push(row.number);
        }
    }
    rows.retain(|_, rows| rows.len() > 1);
    rows
}

fn read_row<'a>(
    table: &Table,
    row: &TableRow,
    deck: &HashMap<ExceptionId, &'a SheetRow>,
    twice: &HashMap<ExceptionId, Vec<u32>>,
    policy: &Policy,
) -> Result<(&'a SheetRow, Verdict), String> {
    let text = |column| table.cell(row, column).unwrap_or_default();
    let id = text(Column::Exception);
    let named: Option<ExceptionId> = id.parse().ok();
    if id.is_empty() {
        return Err("It names no exception: the column Exception is empty.".to_owned());
    }
    if let Some(rows) = named.and_then(|named| twice.get(&named)) {
        let numbers: Vec<String> = rows.iter().take(5).map(ToString::to_string).collect();
        return Err(format!(
            "Exception {} is in the file more than once, in rows {}. Keep one of them.",
            shown(id),
            numbers.join(", ")
        ));
    }
    let item = named.and_then(|named| deck.get(&named)).copied().ok_or_else(|| {
        format!(
            "Exception {} is not in the deck: it was decided or given back since the export, or is a colleague's.",
            shown(id)
        )
    })?;
    if text(Column::Version) != item.version.to_string() {
        return Err(format!(
            "The file is about version {}, the deck has version {}. Export the deck again and decide on what it says now.",
            shown(text(Column::Version)),
            item.version
        ));
    }
    if !text(Column::Content).eq_ignore_ascii_case(&item.content.0.to_string()) {
        return Err("The content hash is not that of the deck: the exception changed, or the file was edited. Export the deck again.".to_owned());
    }
    let decision = match text(Column::Decision).to_ascii_uppercase().as_str() {
        "APPROVE" => Decision::Approve,
        "REJECT" => Decision::Reject,
        _ => {
            return Err(format!(
                "`{}` is no decision: expected APPROVE, REJECT or nothing.",
                shown(text(Column::Decision))
            ));
        }
    };
    same_money(table, row, item)?;
    let reason = reason(text(Column::Reason), decision, policy)?;
    let comment = text(Column::Comment);
    if comment.chars().count() > COMMENT_CHARS {
        return Err(format!("The comment has more than {COMMENT_CHARS} characters. Shorten it."));
    }
    if comment.contains('\0') {
        return Err("The comment contains a NUL character. Delete it.".to_owned());
    }
    Ok((item, (decision, reason, Some(comment.to_owned()).filter(|comment| !comment.is_empty()))))
}

/// Who decided on another amount than that of the deck did not decide on this exception.
fn same_money(table: &Table, row: &TableRow, item: &SheetRow) -> Result<(), String> {
    let differs = |column: &Column| table.cell(row, *column).is_some_and(|said| !agrees(table, said, item, *column));
    match [Column::Variance, Column::Currency].into_iter().find(differs) {
        Some(column) => Err(format!(
            "{}: the sheet says {}, the deck {}. Export the deck again, or correct it.",
            column.heading(),
            shown(table.cell(row, column).filter(|said| !said.is_empty()).unwrap_or("nothing")),
            deck_text(&item.cell(column)),
        )),
        None => Ok(()),
    }
}

fn agrees(table: &Table, in_file: &str, item: &SheetRow, column: Column) -> bool {
    match item.cell(column) {
        Cell::Amount(money) => amount(in_file, table.comma_decimals) == Some(money.amount),
        // What the export wrote and a spreadsheet may have trimmed.
        cell => same_text(in_file, &deck_text(&cell)),
    }
}

fn reason(text: &str, decision: Decision, policy: &Policy) -> Result<Option<String>, String> {
    let code = text.to_ascii_uppercase();
    match (code.as_str(), decision) {
        ("", Decision::Approve) => Ok(None),
        ("", Decision::Reject) => {
            Err("A rejection needs a reason: write one of the policy's codes into the column Reason.".to_owned())
        }
        (known, _) if policy.knows_reason(known) => Ok(Some(code)),
        _ => {
            let codes: Vec<&str> = policy.reason_codes.iter().map(|reason| reason.code.as_str()).collect();
            Err(format!("`{}` is no reason code of the policy: expected one of {}.", shown(text), codes.join(", ")))
        }
    }
}

/// Leaves out what belongs to a group that is not decided whole, with one verdict.
fn whole_groups<'a>(
    table: &Table,
    deck: &[SheetRow],
    decided: Vec<Decided<'a>>,
    problems: &mut Vec<Problem>,
) -> Vec<Decided<'a>> {
    let mut sizes: HashMap<(&str, &str), usize> = HashMap::new();
    for item in deck {
        if let Some(group) = &item.group {
            *sizes.entry((&item.partition, group)).or_default() += 1;
        }
    }
    let mut verdicts: HashMap<(&str, &str), (usize, HashSet<&Verdict>)> = HashMap::new();
    for one in &decided {
        if let Some(group) = &one.item.group {
            let (count, verdicts) = verdicts.entry((&one.item.partition, group)).or_default();
            *count += 1;
            verdicts.insert(&one.verdict);
        }
    }
    let mut split: BTreeMap<(String, String), String> = BTreeMap::new();
    for ((partition, group), (count, verdicts)) in &verdicts {
        let size = sizes.get(&(*partition, *group)).copied().unwrap_or_default();
        let why = if *count < size {
            format!("{count} of the {size} exceptions of its group {} can be signed as the file says.", shown(group))
        } else if verdicts.len() > 1 {
            format!("The exceptions of its group {} differ in decision, reason or comment.", shown(group))
        } else {
            continue;
        };
        let message = format!("{why} A group is decided whole, with one decision, reason and comment.");
        split.insert(((*partition).to_owned(), (*group).to_owned()), message);
    }
    let mut whole = Vec::with_capacity(decided.len());
    for one in decided {
        let group = one.item.group.as_ref().map(|group| (one.item.partition.clone(), group.clone()));
        match group.and_then(|group| split.get(&group)) {
            Some(message) => problems.push(problem(table, one.row, message.clone())),
            None => whole.push(one),
        }
    }
    whole
}

/// In the order in which each verdict is first met.
fn grouped(decided: Vec<Decided<'_>>) -> Vec<Group> {
    let mut places: HashMap<Verdict, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for Decided { item, verdict, .. } in decided {
        let place = *places.entry(verdict).or_insert_with_key(|(decision, reason, comment)| {
            let (reason, comment) = (reason.clone(), comment.clone());
            groups.push(Group { decision: *decision, reason, comment, ids: Vec::new() });
            groups.len() - 1
        });
        groups[place].ids.push(item.id);
    }
    groups
}

fn differences(table: &Table, decided: &Decided<'_>) -> Vec<Difference> {
    let compared = [Column::Counterparty, Column::Entity];
    let differing = compared.into_iter().filter_map(|column| {
        let (in_file, in_deck) = (table.cell(decided.row, column)?, deck_text(&decided.item.cell(column)));
        (!agrees(table, in_file, decided.item, column)).then(|| Difference {
            row: decided.row.number,
            id: decided.item.id,
            column,
            in_file: shown(in_file),
            in_deck: shown(&in_deck),
        })
    });
    differing.collect()
}

/// Spreadsheets and their texts change the ends of lines and the space around a cell; nothing else may differ.
fn same_text(a: &str, b: &str) -> bool {
    a.trim() == b.trim()
}

fn deck_text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => text.clone().into_owned(),
        Cell::Amount(money) => Money::text(money),
        Cell::Count(count) => count.to_string(),
        Cell::Date(day) => day.to_string(),
        Cell::Empty => String::new(),
    }
}

fn amount(text: &str, comma_decimals: bool) -> Option<Decimal> {
    let commas = text.matches(',').count();
    if comma_decimals && commas == 1 && !text.contains('.') {
        return parse_decimal(&text.replace(',', ".")).ok();
    }
    parse_decimal(text).ok()
}

fn problem(table: &Table, row: &TableRow, message: String) -> Problem {
    let id = table.cell(row, Column::Exception).filter(|id| !id.is_empty()).map(shown);
    Problem { row: row.number, id, message }
}

fn shown(text: &str) -> String {
    let text: String = text.chars().take(SHOWN_CHARS).collect();
    visible(&text).into_owned()
}
