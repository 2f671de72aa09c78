//! The schema that producers check their arrivals with says what the gates say, as far as a schema can.

mod common;

use common::malformed::{base, malformed};
use common::{change, claim_apart, claim_by_lines, good};
use countersign_domain::dead_letter::Cause;
use countersign_domain::exception::Kind;
use countersign_domain::gate::judge;
use jsonschema::Validator;
use serde_json::Value;

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/arrival.schema.json")).expect("JSON");
    jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
}

#[test]
fn whatever_passes_the_gates_is_valid() {
    let validator = validator();
    let check = |document: &Value| {
        let errors: Vec<String> =
            validator.iter_errors(document).map(|error| format!("{} at {}", error, error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:?} {document}");
    };
    for kind in Kind::ALL {
        check(&good(kind.as_str()));
    }
    check(&claim_by_lines());
    check(&claim_apart());
    let demo = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../demo/exceptions.jsonl"));
    let mut checked = 0;
    for line in demo.expect("the demo's exceptions").lines() {
        if judge(line.as_bytes()).is_ok() {
            check(&serde_json::from_str(line).expect("JSON"));
            checked += 1;
        }
    }
    assert!(checked > 1_400, "{checked}");
}

/// What a schema cannot say: what a hash is of, how many digits a currency has, which currencies there are, that sums come out, and which
/// words somebody wrote without meaning them.
#[test]
fn what_is_malformed_is_invalid_unless_only_the_gates_can_tell() {
    let validator = validator();
    let beyond =
        [Cause::Key, Cause::SourceHash, Cause::Currency, Cause::Amount, Cause::LineItems, Cause::Name, Cause::Date];
    let mut told = 0;
    for row in malformed() {
        let mut arrival = base(row.0);
        change(&mut arrival, row.1, &row.2);
        let invalid = !validator.is_valid(&arrival);
        told += usize::from(invalid);
        assert!(invalid || beyond.contains(&row.4) || row.1 == "/payload/extra", "{row:?}");
    }
    assert!(told > 90, "{told}");
}
