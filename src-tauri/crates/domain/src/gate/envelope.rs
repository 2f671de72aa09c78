//! What every arrival carries, whatever its kind.

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Arrival;
use super::inspect::inspect;
use super::rejection::{Gate, Rejection, amount, read_typed, short, shown};
use crate::dead_letter::Cause;
use crate::exception::{Content, Kind, MatchDecision, RoutingTier};
use crate::kind::Hashed;
use crate::money::Currency;
use crate::payload::Payload;

/// The version of the arrival's layout that this release reads.
pub const SCHEMA_VERSION: u32 = 1;
/// The most bytes one arrival may have.
pub const ARRIVAL_BYTES: usize = 16 * 1024 * 1024;
/// The most characters a key or a name may have.
pub const NAME_CHARS: usize = 200;
/// The most people who may have prepared one exception.
pub const PREPARERS: usize = 50;

/// One exception, as a producer delivers it: one JSON object a line. Unknown fields are refused; what is foreign goes into `payload`.
/// Decimals are strings: a JSON number where an amount is expected is refused, because it loses digits on the way.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "Arrival"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Envelope {
    /// The version of this layout.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::version"))]
    schema_version: u32,
    /// Where the exception comes from; it says what `payload` has to carry.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::kinds"))]
    kind: String,
    /// Names the exception wherever it goes. The same key with the same `source_hash` is a redelivery and changes nothing; with another
    /// one it is a correction of what is pending.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    idempotency_key: String,
    /// The trace across systems.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::uuid"))]
    trace_id: Uuid,
    /// Ties related exceptions together.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::uuid"))]
    correlation_id: Uuid,
    /// The unit of ordering: what shares one is decided by one holder, and takes effect in the order in which it came.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    partition_key: String,
    /// The producer's hash of what matters. Of a `recon_break` it is the SHA-256, in lower-case hex, of
    /// `idempotency_key:ledger_entity:variance_amount:match_decision`.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    source_hash: String,
    /// What shares one is decided by one person in one batch, such as the receipts of a report.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_name"))]
    group_key: Option<String>,
    /// What the matching engine said.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::match_decisions"))]
    match_decision: String,
    /// How urgent it is.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::tiers"))]
    routing_tier: String,
    /// The ledger entity.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::name"))]
    ledger_entity: String,
    /// The other side.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::counterparty"))]
    counterparty: String,
    /// An active currency of ISO 4217 that has minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::currency"))]
    currency: String,
    /// A plain decimal with at most the minor units of `currency`.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::decimal"))]
    variance_amount: String,
    /// Everyone who prepared or edited it: none of them may sign it.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::preparers"))]
    prepared_by: Vec<String>,
    /// When it was submitted: RFC 3339, in UTC.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::instant"))]
    submitted_at: String,
    /// The day that says which close period it belongs to; without one, the day of `submitted_at`.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_day"))]
    business_date: Option<String>,
    /// When it has to be decided; without one, the policy says.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_day"))]
    due_date: Option<String>,
    /// The key of the resolved exception that this one reverses.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_name"))]
    reverses: Option<String>,
    /// What the kind adds. Fields that are not described here are kept and shown.
    payload: Map<String, Value>,
}

/// Reads a document as an arrival, and what its kind needs of the payload.
pub(super) fn read(mut document: Value, kinds: &[Kind]) -> Result<Arrival, Rejection> {
    if document.is_object() {
        inspect(&document, &mut String::new())?;
        // Another crate may have switched on that JSON objects keep their order.
        document.sort_all_objects();
    }
    let fields = document.as_object().ok_or_else(|| {
        let reason = format!("expected a JSON object, got {}", shown(&document));
        Rejection::new(Gate::Structural, Cause::Unreadable, "", reason)
    })?;
    let envelope: Envelope = read_typed("", fields)?;
    let variance_text = envelope.variance_amount.clone();
    let content = content(envelope, kinds)?;
    let module = content.kind.module();
    module.read(&content)?;
    let hashed = Hashed {
        idempotency_key: &content.idempotency_key,
        ledger_entity: &content.ledger_entity,
        variance_amount: &variance_text,
        match_decision: content.match_decision.as_str(),
    };
    if let Some(expected) = module.source_hash(&hashed).filter(|hash| *hash != content.source_hash) {
        let reason =
            format!("expected {expected}, {}, got `{}`", module.source_hash_formula(), short(&content.source_hash));
        return Err(Rejection::new(Gate::Structural, Cause::SourceHash, "source_hash", reason));
    }
    Ok(Arrival { content, body: document.to_string() })
}

