//! What several capability tests need: a workstation at a desk, the same in a process of its own, the operators' command line,
//! and what only the database's owner sees.
//!
//! Everything waits for what it can observe. The one bound, [`DEADLINE`], is there to end a test that would hang.
//!
//! Tests with a station in them run on several threads: when a test ends, its database is dropped in the midst of whatever the
//! station is doing, and a server cannot drop a database while a client that is logging in does not go on with it.

use std::time::Duration;

pub mod admin;
pub mod calls;
pub mod chain;
pub mod child;
pub mod desk;
pub mod display;
pub mod faults;
pub mod owner;
pub mod wait;

/// How long anything may take that should happen by itself: longer than a busy machine needs, so that only a defect reaches it.
pub const DEADLINE: Duration = Duration::from_secs(45);
