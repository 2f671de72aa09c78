//! Text from outside, shown so that nothing in it hides or moves anything.

use std::borrow::Cow;
use std::fmt::Write as _;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

/// Whether a character is drawn as nothing, moves what follows it or reorders its line: control characters, line and paragraph
/// separators, joiners, soft hyphens, bidi marks, embeddings, overrides and isolates, tags.
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(
        CodePointMapData::<GeneralCategory>::new().get(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    )
}

/// The text with what cannot be seen spelled out: `"a\u{202E}b"` reads `a<U+202E>b`. The window does the same.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing into a string cannot fail.
            let _ = write!(shown, "<U+{:04X}>", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out_and_nothing_else_changes() {
        for (text, shown) in [
            ("Müller & 株式会社 \u{1F9FE}", "Müller & 株式会社 \u{1F9FE}"),
            ("a\u{202E}b", "a<U+202E>b"),
            ("zero\u{200B}width\u{FEFF}", "zero<U+200B>width<U+FEFF>"),
            ("two\r\nlines\u{2028}", "two<U+000D><U+000A>lines<U+2028>"),
            ("\u{E0041}tag\u{AD}", "<U+E0041>tag<U+00AD>"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
