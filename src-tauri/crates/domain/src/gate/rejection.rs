//! Why an arrival is refused, and how the reason is found in what parsing says.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dead_letter::Cause;
use crate::money::{Currency, Money, MoneyError, parse_decimal};

/// The most characters of a foreign value that a reason repeats.
const SHOWN_CHARS: usize = 80;

/// Which gate refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It does not have the shape of an arrival.
    Structural,
    /// An amount is not exact, or not in its currency.
    Monetary,
    /// A gate of its kind.
    Own,
}

/// Why an arrival is a dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Which gate refused.
    pub gate: Gate,
    /// What it has in common with others.
    pub cause: Cause,
    /// The field at fault, as a path such as `payload.statement_line.date`.
    pub field: Option<String>,
    /// What was expected and what came.
    pub reason: String,
    /// The arrival's key, where it could be read.
    pub idempotency_key: Option<String>,
}

impl Rejection {
    /// A refusal because of a field; an empty path stands for the arrival as a whole.
    pub fn new(gate: Gate, cause: Cause, field: impl Into<String>, reason: impl Into<String>) -> Self {
        let field = Some(field.into()).filter(|field| !field.is_empty());
        Self { gate, cause, field, reason: reason.into(), idempotency_key: None }
    }

    /// An amount, or a currency.
    pub(crate) fn money(field: impl Into<String>, error: &MoneyError) -> Self {
        let cause = match error {
            MoneyError::NotADecimal(_) | MoneyError::TooLong(_) | MoneyError::TooPrecise { .. } => Cause::Amount,
            MoneyError::UnknownCurrency(_) | MoneyError::Withdrawn { .. } | MoneyError::NoMinorUnits(_) => {
                Cause::Currency
            }
        };
        Self::new(Gate::Monetary, cause, field, error.to_string())
    }
}

/// A value as a reason repeats it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {}", short(&number.to_string())),
        Value::String(text) => format!("the text `{}`", short(text)),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(crate) fn short(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// Reads fields as a type. A refusal names the path of the field at fault, behind `root` where there is one.
pub(crate) fn read_typed<'a, T: Deserialize<'a>>(root: &str, fields: &'a Map<String, Value>) -> Result<T, Rejection> {
    serde_path_to_error::deserialize(fields).map_err(|error| {
        let reason = error.inner().to_string();
        let path = error.path().to_string();
        let mut steps = vec![root];
        steps.extend((path != ".").then_some(path.as_str()));
        // What is missing has no path of its own.
        let missing = reason.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        steps.extend(missing);
        steps.retain(|step| !step.is_empty());
        let cause = if missing.is_some() { Cause::Field } else { cause_in(&path) };
        Rejection::new(Gate::Structural, cause, steps.join("."), worded(&reason))
    })
}

/// A parser's message in the words of somebody who wrote the document and not the parser.
fn worded(reason: &str) -> String {
    if reason.starts_with("missing field") {
        return "missing; it has to be there".to_owned();
    }
    if reason.starts_with("UUID") {
        return format!("{reason}; expected a UUID such as c3f8526a-b630-5740-9bd7-afecf3013f04");
    }
    if reason == "invalid number" {
        return "expected a whole number that is not negative".to_owned();
    }
    let Some((got, expected)) = reason.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return reason.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "u32" | "u64" => "a whole number",
        other if other.starts_with("struct") => "an object",
        other => other,
    };
    let got = match got {
        "number" => "a number",
        "sequence" => "a list",
        "map" => "an object",
        other => other,
    };
    format!("expected {expected}, got {got}")
}

/// What is read field by field has to be an object: a list with as many values would do for the parser.
pub(crate) fn object(field: &str, value: &Value) -> Result<(), Rejection> {
    if value.is_object() {
        return Ok(());
    }
    let reason = format!("expected an object, got {}", shown(value));
    Err(Rejection::new(Gate::Structural, Cause::Field, field, reason))
}

/// What a field of the wrong type has in common with others.
fn cause_in(path: &str) -> Cause {
    let field = path.rsplit('.').next().unwrap_or_default();
    match field {
        "schema_version" => Cause::SchemaVersion,
        "date" => Cause::Date,
        _ if field.ends_with("_date") || field.ends_with("_at") => Cause::Date,
        _ => Cause::Field,
    }
}

/// An amount of a currency, from a field that has to be there.
pub(crate) fn amount(field: impl Into<String>, text: &str, currency: Currency) -> Result<Money, Rejection> {
    Money::parse(text, currency).map_err(|error| Rejection::money(field, &error))
}

/// An exact decimal that is in no currency: units, a rate, a price.
pub(crate) fn exact(field: impl Into<String>, text: &str) -> Result<rust_decimal::Decimal, Rejection> {
    parse_decimal(text).map_err(|error| Rejection::money(field, &error))
}
