//! The gates an arrival passes before anything else sees it.
//!
//! Structural: it parses, its key is there, its names are known, its version is supported. Monetary: its amounts are exact decimals
//! that fit their currency. Then those of its kind. They are a logical AND, and fail the same way each time, so that what they refuse is
//! a dead letter at the first attempt. (Ordering and idempotency are the database's gates: only it sees what came before. So is whether
//! a vendor is known.)

use crate::dead_letter::Cause;
use crate::exception::{Content, Kind};

mod envelope;
mod inspect;
mod once;
mod rejection;

pub use envelope::{ARRIVAL_BYTES, NAME_CHARS, PREPARERS, SCHEMA_VERSION};
pub use rejection::{Gate, Rejection, shown};

#[cfg(test)]
pub(crate) use envelope::Envelope;
pub(crate) use envelope::{day, name};
pub(crate) use rejection::{amount, exact, object, read_typed, short};

/// An arrival that passed, with the exact text that is stored and signed.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    /// What it says.
    pub content: Content,
    /// Canonical JSON: keys sorted, no white space, non-ASCII as it is.
    pub body: String,
}

/// Judges one line of input.
pub fn judge(line: &[u8]) -> Result<Arrival, Rejection> {
    judge_among(line, Kind::ALL)
}

/// Judges one line of input, of which some kinds are known.
pub fn judge_among(line: &[u8], kinds: &[Kind]) -> Result<Arrival, Rejection> {
    let arrival = parse(line, kinds)?;
    let key = &arrival.content.idempotency_key;
    once::once(line).map_err(|rejection| Rejection { idempotency_key: Some(key.clone()), ..rejection })?;
    let module = arrival.content.kind.module();
    module
        .gates(&arrival.content)
        .and_then(|()| own_key(&arrival.content))
        .map_err(|rejection| Rejection { idempotency_key: Some(key.clone()), ..rejection })?;
    Ok(arrival)
}

/// Reads the text of an exception that the database handed out. It passed the gates of the release that took it in; those of its kind may
/// have become stricter since, and do not keep anybody from deciding it.
pub fn read_body(body: &str) -> Result<Content, Rejection> {
    read_body_among(body, Kind::ALL)
}

/// The same, where some kinds are known.
pub fn read_body_among(body: &str, kinds: &[Kind]) -> Result<Content, Rejection> {
    parse(body.as_bytes(), kinds).map(|arrival| arrival.content)
}

/// The key has to be the one that follows from the content. A reversal's follows from what it reverses.
fn own_key(content: &Content) -> Result<(), Rejection> {
    let Some(expected) = content.kind.module().key(content).filter(|_| content.reverses.is_none()) else {
        return Ok(());
    };
    if content.idempotency_key == expected {
        return Ok(());
    }
    let reason = format!(
        "expected {expected}, which follows from the payload of a {}, got `{}`",
        content.kind.as_str(),
        short(&content.idempotency_key)
    );
    Err(Rejection::new(Gate::Own, Cause::Key, "idempotency_key", reason))
}

fn parse(line: &[u8], kinds: &[Kind]) -> Result<Arrival, Rejection> {
    let unreadable = |reason: String| Rejection::new(Gate::Structural, Cause::Unreadable, "", reason);
    if line.len() > ARRIVAL_BYTES {
        let reason = format!("the arrival has {} bytes, at most {ARRIVAL_BYTES} are allowed", line.len());
        return Err(unreadable(reason));
    }
    let text = std::str::from_utf8(line).map_err(|error| {
        unreadable(format!("not UTF-8: the byte at position {} is invalid", error.valid_up_to() + 1))
    })?;
    let document: serde_json::Value =
        serde_json::from_str(text).map_err(|error| unreadable(format!("not JSON: {error}")))?;
    let key = document
        .get("idempotency_key")
        .and_then(serde_json::Value::as_str)
        .map(|key| key.chars().take(NAME_CHARS).collect::<String>());
    envelope::read(document, kinds).map_err(|rejection| Rejection {
        idempotency_key: key.filter(|key| !key.is_empty() && !key.contains('\0')),
        ..rejection
    })
}

#[cfg(test)]
mod tests;
