//! A receipt as comma-separated text: one line a decision, each with what it has in common with the others.

use crate::deck_csv::{CsvError, write};
use crate::guard::guarded;
use crate::receipt::{BatchReceipt, Line};
use crate::sheet::cell_text;

const HEADING: [&str; 17] = [
    "Batch",
    "Reviewer",
    "Decided at",
    "Decision",
    "Reason",
    "Comment",
    "Policy version",
    "Exception",
    "Entity",
    "Counterparty",
    "Variance",
    "Currency",
    "State",
    "Outcome",
    "Message",
    "Sign-off key",
    "Hash total",
];

/// Writes a receipt, in the same dialect as a deck.
pub fn receipt_csv(receipt: &BatchReceipt) -> Result<Vec<u8>, CsvError> {
    let heading = HEADING.map(str::to_owned).to_vec();
    write(std::iter::once(heading).chain(receipt.decisions.iter().map(|line| record(receipt, line))))
}

fn record(receipt: &BatchReceipt, line: &Line) -> Vec<String> {
    let text = |text: &str| guarded(&cell_text(text)).into_owned();
    let maybe = |optional: &Option<String>| text(optional.as_deref().unwrap_or_default());
    vec![
        text(&receipt.batch),
        text(&receipt.reviewer),
        text(&receipt.decided_at),
        text(&receipt.decision),
        maybe(&receipt.reason),
        maybe(&receipt.comment),
        receipt.policy_version.to_string(),
        text(&line.exception),
        text(&line.entity),
        text(&line.counterparty),
        // A number is no formula, also a negative one.
        line.amount.clone(),
        text(&line.currency),
        text(&line.state),
        maybe(&line.outcome),
        maybe(&line.message),
        text(&line.sign_off_key),
        text(&receipt.hash_total),
    ]
}
