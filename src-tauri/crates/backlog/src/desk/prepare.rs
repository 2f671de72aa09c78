//! What goes in for a dead letter: its text as it was last corrected, with everyone who prepared or corrected it, past the gates.

use countersign_domain::gate;
use serde_json::Value;

/// The text of a letter as it was last corrected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    /// The revision of the text; 0 is the original.
    pub(super) revision: u32,
    /// The text; absent where nothing can go in, which the database says in words.
    pub(super) text: Option<Vec<u8>>,
    /// Whom it lacks among its preparers: who corrected it, and whom a correction struck out. The database compares the names.
    pub(super) lacking: Vec<String>,
}

/// What the gates say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prepared {
    /// The revision that was judged.
    pub(super) revision: u32,
    /// The canonical text that goes in.
    pub(super) judged: Result<String, Refusal>,
}

/// Why it does not go in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The cause's name.
    pub(super) cause: Option<&'static str>,
    /// The field at fault.
    pub(super) field: Option<String>,
    /// What was expected and what came.
    pub(super) reason: String,
}

impl Prepared {
    pub(super) fn refusal<T>(&self, of: impl FnOnce(&Refusal) -> Option<T>) -> Option<T> {
        self.judged.as_ref().err().and_then(of)
    }
}

/// Judges the text as any arrival is judged.
pub(super) fn prepare(body: Body) -> Prepared {
    let Body { revision, text, lacking } = body;
    let judged = match text {
        None => Err(Refusal { cause: None, field: None, reason: "its text is not kept".to_owned() }),
        Some(text) => match gate::judge(&with_preparers(text, &lacking)) {
            Ok(arrival) => Ok(arrival.body),
            Err(rejection) => Err(Refusal {
                cause: Some(rejection.cause.as_str()),
                field: storable(rejection.field),
                reason: no_nul(&rejection.reason),
            }),
        },
    };
    Prepared { revision, judged }
}

/// A text that is no arrival stays as it is: the gates say what is wrong with it.
fn with_preparers(text: Vec<u8>, lacking: &[String]) -> Vec<u8> {
    if lacking.is_empty() {
        return text;
    }
    let Ok(mut document) = serde_json::from_slice::<Value>(&text) else { return text };
    let Some(preparers) = document.get_mut("prepared_by").and_then(Value::as_array_mut) else { return text };
    preparers.extend(lacking.iter().cloned().map(Value::String));
    document.to_string().into_bytes()
}

/// So much of a refusal the database keeps.
const REFUSAL_CHARS: usize = 2_000;

/// A refusal may quote the letter, and PostgreSQL's text holds no NUL.
fn no_nul(text: &str) -> String {
    text.chars().take(REFUSAL_CHARS).map(|char| if char == '\0' { '\u{fffd}' } else { char }).collect()
}

fn storable(text: Option<String>) -> Option<String> {
    text.map(|text| no_nul(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arrival() -> Value {
        json!({
            "schema_version": 1, "kind": "receipt", "idempotency_key": "k", "trace_id": uuid::Uuid::nil(),
            "correlation_id": uuid::Uuid::nil(), "partition_key": "p", "source_hash": "h", "match_decision": "PARTIAL",
            "routing_tier": "standard", "ledger_entity": "US01", "counterparty": "c", "currency": "XXX", "variance_amount": "1.50",
            "prepared_by": ["Eve"], "submitted_at": "2026-10-05T00:10:03Z", "payload": {}
        })
    }

    fn of(text: impl Into<Vec<u8>>, lacking: &[&str]) -> Prepared {
        let lacking = lacking.iter().map(|name| (*name).to_owned()).collect();
        prepare(Body { revision: 2, text: Some(text.into()), lacking })
    }

    #[test]
    fn who_is_lacking_is_a_preparer() {
        let text = with_preparers(arrival().to_string().into_bytes(), &["dora".to_owned()]);
        let document: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(document["prepared_by"], json!(["Eve", "dora"]));
    }

    #[test]
    fn a_text_that_lacks_nobody_keeps_its_bytes() {
        let text = b"{ \"prepared_by\" : [ ] }".to_vec();
        assert_eq!(with_preparers(text.clone(), &[]), text);
    }

    #[test]
    fn what_is_no_arrival_is_refused_in_the_words_of_the_gates() {
        for (text, lacking, field, words) in [
            (b"\xff\xfe".to_vec(), &[][..], None, "not UTF-8"),
            (b"{".to_vec(), &["dora"], None, "not JSON"),
            (b"{\"prepared_by\":5}".to_vec(), &["dora"], Some("schema_version"), ""),
            (b"{\"a\\u0000\":1}".to_vec(), &[], None, "NUL"),
            (arrival().to_string().into_bytes(), &["dora"], Some("currency"), "XXX"),
        ] {
            let Prepared { revision, judged } = of(text, lacking);
            let Err(refusal) = judged else { unreachable!("it is no arrival") };
            assert_eq!(revision, 2);
            assert!(refusal.reason.contains(words), "{refusal:?}");
            assert!(!refusal.reason.contains('\0'));
            assert!(field.is_none() || refusal.field.as_deref() == field || words.is_empty(), "{refusal:?}");
        }
    }

    #[test]
    fn a_text_that_is_not_kept_is_not_judged() {
        let prepared = prepare(Body { revision: 0, text: None, lacking: Vec::new() });
        assert_eq!(prepared.refusal(|refusal| Some(refusal.reason.clone())).as_deref(), Some("its text is not kept"));
    }
}
