//! How two texts differ, whether they are JSON or not.

use crate::difference::{Change, difference};

/// How much is shown of what two texts have in common, on either side of where they differ, in characters.
const CONTEXT: usize = 40;
/// The most that is shown of a text that is no JSON, in characters.
const SHOWN: usize = 4_000;

/// What changed: field by field where both are JSON, else the part in which the texts differ, without a path. Nothing where they are
/// the same.
pub fn changes(before: &str, after: &str) -> Vec<Change> {
    if before == after {
        return Vec::new();
    }
    match difference(before, after) {
        // The same values, written otherwise: that is a change of the text all the same.
        Ok(changes) if !changes.is_empty() => changes,
        Ok(_) | Err(_) => vec![of_text(before, after)],
    }
}

fn of_text(before: &str, after: &str) -> Change {
    let (a, b): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let shorter = a.len().min(b.len());
    let front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let back = a.iter().rev().zip(b.iter().rev()).take(shorter - front).take_while(|(a, b)| a == b).count();
    let part = |text: &[char]| {
        let (from, to) = (front.saturating_sub(CONTEXT), (text.len() - back + CONTEXT).min(text.len()));
        let cut = to.min(from + SHOWN);
        let dots = |cut: bool| if cut { "…" } else { "" };
        let shown: String = text[from..cut].iter().collect();
        format!("{}{shown}{}", dots(from > 0), dots(cut < text.len()))
    };
    Change { path: String::new(), before: Some(part(&a)), after: Some(part(&b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(before: &str, after: &str) -> Vec<(String, String, String)> {
        let told = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        changes(before, after)
            .into_iter()
            .map(|change| (change.path, told(change.before), told(change.after)))
            .collect()
    }

    #[test]
    fn what_a_person_changed_is_told_and_nothing_else() {
        let long = "a".repeat(100);
        for (before, after, expected) in [
            ("{\"a\": 1}", "{\"a\": 1}", vec![]),
            ("{\"a\": 1.5}", "{\"a\": \"1.50\"}", vec![("a", "1.5", "1.50")]),
            ("{\"a\": 1}", "{\"b\": 1}", vec![("a", "1", "-"), ("b", "-", "1")]),
            ("{\"a\": 1}", "{\"a\":1}", vec![("", "{\"a\": 1}", "{\"a\":1}")]),
            ("{\"a\": 1", "{\"a\": 1}", vec![("", "{\"a\": 1", "{\"a\": 1}")]),
            ("", "x", vec![("", "", "x")]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(path, a, b)| (path.to_owned(), a.to_owned(), b.to_owned())).collect();
            assert_eq!(told(before, after), expected, "{before} {after}");
        }
        let [(_, before, after)] = told(&format!("{long};1{long}"), &format!("{long}2{long}")).try_into().expect("one");
        let context = "a".repeat(CONTEXT);
        assert_eq!((before, after), (format!("…{context};1{context}…"), format!("…{context}2{context}…")));
    }

    #[test]
    fn a_long_text_is_cut() {
        let [(_, before, after)] = told(&"b".repeat(50_000), "x").try_into().expect("one");
        assert_eq!((before.chars().count(), after.as_str()), (SHOWN + 1, "x"));
    }
}
