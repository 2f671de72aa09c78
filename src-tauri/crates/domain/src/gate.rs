//! The gates an arrival passes before anything else sees it.
//!
//! Structural: it parses, its key is there, its names are known, its version is supported. Monetary: its amounts are exact decimals
//! that fit their currency. Both are a logical AND, and both fail the same way each time, so that what they refuse is a dead letter
//! at the first attempt. (Ordering and idempotency are the database's gates: only it sees what came before.)

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::exception::{Content, Kind, MatchDecision, RoutingTier};
use crate::hash;
use crate::money::{Currency, Money};
use crate::payload::{Payload, ReconBreak, TypedPayload};

/// The version of the arrival's layout that this release reads.
pub const SCHEMA_VERSION: u32 = 1;
/// The most bytes one arrival may have.
pub const ARRIVAL_BYTES: usize = 16 * 1024 * 1024;
/// The most characters a key or a name may have.
pub const NAME_CHARS: usize = 200;
/// The most people who may have prepared one exception.
pub const PREPARERS: usize = 50;

/// Which gate refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It does not have the shape of an arrival.
    Structural,
    /// An amount is not exact, or not in its currency.
    Monetary,
}

/// Why an arrival is a dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Which gate refused.
    pub gate: Gate,
    /// The field at fault, as a path such as `payload.statement_line.date`.
    pub field: Option<String>,
    /// What was expected and what came.
    pub reason: String,
    /// The arrival's key, where it could be read.
    pub idempotency_key: Option<String>,
}

/// An arrival that passed, with the exact text that is stored and signed.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    /// What it says.
    pub content: Content,
    /// Canonical JSON: keys sorted, no white space, non-ASCII as it is.
    pub body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    schema_version: u32,
    kind: String,
    idempotency_key: String,
    trace_id: Uuid,
    correlation_id: Uuid,
    partition_key: String,
    source_hash: String,
    #[serde(default)]
    group_key: Option<String>,
    match_decision: String,
    routing_tier: String,
    ledger_entity: String,
    counterparty: String,
    currency: String,
    variance_amount: String,
    prepared_by: Vec<String>,
    submitted_at: String,
    #[serde(default)]
    business_date: Option<NaiveDate>,
    #[serde(default)]
    due_date: Option<NaiveDate>,
    #[serde(default)]
    reverses: Option<String>,
    payload: serde_json::Map<String, Value>,
}

/// Judges one line of input.
pub fn judge(line: &[u8]) -> Result<Arrival, Rejection> {
    if line.len() > ARRIVAL_BYTES {
        return Err(structural(
            None,
            format!("the arrival has {} bytes, at most {ARRIVAL_BYTES} are allowed", line.len()),
        ));
    }
    let text = std::str::from_utf8(line).map_err(|error| {
        structural(None, format!("not UTF-8: the byte at position {} is invalid", error.valid_up_to() + 1))
    })?;
    let document: Value = serde_json::from_str(text).map_err(|error| structural(None, format!("not JSON: {error}")))?;
    let key = document
        .get("idempotency_key")
        .and_then(Value::as_str)
        .map(|key| key.chars().take(NAME_CHARS).collect::<String>());
    read(document).map_err(|rejection| Rejection {
        idempotency_key: key.filter(|key| !key.is_empty() && !key.contains('\0')),
        ..rejection
    })
}

/// Reads the text of an exception that the database handed out.
pub fn read_body(body: &str) -> Result<Content, Rejection> {
    judge(body.as_bytes()).map(|arrival| arrival.content)
}

