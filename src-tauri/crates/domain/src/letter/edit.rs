//! A correction, field by field.

use serde_json::{Map, Value};
use thiserror::Error;

use super::CORRECTION_BYTES;
use super::document::{self, Node, Shape, quoted};
use crate::kind::{Hashed, Kind};

/// A new value for one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Where, such as `payload.line_items[3].quantity`.
    pub path: String,
    /// The value: a text as it is, anything else as JSON. `None` takes the field out.
    pub value: Option<String>,
    /// Whether it is a text.
    pub text: bool,
}

/// Why nothing was corrected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// There are no fields.
    #[error("the text is no JSON object, so that it has no fields: correct the whole text")]
    NoObject,
    /// The value is neither a text nor JSON.
    #[error("`{path}`: {reason}; write a number, true, false, null, a list or an object, or choose that it is a text")]
    NoJson {
        /// Which field.
        path: String,
        /// What the parser says.
        reason: String,
    },
    /// The path leads nowhere.
    #[error("`{0}` is not there, and nothing can be put there: correct the whole text")]
    Nowhere(String),
    /// The path leads to several places.
    #[error("`{0}` is there more than once: correct the whole text")]
    Ambiguous(String),
    /// Two edits are about the same place.
    #[error("`{0}` is corrected twice at once: save one of the corrections first")]
    Overlapping(String),
    /// More than a correction may have.
    #[error("the corrected text would have {0} bytes, at most {CORRECTION_BYTES} are kept")]
    TooLong(usize),
}

/// What is put in place of a part of the text.
struct Splice {
    from: usize,
    to: usize,
    put: String,
}

/// Puts new values into a text. Everything else in it stays as it is, to the byte; but where the source hash was the one of the content,
/// and nobody enters another, it goes with the content.
pub fn apply(body: &str, edits: &[Edit]) -> Result<String, EditError> {
    let corrected = put_all(body, edits)?;
    if edits.iter().any(|edit| edit.path == SOURCE_HASH) {
        return Ok(corrected);
    }
    match (source_hash(body), source_hash(&corrected)) {
        (Some(before), Some(now)) if before.is == before.follows && now.is != now.follows => {
            put_all(&corrected, &[Edit { path: SOURCE_HASH.to_owned(), value: Some(now.follows), text: true }])
        }
        _ => Ok(corrected),
    }
}

const SOURCE_HASH: &str = "source_hash";

/// The source hash that a text says, and the one that follows from the rest of it.
struct SourceHash {
    is: String,
    follows: String,
}

fn source_hash(body: &str) -> Option<SourceHash> {
    let arrival: Map<String, Value> = serde_json::from_str(body).ok()?;
    let text = |field: &str| arrival.get(field).and_then(Value::as_str);
    let kind: Kind = text("kind")?.parse().ok()?;
    let follows = kind.module().source_hash(&Hashed::read(&arrival)?)?;
    Some(SourceHash { is: text(SOURCE_HASH)?.to_owned(), follows })
}

fn put_all(body: &str, edits: &[Edit]) -> Result<String, EditError> {
    let root = Node::object(body).ok_or(EditError::NoObject)?;
    let mut splices = Vec::with_capacity(edits.len());
    for edit in edits {
        splices.push((splice(body, &root, edit)?, &edit.path));
    }
    splices.sort_by_key(|(splice, _)| (splice.from, splice.to));
    if let Some(pair) = splices.windows(2).find(|pair| pair[1].0.from < pair[0].0.to || pair[1].1 == pair[0].1) {
        return Err(EditError::Overlapping(pair[1].1.clone()));
    }
    let mut corrected = body.to_owned();
    for (Splice { from, to, put }, _) in splices.into_iter().rev() {
        corrected.replace_range(from..to, &put);
    }
    if corrected.len() > CORRECTION_BYTES {
        return Err(EditError::TooLong(corrected.len()));
    }
    Ok(corrected)
}

fn splice(body: &str, root: &Node<'_>, edit: &Edit) -> Result<Splice, EditError> {
    let value = edit.value.as_deref().map(|value| json(edit, value)).transpose()?;
    let mut found = Vec::new();
    find(root, "", &edit.path, None, &mut found);
    let (node, parent) = match found.as_slice() {
        [] => return put_in(body, root, &edit.path, value),
        [one] => *one,
        _ => return Err(EditError::Ambiguous(edit.path.clone())),
    };
    let (from, to) = span(body, node.raw);
    match (value, parent) {
        (Some(put), _) => Ok(Splice { from, to, put }),
        (None, Some((parent, place))) => Ok(taken_out(body, parent, place)),
        // The whole document has no parent, and no path leads to it.
        (None, None) => Err(EditError::Nowhere(edit.path.clone())),
    }
}

fn json(edit: &Edit, value: &str) -> Result<String, EditError> {
    if edit.text {
        return Ok(quoted(value));
    }
    let read = serde_json::from_str::<serde::de::IgnoredAny>(value);
    read.map_err(|reason| EditError::NoJson { path: edit.path.clone(), reason: reason.to_string() })?;
    Ok(value.trim().to_owned())
}

