//! What each kind adds to an arrival.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dead_letter::Cause;
use crate::gate::{Gate, Rejection, read_typed};

/// The payload as it arrived. What is in it is read by the module of its kind, whenever somebody asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Payload {
    /// Everything, as it arrived.
    pub json: Map<String, Value>,
}

impl Payload {
    /// Reads it as what a kind expects. A refusal names the field at fault by its path, such as `payload.line_items[3].units`.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Rejection> {
        read_typed("payload", &self.json)
    }

    /// Sees that a field is an object, where it is there.
    pub(crate) fn object(&self, field: &str) -> Result<(), Rejection> {
        let value = self.json.get(field).filter(|value| !value.is_null());
        value.map_or(Ok(()), |value| crate::gate::object(&format!("payload.{field}"), value))
    }

    /// Sees that a field is a list of objects, where it is a list.
    pub(crate) fn objects(&self, field: &str) -> Result<(), Rejection> {
        let items = self.json.get(field).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .enumerate()
            .try_for_each(|(place, item)| crate::gate::object(&format!("payload.{field}[{place}]"), item))
    }

    /// A text; `None` where there is none or it is something else.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.json.get(field)?.as_str()
    }

    /// A name that has to be there: neither blank, nor too long, nor with control characters.
    pub fn name(&self, field: &str) -> Result<&str, Rejection> {
        let path = format!("payload.{field}");
        match self.json.get(field) {
            None | Some(Value::Null) => {
                let reason = "missing; expected a text that is not blank".to_owned();
                Err(Rejection::new(Gate::Structural, Cause::Field, path, reason))
            }
            Some(Value::String(text)) => crate::gate::name(&path, text).map(|()| text.as_str()),
            Some(other) => {
                let reason = format!("expected a text that is not blank, got {}", crate::gate::shown(other));
                Err(Rejection::new(Gate::Structural, Cause::Field, path, reason))
            }
        }
    }
}
