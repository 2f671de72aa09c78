//! What Countersign is about: exceptions, sign-offs, money, keys, hashes, gates, suggestions, policy,
//! seals, settings and codes.
//!
//! Nothing here does IO, reads a clock or awaits. Text becomes a type at the edge ([`gate`]) and stays one.

pub mod calculation;
pub mod code;
pub mod confirmation;
pub mod dead_letter;
pub mod difference;
pub mod evidence;
pub mod exception;
pub mod figure;
pub mod focus;
pub mod gate;
pub mod hash;
pub mod id;
pub mod kind;
pub mod letter;
pub mod money;
pub mod payload;
pub mod person;
pub mod policy;
pub mod receipt;
pub mod record;
pub mod redact;
pub mod reversal;
pub mod review;
pub mod scan;
#[cfg(test)]
mod schema;
pub mod scoring;
pub mod seal;
pub mod settings;
pub mod sign_off;
pub mod similarity;
pub mod standing;
pub mod totals;
pub mod visible;
