//! The desk of dead letters over the schema's functions, for a reviewer's workstation and for a supervisor's command line.

mod letters;
mod prepare;
mod read;

use countersign_domain::id::WorkstationId;
use countersign_engine::port::{
    BacklogError, CauseLine, Desk, Letter, LetterAnswer, LetterDetail, LetterFilter, LetterId,
};
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;

use crate::PgBacklog;
use crate::failure::Step;
use crate::reply::Malformed;

pub use letters::{Calls, Letters, UNDONE, Wanted};
pub use read::Answered;

/// An answer that this release does not understand, in words.
pub struct NotUnderstood(pub(crate) Malformed);

impl std::fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Calls for PgBacklog {
    type Error = BacklogError;

    async fn rows(
        &self,
        operation: &'static str,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, BacklogError> {
        self.connections.rows(operation, Step::Call, query).await
    }

    fn not_understood(&self, operation: &'static str, error: NotUnderstood) -> BacklogError {
        self.malformed(operation, &error.0)
    }
}

impl PgBacklog {
    fn desk(&self, workstation: WorkstationId) -> Letters<'_, Self> {
        Letters::of(self, Some(workstation))
    }
}

impl Desk for PgBacklog {
    async fn causes(&self, workstation: WorkstationId) -> Result<Vec<CauseLine>, BacklogError> {
        self.desk(workstation).causes().await
    }

    async fn letters(
        &self,
        workstation: WorkstationId,
        filter: &LetterFilter,
    ) -> Result<(Vec<Letter>, u32), BacklogError> {
        let (letters, more) = self.desk(workstation).list(&Wanted::from(filter)).await?;
        Ok((letters.into_iter().map(|answered| answered.letter).collect(), more))
    }

    async fn letter(&self, workstation: WorkstationId, id: LetterId) -> Result<Option<LetterDetail>, BacklogError> {
        self.desk(workstation).one(id).await
    }

    async fn take(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
        back: bool,
    ) -> Result<Vec<LetterAnswer>, BacklogError> {
        self.desk(workstation).take(ids, back).await
    }

    async fn correct(
        &self,
        workstation: WorkstationId,
        id: LetterId,
        after: u32,
        body: &str,
    ) -> Result<LetterAnswer, BacklogError> {
        self.desk(workstation).correct(id, after, body).await
    }

    async fn rehearse(&self, workstation: WorkstationId, ids: &[LetterId]) -> Result<Vec<LetterAnswer>, BacklogError> {
        self.desk(workstation).rehearse(ids).await
    }

    async fn replay(&self, workstation: WorkstationId, ids: &[LetterId]) -> Result<Vec<LetterAnswer>, BacklogError> {
        self.desk(workstation).replay(ids).await
    }

    async fn discard(
        &self,
        workstation: WorkstationId,
        ids: &[LetterId],
        reason: &str,
    ) -> Result<Vec<LetterAnswer>, BacklogError> {
        self.desk(workstation).discard(ids, reason).await
    }
}
