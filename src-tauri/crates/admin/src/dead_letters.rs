//! What did not get in, or could not be worked on, and what is done about it.

mod correct;
mod desk;
mod list;
mod send;
mod show;

use countersign_engine::port::{LetterAnswer, LetterId};
use serde::Serialize;

use crate::text::{shown, table};

pub use correct::{Corrected, Correction, correct, edited};
pub use desk::{Discarding, Supervisor};
pub use list::{DeadLetter, Filter, describe, list};
pub use send::{Progress, Sent, Which, rehearse, replay};
pub use show::{Shown, describe_corrected, describe_one, show};

/// What became of one letter, to be printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Which.
    pub id: i64,
    /// Such as `ENQUEUED` or `REFUSED`.
    pub outcome: String,
    /// Whether it goes in.
    pub passes: bool,
    /// The field at fault.
    pub field: Option<String>,
    /// Why.
    pub detail: Option<String>,
}

impl From<&LetterAnswer> for Answer {
    fn from(answer: &LetterAnswer) -> Self {
        Self {
            id: answer.id.0,
            outcome: answer.outcome.clone(),
            passes: answer.passes(),
            field: answer.field.clone(),
            detail: answer.detail.clone(),
        }
    }
}

/// What became of each letter, as a table.
pub fn describe_answers(answers: &[LetterAnswer]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let head = ["id", "what became of it", "field", "why"].map(str::to_owned).to_vec();
    let rows = answers.iter().map(|answer| {
        vec![
            answer.id.0.to_string(),
            outcome_words(&answer.outcome).to_owned(),
            shown(answer.field.as_deref().unwrap_or("-")),
            why(answer),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn why(answer: &LetterAnswer) -> String {
    match (answer.outcome.as_str(), &answer.detail) {
        ("LATER", Some(seconds)) => format!("it goes on in {} s", shown(seconds)),
        (_, detail) => shown(detail.as_deref().unwrap_or("-")),
    }
}

/// An outcome in words.
pub fn outcome_words(outcome: &str) -> &str {
    match outcome {
        "ENQUEUED" => "goes in as a new exception",
        "CORRECTED" => "goes in as a correction of its exception",
        "DUPLICATE" => "is in already",
        "RELEASED" => "goes in, and needs no reviewer",
        "REFUSED" => "stays: it passes no gate",
        "CONFLICT" => "stays: it contradicts what is known",
        "TAKEN" => "is yours",
        "PUT_BACK" => "is open again",
        "KEPT" => "is corrected",
        "DISCARDING" => "waits for another supervisor to agree to discarding it",
        "DISCARDED" => "is discarded",
        "NOT_YOURS" => "untouched: it is not yours",
        "LATER" => "untouched: too many within a minute",
        "DONE" => "untouched: it is done",
        other => other,
    }
}

/// Whether what was asked for was done, by what the command asked for.
pub fn went_well(answer: &LetterAnswer) -> bool {
    answer.passes() || matches!(answer.outcome.as_str(), "TAKEN" | "PUT_BACK" | "KEPT" | "DISCARDING" | "DISCARDED")
}

/// Numbers as they are named in commands.
pub fn ids(numbers: &[i64]) -> Vec<LetterId> {
    numbers.iter().copied().map(LetterId).collect()
}
