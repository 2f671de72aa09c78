//! What is wrong with a document whatever it means: text the database cannot hold, floats, amounts that are numbers.

use serde_json::{Number, Value};

use super::rejection::{Gate, Rejection, short};
use crate::dead_letter::Cause;

/// What the names of fields with decimals contain. A number there is refused even where it has no fraction.
const DECIMALS: [&str; 5] = ["amount", "rate", "units", "quantity", "confidence"];

/// Looks at every value of the document.
pub(super) fn inspect(value: &Value, path: &mut String) -> Result<(), Rejection> {
    match value {
        Value::String(text) if text.contains('\0') => {
            let reason = "contains a NUL character (U+0000)";
            Err(Rejection::new(Gate::Structural, Cause::Name, path.as_str(), reason))
        }
        Value::Number(number) => whole(number, path),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| inside(path, &format!("[{index}]"), item))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(field, item)| {
            if field.contains('\0') {
                let reason = "a field's name contains a NUL character (U+0000)";
                return Err(Rejection::new(Gate::Structural, Cause::Name, path.as_str(), reason));
            }
            let step = if path.is_empty() { field.clone() } else { format!(".{field}") };
            inside(path, &step, item)
        }),
        _ => Ok(()),
    }
}

fn whole(number: &Number, path: &str) -> Result<(), Rejection> {
    let text = number.to_string();
    let field = path.rsplit('.').next().unwrap_or_default();
    let decimal = DECIMALS.iter().any(|word| field.contains(word));
    if decimal || text.contains(['.', 'e', 'E']) {
        let expected = if decimal { "a decimal in a string" } else { "a whole number, or a decimal in a string" };
        let reason = format!("{} is a JSON number, which loses digits on the way: expected {expected}", short(&text));
        return Err(Rejection::new(Gate::Monetary, Cause::Amount, path, reason));
    }
    if number.as_i64().is_none() {
        let reason = format!("{} is not within 64 bits", short(&text));
        return Err(Rejection::new(Gate::Structural, Cause::Field, path, reason));
    }
    Ok(())
}

fn inside(path: &mut String, step: &str, value: &Value) -> Result<(), Rejection> {
    let length = path.len();
    path.push_str(step);
    inspect(value, path)?;
    path.truncate(length);
    Ok(())
}
