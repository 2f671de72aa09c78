//! The journal has one owner and blocks until its writes are durable, so it lives on a thread of its own.

use std::thread::JoinHandle;

use countersign_engine::port::{Journal, Write};
use countersign_engine::{Event, Token};
use tokio::sync::mpsc;

/// How many writes may wait for the disk.
pub(crate) const WRITES: usize = 1_024;

/// Uses the journal on its own thread.
pub(crate) type Use = Box<dyn FnOnce(&mut dyn Journal) + Send>;

pub(crate) enum Job {
    Write(Token, Write),
    /// Whatever the engine need not know of.
    Use(Use),
}

/// Runs jobs in their order until every sender is gone.
pub(crate) fn spawn(
    mut journal: Box<dyn Journal>,
    mut jobs: mpsc::Receiver<Job>,
    events: mpsc::Sender<Event>,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("journal".into()).spawn(move || {
        while let Some(job) = jobs.blocking_recv() {
            match job {
                Job::Write(token, write) => {
                    let result = journal.write(&write);
                    // When the station is gone, what it asked for before is still made durable.
                    let _ = events.blocking_send(Event::Journaled(token, result));
                }
                Job::Use(work) => work(journal.as_mut()),
            }
        }
    })
}
