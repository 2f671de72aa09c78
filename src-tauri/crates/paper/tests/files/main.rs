//! Files that go out and come back, through the crate's own door.

mod common;
mod import;
mod receipts;
mod round_trip;
