//! The workstation as a state machine.
//!
//! [`Engine::step`] takes the time and an event and returns effects. It never awaits, never reads a clock and never draws a random
//! number that its seed does not determine: one seed replays a whole day. The two sides it talks to are the ports:
//! [`port::Backlog`], the shared database, and [`port::Journal`], the local disk.

mod backoff;
mod deck;
mod leases;
mod link;
mod machine;
mod next_step;
mod outbox;
pub mod port;
mod scoring;

pub use backoff::delay_ms;
pub use deck::{Slot, deck_item};
pub use machine::{
    Command, CommandFailure, DrainState, Effect, Engine, Event, Happened, Ids, LinkState, Now, Record, Reply,
    RequestId, Scored, Token, Trace, Unscored,
};
pub use next_step::{NextStep, next_step};
pub use outbox::{Counts, Pending};
pub use scoring::Lane;

/// The most decisions that may be unanswered; leasing pauses at it, so that a server that answers nothing but leases cannot make
/// the outbox grow without end.
pub const OUTBOX_BOUND: usize = 10_000;
/// How many accepted decisions are kept in memory to be shown.
pub const ANSWERED_SHOWN: usize = 500;
/// The pause between two lease calls while the backlog has nothing, in milliseconds; up to half of it again is added at random.
pub const POLL_MS: u64 = 2_000;
/// How often a connected workstation asks for the policy and the rights in force, in milliseconds. While its deck is full it asks
/// for little else, so that this is also how soon it notices a network that is gone.
pub const REFRESH_MS: u64 = 30_000;
/// For how long what was heard of policy and rights is good enough for who is about to sign, in milliseconds.
pub const FRESH_MS: u64 = 2_000;
/// For how long policy and rights in which nothing is new but the time are not written down again, in milliseconds.
pub const STANDING_KEPT_MS: i64 = 600_000;
/// The pause before a workstation whose key nobody has confirmed asks again, in milliseconds.
pub const ENROLMENT_POLL_MS: u64 = 3_000;
/// How many receipts are kept in memory to be shown.
pub const RECEIPTS_SHOWN: usize = 100;
/// The pause before answers that the disk did not take are written again, in milliseconds.
pub const JOURNAL_RETRY_MS: u64 = 2_000;
/// From how many bytes on an exception takes the heavy lane.
pub const HEAVY_BYTES: usize = 64 * 1024;
/// How many light exceptions the scoring pool takes; together less than 16 MiB.
pub const LIGHT_LANE: usize = 256;
/// How many heavy ones; each has at most 16 MiB.
pub const HEAVY_LANE: usize = 8;
/// For how long scoring may be behind before the reviewer is told, in milliseconds.
pub const BEHIND_TOLD_MS: u64 = 5_000;
/// After how long without a sign of the scoring pool what it has is lost, in milliseconds.
pub const POOL_SILENCE_MS: u64 = 120_000;
/// How often a workstation looks for lost exceptions while nothing changes, in milliseconds.
pub const LOST_CHECK_MS: u64 = 30_000;
/// The least between two looks for lost exceptions, in milliseconds.
pub const LOST_CHECK_PAUSE_MS: u64 = 1_000;
/// How many lost exceptions are remembered, so that each is told of once.
pub const LOST_REMEMBERED: usize = 1_000;
/// The length of a window at whose end the oldest undecided exception is looked at, in milliseconds.
pub const LAG_WINDOW_MS: u64 = 300_000;
/// When it is still the same after so many windows, the workstation lags.
pub const LAG_WINDOWS: u32 = 3;
/// How many unsent decisions are named one by one when closing takes too long.
pub const DRAIN_TOLD: usize = 100;
