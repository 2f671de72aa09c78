//! The operators' work, as functions: the binary `countersign-admin` puts a command line before them, the demo and the tests call
//! them directly.
//!
//! [`migrate`] and [`role`] take the owner of the database. Everything else goes through the database's functions and views, for a
//! member of `countersign_supervisor`; `countersign_producer` is enough for [`enqueue`], [`claim_lines`] and [`attach`], `countersign_auditor` for looking.

pub mod attach;
pub mod audit;
pub mod capture;
pub mod claim_lines;
pub mod database;
pub mod dead_letters;
pub mod enqueue;
pub mod error;
pub mod migrate;
pub mod partition;
pub mod period;
pub mod policy;
pub mod receipt;
pub mod reversal;
pub mod reviewer;
pub mod role;
mod rows;
pub mod status;
pub mod text;
pub mod vendor;
pub mod workstation;

pub use database::{Database, Needs};
pub use error::AdminError;
