//! What changed between two versions of an exception's content, field by field.

use std::collections::BTreeSet;

use serde_json::Value;

/// The most changes that are listed.
pub const CHANGES: usize = 200;

/// A field that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, such as `payload.line_items[3].quantity`.
    pub path: String,
    /// Before; `None`: it was not there.
    pub before: Option<String>,
    /// Now; `None`: it is not there any more.
    pub after: Option<String>,
}

/// Compares two contents. At most [`CHANGES`] are listed, in the order of their paths. `Err` names the one that is no JSON.
pub fn difference(before: &str, after: &str) -> Result<Vec<Change>, &'static str> {
    let before: Value = serde_json::from_str(before).map_err(|_| "the earlier version")?;
    let after: Value = serde_json::from_str(after).map_err(|_| "the present version")?;
    let mut changes = Vec::new();
    compare("", Some(&before), Some(&after), &mut changes);
    Ok(changes)
}

// As deep as JSON goes: the parser stops at 128 levels.
fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    if before == after || changes.len() >= CHANGES {
        return;
    }
    let inside = |value: Option<&Value>| match value {
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        _ => false,
    };
    let alike = match (before, after) {
        (Some(Value::Object(_)), Some(Value::Object(_)) | None) | (None, Some(Value::Object(_))) => Shape::Object,
        (Some(Value::Array(_)), Some(Value::Array(_)) | None) | (None, Some(Value::Array(_))) => Shape::Array,
        _ => Shape::Other,
    };
    match alike {
        Shape::Object if inside(before) || inside(after) => {
            let names: BTreeSet<&String> = [before, after]
                .into_iter()
                .flatten()
                .filter_map(Value::as_object)
                .flat_map(|fields| fields.keys())
                .collect();
            for name in names {
                let (a, b) = (before.and_then(|value| value.get(name)), after.and_then(|value| value.get(name)));
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(&path, a, b, changes);
            }
        }
        Shape::Array if inside(before) || inside(after) => {
            let length = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
            for place in 0..length(before).max(length(after)) {
                let (a, b) = (before.and_then(|value| value.get(place)), after.and_then(|value| value.get(place)));
                compare(&format!("{path}[{place}]"), a, b, changes);
            }
        }
        Shape::Object | Shape::Array | Shape::Other => {
            let (mut a, mut b) = (before.map(plain), after.map(plain));
            if a == b {
                // A number became a text or the other way round.
                (a, b) = (before.map(Value::to_string), after.map(Value::to_string));
            }
            changes.push(Change { path: path.to_owned(), before: a, after: b });
        }
    }
}

enum Shape {
    Object,
    Array,
    Other,
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_named_by_its_path() {
        for (before, after, expected) in [
            ("{}", "{}", vec![]),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, vec![("a", Some("1"), Some("1.0"))]),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, vec![("a", Some("1"), Some("\"1\""))]),
            (r#"{"a":null}"#, "{}", vec![("a", Some("null"), None)]),
            (
                r#"{"a":{"b":[1,2]}}"#,
                r#"{"a":{"b":[1,3,"x"]}}"#,
                vec![("a.b[1]", Some("2"), Some("3")), ("a.b[2]", None, Some("x"))],
            ),
            (
                r#"{"a":{"b":"gone"},"z":{}}"#,
                r#"{"c":{"d":{}}}"#,
                vec![("a.b", Some("gone"), None), ("c.d", None, Some("{}")), ("z", Some("{}"), None)],
            ),
            (r#"{"a":[1]}"#, r#"{"a":{"b":1}}"#, vec![("a", Some("[1]"), Some(r#"{"b":1}"#))]),
            ("1", "2", vec![("", Some("1"), Some("2"))]),
        ] {
            let found = difference(before, after).expect("JSON");
            let expected: Vec<Change> = expected
                .into_iter()
                .map(|(path, before, after): (&str, Option<&str>, Option<&str>)| Change {
                    path: path.to_owned(),
                    before: before.map(str::to_owned),
                    after: after.map(str::to_owned),
                })
                .collect();
            assert_eq!(found, expected, "{before} {after}");
        }
    }

    #[test]
    fn the_list_is_bounded_and_what_is_no_json_is_named() {
        let many: Vec<u32> = (0..1_000).collect();
        let found = difference("[]", &serde_json::to_string(&many).expect("numbers")).expect("JSON");
        assert_eq!(found.len(), CHANGES);
        assert_eq!(difference("{", "{}"), Err("the earlier version"));
        assert_eq!(difference("{}", ""), Err("the present version"));
    }
}
