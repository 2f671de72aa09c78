//! Whether each field is there once. Of one that is there twice, the parser keeps the last, and another program may keep the first.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::rejection::{Gate, Rejection};
use crate::dead_letter::Cause;

/// Looks at every object of a document that parses.
pub(super) fn once(line: &[u8]) -> Result<(), Rejection> {
    let mut twice = None;
    let mut parser = serde_json::Deserializer::from_slice(line);
    // It stops at the first that is there twice, with an error of its own; that the text parses was seen before.
    let _ = Seen { path: String::new(), twice: &mut twice }.deserialize(&mut parser);
    match twice {
        Some(path) => Err(Rejection::new(Gate::Structural, Cause::Field, path, "the field is there twice")),
        None => Ok(()),
    }
}

/// One value and everything in it.
struct Seen<'a> {
    path: String,
    twice: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Seen<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seen<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut place = 0_usize;
        while items
            .next_element_seed(Seen { path: format!("{}[{place}]", self.path), twice: &mut *self.twice })?
            .is_some()
        {
            place += 1;
        }
        Ok(())
    }

    /// A number comes as an object of one field too: it is kept as it was written.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(Name(name)) = fields.next_key()? {
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            if !names.insert(name) {
                *self.twice = Some(path);
                return Err(A::Error::custom("the field is there twice"));
            }
            fields.next_value_seed(Seen { path, twice: &mut *self.twice })?;
        }
        Ok(())
    }
}

/// The name of a field.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfField;
        impl Visitor<'_> for OfField {
            type Value = Name;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a field")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(Name(name.to_owned()))
            }
        }
        deserializer.deserialize_str(OfField)
    }
}
