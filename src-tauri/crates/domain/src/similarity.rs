//! How alike two texts are, as a reviewer reads them.

use crate::person::folded;

/// The most characters that are compared; a text may have millions, and the comparison takes their product.
const COMPARED: usize = 200;

/// How alike two texts are, in whole percent, half-up: 100 less the share of characters that have to be put in, taken out, replaced or
/// swapped with their neighbour (optimal string alignment). Case, marks that cannot be seen and blanks at the ends do not count, and
/// nothing beyond the first 200 characters. `None` where one of them is blank.
pub fn percent_alike(one: &str, other: &str) -> Option<u32> {
    let [one, other] = [one, other].map(|text| {
        let start: String = text.chars().take(COMPARED).collect();
        folded(&start)
    });
    let longest = one.chars().count().max(other.chars().count());
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let alike = longest.saturating_sub(strsim::osa_distance(&one, &other));
    // Half-up, in whole numbers. Only the same is entirely alike.
    let percent = (200 * alike + longest) / (2 * longest);
    u32::try_from(if one == other { 100 } else { percent.min(99) }).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_percentage_is_what_stayed_of_the_longer_text() {
        for (one, other, expected) in [
            ("INV-10027", "INV-10027", Some(100)),
            ("INV-10027", " inv-10027\u{200b}", Some(100)),
            // One swap in nine characters: 8/9 = 88.9.
            ("INV-10027", "INV-10072", Some(89)),
            // Five of eight: 62.5, half-up.
            ("abcdefgh", "abcdexyz", Some(63)),
            ("abc", "xyz", Some(0)),
            ("a", "abcd", Some(25)),
            ("ÄÖ", "äö", Some(100)),
            ("", "abc", None),
            ("abc", "  ", None),
        ] {
            assert_eq!(percent_alike(one, other), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn one_change_in_a_long_text_is_not_the_same_text() {
        let long = "x".repeat(199);
        assert_eq!(percent_alike(&format!("{long}a"), &format!("{long}b")), Some(99));
    }

    #[test]
    fn a_text_of_millions_of_characters_is_compared_at_once() {
        let (one, other) = ("ab".repeat(2_000_000), "ba".repeat(2_000_000));
        assert!(percent_alike(&one, &other).is_some_and(|percent| percent >= 98));
    }

    proptest! {
        #[test]
        fn it_is_the_same_both_ways_and_never_over_a_hundred(one in ".{0,40}", other in ".{0,40}") {
            let percent = percent_alike(&one, &other);
            prop_assert_eq!(percent, percent_alike(&other, &one));
            prop_assert!(percent.is_none_or(|percent| percent <= 100));
            prop_assert!(percent != Some(100) || folded(&one) == folded(&other));
        }
    }
}