fn content(envelope: Envelope, kinds: &[Kind]) -> Result<Content, Rejection> {
    if envelope.schema_version != SCHEMA_VERSION {
        let reason =
            format!("version {} is not supported, this release reads {SCHEMA_VERSION}", envelope.schema_version);
        return Err(Rejection::new(Gate::Structural, Cause::SchemaVersion, "schema_version", reason));
    }
    let kind = Kind::named(&envelope.kind, kinds).map_err(|reason| unknown("kind", reason))?;
    let match_decision: MatchDecision =
        envelope.match_decision.parse().map_err(|reason| unknown("match_decision", reason))?;
    let routing_tier: RoutingTier = envelope.routing_tier.parse().map_err(|reason| unknown("routing_tier", reason))?;
    names(&envelope)?;
    let submitted_at = instant("submitted_at", &envelope.submitted_at)?;
    let [business_date, due_date] = [("business_date", &envelope.business_date), ("due_date", &envelope.due_date)]
        .map(|(field, text)| text.as_ref().map(|text| day(field, text)).transpose());
    let (business_date, due_date) = (business_date?, due_date?);
    let currency: Currency = envelope.currency.parse().map_err(|error| Rejection::money("currency", &error))?;
    let variance = amount("variance_amount", &envelope.variance_amount, currency)?;
    Ok(Content {
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
        business_date: business_date.unwrap_or_else(|| submitted_at.date_naive()),
        due_date,
        reverses: envelope.reverses,
        payload: Payload { json: envelope.payload },
    })
}

fn names(envelope: &Envelope) -> Result<(), Rejection> {
    for (field, value) in [
        ("idempotency_key", Some(&envelope.idempotency_key)),
        ("partition_key", Some(&envelope.partition_key)),
        ("source_hash", Some(&envelope.source_hash)),
        ("ledger_entity", Some(&envelope.ledger_entity)),
        ("group_key", envelope.group_key.as_ref()),
        ("reverses", envelope.reverses.as_ref()),
    ] {
        if let Some(value) = value {
            name(field, value)?;
        }
    }
    if envelope.counterparty.chars().count() > NAME_CHARS * 5 {
        let reason = format!("longer than {} characters", NAME_CHARS * 5);
        return Err(Rejection::new(Gate::Structural, Cause::Name, "counterparty", reason));
    }
    if envelope.prepared_by.is_empty() || envelope.prepared_by.len() > PREPARERS {
        let reason = format!("expected 1 to {PREPARERS} people, got {}", envelope.prepared_by.len());
        return Err(Rejection::new(Gate::Structural, Cause::Field, "prepared_by", reason));
    }
    envelope
        .prepared_by
        .iter()
        .enumerate()
        .try_for_each(|(place, person)| name(&format!("prepared_by[{place}]"), person))
}

/// A key or a name: neither blank, nor too long, nor with control characters.
pub(crate) fn name(field: &str, text: &str) -> Result<(), Rejection> {
    let refuse = |reason: String| Err(Rejection::new(Gate::Structural, Cause::Name, field, reason));
    if text.trim().is_empty() {
        return refuse("empty; expected a text that is not blank".to_owned());
    }
    if text.chars().count() > NAME_CHARS {
        return refuse(format!("longer than {NAME_CHARS} characters"));
    }
    match text.chars().find(|c| c.is_control()) {
        Some(control) => refuse(format!("contains the control character U+{:04X}", u32::from(control))),
        None => Ok(()),
    }
}

/// A plain date.
pub(crate) fn day(field: &str, text: &str) -> Result<NaiveDate, Rejection> {
    let refuse = |reason: String| Rejection::new(Gate::Structural, Cause::Date, field, reason);
    let day: NaiveDate = text
        .parse()
        .map_err(|error| refuse(format!("`{}` is no date: {error}; expected a day such as 2026-10-05", short(text))))?;
    if !(1970..=9999).contains(&day.year()) {
        return Err(refuse(format!("`{day}` is not in the years 1970 to 9999")));
    }
    Ok(day)
}

fn instant(field: &str, text: &str) -> Result<DateTime<Utc>, Rejection> {
    let expected = "expected an instant of RFC 3339 in UTC such as 2026-10-05T00:10:03Z";
    let refuse = |reason: String| Rejection::new(Gate::Structural, Cause::Date, field, reason);
    let parsed = DateTime::parse_from_rfc3339(text)
        .map_err(|error| refuse(format!("`{}`: {error}; {expected}", short(text))))?;
    if parsed.offset().local_minus_utc() != 0 {
        return Err(refuse(format!("`{}` is not in UTC; {expected}", short(text))));
    }
    if !(1970..=9999).contains(&parsed.year()) {
        return Err(refuse(format!("`{}` is not in the years 1970 to 9999", short(text))));
    }
    Ok(parsed.with_timezone(&Utc))
}

fn unknown(field: &str, reason: String) -> Rejection {
    Rejection::new(Gate::Structural, Cause::UnknownValue, field, reason)
}
