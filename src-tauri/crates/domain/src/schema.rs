//! The JSON Schema of an arrival, for producers: `docs/arrival.schema.json`. It is generated from the types that read one, and only for
//! the document; nothing that ships knows of it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema as _, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::exception::{Kind, MatchDecision, RoutingTier};
use crate::gate::{Envelope, NAME_CHARS, PREPARERS, SCHEMA_VERSION};

/// A plain decimal: no exponent, no sign of plus, no grouping.
const DECIMAL: &str = r"^-?[0-9]+(\.[0-9]+)?$";
/// The document, beside what it describes.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/arrival.schema.json");
/// Set by `cargo xtask codegen`: the document is written, not compared.
const WRITE: &str = "COUNTERSIGN_WRITE_SCHEMA";

type Generator = SchemaGenerator;

/// Null does as well as absence.
fn optional(schema: Schema) -> Schema {
    let mut schema = schema;
    let kind = schema.remove("type").unwrap_or_else(|| json!("string"));
    schema.insert("type".to_owned(), json!([kind, "null"]));
    schema
}

pub(crate) fn version(_: &mut Generator) -> Schema {
    json_schema!({"type": "integer", "const": SCHEMA_VERSION})
}

pub(crate) fn kinds(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "enum": Kind::ALL})
}

pub(crate) fn match_decisions(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "enum": MatchDecision::ALL})
}

pub(crate) fn tiers(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "enum": RoutingTier::ALL})
}

pub(crate) fn name(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "maxLength": NAME_CHARS, "pattern": r"\S"})
}

pub(crate) fn optional_name(generator: &mut Generator) -> Schema {
    optional(name(generator))
}

/// Part of a key whose parts are separated by `|`.
pub(crate) fn key_part(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "maxLength": NAME_CHARS, "pattern": r"^[^|]*[^|\s][^|]*$"})
}

pub(crate) fn counterparty(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "maxLength": NAME_CHARS * 5})
}

pub(crate) fn preparers(generator: &mut Generator) -> Schema {
    json_schema!({"type": "array", "items": name(generator), "minItems": 1, "maxItems": PREPARERS})
}

pub(crate) fn uuid(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "format": "uuid"})
}

pub(crate) fn currency(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "pattern": "^[A-Z]{3}$"})
}

pub(crate) fn decimal(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "pattern": DECIMAL})
}

pub(crate) fn optional_decimal(generator: &mut Generator) -> Schema {
    optional(decimal(generator))
}

pub(crate) fn optional_confidence(_: &mut Generator) -> Schema {
    optional(json_schema!({"type": "string", "pattern": r"^(0+(\.[0-9]+)?|0*1(\.0+)?)$"}))
}

pub(crate) fn instant(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "format": "date-time", "pattern": r"(Z|z|[+-]00:00)$"})
}

pub(crate) fn day(_: &mut Generator) -> Schema {
    json_schema!({"type": "string", "format": "date"})
}

pub(crate) fn optional_day(generator: &mut Generator) -> Schema {
    optional(day(generator))
}

pub(crate) fn agreement_version(_: &mut Generator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": 999_999_999})
}

pub(crate) fn optional_sha256(_: &mut Generator) -> Schema {
    optional(json_schema!({"type": "string", "pattern": "^[0-9a-f]{64}$"}))
}

/// The whole document.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = Envelope::json_schema(&mut generator);
    let payloads: Vec<Value> = Kind::ALL
        .iter()
        .map(|kind| {
            let payload = kind.module().schema(&mut generator);
            json!({
                "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                "then": {"properties": {"payload": payload}},
            })
        })
        .collect();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("allOf".to_owned(), json!(payloads));
    schema.insert("$defs".to_owned(), json!(generator.take_definitions(true)));
    let mut schema = schema.to_value();
    schema.sort_all_objects();
    schema
}

#[test]
fn the_document_is_what_the_types_say() {
    let fresh = serde_json::to_string_pretty(&schema()).expect("a schema is JSON") + "\n";
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(DOCUMENT, &fresh).expect("the document is written");
    }
    let present = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
    assert!(present == fresh, "docs/arrival.schema.json is stale, run `cargo xtask codegen`");
}

/// Every field that is described says what it is, so that a producer needs no other document.
#[test]
fn every_field_is_described() {
    fn look(path: &str, value: &Value, bare: &mut Vec<String>) {
        for (name, field) in value.as_object().into_iter().flatten() {
            let path = format!("{path}/{name}");
            if name == "properties" && !path.contains("/if/") && !path.contains("/then/") {
                let fields = field.as_object().into_iter().flatten();
                bare.extend(
                    fields
                        .filter(|(_, field)| field.get("description").is_none())
                        .map(|(name, _)| format!("{path}/{name}")),
                );
            }
            look(&path, field, bare);
        }
    }
    let mut bare = Vec::new();
    look("", &schema(), &mut bare);
    assert!(bare.is_empty(), "{bare:?}");
}
