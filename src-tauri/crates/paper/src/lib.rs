//! Files that leave the workstation, and decisions that come back in them.
//!
//! A deck goes out as a workbook or as comma-separated text ([`deck_xlsx`], [`deck_csv`]) and comes back decided
//! ([`table`], [`decisions`]). What a confirmation came to goes out as a receipt ([`receipt`]). Nothing here reads a clock or
//! signs: times are arguments, and a file that comes back is a proposal.

pub mod decisions;
pub mod deck_csv;
pub mod deck_xlsx;
pub mod guard;
pub mod receipt;
pub mod receipt_csv;
pub mod receipt_json;
pub mod receipt_pdf;
pub mod save;
pub mod sheet;
pub mod table;

mod page;
mod table_csv;
mod table_xlsx;
