//! Both sides of the evidence, field by field, and the facts that have no other side.

use serde_json::Value;

use crate::exception::Content;

/// One line of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What is compared.
    pub label: &'static str,
    /// The left side's value.
    pub left: Option<String>,
    /// The right side's value.
    pub right: Option<String>,
    /// Whether the values are amounts.
    pub numeric: bool,
}

/// What a reviewer compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The left side's name.
    pub left: &'static str,
    /// The right side's name.
    pub right: &'static str,
    /// Field by field.
    pub lines: Vec<Line>,
    /// Label and value of what stands alone.
    pub facts: Vec<(String, String)>,
}

impl Evidence {
    /// Whether the sides of a line differ. Where one side is missing altogether there is nothing to compare.
    pub fn differs(&self, line: &Line) -> bool {
        let missing = |side: fn(&Line) -> &Option<String>| self.lines.iter().all(|line| side(line).is_none());
        line.left != line.right && !missing(|line| &line.left) && !missing(|line| &line.right)
    }
}

/// Lays out an exception's evidence.
pub fn evidence(content: &Content) -> Evidence {
    content.kind.module().evidence(content)
}

/// Labels and values of the payload's fields that are there.
pub(crate) fn facts(content: &Content, fields: &[(&str, &str)]) -> Vec<(String, String)> {
    let value = |field: &str| content.payload.json.get(field).and_then(plain);
    fields.iter().filter_map(|(label, field)| Some(((*label).to_owned(), value(field)?))).collect()
}

pub(crate) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(pairs: &[(Option<&str>, Option<&str>)]) -> Evidence {
        let line = |(left, right): &(Option<&str>, Option<&str>)| Line {
            label: "x",
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
            numeric: false,
        };
        Evidence { left: "l", right: "r", lines: pairs.iter().map(line).collect(), facts: Vec::new() }
    }

    #[test]
    fn a_difference_needs_two_sides() {
        let both = evidence(&[(Some("1"), Some("2")), (Some("1"), Some("1")), (Some("1"), None)]);
        assert_eq!(both.lines.iter().map(|line| both.differs(line)).collect::<Vec<_>>(), [true, false, true]);
        let one = evidence(&[(Some("1"), None), (Some("2"), None)]);
        assert!(one.lines.iter().all(|line| !one.differs(line)));
    }
}