type Found<'f, 'a> = (&'f Node<'a>, Option<(&'f Node<'a>, usize)>);

/// Every value that a path leads to: a name may hold a dot, or be there twice.
fn find<'f, 'a>(
    node: &'f Node<'a>,
    path: &str,
    wanted: &str,
    parent: Option<(&'f Node<'a>, usize)>,
    found: &mut Vec<Found<'f, 'a>>,
) {
    if !wanted.starts_with(path) {
        return;
    }
    if parent.is_some() && path == wanted {
        return found.push((node, parent));
    }
    match &node.shape {
        Shape::Object(members) => {
            for (place, (name, member)) in members.iter().enumerate() {
                find(member, &document::inside(path, name), wanted, Some((node, place)), found);
            }
        }
        Shape::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                find(item, &format!("{path}[{place}]"), wanted, Some((node, place)), found);
            }
        }
        Shape::Text(_) | Shape::Other => {}
    }
}

/// Whether a field that is missing can be put in.
pub(super) fn can_be_put_in(root: &Node<'_>, path: &str) -> bool {
    home(root, path).is_some()
}

/// The object that a missing field belongs into, and the field's name in it.
fn home<'f, 'a, 'p>(root: &'f Node<'a>, path: &'p str) -> Option<(&'f Node<'a>, &'p str)> {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    if name.is_empty() || name.contains(['[', ']']) {
        return None;
    }
    if parent.is_empty() {
        return Some((root, name));
    }
    let mut found = Vec::new();
    find(root, "", parent, None, &mut found);
    match found.as_slice() {
        [(node, _)] if matches!(node.shape, Shape::Object(_)) => Some((node, name)),
        _ => None,
    }
}

/// A field that was missing comes last.
fn put_in(body: &str, root: &Node<'_>, path: &str, value: Option<String>) -> Result<Splice, EditError> {
    let nowhere = || EditError::Nowhere(path.to_owned());
    let value = value.ok_or_else(nowhere)?;
    let (parent, name) = home(root, path).ok_or_else(nowhere)?;
    let (from, to) = span(body, parent.raw);
    let Shape::Object(members) = &parent.shape else { return Err(nowhere()) };
    // Right behind the last member, or within the empty braces.
    let (at, comma) = match members.last() {
        Some((_, last)) => (span(body, last.raw).1, ","),
        None => (from + 1, ""),
    };
    debug_assert!(at < to, "an object ends with its brace");
    Ok(Splice { from: at, to: at, put: format!("{comma}{}:{value}", quoted(name)) })
}

/// A member or item goes with the comma behind it, or as the last one with the comma before it.
fn taken_out(body: &str, parent: &Node<'_>, place: usize) -> Splice {
    let (starts, ends): (Vec<usize>, Vec<usize>) = match &parent.shape {
        Shape::Object(members) => members.iter().map(|(_, member)| span(body, member.raw)).unzip(),
        Shape::Array(items) => items.iter().map(|item| span(body, item.raw)).unzip(),
        Shape::Text(_) | Shape::Other => (Vec::new(), Vec::new()),
    };
    let (begin, end) = span(body, parent.raw);
    let (after_open, before_close) = (begin + 1, end - 1);
    let last = place + 1 == starts.len();
    let named = matches!(parent.shape, Shape::Object(_));
    // A member begins with its name, behind the comma of the one before.
    let start = match (place.checked_sub(1), named) {
        (None, _) => after_open,
        (Some(before), _) if last => ends[before],
        (Some(before), true) => behind_comma(body, ends[before]),
        (Some(_), false) => starts[place],
    };
    let stop = if last {
        if place == 0 { before_close } else { ends[place] }
    } else if named {
        behind_comma(body, ends[place])
    } else {
        starts[place + 1]
    };
    Splice { from: start, to: stop, put: String::new() }
}

/// Between two members there is nothing but white space and one comma.
fn behind_comma(body: &str, from: usize) -> usize {
    body[from..].find(',').map_or(from, |comma| from + comma + 1)
}

