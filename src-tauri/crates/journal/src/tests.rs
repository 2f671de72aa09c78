//! What the journal promises, against real files.

mod durability;
mod failures;
mod fixture;
mod life;
mod openings;
