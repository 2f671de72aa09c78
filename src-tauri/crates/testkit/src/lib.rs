//! What tests, the demo and the bench need around Countersign: a private `PostgreSQL`, a network that fails on command,
//! a simulated day, and the checker of the invariants.

pub mod bench;
pub mod conformance;
pub mod demo;
pub mod enrolment;
pub mod generate;
pub mod installation;
pub mod postgres;
pub mod proxy;
pub mod sim;
pub mod vendors;

use countersign_journal::JournalKey;

/// The key of every journal that is made here: what is under test is not who has it.
pub fn journal_key() -> JournalKey {
    JournalKey::new(&[0x43; JournalKey::BYTES])
}
