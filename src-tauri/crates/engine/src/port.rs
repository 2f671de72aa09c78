//! The ports: what the workstation asks of the shared backlog and of its own journal.

mod backlog;
mod batch;
mod desk;
mod journal;
mod reading;

pub use backlog::{
    Backlog, BacklogError, EnrolmentState, Failure, Held, HeldCursor, Hello, LeaseReply, LeaseRequest, LeasedItem,
    LeasedPartition, Problem, Renewed, SignOffReply, Welcome,
};
pub use batch::{BATCHES_TOLD, Batch, STEPS_KEPT, Step, UI_STATE_BYTES, What, note_step};
pub use desk::{
    CauseLine, Correction, Desk, GivenUp, LETTERS_A_CALL, LETTERS_TOLD, Letter, LetterAnswer, LetterDetail,
    LetterFilter, LetterId, LetterRef, LetterStatus, ORIGINAL_BYTES,
};
pub use journal::{
    DeckItem, Entry, Identity, Journal, JournalError, JournalFault, LeaseRow, LocalDeadLetter, Restored, Settled,
    Stage, UNTOLD_BYTES, Write,
};
pub use reading::{CaptureDay, Close, CloseLine, History, Hour, Overview, OverviewLine, PastEvent, Picture, Reading};