fn read(mut document: Value) -> Result<Arrival, Rejection> {
    if !document.is_object() {
        return Err(structural(None, "expected a JSON object".into()));
    }
    inspect(&document, &mut String::new())?;
    // Another crate may have switched on that JSON objects keep their order.
    document.sort_all_objects();
    let body = document.to_string();
    let envelope: Envelope = serde_path_to_error::deserialize(document).map_err(|error| {
        let path = error.path().to_string();
        structural((path != ".").then_some(path), error.inner().to_string())
    })?;
    if envelope.schema_version != SCHEMA_VERSION {
        let reason =
            format!("version {} is not supported, this release reads {SCHEMA_VERSION}", envelope.schema_version);
        return Err(structural(Some("schema_version".into()), reason));
    }
    let kind: Kind = named("kind", &envelope.kind)?;
    let match_decision: MatchDecision = named("match_decision", &envelope.match_decision)?;
    let routing_tier: RoutingTier = named("routing_tier", &envelope.routing_tier)?;
    for (field, value) in [
        ("idempotency_key", &envelope.idempotency_key),
        ("partition_key", &envelope.partition_key),
        ("source_hash", &envelope.source_hash),
        ("ledger_entity", &envelope.ledger_entity),
    ] {
        name(field, value)?;
    }
    if let Some(group) = &envelope.group_key {
        name("group_key", group)?;
    }
    if let Some(original) = &envelope.reverses {
        name("reverses", original)?;
    }
    if envelope.counterparty.chars().count() > NAME_CHARS * 5 {
        return Err(structural(Some("counterparty".into()), format!("longer than {} characters", NAME_CHARS * 5)));
    }
    if envelope.prepared_by.is_empty() || envelope.prepared_by.len() > PREPARERS {
        let reason = format!("expected 1 to {PREPARERS} people, got {}", envelope.prepared_by.len());
        return Err(structural(Some("prepared_by".into()), reason));
    }
    for person in &envelope.prepared_by {
        name("prepared_by", person)?;
    }
    let submitted_at = instant("submitted_at", &envelope.submitted_at)?;
    for (field, day) in [("business_date", envelope.business_date), ("due_date", envelope.due_date)] {
        if let Some(day) = day.filter(|day| !(1970..=9999).contains(&day.year())) {
            return Err(structural(Some(field.into()), format!("`{day}` is not in the years 1970 to 9999")));
        }
    }
    let currency: Currency = envelope.currency.parse().map_err(|error| monetary("currency", &error))?;
    let variance =
        Money::parse(&envelope.variance_amount, currency).map_err(|error| monetary("variance_amount", &error))?;
    let typed = typed_payload(kind, &envelope.payload)?;
    if kind == Kind::ReconBreak {
        let expected = hash::recon_break_source_hash(
            &envelope.idempotency_key,
            &envelope.ledger_entity,
            &envelope.variance_amount,
            match_decision.as_str(),
        );
        if envelope.source_hash != expected.to_string() {
            let reason = format!(
                "expected {expected}, the SHA-256 of idempotency_key:ledger_entity:variance_amount:match_decision"
            );
            return Err(structural(Some("source_hash".into()), reason));
        }
    }
    Ok(Arrival {
        content: Content {
            schema_version: envelope.schema_version,
            kind,
            idempotency_key: envelope.idempotency_key,
            trace_id: envelope.trace_id,
            correlation_id: envelope.correlation_id,
            source_hash: envelope.source_hash,
            partition_key: envelope.partition_key,
            group_key: envelope.group_key,
            match_decision,
            routing_tier,
            ledger_entity: envelope.ledger_entity,
            counterparty: envelope.counterparty,
            variance,
            prepared_by: envelope.prepared_by,
            submitted_at,
            business_date: envelope.business_date.unwrap_or_else(|| submitted_at.date_naive()),
            due_date: envelope.due_date,
            reverses: envelope.reverses,
            payload: Payload { typed, json: envelope.payload },
        },
        body,
    })
}

/// Looks at every value of the document: text the database cannot hold, floats, amounts that are numbers.
fn inspect(value: &Value, path: &mut String) -> Result<(), Rejection> {
    match value {
        Value::String(text) if text.contains('\0') => {
            Err(structural(Some(path.clone()), "contains a NUL character (U+0000)".into()))
        }
        Value::Number(number) => {
            let text = number.to_string();
            let field = path.rsplit('.').next().unwrap_or_default();
            let amount = ["amount", "rate", "units", "quantity", "confidence"].iter().any(|word| field.contains(word));
            if amount || text.contains(['.', 'e', 'E']) {
                let shown: String = text.chars().take(60).collect();
                Err(Rejection {
                    gate: Gate::Monetary,
                    field: Some(path.clone()),
                    reason: format!(
                        "{shown} is a JSON number, which loses digits on the way: expected a decimal in a string"
                    ),
                    idempotency_key: None,
                })
            } else if number.as_i64().is_none() {
                Err(structural(
                    Some(path.clone()),
                    format!("{} is not within 64 bits", text.chars().take(60).collect::<String>()),
                ))
            } else {
                Ok(())
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| inside(path, &format!("[{index}]"), item))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(field, item)| {
            if field.contains('\0') {
                return Err(structural(Some(path.clone()), "a field's name contains a NUL character (U+0000)".into()));
            }
            let step = if path.is_empty() { field.clone() } else { format!(".{field}") };
            inside(path, &step, item)
        }),
        _ => Ok(()),
    }
}

