//! The shared backlog over PostgreSQL.
//!
//! [`PgBacklog`] is the port [`Backlog`](countersign_engine::port::Backlog): each call is one autocommit statement that calls one
//! function of the schema `countersign`, so that a cancelled call leaves no transaction open. [`migrate`] brings a database to
//! this release's schema. [`connect`] decides how a connection is made safe, [`dial`] makes it, [`failure`] says what an error means,
//! [`inspect`] tries a connection out.

pub mod certificates;
pub mod connect;
mod connections;
pub mod desk;
pub mod dial;
pub mod failure;
pub mod inspect;
pub mod migrate;
mod pg_backlog;
mod probe;
mod reading;
mod reply;

pub use connect::{Target, Timing, Tls};
pub use pg_backlog::PgBacklog;
