//! A whole day of workstations against a simulated database, clock, network and disk, replayed from a seed.

mod backlog;
mod database;
mod journal;
mod world;

pub use backlog::SimBacklog;
pub use database::{Database, Item};
pub use journal::MemoryJournal;
pub use world::{Day, DayReport, run_day};
