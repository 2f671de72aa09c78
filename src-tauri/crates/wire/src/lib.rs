//! What the window sees.
//!
//! Every request, view and error that crosses between the Rust side and the webview is declared here, once. The TypeScript in
//! `ui/src/generated` is generated from these types (`cargo xtask codegen`), and the test run fails when it is stale.
//!
//! Conventions: amounts are decimal strings with a `.` and no grouping; identifiers are opaque strings; instants are RFC 3339 in
//! UTC; durations are whole milliseconds in a `u32`, because JSON numbers in a webview are exact only up to 2^53.

mod close;
mod connection;
mod dead_letters;
mod deck;
mod files;
mod focus;
mod history;
mod leaving;
mod outbox;
mod preferences;
mod session;
mod settings;
mod signing;

pub use close::*;
pub use connection::*;
pub use dead_letters::*;
pub use deck::*;
pub use files::*;
pub use focus::*;
pub use history::*;
pub use leaving::*;
pub use outbox::*;
pub use preferences::*;
pub use session::*;
pub use settings::*;
pub use signing::*;
