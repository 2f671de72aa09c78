//! A connection of its own that takes chunks in one after the other, over lost connections and around what the database refuses.

use std::io;
use std::time::Duration;

use countersign_backlog::failure::{self, Step};
use countersign_engine::port::Failure;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::Database;

use super::chunk::{self, Answer, DeadLetter, Item, Way};

/// How often a call is repeated that was not answered, or answered with "not now".
const RETRIES: u32 = 5;
/// Before the first repetition; twice as long before each following one.
const BACKOFF: Duration = Duration::from_millis(250);
/// How long one call may take.
const CALL: Duration = Duration::from_mins(5);

/// What is done: a chunk with its answers.
pub(crate) type Done = Result<Vec<(Item, Answer)>, sqlx::Error>;

/// Chunks on their way.
pub(crate) struct Lane {
    chunks: mpsc::Sender<Vec<Item>>,
    task: JoinHandle<()>,
}

impl Lane {
    /// Works in the background until it is dropped or closed. `waiting` chunks may wait besides the one that is being taken in.
    pub(crate) fn open(connection: Connection, waiting: usize, done: mpsc::UnboundedSender<Done>) -> Self {
        let (chunks, receiver) = mpsc::channel(waiting);
        Self { chunks, task: tokio::spawn(work(connection, receiver, done)) }
    }

    /// Hands a chunk over; it waits while the lane is full. Whether the lane still works.
    pub(crate) async fn send(&self, chunk: Vec<Item>) -> bool {
        self.chunks.send(chunk).await.is_ok()
    }

    /// Lets it end what it has.
    pub(crate) async fn close(self) {
        drop(self.chunks);
        // A task that failed has told no answer, which is noticed.
        let _ = self.task.await;
    }
}

async fn work(mut connection: Connection, mut chunks: mpsc::Receiver<Vec<Item>>, done: mpsc::UnboundedSender<Done>) {
    while let Some(chunk) = chunks.recv().await {
        let answers = connection.enqueue(chunk).await;
        let failed = answers.is_err();
        if done.send(answers).is_err() || failed {
            return;
        }
    }
    connection.close().await;
}

/// A connection that is made anew when it is lost.
pub(crate) struct Connection {
    database: Database,
    open: Option<(PgConnection, Way)>,
}

impl Connection {
    pub(crate) async fn open(database: &Database) -> Result<Self, sqlx::Error> {
        let mut connection = Self::later(database);
        connection.open = Some(connection.connect().await?);
        Ok(connection)
    }

    /// Connects when there is something to send.
    pub(crate) fn later(database: &Database) -> Self {
        Self { database: database.clone(), open: None }
    }

    async fn connect(&self) -> Result<(PgConnection, Way), sqlx::Error> {
        let mut connection = self.database.try_connect().await?;
        let way = chunk::prepare(&mut connection).await?;
        Ok((connection, way))
    }

    /// Sends a chunk; where the database fails on an item that the gates let through, halves lead to it, so that the rest goes in.
    async fn enqueue(&mut self, chunk: Vec<Item>) -> Done {
        let mut answers = Vec::with_capacity(chunk.len());
        let mut parts: Vec<&[Item]> = vec![&chunk];
        while let Some(part) = parts.pop() {
            match self.repeat(Call::Enqueue(part)).await {
                Ok(Told::Answers(told)) => answers.extend(told),
                Ok(Told::Fresh(_)) => {}
                Err(error) if is_about_data(&error) => {
                    if part.len() == 1 {
                        let detail = Some(failure::cause(&error));
                        answers.push(Answer { outcome: "REFUSED".to_owned(), detail, field: None, cause: None });
                        continue;
                    }
                    // The first half is taken next: the order of arrival is the order in a partition.
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(chunk.into_iter().zip(answers).collect())
    }

    /// Keeps dead letters; for each, whether it is new.
    pub(crate) async fn keep(&mut self, origin: &str, letters: &[DeadLetter]) -> Result<Vec<bool>, sqlx::Error> {
        match self.repeat(Call::Keep(origin, letters)).await? {
            Told::Fresh(fresh) => Ok(fresh),
            Told::Answers(_) => Err(sqlx::Error::Protocol("answers to dead letters".to_owned())),
        }
    }

    pub(crate) async fn close(self) {
        if let Some((connection, _)) = self.open {
            // Everything is in; how the goodbye goes changes nothing.
            let _ = connection.close().await;
        }
    }

    /// Calls, and calls again while that may help. A call whose answer was lost may have taken place; then it finds duplicates.
    async fn repeat(&mut self, call: Call<'_>) -> Result<Told, sqlx::Error> {
        let mut attempt = 0;
        loop {
            let outcome = self.attempt(call).await;
            let Err(error) = &outcome else { return outcome };
            let failure = failure::failure_of(Step::Version, error);
            if !matches!(failure, Failure::Offline | Failure::Transient) || attempt == RETRIES {
                return outcome;
            }
            sleep(BACKOFF * 2_u32.pow(attempt)).await;
            attempt += 1;
        }
    }

    /// A connection is kept only when its call was answered well, so that none is used in an unknown state.
    async fn attempt(&mut self, call: Call<'_>) -> Result<Told, sqlx::Error> {
        let (mut connection, way) = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        let send = async {
            match call {
                Call::Enqueue(items) => chunk::enqueue(&mut connection, way, items).await.map(Told::Answers),
                Call::Keep(origin, letters) => chunk::keep(&mut connection, origin, letters).await.map(Told::Fresh),
            }
        };
        let told = timeout(CALL, send).await.unwrap_or_else(|_| {
            Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {CALL:?}"))))
        })?;
        self.open = Some((connection, way));
        Ok(told)
    }
}

#[derive(Clone, Copy)]
enum Call<'a> {
    Enqueue(&'a [Item]),
    Keep(&'a str, &'a [DeadLetter]),
}

enum Told {
    Answers(Vec<Answer>),
    Fresh(Vec<bool>),
}

/// Data exceptions, broken constraints and exceeded limits: it is an item's fault and not that of the call.
fn is_about_data(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| matches!(code.get(..2), Some("22" | "23" | "54")))
}
