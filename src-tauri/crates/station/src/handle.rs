//! The door to a running workstation.

use std::sync::Arc;

use countersign_domain::id::{BatchId, ExceptionId, SignOffKey};
use countersign_engine::port::{Batch, Entry, Journal, JournalError, Step, Write};
use countersign_engine::{Command, CommandFailure, Engine, Now, Reply};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use crate::journal_thread::Use;

/// How many commands may wait for the engine; a caller beyond that waits itself.
pub(crate) const COMMANDS: usize = 64;

/// What the journal answered, if the workstation still runs.
type Read<T> = Result<Result<T, JournalError>, Gone>;

/// The workstation has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the workstation has stopped")]
pub struct Gone;

/// Versions of what can be shown; each grows with every change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Versions {
    /// Of the deck.
    pub deck: u32,
    /// Of the outbox.
    pub outbox: u32,
    /// Of the connection and everything else.
    pub session: u32,
    /// Closing is over.
    pub drained: bool,
}

pub(crate) type Look = Box<dyn FnOnce(&Engine, Now) + Send>;

pub(crate) enum Message<B> {
    Command(Command, oneshot::Sender<Result<Reply, CommandFailure>>),
    Look(Look),
    Use(Use),
    /// The same, unless nothing may be kept any more.
    Keep(Use),
    AskBacklog(oneshot::Sender<Arc<B>>),
    Backlog(Arc<B>),
}

/// The door to a running workstation. Clones lead to the same one.
pub struct StationHandle<B> {
    pub(crate) messages: mpsc::Sender<Message<B>>,
    pub(crate) versions: watch::Receiver<Versions>,
}

impl<B> Clone for StationHandle<B> {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone(), versions: self.versions.clone() }
    }
}

impl<B> StationHandle<B> {
    /// Asks for something and waits for what came of it.
    pub async fn command(&self, command: Command) -> Result<Result<Reply, CommandFailure>, Gone> {
        let (sender, receiver) = oneshot::channel();
        self.messages.send(Message::Command(command, sender)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// Looks at the engine. The closure runs on the engine's own task: it should only copy what it needs.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Engine, Now) -> T + Send + 'static,
    ) -> Result<T, Gone> {
        let (sender, receiver) = oneshot::channel();
        let look: Look = Box::new(move |engine, now| {
            // Nobody waits any more when the receiver is gone.
            let _ = sender.send(look(engine, now));
        });
        self.messages.send(Message::Look(look)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// The content of an exception in the deck or the outbox.
    pub async fn body(&self, id: ExceptionId) -> Read<Option<String>> {
        self.read(move |journal| journal.body(id)).await
    }

    /// Version and content of an exception before it changed.
    pub async fn previous(&self, id: ExceptionId) -> Read<Option<(u32, String)>> {
        self.read(move |journal| journal.previous(id)).await
    }

    /// The latest confirmations, newest first, of which nothing is forgotten.
    pub async fn batches(&self) -> Read<Vec<Batch>> {
        let batches = self.read(|journal| journal.batches()).await?;
        let unsent = self.look(|engine, _| engine.unsent()).await?;
        Ok(batches.map(|mut batches| {
            for batch in &mut batches {
                batch.unsent = count_of(&unsent, batch.id);
            }
            batches
        }))
    }

    /// One confirmation with its decisions in their order: all that were not withdrawn, answered ones too.
    pub async fn batch(&self, id: BatchId) -> Read<Option<(Batch, Vec<Entry>)>> {
        let batch = self.read(move |journal| journal.batch(id)).await?;
        let unsent = self.look(|engine, _| engine.unsent()).await?;
        Ok(batch.map(|found| found.map(|(batch, entries)| (Batch { unsent: count_of(&unsent, id), ..batch }, entries))))
    }

    /// What was done for a decision, oldest first; nothing for one that is not known.
    pub async fn steps(&self, key: SignOffKey) -> Read<Vec<Step>> {
        match self.look(move |engine, _| engine.steps(key)).await? {
            Some(steps) => Ok(Ok(steps)),
            None => {
                self.read(move |journal| Ok(journal.entry(key)?.map(|entry| entry.steps).unwrap_or_default())).await
            }
        }
    }

    /// What the window kept of itself.
    pub async fn ui_state(&self) -> Read<Option<String>> {
        self.read(|journal| journal.ui_state()).await
    }

    /// Keeps what the window wants to find again. From a reviewer who is leaving this computer nothing is kept: [`Gone`].
    pub async fn keep_ui_state(&self, state: String) -> Read<()> {
        let (work, receiver) = answering(move |journal| journal.write(&Write::UiState(state)));
        self.messages.send(Message::Keep(work)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// The way to the shared database that is in use.
    pub async fn backlog(&self) -> Result<Arc<B>, Gone> {
        let (sender, receiver) = oneshot::channel();
        self.messages.send(Message::AskBacklog(sender)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Read<T> {
        let (work, receiver) = answering(read);
        self.messages.send(Message::Use(work)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// Connects another way from now on: another password, another address.
    pub async fn reconnect(&self, backlog: Arc<B>) -> Result<(), Gone> {
        self.messages.send(Message::Backlog(backlog)).await.map_err(|_| Gone)
    }

    /// Tells of every change.
    pub fn versions(&self) -> watch::Receiver<Versions> {
        self.versions.clone()
    }

    /// Waits until the engine looks a certain way. Looks again after each change.
    pub async fn wait_until(
        &self,
        mut done: impl FnMut(&Engine, Now) -> bool + Send + Clone + 'static,
    ) -> Result<(), Gone> {
        let mut versions = self.versions();
        loop {
            versions.mark_unchanged();
            let mut look = done.clone();
            if self.look(move |engine, now| look(engine, now)).await? {
                return Ok(());
            }
            versions.changed().await.map_err(|_| Gone)?;
            done = done.clone();
        }
    }
}

/// Work for the journal's thread, and where its answer comes.
fn answering<T: Send + 'static>(
    work: impl FnOnce(&mut dyn Journal) -> Result<T, JournalError> + Send + 'static,
) -> (Use, oneshot::Receiver<Result<T, JournalError>>) {
    let (sender, receiver) = oneshot::channel();
    let work = Box::new(move |journal: &mut dyn Journal| {
        // Whoever asked may have gone.
        let _ = sender.send(work(journal));
    });
    (work, receiver)
}

fn count_of(unsent: &std::collections::BTreeMap<BatchId, usize>, id: BatchId) -> u32 {
    unsent.get(&id).map_or(0, |count| u32::try_from(*count).unwrap_or(u32::MAX))
}
