//! The calls of the desk, over whatever connection makes them.

use std::future::Future;

use countersign_domain::dead_letter::Cause;
use countersign_domain::id::WorkstationId;
use countersign_engine::port::{
    CauseLine, LETTERS_A_CALL, LetterAnswer, LetterDetail, LetterFilter, LetterId, LetterStatus,
};
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;

use super::NotUnderstood;
use super::prepare::{self, Prepared};
use super::read::{self, Answered};
use crate::reply::Malformed;

/// Where the calls go.
pub trait Calls: Send + Sync {
    /// What becomes of a call that fails.
    type Error: Send;

    /// Runs one statement and gathers its answer.
    fn rows(
        &self,
        operation: &'static str,
        query: Query<'_, Postgres, PgArguments>,
    ) -> impl Future<Output = Result<Vec<PgRow>, Self::Error>> + Send;

    /// Says that an answer makes no sense, or that the caller was turned away.
    fn not_understood(&self, operation: &'static str, error: NotUnderstood) -> Self::Error;
}

/// Which letters are wanted; an empty list wants all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Their causes.
    pub causes: Vec<Cause>,
    /// Where they are in their lives.
    pub statuses: Vec<LetterStatus>,
    /// Their ledger entities.
    pub entities: Vec<String>,
}

/// The statuses of letters that somebody has to do something about.
pub const UNDONE: [LetterStatus; 3] = [LetterStatus::Open, LetterStatus::Taken, LetterStatus::Discarding];

impl From<&LetterFilter> for Wanted {
    fn from(filter: &LetterFilter) -> Self {
        let statuses = if filter.done { Vec::new() } else { UNDONE.to_vec() };
        Self { causes: filter.causes.clone(), statuses, entities: Vec::new() }
    }
}

/// The desk as one caller works at it: a reviewer at a workstation, or a supervisor without one.
#[derive(Debug)]
pub struct Letters<'c, C> {
    calls: &'c C,
    workstation: Option<WorkstationId>,
}

/// What is called for a list of letters that may be too long for one call.
#[derive(Clone, Copy)]
enum Sending {
    Rehearsal,
    Replay,
}

impl<'c, C: Calls> Letters<'c, C> {
    /// The desk of a workstation, or with `None` a supervisor's.
    pub fn of(calls: &'c C, workstation: Option<WorkstationId>) -> Self {
        Self { calls, workstation }
    }

