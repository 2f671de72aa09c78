//! What the journal promises, against real files.

mod canary;
mod durability;
mod failures;
mod figures;
mod fixture;
mod keys;
mod leaving;
mod letters;
mod life;
mod openings;
mod review;
mod upgrades;