/// Where a part of the text stands in it.
fn span(body: &str, part: &str) -> (usize, usize) {
    let from = part.as_ptr().addr() - body.as_ptr().addr();
    (from, from + part.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, value: Option<&str>, text: bool) -> Edit {
        Edit { path: path.to_owned(), value: value.map(str::to_owned), text }
    }

    const BODY: &str = "{\"k\" : 1.50,  \"payload\":{ \"lines\": [ 1, 2 ,3 ], \"e\": {} }, \"x\":\"y\" }";

    #[test]
    fn one_value_changes_and_not_another_byte() {
        for (edits, expected) in [
            (vec![edit("k", Some("2.5"), true)], BODY.replace("1.50", "\"2.5\"")),
            (vec![edit("k", Some(" 1e400 "), false)], BODY.replace("1.50", "1e400")),
            (vec![edit("payload.lines[1]", Some("\"\u{202E}\n"), true)], BODY.replace("2 ,", "\"\\\"\u{202E}\\n\" ,")),
            (vec![edit("payload.lines", Some("[]"), false)], BODY.replace("[ 1, 2 ,3 ]", "[]")),
            (vec![edit("new", Some("n"), true)], BODY.replace("\"y\"", "\"y\",\"new\":\"n\"")),
            (vec![edit("payload.e.first", Some("0"), false)], BODY.replace("{} }", "{\"first\":0} }")),
            (vec![edit("k", None, false)], BODY.replace("\"k\" : 1.50,", "")),
            (vec![edit("x", None, false)], BODY.replace(", \"x\":\"y\"", "")),
            (vec![edit("payload.lines[0]", None, false)], BODY.replace(" 1, 2", "2")),
            (vec![edit("payload.lines[1]", None, false)], BODY.replace("2 ,3", "3")),
            (vec![edit("payload.lines[2]", None, false)], BODY.replace("2 ,3 ]", "2 ]")),
            (
                vec![edit("x", Some("z"), true), edit("k", Some("0"), false), edit("payload.lines[0]", None, false)],
                BODY.replace("\"y\"", "\"z\"").replace("1.50", "0").replace(" 1, 2", "2"),
            ),
        ] {
            let corrected = apply(BODY, &edits).unwrap_or_else(|error| panic!("{edits:?}: {error}"));
            assert_eq!(corrected, expected, "{edits:?}");
            assert!(serde_json::from_str::<serde_json::Value>(&corrected).is_ok(), "{corrected}");
        }
        assert_eq!(apply("{ }", &[edit("a", Some("1"), false)]).as_deref(), Ok("{\"a\":1 }"));
        assert_eq!(apply("{ \"a\":1 }", &[edit("a", None, false)]).as_deref(), Ok("{}"));
        assert_eq!(apply(BODY, &[]).as_deref(), Ok(BODY));
    }

    #[test]
    fn a_source_hash_goes_with_the_content_where_it_was_right_and_nobody_enters_another() {
        let hash = |amount| crate::hash::recon_break_source_hash("k", "e", amount, "PARTIAL").to_string();
        let body = |kind: &str, hash: &str, amount: &str| {
            format!(
                r#"{{"kind":"{kind}","idempotency_key":"k","ledger_entity":"e","variance_amount":"{amount}","match_decision":"PARTIAL","source_hash":"{hash}"}}"#
            )
        };
        let (wrong, amount) = ("0".repeat(64), edit("variance_amount", Some("1.50"), true));
        for (before, edits, expected) in [
            (
                body("recon_break", &hash("1.505"), "1.505"),
                vec![amount.clone()],
                body("recon_break", &hash("1.50"), "1.50"),
            ),
            (body("recon_break", &wrong, "1.505"), vec![amount.clone()], body("recon_break", &wrong, "1.50")),
            (body("receipt", &hash("1.505"), "1.505"), vec![amount.clone()], body("receipt", &hash("1.505"), "1.50")),
            (
                body("recon_break", &hash("1.505"), "1.505"),
                vec![amount, edit("source_hash", Some(&wrong), true)],
                body("recon_break", &wrong, "1.50"),
            ),
        ] {
            assert_eq!(apply(&before, &edits), Ok(expected));
        }
    }

    #[test]
    fn what_cannot_be_put_there_is_said_and_nothing_is_corrected() {
        for (body, edits, expected) in [
            ("[1]", vec![edit("[0]", Some("2"), false)], "the text is no JSON object"),
            ("{", vec![], "the text is no JSON object"),
            (BODY, vec![edit("k", Some("1,5"), false)], "`k`: trailing characters"),
            (BODY, vec![edit("k", Some(""), false)], "`k`: EOF while parsing a value"),
            (BODY, vec![edit("nowhere.inner", Some("1"), false)], "`nowhere.inner` is not there"),
            (BODY, vec![edit("x.inner", Some("1"), false)], "`x.inner` is not there"),
            (BODY, vec![edit("payload.lines[7]", Some("1"), false)], "`payload.lines[7]` is not there"),
            (BODY, vec![edit("gone", None, false)], "`gone` is not there"),
            (BODY, vec![edit("", Some("1"), false)], "`` is not there"),
            ("{\"a\":1,\"a\":2}", vec![edit("a", Some("3"), false)], "`a` is there more than once"),
            ("{\"a.b\":1,\"a\":{\"b\":2}}", vec![edit("a.b", Some("3"), false)], "`a.b` is there more than once"),
            (
                BODY,
                vec![edit("payload", Some("{}"), false), edit("payload.lines[0]", Some("9"), false)],
                "`payload.lines[0]` is corrected twice",
            ),
            (BODY, vec![edit("new", Some("1"), false), edit("new", Some("2"), false)], "`new` is corrected twice"),
        ] {
            let error = apply(body, &edits).expect_err(body).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let long = "x".repeat(CORRECTION_BYTES);
        assert!(matches!(apply(BODY, &[edit("x", Some(&long), true)]), Err(EditError::TooLong(_))));
    }
}
