//! What the journal promises, against real files.

mod canary;
mod durability;
mod failures;
mod fixture;
mod keys;
mod leaving;
mod life;
mod openings;
mod review;
mod upgrades;