    /// Undone letters by cause, the most letters first.
    pub async fn causes(&self) -> Result<Vec<CauseLine>, C::Error> {
        const OPERATION: &str = "dead letters by cause";
        let query = sqlx::query("SELECT causes::text AS causes FROM countersign.letter_causes($1)").bind(self.id());
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::causes(&rows))
    }

    /// Letters, oldest first, and how many there are beyond.
    pub async fn list(&self, wanted: &Wanted) -> Result<(Vec<Answered>, u32), C::Error> {
        const OPERATION: &str = "dead letters";
        let query = sqlx::query("SELECT letters::text AS letters, more FROM countersign.letters($1, $2, $3, $4)")
            .bind(self.id())
            .bind(wanted.causes.iter().map(|cause| cause.as_str()).collect::<Vec<_>>())
            .bind(wanted.statuses.iter().map(|status| read::name(*status)).collect::<Vec<_>>())
            .bind(&wanted.entities);
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::letters(&rows))
    }

    /// One letter.
    pub async fn one(&self, id: LetterId) -> Result<Option<LetterDetail>, C::Error> {
        const OPERATION: &str = "dead letter";
        let query = sqlx::query(
            "SELECT letter::text AS letter, original, original_size, revisions, made_by, made_at, bodies, history::text AS history \
             FROM countersign.letter($1, $2)",
        )
        .bind(self.id())
        .bind(id.0);
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::detail(&rows))
    }

    /// Takes letters to work on, or puts them back.
    pub async fn take(&self, ids: &[LetterId], back: bool) -> Result<Vec<LetterAnswer>, C::Error> {
        const OPERATION: &str = "take dead letters";
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let query = sqlx::query(
            "SELECT ordinal, outcome, NULL::text AS field, detail FROM countersign.letter_take($1, $2, $3)",
        )
        .bind(self.id())
        .bind(numbers(ids))
        .bind(back);
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::answers(&rows, ids))
    }

    /// Keeps a correction of a letter that the caller has taken.
    pub async fn correct(&self, id: LetterId, after: u32, body: &str) -> Result<LetterAnswer, C::Error> {
        const OPERATION: &str = "correct a dead letter";
        if body.contains('\0') {
            let detail = "it has a NUL character (U+0000), which no arrival may have".to_owned();
            return Ok(LetterAnswer { id, outcome: "REFUSED".to_owned(), field: None, detail: Some(detail) });
        }
        let query = sqlx::query(
            "SELECT 1 AS ordinal, outcome, NULL::text AS field, detail FROM countersign.letter_correct($1, $2, $3, $4)",
        )
        .bind(self.id())
        .bind(id.0)
        .bind(integer(after))
        .bind(body);
        let rows = self.calls.rows(OPERATION, query).await?;
        let answers = self.understood(OPERATION, read::answers(&rows, &[id]))?;
        let missing = Malformed::Rows { expected: 1, found: 0 };
        answers.into_iter().next().ok_or_else(|| self.calls.not_understood(OPERATION, NotUnderstood(missing)))
    }

    /// Says what would become of letters if they were sent in now.
    pub async fn rehearse(&self, ids: &[LetterId]) -> Result<Vec<LetterAnswer>, C::Error> {
        self.send(ids, Sending::Rehearsal).await
    }

    /// Sends letters in again, as they were last corrected.
    pub async fn replay(&self, ids: &[LetterId]) -> Result<Vec<LetterAnswer>, C::Error> {
        self.send(ids, Sending::Replay).await
    }

    /// Asks for letters to be discarded.
    pub async fn discard(&self, ids: &[LetterId], reason: &str) -> Result<Vec<LetterAnswer>, C::Error> {
        const OPERATION: &str = "discard dead letters";
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let query = sqlx::query(
            "SELECT ordinal, outcome, NULL::text AS field, detail FROM countersign.letter_discard($1, $2, $3)",
        )
        .bind(self.id())
        .bind(numbers(ids))
        .bind(reason);
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::answers(&rows, ids))
    }

    /// Agrees, as another supervisor, to letters being discarded for the reasons that were shown.
    pub async fn confirm(&self, ids: &[LetterId], reasons: &[&str]) -> Result<Vec<LetterAnswer>, C::Error> {
        const OPERATION: &str = "agree to discard dead letters";
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let query = sqlx::query(
            "SELECT ordinal, outcome, NULL::text AS field, detail FROM countersign.letter_discard_confirm($1, $2)",
        )
        .bind(numbers(ids))
        .bind(reasons);
        let rows = self.calls.rows(OPERATION, query).await?;
        self.understood(OPERATION, read::answers(&rows, ids))
    }

    /// A part of what is asked at a time: as much as the database hands out in one answer.
    async fn send(&self, ids: &[LetterId], send: Sending) -> Result<Vec<LetterAnswer>, C::Error> {
        let mut answers = Vec::with_capacity(ids.len());
        let mut left = ids;
        while !left.is_empty() {
            let prepared = self.bodies(&left[..left.len().min(LETTERS_A_CALL)]).await?;
            let (now, later) = left.split_at(prepared.len());
            answers.extend(self.call(now, &prepared, send).await?);
            left = later;
        }
        Ok(answers)
    }

    /// At least one, and no more than there are ids.
    async fn bodies(&self, ids: &[LetterId]) -> Result<Vec<Prepared>, C::Error> {
        const OPERATION: &str = "texts of dead letters";
        let query = sqlx::query("SELECT letter, revision, body, lacking FROM countersign.letter_bodies($1, $2)")
            .bind(self.id())
            .bind(numbers(ids));
        let rows = self.calls.rows(OPERATION, query).await?;
        let bodies = self.understood(OPERATION, read::bodies(&rows, ids))?;
        Ok(bodies.into_iter().map(prepare::prepare).collect())
    }

    async fn call(
        &self,
        ids: &[LetterId],
        prepared: &[Prepared],
        send: Sending,
    ) -> Result<Vec<LetterAnswer>, C::Error> {
        let operation = match send {
            Sending::Rehearsal => "rehearse dead letters",
            Sending::Replay => "send dead letters in again",
        };
        let query = sqlx::query(
            "SELECT ordinal, outcome, field, detail FROM countersign.letter_replay($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(self.id())
        .bind(numbers(ids))
        .bind(prepared.iter().map(|one| integer(one.revision)).collect::<Vec<_>>())
        .bind(prepared.iter().map(|one| one.judged.as_ref().ok().map(String::as_str)).collect::<Vec<_>>())
        .bind(prepared.iter().map(|one| one.refusal(|refusal| refusal.cause)).collect::<Vec<_>>())
        .bind(prepared.iter().map(|one| one.refusal(|refusal| refusal.field.clone())).collect::<Vec<_>>())
        .bind(prepared.iter().map(|one| one.refusal(|refusal| Some(refusal.reason.clone()))).collect::<Vec<_>>())
        .bind(matches!(send, Sending::Rehearsal));
        let rows = self.calls.rows(operation, query).await?;
        self.understood(operation, read::answers(&rows, ids))
    }

    fn id(&self) -> Option<uuid::Uuid> {
        self.workstation.map(|workstation| workstation.0)
    }

    fn understood<T>(&self, operation: &'static str, answer: Result<T, Malformed>) -> Result<T, C::Error> {
        answer.map_err(|error| self.calls.not_understood(operation, NotUnderstood(error)))
    }
}

fn numbers(ids: &[LetterId]) -> Vec<i64> {
    ids.iter().map(|id| id.0).collect()
}

/// A number beyond the database's range is beyond every bound it checks too, and is refused there in words.
fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
