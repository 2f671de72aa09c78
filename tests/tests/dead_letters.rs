//! What did not get in is kept, corrected by one, sent in again or discarded by two, and every step can be proved.

#[path = "dead_letters/at_once.rs"]
mod at_once;
#[path = "dead_letters/command_line.rs"]
mod command_line;
#[path = "dead_letters/given_up.rs"]
mod given_up;
#[path = "dead_letters/hostile.rs"]
mod hostile;
#[path = "dead_letters/life.rs"]
mod life;
#[path = "dead_letters/people.rs"]
mod people;
#[path = "dead_letters/proof.rs"]
mod proof;
#[path = "dead_letters/world.rs"]
mod world;
