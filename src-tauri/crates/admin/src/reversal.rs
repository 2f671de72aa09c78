//! Undoing what was approved: with a new exception of the opposite amount, which others sign.

use chrono::{DateTime, Utc};
use countersign_domain::money::{parse_decimal, with_digits};
use countersign_domain::reversal;
use serde::{Deserialize, Serialize};

use crate::rows::rows;
use crate::text::shown;
use crate::{AdminError, Database};

/// The most characters of a reason.
const REASON_CHARS: usize = 500;

/// A reversal that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reversed {
    /// The key of what it reverses.
    pub of: String,
    /// Its own key.
    pub key: String,
    /// Its identifier.
    pub exception: i64,
    /// Its partition.
    pub partition: String,
    /// What is posted when it is approved.
    pub amount: String,
    /// In which currency.
    pub currency: String,
    /// Who may not sign it: who asked for it, and who signed what it reverses.
    pub barred: Vec<String>,
}

#[derive(Deserialize)]
struct Original {
    state: String,
    decision: Option<String>,
    body: String,
    signers: Vec<String>,
    posted: Option<String>,
    by: String,
    now: DateTime<Utc>,
}

const ORIGINAL: &str = "
    SELECT jsonb_build_object('state', e.state, 'decision', e.decision, 'body', c.body, 'by', session_user, 'now', clock_timestamp(),
               'posted', (SELECT p.amount::text FROM countersign.postings p WHERE p.exception_id = e.id),
               'signers', (SELECT coalesce(jsonb_agg(DISTINCT s.reviewer), '[]') FROM countersign.sign_offs s WHERE s.exception_id = e.id))::text
    FROM countersign.exceptions e JOIN countersign.exception_contents c ON c.exception_id = e.id AND c.version = e.version
    WHERE e.idempotency_key = $1";

#[derive(Deserialize)]
struct Released {
    to: String,
}

const RELEASED: &str =
    "SELECT jsonb_build_object('to', r.routed_to)::text FROM countersign.releases r WHERE r.idempotency_key = $1";

/// Asks for the reversal of an approved and resolved exception.
pub async fn reverse(database: &Database, key: &str, reason: &str) -> Result<Reversed, AdminError> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON_CHARS {
        return Err(AdminError::Request(format!("--reason: expected 1 to {REASON_CHARS} characters")));
    }
    let mut connection = database.connect().await?;
    let found: Vec<Original> = rows(database, &mut connection, "look for the exception", ORIGINAL, &[key]).await?;
    let of = shown(key);
    let Some(original) = found.into_iter().next() else {
        let released: Vec<Released> = rows(database, &mut connection, "look for the release", RELEASED, &[key]).await?;
        return Err(AdminError::Request(match released.first() {
            Some(Released { to }) => format!(
                "{of} was released to {} without a review: nothing was posted that could be reversed",
                shown(to)
            ),
            None => format!("there is no exception with the key {of}"),
        }));
    };
    match (original.state.as_str(), original.decision.as_deref()) {
        ("RESOLVED", Some("APPROVE")) => {}
        ("RESOLVED", _) => {
            return Err(AdminError::Request(format!("{of} was rejected: nothing was posted that could be reversed")));
        }
        ("PENDING", _) => {
            return Err(AdminError::Request(format!(
                "{of} is undecided: it can be rejected, there is nothing to reverse"
            )));
        }
        _ => {
            return Err(AdminError::Request(format!(
                "the effect of {of} waits for an earlier exception of its partition: it can be reversed once it is posted"
            )));
        }
    }
    // What is taken back is what was posted: of a claim that is its accrual, and not its variance.
    let posted = original.posted.as_deref().and_then(|amount| parse_decimal(amount).ok());
    let Some(posted) = posted else {
        return Err(AdminError::Request(format!("nothing was posted for {of} that could be reversed")));
    };
    let arrival = reversal::of(&original.body, &original.by, reason, original.now)
        .map_err(|error| AdminError::Request(format!("{of} cannot be reversed: {error}")))?;
    let (outcome, exception, detail): (String, Option<i64>, Option<String>) =
        sqlx::query_as("SELECT outcome, exception_id, detail FROM countersign.enqueue(ARRAY[$1], false)")
            .bind(&arrival.body)
            .fetch_one(&mut connection)
            .await
            .map_err(database.refused("enqueue the reversal"))?;
    let content = arrival.content;
    match (outcome.as_str(), exception) {
        ("ENQUEUED", Some(exception)) => {
            let mut barred = original.signers;
            barred.retain(|signer| *signer != original.by);
            barred.insert(0, original.by);
            Ok(Reversed {
                of: key.to_owned(),
                key: content.idempotency_key,
                exception,
                partition: content.partition_key,
                amount: with_digits(if posted.is_zero() { posted } else { -posted }, content.variance.currency),
                currency: content.variance.currency.to_string(),
                barred,
            })
        }
        ("DUPLICATE", _) => Err(AdminError::Request(format!(
            "the reversal of {of} was asked for already: it is the exception with the key {}",
            shown(&content.idempotency_key)
        ))),
        (outcome, _) => Err(AdminError::Request(format!(
            "the reversal of {of} was not taken in ({outcome}): {}",
            shown(detail.as_deref().unwrap_or("the database gave no reason"))
        ))),
    }
}

/// What happens next, in words.
pub fn describe(reversed: &Reversed) -> String {
    let barred: Vec<String> = reversed.barred.iter().map(|name| shown(name)).collect();
    format!(
        "The reversal of {} is taken in as exception {} with the key {}, in the partition {}.\n\
         A reviewer decides on it like on any other; {} may not. Once it is approved, {} {} is posted.\n",
        shown(&reversed.of),
        reversed.exception,
        shown(&reversed.key),
        shown(&reversed.partition),
        barred.join(", "),
        reversed.amount,
        reversed.currency
    )
}
