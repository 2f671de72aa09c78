//! The outcome of a verification in words.

use std::fmt::Write as _;

use super::Report;
use super::finding::chain_name;
use crate::text::{shown, table};

impl Report {
    /// The summary; the findings after the first only if `all` of them are asked for.
    pub fn describe(&self, all: bool) -> String {
        let counts = &self.counts;
        let mut text = String::new();
        match self.first.first() {
            None if self.from.is_none() => text.push_str("The audit stream holds.\n"),
            None => text.push_str("What was looked at holds. It was not the whole stream.\n"),
            Some(first) => {
                let _ =
                    writeln!(text, "THE AUDIT STREAM DOES NOT HOLD. The first bad record:\n  {}", shown(&first.line()));
                if all {
                    for finding in self.first.iter().skip(1) {
                        let _ = writeln!(text, "  {}", shown(&finding.line()));
                    }
                }
                let shown_here = if all { self.first.len() as u64 } else { 1 };
                if self.findings > shown_here {
                    let hint = if all { "" } else { " (--all lists up to 100)" };
                    let _ = writeln!(text, "{} more findings{hint}.", self.findings - shown_here);
                }
            }
        }
        let signatures = match counts.unsigned {
            0 => counts.signatures.to_string(),
            unsigned => format!("{} hold; {unsigned} sign-offs are unsigned, from before sealing", counts.signatures),
        };
        let mut rows = vec![
            ("Looked at", format!("{}, installation {}", self.at, self.installation)),
            ("Records", format!("{} in {} chains, {}/s", counts.records, counts.chains, self.rate())),
            (
                "Seals",
                format!(
                    "{} hold, by {}",
                    counts.seals,
                    if self.seals_by == "keys" { "the exported keys" } else { "the database's word" }
                ),
            ),
            ("Exceptions", counts.exceptions.to_string()),
            ("Sign-offs", counts.sign_offs.to_string()),
            ("Signatures", signatures),
            ("Effects", counts.effects.to_string()),
            ("Receipts", counts.receipts.to_string()),
        ];
        if let Some(from) = &self.from {
            rows.insert(1, ("From", format!("{from}; the installation's chain from its beginning")));
        }
        if counts.anchors > 0 {
            rows.push((
                "Anchors",
                format!("{} lines, {} heads are still there", counts.anchors, counts.anchored_heads),
            ));
        }
        let attempts = &self.attempts;
        rows.push((
            "Attempts",
            format!(
                "{} forged decisions, {} calls turned away, {} enrolments refused",
                attempts.forged, attempts.turned_away, attempts.enrolment_refused
            ),
        ));
        let cells: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
        text.push_str(&table(&cells));
        for not in &self.not_checked {
            let _ = writeln!(text, "Not checked: {not}.");
        }
        for attempt in &attempts.first {
            let workstation = attempt.workstation.as_deref().unwrap_or("no workstation");
            let place = chain_name(&attempt.chain);
            let line = format!(
                "{} by {} at {}, with {workstation}: {place}, record {}",
                attempt.kind, attempt.actor, attempt.at, attempt.number
            );
            let _ = writeln!(text, "  {}", shown(&line));
        }
        if attempts.total() > attempts.first.len() as u64 {
            let _ = writeln!(text, "  and {} more", attempts.total() - attempts.first.len() as u64);
        }
        text
    }
}
