//! Data on a terminal. It comes from outside, and a terminal obeys what it reads.

use std::fmt::Write as _;

/// Text with every character that would not show as itself written as `<U+202E>`.
pub fn shown(text: &str) -> String {
    escaped(text, |character| format!("<U+{:04X}>", u32::from(character)))
}

/// JSON in which such characters, which only a string can hold, are escaped as JSON does it.
pub fn shown_json(json: &str) -> String {
    // A line feed between the fields is the layout's; one inside a string is escaped already.
    let lines: Vec<String> =
        json.lines().map(|line| escaped(line, |character| format!("\\u{:04x}", u32::from(character)))).collect();
    lines.join("\n") + "\n"
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, character| {
        if hides(character) {
            shown.push_str(&escape(character));
        } else {
            shown.push(character);
        }
        shown
    })
}

/// Control characters, line separators, what has no width, and the marks that turn the direction of writing. All of them are below U+10000.
pub(crate) fn hides(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A table with its columns aligned; the first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let start = text.len();
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(text, "{cell:<width$}  ");
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_shown() {
        assert_eq!(shown("a\u{1b}[2Jb\nc\u{9b}d\u{202e}e\u{7f}"), "a<U+001B>[2Jb<U+000A>c<U+009B>d<U+202E>e<U+007F>");
        assert_eq!(shown("Zoë 東京 naïve 🙂"), "Zoë 東京 naïve 🙂");
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({"text": "a\u{9b}\u{202e}\n\u{1b}🙂"});
        let json = shown_json(&serde_json::to_string_pretty(&value).expect("a value is JSON"));
        assert!(!json.chars().any(|character| character != '\n' && hides(character)), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("still JSON"), value);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a".into(), "b".into()], vec!["long".into(), "c".into()]];
        assert_eq!(table(&rows), "a     b\nlong  c\n");
    }
}
