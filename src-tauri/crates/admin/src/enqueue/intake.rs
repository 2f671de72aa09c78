//! Gathers chunks and sends them, over lost connections and around what the database refuses.

use std::io;
use std::time::Duration;

use countersign_backlog::failure::{self, Step};
use countersign_domain::code::{Code, FailureClass};
use countersign_domain::hash;
use countersign_engine::port::Failure;
use sqlx::postgres::PgRow;
use sqlx::{Connection as _, PgConnection};
use tokio::time::{sleep, timeout};

use crate::text::shown;
use crate::{AdminError, Database};

use super::EnqueueReport;
use super::chunk::{self, Answer, CHUNK_BYTES, CHUNK_ITEMS, Call, DeadLetter, Item};

/// How often a call is repeated that was not answered, or answered with "not now".
const RETRIES: u32 = 5;
/// Before the first repetition; twice as long before each following one.
const BACKOFF: Duration = Duration::from_millis(250);
/// How long one call may take.
const CALL: Duration = Duration::from_mins(5);

pub(crate) struct Intake<'a> {
    database: &'a Database,
    origin: &'a str,
    connection: Option<PgConnection>,
    items: Bounded<Item>,
    letters: Bounded<DeadLetter>,
    report: EnqueueReport,
    /// Every line up to this one is in the database.
    safe_line: u64,
}

/// A list with a bound on its bytes.
struct Bounded<T> {
    list: Vec<T>,
    bytes: usize,
}

impl<T> Bounded<T> {
    const EMPTY: Self = Self { list: Vec::new(), bytes: 0 };

    fn has_room(&self, bytes: usize) -> bool {
        self.list.is_empty() || (self.list.len() < CHUNK_ITEMS && self.bytes + bytes <= CHUNK_BYTES)
    }

    fn push(&mut self, item: T, bytes: usize) {
        self.list.push(item);
        self.bytes += bytes;
    }

    fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        std::mem::take(&mut self.list)
    }
}

impl<'a> Intake<'a> {
    pub(crate) async fn connect(database: &'a Database, origin: &'a str) -> Result<Self, AdminError> {
        let connection = Some(database.connect().await?);
        let report = EnqueueReport::default();
        Ok(Self { database, origin, connection, items: Bounded::EMPTY, letters: Bounded::EMPTY, report, safe_line: 0 })
    }

    pub(crate) fn report(&self) -> &EnqueueReport {
        &self.report
    }

    /// Says how far the input got. An input of which nothing went in failed as a whole.
    pub(crate) fn interrupted(&self, error: AdminError) -> AdminError {
        if self.safe_line == 0 {
            return error;
        }
        AdminError::Interrupted { origin: shown(self.origin), line: self.safe_line, source: Box::new(error) }
    }

    pub(crate) fn blank(&mut self) {
        self.report.lines += 1;
        self.report.blank += 1;
    }

    /// Adds an arrival. Whether something was sent for it.
    pub(crate) async fn item(&mut self, item: Item) -> Result<bool, AdminError> {
        let bytes = item.body.len();
        let full = !self.items.has_room(bytes);
        if full {
            self.flush().await?;
        }
        self.report.lines += 1;
        self.items.push(item, bytes);
        Ok(full)
    }

    /// Adds a dead letter. Whether something was sent for it.
    pub(crate) async fn dead_letter(&mut self, letter: DeadLetter) -> Result<bool, AdminError> {
        let full = !self.letters.has_room(letter.original.len());
        if full {
            self.flush().await?;
        }
        self.report.lines += 1;
        self.report.refused += 1;
        self.keep(letter);
        Ok(full)
    }

    pub(crate) async fn finish(mut self) -> Result<EnqueueReport, AdminError> {
        let sent = self.flush().await;
        sent.map_err(|error| self.interrupted(error))?;
        if let Some(connection) = self.connection.take() {
            // Everything is in; how the goodbye goes changes nothing.
            let _ = connection.close().await;
        }
        Ok(self.report)
    }

