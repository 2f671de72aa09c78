//! The demo: a private PostgreSQL with real exceptions, and workstations that decide them.

mod count;
mod office;
mod story;
mod workstation;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

pub use count::{Counted, count};
pub use office::{Office, Reviewer};
pub use story::{Story, run};
pub use workstation::{Seat, work};

/// Returns when somebody presses Ctrl+C or ends the process.
pub async fn asked_to_stop() -> anyhow::Result<()> {
    let mut ended = signal(SignalKind::terminate()).context("listen for the end")?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.context("listen for Ctrl+C"),
        _ = ended.recv() => Ok(()),
    }
}
