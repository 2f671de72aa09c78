//! Everything about one letter.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use countersign_domain::difference::Change;
use countersign_domain::letter;
use countersign_engine::port::{LetterDetail, LetterId, LetterStatus, PastEvent};
use serde::Serialize;

use super::correct::unknown;
use super::list::age;
use super::{Corrected, Supervisor, describe_answers, outcome_words};
use crate::AdminError;
use crate::rows::instant;
use crate::text::{shown, table};

/// Marks the field at fault.
const MARK: &str = ">";

/// One letter with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Its identifier.
    pub id: i64,
    /// Where it is in its life, in words.
    pub status: String,
    /// Why it is one.
    pub cause: &'static str,
    /// The field at fault.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// Where it came from.
    pub origin: String,
    /// The line there.
    pub line: Option<i64>,
    /// When it came first.
    pub first_at: DateTime<Utc>,
    /// How often it came.
    pub times: u32,
    /// How often it was tried.
    pub attempts: u32,
    /// Who works on it, or did.
    pub owner: Option<String>,
    /// Its key.
    pub key: Option<String>,
    /// Its ledger entity.
    pub entity: Option<String>,
    /// What the close lacks, such as `USD 12.50`.
    pub at_risk: Option<String>,
    /// The exception that it became, or is about.
    pub exception: Option<i64>,
    /// The original; bytes that are no text are spelled out.
    pub original: String,
    /// The size of the whole original.
    pub original_size: u64,
    /// The text as it was last corrected.
    pub body: String,
    /// Corrections, oldest first.
    pub corrections: Vec<ShownCorrection>,
    /// What happened, oldest first.
    pub history: Vec<ShownEvent>,
    /// Who wants to discard it, or did.
    pub discard_by: Option<String>,
    /// Why.
    pub discard_reason: Option<String>,
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownCorrection {
    /// From 1.
    pub revision: u32,
    /// Who.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
    /// What differs from the one before.
    pub changes: Vec<ShownChange>,
}

/// One value that was corrected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownChange {
    /// The path; empty where the text is no JSON.
    pub path: String,
    /// What it was.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownEvent {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    pub event: String,
    /// Who.
    pub by: String,
    /// In words.
    pub words: String,
}

/// Looks one letter up.
pub async fn show(desk: &Supervisor<'_>, id: LetterId) -> Result<Shown, AdminError> {
    desk.letters().one(id).await?.map(|detail| of(&detail)).ok_or_else(|| unknown(id))
}

fn of(detail: &LetterDetail) -> Shown {
    let one = &detail.letter;
    let original = letter::shown(&detail.original);
    let mut before = original.clone();
    let mut corrections = Vec::with_capacity(detail.corrections.len());
    for correction in &detail.corrections {
        let changes = letter::changes(&before, &correction.body).into_iter();
        let change = |Change { path, before, after }| ShownChange { path, before, after };
        before.clone_from(&correction.body);
        corrections.push(ShownCorrection {
            revision: correction.revision,
            by: correction.by.clone(),
            at: correction.at,
            changes: changes.map(change).collect(),
        });
    }
    let (discard_by, discard_reason) = detail.discard.clone().unzip();
    Shown {
        id: one.id.0,
        status: status(one.status).to_owned(),
        cause: one.cause.as_str(),
        field: one.field.clone(),
        reason: one.reason.clone(),
        origin: one.origin.clone(),
        line: one.line,
        first_at: one.first_at,
        times: one.times,
        attempts: one.attempts,
        owner: one.owner.clone(),
        key: one.key.clone(),
        entity: one.entity.clone(),
        at_risk: one.at_risk.map(|money| format!("{} {}", money.currency, money.amount)),
        exception: detail.exception.map(|id| id.0),
        original,
        original_size: detail.original_size,
        body: before,
        corrections,
        history: detail.history.iter().map(event).collect(),
        discard_by,
        discard_reason,
    }
}

fn status(status: LetterStatus) -> &'static str {
    match status {
        LetterStatus::Open => "open",
        LetterStatus::Taken => "taken",
        LetterStatus::Replayed => "went in",
        LetterStatus::Discarding => "to be discarded, when another supervisor agrees",
        LetterStatus::Discarded => "discarded",
    }
}