    fn keep(&mut self, letter: DeadLetter) {
        let bytes = letter.original.len();
        self.letters.push(letter, bytes);
    }

    async fn flush(&mut self) -> Result<(), AdminError> {
        self.send_items().await?;
        self.send_letters().await?;
        self.safe_line = self.report.lines;
        Ok(())
    }

    /// Sends the chunk; where the database refuses an item that the gates let through, halves lead to it, so that the rest goes in.
    async fn send_items(&mut self) -> Result<(), AdminError> {
        let items = self.items.take();
        let mut parts: Vec<&[Item]> = if items.is_empty() { Vec::new() } else { vec![&items] };
        while let Some(part) = parts.pop() {
            match self.repeat(Call::Enqueue(part)).await.and_then(|rows| chunk::answers(&rows)) {
                Ok(answers) => {
                    for (item, answer) in part.iter().zip(answers) {
                        self.answered(item, &answer).await?;
                    }
                }
                Err(error) if is_about_data(&error) => {
                    if let [item] = part {
                        self.report.refused += 1;
                        let reason = failure::cause(&error);
                        self.keep_after_all(item, Code::PoisonMessage.as_str(), FailureClass::Structural, reason)
                            .await?;
                        continue;
                    }
                    // The first half is taken next: the order of arrival is the order in a partition.
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(error) => return Err(self.database.error("enqueue", Step::Version, &error)),
            }
        }
        Ok(())
    }

    async fn answered(&mut self, item: &Item, answer: &Answer) -> Result<(), AdminError> {
        match answer.outcome.as_str() {
            "ENQUEUED" => self.report.enqueued += 1,
            "CORRECTED" => self.report.corrected += 1,
            "DUPLICATE" => {
                self.report.duplicates += 1;
                self.report.duplicates_with_other_content += u64::from(answer.detail.is_some());
            }
            outcome => {
                self.report.conflicts += 1;
                let reason = answer.detail.clone().unwrap_or_else(|| format!("the database answered {outcome}"));
                self.keep_after_all(item, "CONFLICT", FailureClass::Business, reason).await?;
            }
        }
        Ok(())
    }

    async fn keep_after_all(
        &mut self,
        item: &Item,
        code: &'static str,
        class: FailureClass,
        reason: String,
    ) -> Result<(), AdminError> {
        if !self.letters.has_room(item.original.len()) {
            self.send_letters().await?;
        }
        self.keep(DeadLetter {
            line: item.line,
            hash: hash::sha256(&item.original),
            size: item.original.len() as u64,
            original: item.original.clone(),
            code,
            class,
            field: None,
            reason,
            key: Some(item.key.clone()),
        });
        Ok(())
    }

    async fn send_letters(&mut self) -> Result<(), AdminError> {
        let letters = self.letters.take();
        if letters.is_empty() {
            return Ok(());
        }
        let sent = self.repeat(Call::DeadLetter(self.origin, &letters)).await.and_then(|rows| chunk::new_ones(&rows));
        for new in sent.map_err(|error| self.database.error("keep dead letters", Step::Version, &error))? {
            *(if new { &mut self.report.dead_letters_new } else { &mut self.report.dead_letters_seen_before }) += 1;
        }
        Ok(())
    }

    /// Calls, and calls again while that may help. A call whose answer was lost may have taken place; then it finds duplicates.
    async fn repeat(&mut self, call: Call<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
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
    async fn attempt(&mut self, call: Call<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.database.try_connect().await?,
        };
        let answer = timeout(CALL, call.send(&mut connection)).await.unwrap_or_else(|_| {
            Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {CALL:?}"))))
        })?;
        self.connection = Some(connection);
        Ok(answer)
    }
}

/// Data exceptions, broken constraints and exceeded limits: it is an item's fault and not that of the call.
fn is_about_data(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .is_some_and(|code| matches!(code.get(..2), Some("22" | "23" | "54")))
}
