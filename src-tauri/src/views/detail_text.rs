//! An exception as text: what a colleague needs of it in a mail or a ticket.

use std::fmt::Write as _;

use countersign_domain::visible::visible;
use countersign_wire::DetailView;

/// The widest label that is aligned.
const LABEL_CHARS: usize = 28;
/// The widest value of the left column that is aligned.
const VALUE_CHARS: usize = 40;

/// Plain text, aligned for a font of one width. What could hide or reorder anything is spelled out.
pub(super) fn text(view: &DetailView) -> String {
    let row = &view.row;
    let mut text = String::new();
    let head = [
        ("Exception", row.id.clone()),
        ("Variance", format!("{} {}", row.amount, row.currency)),
        ("Entity", row.entity.clone()),
        ("Counterparty", row.counterparty.clone()),
        ("Kind", row.kind.clone()),
        ("Tier", row.tier.clone()),
        ("Match", row.match_decision.clone()),
        ("Submitted", format!("{} ({} days ago)", row.submitted_at, row.age_days)),
        ("Prepared by", view.prepared_by.join(", ")),
        ("Suggestion", format!("{}: {}", row.suggestion.label, row.suggestion.reasons.join(" "))),
    ];
    pairs(&mut text, head.iter().map(|(label, value)| (*label, value.as_str())));
    if !row.state.explanation.is_empty() {
        pairs(&mut text, [("State", row.state.explanation.as_str())]);
    }
    pairs(&mut text, view.control.iter().map(|fact| (fact.label.as_str(), fact.value.as_str())));
    evidence(&mut text, view);
    if !view.facts.is_empty() {
        section(&mut text, "Facts");
        pairs(&mut text, view.facts.iter().map(|fact| (fact.label.as_str(), fact.value.as_str())));
    }
    if !view.calculation.is_empty() {
        section(&mut text, "Calculation");
        let lines: Vec<(String, String)> = view
            .calculation
            .iter()
            .map(|line| {
                let working = if line.working.is_empty() { String::new() } else { format!("{} = ", line.working) };
                (line.label.clone(), format!("{working}{}", line.result))
            })
            .collect();
        pairs(&mut text, lines.iter().map(|(label, value)| (label.as_str(), value.as_str())));
    }
    if let Some(version) = view.previous_version {
        section(&mut text, &format!("Changed since version {version}"));
        let absent = "(absent)";
        for change in &view.changes {
            let (before, after) =
                (change.before.as_deref().unwrap_or(absent), change.after.as_deref().unwrap_or(absent));
            put(&mut text, &format!("{}: {} → {}", visible(&change.path), visible(before), visible(after)));
        }
    }
    section(&mut text, "Reference");
    let version = row.version.to_string();
    let reference = [
        ("Key", view.key.as_str()),
        ("Version", version.as_str()),
        ("Content SHA-256", view.content_hash.as_str()),
        ("Trace", view.trace_id.as_str()),
        ("Partition", row.partition.as_str()),
        ("Number in it", row.seq.as_str()),
    ];
    pairs(&mut text, reference);
    text
}

fn evidence(text: &mut String, view: &DetailView) {
    if view.evidence.is_empty() {
        return;
    }
    section(text, "Evidence");
    let shown = |value: Option<&String>| value.map_or_else(|| "–".to_owned(), |value| visible(value).into_owned());
    let mut rows = vec![(String::new(), view.left_title.clone(), view.right_title.clone(), false)];
    rows.extend(
        view.evidence
            .iter()
            .map(|field| (field.label.clone(), shown(field.left.as_ref()), shown(field.right.as_ref()), field.differs)),
    );
    let width = |column: fn(&(String, String, String, bool)) -> &String, most: usize| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0).min(most)
    };
    let (label, left) = (width(|row| &row.0, LABEL_CHARS), width(|row| &row.1, VALUE_CHARS));
    for (name, one, other, differs) in &rows {
        let mark = if *differs { "≠" } else { " " };
        put(text, &format!("{} {mark} {}  {other}", padded(name, label), padded(one, left)));
    }
}

fn pairs<'a>(text: &mut String, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let pairs: Vec<(String, String)> =
        pairs.into_iter().map(|(label, value)| (visible(label).into_owned(), visible(value).into_owned())).collect();
    // All sections line up, unless a label is longer than that.
    let width = pairs.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0).clamp(16, LABEL_CHARS);
    for (label, value) in &pairs {
        put(text, &format!("{}  {value}", padded(label, width)));
    }
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}");
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

fn put(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
