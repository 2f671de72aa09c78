//! JSON as it is written: what each value is, and where in the text it stands.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What is nested deeper is one value.
const LEVELS: usize = 64;

/// A value, with the text it was read from.
pub(super) struct Node<'a> {
    /// A part of the document's own text.
    pub(super) raw: &'a str,
    pub(super) shape: Shape<'a>,
}

pub(super) enum Shape<'a> {
    /// In the order it is written in; a name may be there twice.
    Object(Vec<(String, Node<'a>)>),
    Array(Vec<Node<'a>>),
    /// What the text says, without its quotes.
    Text(String),
    /// A number, a truth, nothing, or what is nested too deep.
    Other,
}

impl<'a> Node<'a> {
    /// Reads a whole document; `None` where it is no JSON.
    pub(super) fn document(text: &'a str) -> Option<Self> {
        let value: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self::of(value, LEVELS))
    }

    /// The same for an object.
    pub(super) fn object(text: &'a str) -> Option<Self> {
        Self::document(text).filter(|node| matches!(node.shape, Shape::Object(_)))
    }

    fn of(value: &'a RawValue, levels: usize) -> Self {
        let raw = value.get();
        let shape = match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw).map(Shape::Text).ok(),
            Some(b'{') if levels > 0 => serde_json::from_str::<Members<'a>>(raw).ok().map(|Members(members)| {
                Shape::Object(members.into_iter().map(|(name, value)| (name, Self::of(value, levels - 1))).collect())
            }),
            Some(b'[') if levels > 0 => serde_json::from_str::<Items<'a>>(raw)
                .ok()
                .map(|Items(items)| Shape::Array(items.into_iter().map(|item| Self::of(item, levels - 1)).collect())),
            _ => None,
        };
        Self { raw, shape: shape.unwrap_or(Shape::Other) }
    }
}

/// The path of a member.
pub(super) fn inside(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The text with a line for each value, in its own order and with its own digits; what is no JSON stays as it is.
pub fn indented(text: &str) -> String {
    match Node::document(text) {
        Some(root) => {
            let mut written = String::with_capacity(text.len() * 2);
            write(&root, 0, &mut written);
            written
        }
        None => text.to_owned(),
    }
}

fn write(node: &Node<'_>, depth: usize, written: &mut String) {
    let (open, close, count) = match &node.shape {
        Shape::Object(members) if !members.is_empty() => ('{', '}', members.len()),
        Shape::Array(items) if !items.is_empty() => ('[', ']', items.len()),
        _ => return written.push_str(node.raw),
    };
    let line = |written: &mut String, depth: usize| {
        written.push('\n');
        written.extend(std::iter::repeat_n("  ", depth));
    };
    written.push(open);
    for place in 0..count {
        line(written, depth + 1);
        match &node.shape {
            Shape::Object(members) => {
                let (name, member) = &members[place];
                written.push_str(&quoted(name));
                written.push_str(": ");
                write(member, depth + 1, written);
            }
            Shape::Array(items) => write(&items[place], depth + 1, written),
            Shape::Text(_) | Shape::Other => {}
        }
        if place + 1 < count {
            written.push(',');
        }
    }
    line(written, depth);
    written.push(close);
}

/// As a text of JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Bytes as text; those that are none are shown as `<XX>`.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            let _ = write!(text, "<{byte:02X}>");
        }
    }
    text
}

struct Members<'a>(Vec<(String, &'a RawValue)>);
struct Items<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(InOrder).map(Members)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(InOrder).map(Items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_indented_as_it_is_and_otherwise_left_alone() {
        let text = r#"{"b":1.500,"a":[1,{"c":"\u0041"},[]],"b":{}}"#;
        let expected = "{\n  \"b\": 1.500,\n  \"a\": [\n    1,\n    {\n      \"c\": \"\\u0041\"\n    },\n    []\n  ],\n  \"b\": {}\n}";
        assert_eq!(indented(text), expected);
        assert_eq!(indented(expected), expected);
        for broken in ["", "{\"a\": 01}", "date;amount\n1;2"] {
            assert_eq!(indented(broken), broken);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_spelled_out() {
        assert_eq!(shown(b"caf\xE9 \xFF\xFEx"), "caf<E9> <FF><FE>x");
        assert_eq!(shown("Müller".as_bytes()), "Müller");
        assert_eq!(shown(b"cut \xE2\x82"), "cut <E2><82>");
    }
}
