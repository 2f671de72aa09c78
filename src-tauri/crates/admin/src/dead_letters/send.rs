//! Sending letters in again, a chunk at a time: what is done stays done, so that it may be interrupted and run again.

use std::collections::VecDeque;
use std::time::Duration;

use countersign_domain::dead_letter::Cause;
use countersign_engine::port::{LETTERS_A_CALL, LetterAnswer, LetterId};
use tokio::time::sleep;

use super::Supervisor;
use crate::AdminError;

/// How long it waits before it asks again, where so many are not sent in within a minute.
const PAUSE: Duration = Duration::from_secs(5);
/// How often it asks again in a row: longer than the minute lasts.
const PAUSES: u32 = 30;
/// How often a call that was not answered is repeated; twice as long apart each time.
const RETRIES: u32 = 5;
const BACKOFF: Duration = Duration::from_millis(250);
/// Letters that are looked up at a time.
const PAGE: i64 = 1_000;

/// Which letters are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// These, in this order.
    These(Vec<LetterId>),
    /// Every open or taken one of a cause, oldest first.
    Of(Cause),
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Letters with an answer.
    pub answered: usize,
    /// Of these, how many go in.
    pub passed: usize,
    /// Whether it waits, because so many are not sent in within a minute.
    pub waiting: bool,
}

/// What became of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sent {
    /// One answer for each.
    pub answers: Vec<LetterAnswer>,
}

impl Sent {
    /// How many go in.
    pub fn passed(&self) -> usize {
        self.answers.iter().filter(|answer| answer.passes()).count()
    }

    /// In a sentence.
    pub fn summary(&self, rehearsal: bool) -> String {
        let (all, passed) = (self.answers.len(), self.passed());
        match (all, rehearsal) {
            (0, _) => "There is no such dead letter to send in.\n".to_owned(),
            (_, true) => format!("{passed} of {all} would go in now, {} would stay.\n", all - passed),
            (_, false) => format!("{passed} of {all} went in, {} stay.\n", all - passed),
        }
    }
}

/// Says what would become of letters if they were sent in now. Nothing changes.
pub async fn rehearse(
    desk: &Supervisor<'_>,
    which: &Which,
    progress: impl FnMut(Progress),
) -> Result<Sent, AdminError> {
    send(desk, which, true, progress).await
}

/// Sends letters in again, as they were last corrected.
pub async fn replay(desk: &Supervisor<'_>, which: &Which, progress: impl FnMut(Progress)) -> Result<Sent, AdminError> {
    send(desk, which, false, progress).await
}

async fn send(
    desk: &Supervisor<'_>,
    which: &Which,
    rehearsal: bool,
    mut progress: impl FnMut(Progress),
) -> Result<Sent, AdminError> {
    let mut sent = Sent::default();
    let (mut left, mut after) = match which {
        Which::These(ids) => (unique(ids), None),
        Which::Of(_) => (VecDeque::new(), Some(LetterId(0))),
    };
    let mut pauses = 0;
    loop {
        if let (Which::Of(cause), Some(last), true) = (which, after, left.is_empty()) {
            left = page(desk, *cause, last).await?.into();
            after = left.back().copied();
        }
        let chunk: Vec<LetterId> = left.iter().take(LETTERS_A_CALL).copied().collect();
        if chunk.is_empty() {
            return Ok(sent);
        }
        let answers = repeat(desk, &chunk, rehearsal).await?;
        left.drain(..chunk.len());
        let (later, done): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.outcome == "LATER");
        let waiting = !later.is_empty();
        pauses = if done.is_empty() { pauses + 1 } else { 0 };
        sent.answers.extend(done);
        progress(Progress { answered: sent.answers.len(), passed: sent.passed(), waiting });
        if waiting {
            if pauses > PAUSES {
                sent.answers.extend(later);
                return Ok(sent);
            }
            for answer in later.into_iter().rev() {
                left.push_front(answer.id);
            }
            sleep(PAUSE).await;
        }
    }
}

fn unique(ids: &[LetterId]) -> VecDeque<LetterId> {
    let mut seen = std::collections::BTreeSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}

/// What is done meanwhile is not listed any more, and what failed is behind: each letter comes once.
async fn page(desk: &Supervisor<'_>, cause: Cause, after: LetterId) -> Result<Vec<LetterId>, AdminError> {
    let query = sqlx::query(
        "SELECT d.id FROM countersign.dead_letters d WHERE d.cause = $1 AND d.status IN ('OPEN', 'TAKEN') AND d.id > $2 ORDER BY d.id LIMIT $3",
    )
    .bind(cause.as_str())
    .bind(after.0)
    .bind(PAGE);
    let rows = countersign_backlog::desk::Calls::rows(desk, "look for dead letters", query).await?;
    let id = |row: &sqlx::postgres::PgRow| sqlx::Row::try_get(row, 0).map(LetterId);
    rows.iter().map(id).collect::<Result<_, _>>().map_err(desk.database().refused("look for dead letters"))
}

/// A call whose answer was lost may have taken place: asked again, it says what each letter became.
async fn repeat(desk: &Supervisor<'_>, ids: &[LetterId], rehearsal: bool) -> Result<Vec<LetterAnswer>, AdminError> {
    let mut attempt = 0;
    loop {
        let letters = desk.letters();
        let answers = if rehearsal { letters.rehearse(ids).await } else { letters.replay(ids).await };
        match answers {
            Err(AdminError::Unreachable { .. }) if attempt < RETRIES => {
                sleep(BACKOFF * 2_u32.pow(attempt)).await;
                attempt += 1;
            }
            other => return other,
        }
    }
}
