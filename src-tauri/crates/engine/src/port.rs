//! The ports: what the workstation asks of the shared backlog and of its own journal.

mod backlog;
mod journal;

pub use backlog::{
    Backlog, BacklogError, EnrolmentState, Failure, Held, HeldCursor, Hello, LeaseReply, LeaseRequest, LeasedItem,
    LeasedPartition, Problem, Renewed, SignOffReply, Welcome,
};
pub use journal::{
    DeckItem, Entry, Identity, Journal, JournalError, JournalFault, LeaseRow, LocalDeadLetter, Restored, Settled,
    Stage, Write,
};
