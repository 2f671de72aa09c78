//! Text in comma-separated files that a spreadsheet would take for a formula.
//!
//! A cell that begins with one of a few characters gets an apostrophe in front, which [`unguarded`] takes away again. A text
//! that would lose an apostrophe by that gets one more, so that every text comes back as it left.

use std::borrow::Cow;

const MARK: char = '\'';

/// What spreadsheets begin a formula with, and what they skip before one.
fn begins_a_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠')
}

/// The text, harmless as a cell.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if text.starts_with(begins_a_formula) || unguarded(text).len() != text.len() {
        Cow::Owned(format!("{MARK}{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text that [`guarded`] was given.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix(MARK) {
        Some(rest) if rest.starts_with(|next| next == MARK || begins_a_formula(next)) => rest,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_be_a_formula_gets_an_apostrophe_and_nothing_else_does() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+49 30", "'+49 30"),
            ("-2", "'-2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("＝1", "'＝1"),
            ("'=1", "''=1"),
            ("''", "'''"),
            ("'tis", "'tis"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(guarded(text), cell);
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_left(text in "['=+@a\\-\t]{0,6}|.{0,20}") {
            let cell = guarded(&text);
            prop_assert_eq!(unguarded(&cell), text.as_str());
            prop_assert!(!cell.starts_with(begins_a_formula));
        }
    }
}
