//! Whether two names are of one person.

use unicode_normalization::UnicodeNormalization as _;

/// A name as it is compared: compatibility forms are one (NFKC), marks that cannot be seen and blanks at the ends are gone, and case
/// does not count. Letters that only look alike stay different. `countersign.folded` in the database does the same.
pub fn folded(name: &str) -> String {
    let seen: String = name.nfkc().filter(|character| !hides(*character)).collect();
    // Letter by letter: by words, a sigma at the end would become another letter than one in the middle.
    seen.trim()
        .chars()
        .map(|letter| single(letter, letter.to_uppercase()))
        .map(|letter| single(letter, letter.to_lowercase()))
        .collect()
}

/// As PostgreSQL does it: what has no single other letter stays.
fn single(letter: char, mut others: impl Iterator<Item = char>) -> char {
    match (others.next(), others.next()) {
        (Some(other), None) => other,
        _ => letter,
    }
}

fn hides(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_to_type_a_name_are_one() {
        for (one, other) in [
            ("alice", " ALICE\t"),
            ("al\u{200b}ice", "alice"),
            ("\u{ff41}lice", "alice"),
            ("zo\u{eb}", "zoe\u{308}"),
            ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
            ("ÉVA", "éva"),
        ] {
            assert_eq!(folded(one), folded(other), "{one:?} {other:?}");
        }
        for (one, other) in [("alice", "alic"), ("alice", "\u{430}lice"), ("a b", "ab")] {
            assert_ne!(folded(one), folded(other), "{one:?} {other:?}");
        }
    }
}
