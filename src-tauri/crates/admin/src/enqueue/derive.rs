//! Fields of an arrival that follow from its others.

use countersign_domain::hash;
use countersign_domain::kind::{Hashed, Kind};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::mapping::Derived;

/// The name space of the traces that are made here: a UUID of version 5 of `countersign/csv/1` in the name space of OIDs.
const TRACES: &[u8] = b"countersign/csv/1";

/// Adds what is asked for. What it would follow from may be absent; then it is left out, and the gates say that it is missing.
pub(crate) fn derive(wanted: &[Derived], arrival: &mut Map<String, Value>) {
    // Each from what the former ones gave.
    for step in [Derived::IdempotencyKey, Derived::TraceId, Derived::CorrelationId, Derived::SourceHash] {
        if !wanted.contains(&step) {
            continue;
        }
        let value = match step {
            Derived::IdempotencyKey => key(arrival),
            Derived::TraceId => trace(arrival),
            Derived::CorrelationId => arrival.get("trace_id").cloned().or_else(|| trace(arrival)),
            Derived::SourceHash => source_hash(arrival),
        };
        if let Some(value) = value {
            arrival.insert(step.field().to_owned(), value);
        }
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn key(arrival: &Map<String, Value>) -> Option<Value> {
    let payload = arrival.get("payload")?.as_object()?;
    let preimage = match text(arrival, "kind")? {
        "sales_claim" => {
            let fields = ["retailer_invoice", "line_item_hash", "promo_tier", "claim_period"];
            fields.iter().map(|field| text(payload, field)).collect::<Option<Vec<_>>>()?.join("|")
        }
        "receipt" => format!("{}{}", text(payload, "receipt_id")?, text(payload, "submission_ts")?),
        _ => return None,
    };
    Some(json!(hash::sha256(preimage.as_bytes()).to_string()))
}

fn trace(arrival: &Map<String, Value>) -> Option<Value> {
    let space = Uuid::new_v5(&Uuid::NAMESPACE_OID, TRACES);
    Some(json!(Uuid::new_v5(&space, text(arrival, "idempotency_key")?.as_bytes())))
}

fn source_hash(arrival: &Map<String, Value>) -> Option<Value> {
    let kind: Kind = text(arrival, "kind")?.parse().ok()?;
    let hash = kind.module().source_hash(&Hashed::read(arrival)?).unwrap_or_else(|| {
        let mut everything = Value::Object(arrival.clone());
        everything.sort_all_objects();
        hash::sha256(everything.to_string().as_bytes()).to_string()
    });
    Some(json!(hash))
}