fn event(past: &PastEvent) -> ShownEvent {
    let detail = |name: &str| past.details.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut words = match past.event.as_str() {
        "DEAD_LETTERED" => "kept as a dead letter".to_owned(),
        "LETTER_TAKEN" => "taken".to_owned(),
        "LETTER_PUT_BACK" => "put back".to_owned(),
        "LETTER_CORRECTED" => format!("corrected: revision {}", detail("revision").unwrap_or("?")),
        "LETTER_REPLAYED" => format!(
            "sent in again, attempt {}: {}",
            detail("attempt").unwrap_or("?"),
            outcome_words(detail("outcome").unwrap_or("?"))
        ),
        "LETTER_DISCARD_ASKED" => "discarding was asked for".to_owned(),
        "LETTER_DISCARDED" => "discarded".to_owned(),
        other => other.to_owned(),
    };
    for said in [detail("field"), detail("reason"), detail("said")].into_iter().flatten() {
        let _ = write!(words, "; {said}");
    }
    ShownEvent { at: past.at, event: past.event.clone(), by: past.actor.clone(), words }
}

/// The letter in words, with the field at fault marked and every correction as a difference.
pub fn describe_one(one: &Shown, now: DateTime<Utc>) -> String {
    let text = |text: &Option<String>| shown(text.as_deref().unwrap_or("-"));
    let origin = one.line.map_or_else(|| one.origin.clone(), |line| format!("{}:{line}", one.origin));
    let mut lines = vec![
        vec!["Dead letter".to_owned(), one.id.to_string()],
        vec!["Status".to_owned(), one.status.clone()],
        vec!["Cause".to_owned(), super::list::cause_words(one.cause)],
        vec!["Field".to_owned(), text(&one.field)],
        vec!["Reason".to_owned(), shown(&one.reason)],
        vec!["From".to_owned(), shown(&origin)],
        vec!["Since".to_owned(), format!("{}, {}", instant(one.first_at), age(one.first_at, now))],
        vec!["Came, was tried".to_owned(), format!("{} and {} times", one.times, one.attempts)],
        vec!["Owner".to_owned(), text(&one.owner)],
        vec!["Key".to_owned(), text(&one.key)],
        vec!["Ledger entity".to_owned(), text(&one.entity)],
        vec!["The close lacks".to_owned(), text(&one.at_risk)],
    ];
    if let Some(exception) = one.exception {
        lines.push(vec!["Exception".to_owned(), exception.to_string()]);
    }
    if let (Some(by), Some(reason)) = (&one.discard_by, &one.discard_reason) {
        lines.push(vec!["To be discarded".to_owned(), format!("asked by {}: {}", shown(by), shown(reason))]);
    }
    let mut words = table(&lines);
    words.push('\n');
    words.push_str(&contents(one));
    for correction in &one.corrections {
        let (by, at) = (shown(&correction.by), instant(correction.at));
        let _ = writeln!(words, "\nCorrection {} by {by}, {at}", correction.revision);
        words.push_str(&describe_changes(&correction.changes));
    }
    words.push_str("\nHistory\n");
    let history = one.history.iter().map(|event| vec![instant(event.at), shown(&event.by), shown(&event.words)]);
    words.push_str(&table(&history.collect::<Vec<_>>()));
    words
}

/// What a correction changed, and what would become of it now.
pub fn describe_corrected(corrected: &Corrected) -> String {
    let Corrected { answer, changes, rehearsed } = corrected;
    let Some(rehearsed) = rehearsed else { return describe_answers(std::slice::from_ref(answer)) };
    let change = |Change { path, before, after }: &Change| ShownChange {
        path: path.clone(),
        before: before.clone(),
        after: after.clone(),
    };
    let changes: Vec<ShownChange> = changes.iter().map(change).collect();
    let words = outcome_words(&rehearsed.outcome);
    let mut text = format!("Corrected:\n{}Sent in now, it {words}", describe_changes(&changes));
    for why in [&rehearsed.field, &rehearsed.detail].into_iter().flatten() {
        let _ = write!(text, "; {}", shown(why));
    }
    text.push_str(".\n");
    text
}

/// What differs, a line for what was and one for what is.
fn describe_changes(changes: &[ShownChange]) -> String {
    let mut words = String::new();
    for ShownChange { path, before, after } in changes {
        for (sign, value) in [("-", before), ("+", after)] {
            if let Some(value) = value {
                let _ =
                    writeln!(words, "  {sign} {} {}", shown(if path.is_empty() { "text" } else { path }), shown(value));
            }
        }
    }
    words
}

fn contents(one: &Shown) -> String {
    let fields = letter::fields(&one.body, one.field.as_deref());
    if fields.is_empty() {
        let cut = if one.original_size > one.original.len() as u64 { " (cut)" } else { "" };
        return format!("Text, {} bytes{cut}\n  {}\n", one.original_size, shown(&one.body));
    }
    let rows: Vec<Vec<String>> = fields
        .iter()
        .map(|field| {
            let value = if field.missing { "(missing)".to_owned() } else { shown(&field.value) };
            vec![if field.at_fault { MARK } else { " " }.to_owned(), shown(&field.path), value]
        })
        .collect();
    table(&rows)
}