fn inside(path: &mut String, step: &str, value: &Value) -> Result<(), Rejection> {
    let length = path.len();
    path.push_str(step);
    inspect(value, path)?;
    path.truncate(length);
    Ok(())
}

fn typed_payload(kind: Kind, payload: &serde_json::Map<String, Value>) -> Result<TypedPayload, Rejection> {
    match kind {
        Kind::SalesClaim => Ok(TypedPayload::SalesClaim),
        Kind::Receipt => Ok(TypedPayload::Receipt),
        Kind::ReconBreak => {
            let sides: ReconBreak = serde_path_to_error::deserialize(Value::Object(payload.clone()))
                .map_err(|error| structural(Some(format!("payload.{}", error.path())), error.inner().to_string()))?;
            if sides.statement_line.is_none() && sides.ledger_entry.is_none() {
                return Err(structural(
                    Some("payload".into()),
                    "neither statement_line nor ledger_entry is there".into(),
                ));
            }
            for (field, side) in [("statement_line", &sides.statement_line), ("ledger_entry", &sides.ledger_entry)] {
                if let Some(side) = side {
                    let currency: Currency = side
                        .currency
                        .parse()
                        .map_err(|error| monetary(&format!("payload.{field}.currency"), &error))?;
                    if let Some(amount) = &side.amount {
                        let field = format!("payload.{field}.amount");
                        Money::parse(amount, currency).map_err(|error| monetary(&field, &error))?;
                    }
                }
            }
            Ok(TypedPayload::ReconBreak(Box::new(sides)))
        }
    }
}

fn named<T: std::str::FromStr<Err = String>>(field: &str, text: &str) -> Result<T, Rejection> {
    text.parse().map_err(|reason| structural(Some(field.into()), reason))
}

fn name(field: &str, text: &str) -> Result<(), Rejection> {
    if text.trim().is_empty() {
        return Err(structural(Some(field.into()), "empty".into()));
    }
    if text.chars().count() > NAME_CHARS {
        return Err(structural(Some(field.into()), format!("longer than {NAME_CHARS} characters")));
    }
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        return Err(structural(
            Some(field.into()),
            format!("contains the control character U+{:04X}", u32::from(control)),
        ));
    }
    Ok(())
}

fn instant(field: &str, text: &str) -> Result<DateTime<Utc>, Rejection> {
    let expected = "expected an instant of RFC 3339 in UTC such as 2026-10-05T00:10:03Z";
    let shown: String = text.chars().take(60).collect();
    let parsed = DateTime::parse_from_rfc3339(text)
        .map_err(|error| structural(Some(field.into()), format!("`{shown}`: {error}; {expected}")))?;
    if parsed.offset().local_minus_utc() != 0 {
        return Err(structural(Some(field.into()), format!("`{shown}` is not in UTC; {expected}")));
    }
    if !(1970..=9999).contains(&parsed.year()) {
        return Err(structural(Some(field.into()), format!("`{shown}` is not in the years 1970 to 9999")));
    }
    Ok(parsed.with_timezone(&Utc))
}

fn structural(field: Option<String>, reason: String) -> Rejection {
    Rejection { gate: Gate::Structural, field, reason, idempotency_key: None }
}

fn monetary(field: &str, error: &crate::money::MoneyError) -> Rejection {
    Rejection { gate: Gate::Monetary, field: Some(field.into()), reason: error.to_string(), idempotency_key: None }
}

#[cfg(test)]
mod tests;
