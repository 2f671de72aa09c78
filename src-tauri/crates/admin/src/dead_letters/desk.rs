//! The desk as a supervisor works at it, without a workstation.

use std::time::Duration;

use countersign_backlog::desk::{Calls, Letters, NotUnderstood, Wanted};
use countersign_backlog::failure::Step;
use countersign_engine::port::{LETTERS_A_CALL, LetterAnswer, LetterId};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::{AdminError, Database};

/// How long one call may take.
const CALL: Duration = Duration::from_mins(5);

/// A supervisor's calls, over one connection that is made anew when it breaks.
pub struct Supervisor<'d> {
    database: &'d Database,
    connection: Mutex<Option<PgConnection>>,
}

/// What somebody wants to discard, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discarding {
    /// The letter.
    pub id: LetterId,
    /// Who asked.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl<'d> Supervisor<'d> {
    /// Connects when it is first asked something.
    pub fn at(database: &'d Database) -> Self {
        Self { database, connection: Mutex::new(None) }
    }

    /// The desk.
    pub fn letters(&self) -> Letters<'_, Self> {
        Letters::of(self, None)
    }

    /// The database it works on.
    pub fn database(&self) -> &'d Database {
        self.database
    }

    /// Takes letters to work on, or puts them back.
    pub async fn take(&self, ids: &[LetterId], back: bool) -> Result<Vec<LetterAnswer>, AdminError> {
        let mut answers = Vec::with_capacity(ids.len());
        for some in ids.chunks(LETTERS_A_CALL) {
            answers.extend(self.letters().take(some, back).await?);
        }
        Ok(answers)
    }

    /// Asks for letters to be discarded.
    pub async fn discard(&self, ids: &[LetterId], reason: &str) -> Result<Vec<LetterAnswer>, AdminError> {
        let mut answers = Vec::with_capacity(ids.len());
        for some in ids.chunks(LETTERS_A_CALL) {
            answers.extend(self.letters().discard(some, reason).await?);
        }
        Ok(answers)
    }

    /// Of these letters, those that somebody wants to discard; all there are for none.
    pub async fn discarding(&self, ids: &[LetterId]) -> Result<Vec<Discarding>, AdminError> {
        let wanted = Wanted { statuses: vec![countersign_engine::port::LetterStatus::Discarding], ..Wanted::default() };
        let (letters, _) = self.letters().list(&wanted).await?;
        let asked = letters.into_iter().filter_map(|answered| {
            let (by, reason) = answered.discard?;
            Some(Discarding { id: answered.letter.id, by, reason })
        });
        Ok(asked.filter(|letter| ids.is_empty() || ids.contains(&letter.id)).collect())
    }

    /// Agrees to what was shown.
    pub async fn confirm(&self, shown: &[Discarding]) -> Result<Vec<LetterAnswer>, AdminError> {
        let mut answers = Vec::with_capacity(shown.len());
        for some in shown.chunks(LETTERS_A_CALL) {
            let ids: Vec<LetterId> = some.iter().map(|letter| letter.id).collect();
            let reasons: Vec<&str> = some.iter().map(|letter| letter.reason.as_str()).collect();
            answers.extend(self.letters().confirm(&ids, &reasons).await?);
        }
        Ok(answers)
    }
}

impl Calls for Supervisor<'_> {
    type Error = AdminError;

    async fn rows(
        &self,
        operation: &'static str,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, AdminError> {
        let mut place = self.connection.lock().await;
        // A connection is kept only when its call was answered well, so that none is used in an unknown state.
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => self.database.connect().await?,
        };
        let Ok(answer) = timeout(CALL, query.fetch_all(&mut connection)).await else {
            let (place, cause) = (self.database.place().to_owned(), format!("no answer within {CALL:?}"));
            return Err(AdminError::Unreachable { place, cause });
        };
        let rows = answer.map_err(|error| self.database.error(operation, Step::Version, &error))?;
        *place = Some(connection);
        Ok(rows)
    }

    fn not_understood(&self, operation: &'static str, error: NotUnderstood) -> AdminError {
        let cause = format!("the answer came in a form this release does not know: {error}");
        AdminError::Refused { operation, place: self.database.place().to_owned(), cause }
    }
}
