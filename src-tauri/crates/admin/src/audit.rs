//! The audit stream: proving it, anchoring it outside the database, and taking it out for others to read.
//!
//! Everything here reads the auditor's views in one transaction that changes nothing and holds nobody up; only the keys of the seal
//! are read and changed as the owner.

mod anchor;
mod anchored;
mod arrivals;
mod attempts;
mod calendar;
mod chains;
mod command;
mod decisions;
mod describe;
mod effects;
mod export;
mod finding;
mod history;
mod judge;
mod keys;
mod letters;
mod lines;
mod people;
mod receipts;
mod recorded;
mod released;
mod rights;
mod session;
mod signatures;
mod tables;
mod unsealed;
mod verify;
mod written;

pub use anchor::{Anchored, anchor};
pub use attempts::{Attempt, Attempts};
pub use command::{AuditCommand, ReceiptCommand};
pub use export::{Export, Format, Stream, export};
pub use finding::{Finding, Findings, KEPT};
pub use keys::{export_keys, rotate_key};
pub use verify::{Counts, Report, Verify, verify};

pub(crate) use keys::VerifyingKeys;
pub(crate) use session::{Micros, Session, instant};
