//! What reviewers look up: the backlog, the close, what happened, and how a receipt looks.

#[path = "overview/exact.rs"]
mod exact;
#[path = "overview/history.rs"]
mod history;
#[path = "authority/office.rs"]
#[expect(dead_code, reason = "it is made for more")]
mod office;
#[path = "overview/pictures.rs"]
mod pictures;
#[path = "overview/rights.rs"]
mod rights;
