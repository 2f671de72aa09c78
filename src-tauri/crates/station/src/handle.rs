//! The door to a running workstation.

use countersign_domain::id::ExceptionId;
use countersign_engine::port::JournalError;
use countersign_engine::{Command, CommandFailure, Engine, Now, Reply};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

/// How many commands may wait for the engine; a caller beyond that waits itself.
pub(crate) const COMMANDS: usize = 64;

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
    Body(ExceptionId, oneshot::Sender<Result<Option<String>, JournalError>>),
    Backlog(std::sync::Arc<B>),
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
    pub async fn body(&self, id: ExceptionId) -> Result<Result<Option<String>, JournalError>, Gone> {
        let (sender, receiver) = oneshot::channel();
        self.messages.send(Message::Body(id, sender)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// Connects another way from now on: another password, another address.
    pub async fn reconnect(&self, backlog: std::sync::Arc<B>) -> Result<(), Gone> {
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
