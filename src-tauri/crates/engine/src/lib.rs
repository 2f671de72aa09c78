//! The workstation as a state machine.
//!
//! [`Engine::step`](machine::Engine::step) takes the time and an event and returns effects. It never awaits, never reads a clock and
//! never draws a random number of its own: whatever it depends on comes in, so that one seed replays a whole day. The two sides it
//! talks to are the ports: [`port::Backlog`], the shared database, and [`port::Journal`], the local disk.

pub mod port;
