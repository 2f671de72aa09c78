//! The operators' work, as functions: the binary `countersign-admin` puts a command line before them, the demo and the tests call
//! them directly.
//!
//! They connect as the owner of the schema `countersign`, or, for [`enqueue`] alone, as a member of `countersign_producer`.

pub mod database;
pub mod dead_letters;
pub mod enqueue;
pub mod error;
pub mod migrate;
pub mod reviewer;
pub mod status;
pub mod text;

pub use database::Database;
pub use error::AdminError;
