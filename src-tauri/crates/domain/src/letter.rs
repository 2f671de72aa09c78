//! Correcting the text of a dead letter: which fields it has, a correction field by field, and how two texts differ.
//!
//! A correction puts new values into the text that came and leaves every other byte of it as it is: digits, order and spacing are
//! what the producer wrote, so that the difference between two texts is what a person changed and nothing else.

mod differ;
mod document;
mod edit;

pub use differ::changes;
pub use document::{indented, shown};
pub use edit::{Edit, EditError, apply};

use document::{Node, Shape};

/// The most fields of a letter that are listed.
pub const FIELDS: usize = 500;
/// The most bytes that a correction may have: more than any person writes, less than an arrival may have.
pub const CORRECTION_BYTES: usize = 1_000_000;
/// A part of a document that is at fault as a whole is shown in one field up to so many bytes.
const WHOLE_BYTES: usize = 20_000;

/// A field that can be corrected by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where, such as `payload.line_items[3].quantity`.
    pub path: String,
    /// The text, or the JSON of anything else.
    pub value: String,
    /// Whether it is a text.
    pub text: bool,
    /// Whether it is the one at fault.
    pub at_fault: bool,
    /// Whether it is not there, and would be put in.
    pub missing: bool,
}

/// The fields of a text in the order they are written in, at most [`FIELDS`]; none where it is no JSON object. The one at fault is always
/// among them, also where it is missing.
pub fn fields(body: &str, fault: Option<&str>) -> Vec<Field> {
    let Some(root) = Node::object(body) else { return Vec::new() };
    let mut all = Vec::new();
    collect(&root, String::new(), fault, &mut all);
    let at_fault = fault.and_then(|fault| place_of(&all, fault));
    if let Some(place) = at_fault {
        all[place].at_fault = true;
        if place >= FIELDS {
            all.swap(place, FIELDS - 1);
        }
    }
    all.truncate(FIELDS);
    if let (Some(fault), None) = (fault, at_fault)
        && edit::can_be_put_in(&root, fault)
    {
        let missing = Field { path: fault.to_owned(), value: String::new(), text: true, at_fault: true, missing: true };
        all.truncate(FIELDS - 1);
        all.insert(0, missing);
    }
    all
}

fn collect(node: &Node<'_>, path: String, fault: Option<&str>, all: &mut Vec<Field>) {
    let whole = !path.is_empty() && fault == Some(path.as_str()) && node.raw.len() <= WHOLE_BYTES;
    match &node.shape {
        Shape::Object(members) if !members.is_empty() && !whole => {
            for (name, member) in members {
                collect(member, document::inside(&path, name), fault, all);
            }
        }
        Shape::Array(items) if !items.is_empty() && !whole => {
            for (place, item) in items.iter().enumerate() {
                collect(item, format!("{path}[{place}]"), fault, all);
            }
        }
        Shape::Text(text) => {
            all.push(Field { path, value: text.clone(), text: true, at_fault: false, missing: false });
        }
        Shape::Object(_) | Shape::Array(_) | Shape::Other => {
            let value = node.raw.to_owned();
            all.push(Field { path, value, text: false, at_fault: false, missing: false });
        }
    }
}

/// The field that a gate names. A gate that looks at the payload alone leaves `payload.` out.
fn place_of(all: &[Field], fault: &str) -> Option<usize> {
    let at = |path: &str| all.iter().position(|field| field.path == path);
    at(fault).or_else(|| at(&format!("payload.{fault}"))).or_else(|| {
        // What is wrong with a list or an object that is too large to be shown as one begins with its first value.
        let [dot, bracket] = [format!("{fault}."), format!("{fault}[")];
        all.iter().position(|field| field.path.starts_with(&dot) || field.path.starts_with(&bracket))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{ "z": "last first", "n": 10.50, "payload": {"a": [1, "two", {}], "b": null} }"#;

    #[test]
    fn fields_are_told_in_their_own_order_with_their_own_digits() {
        let told: Vec<_> = fields(BODY, Some("payload.b"))
            .into_iter()
            .map(|field| (field.path, field.value, field.text, field.at_fault))
            .collect();
        let expected = [
            ("z", "last first", true, false),
            ("n", "10.50", false, false),
            ("payload.a[0]", "1", false, false),
            ("payload.a[1]", "two", true, false),
            ("payload.a[2]", "{}", false, false),
            ("payload.b", "null", false, true),
        ];
        let expected = expected.map(|(path, value, text, fault)| (path.to_owned(), value.to_owned(), text, fault));
        assert_eq!(told, expected);
    }

    #[test]
    fn the_field_at_fault_is_there_however_it_is_named() {
        for (fault, path, missing, value) in [
            ("b", "payload.b", false, "null"),
            ("payload.a", "payload.a", false, r#"[1, "two", {}]"#),
            ("currency", "currency", true, ""),
            ("payload.deep", "payload.deep", true, ""),
        ] {
            let found: Vec<Field> = fields(BODY, Some(fault)).into_iter().filter(|field| field.at_fault).collect();
            let [found] = found.as_slice() else { panic!("{fault}: {found:?}") };
            assert_eq!((found.path.as_str(), found.missing, found.value.as_str()), (path, missing, value), "{fault}");
        }
        // Nothing can be put into a text or into what is not there itself.
        for fault in ["z.inner", "nowhere.inner", "payload.a[9]", ""] {
            assert!(fields(BODY, Some(fault)).iter().all(|field| !field.at_fault), "{fault}");
        }
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for body in ["", "{", "[1]", "12", "\u{FEFF}{}", "{\"a\":1} {}"] {
            assert_eq!(fields(body, Some("a")), [], "{body}");
        }
    }

    #[test]
    fn the_list_is_bounded_and_never_without_the_one_at_fault() {
        let lines: Vec<String> = (0..2_000).map(|line| format!(r#"{{"quantity": "{line}"}}"#)).collect();
        let body = format!(r#"{{"lines": [{}], "last": "wrong"}}"#, lines.join(","));
        let found = fields(&body, Some("last"));
        assert_eq!(found.len(), FIELDS);
        assert!(found.iter().any(|field| field.at_fault && field.value == "wrong"));
        // A list that is too large for a field is at fault from its first value on.
        let found = fields(&body, Some("lines"));
        assert_eq!(found.iter().position(|field| field.at_fault), Some(0));
    }

    #[test]
    fn what_is_nested_without_end_is_one_value() {
        let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        let found = fields(&deep, None);
        assert_eq!(found.len(), 1);
        assert!(found[0].value.starts_with("[[["));
    }
}
