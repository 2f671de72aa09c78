//! The demo: a private PostgreSQL with real exceptions, and workstations that decide them.

mod count;
mod office;
mod story;
mod workstation;

pub use count::{Counted, count};
pub use office::{Office, Reviewer};
pub use story::{Story, run};
pub use workstation::{Seat, work};
