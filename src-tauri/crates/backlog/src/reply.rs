//! The schema's answers, read into the port's types.

use chrono::{DateTime, Utc};
use countersign_domain::hash;
use countersign_domain::id::{ContentHash, Digest, Epoch, ExceptionId, PartitionKey, Seq};
use countersign_domain::money::{Currency, Money};
use countersign_domain::receipt::Receipt;
use countersign_domain::seal::{Enrolment, PublicKey};
use countersign_domain::sign_off::{Answer, CurrentContent, Decision, OtherDecision, Outcome};
use countersign_engine::port::{
    EnrolmentState, Held, LeaseReply, LeasedItem, LeasedPartition, Renewed, SignOffReply, Welcome,
};
use secrecy::SecretBox;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use thiserror::Error;

/// An answer that is none.
#[derive(Debug, Error)]
pub(crate) enum Malformed {
    #[error("{0}")]
    Column(#[source] sqlx::Error),
    #[error("{expected} rows were expected, {found} came")]
    Rows { expected: usize, found: usize },
    #[error("the answer to item {0} is missing or came twice")]
    Ordinal(usize),
    #[error("the exception {id} came with a content that is not the one its hash stands for")]
    Content { id: ExceptionId },
    #[error("the exception {id} has the impossible version {version}")]
    Version { id: ExceptionId, version: i32 },
    #[error("{0}")]
    Name(String),
    #[error("the {what} is not one this release knows: {cause}")]
    Document { what: &'static str, cause: serde_json::Error },
    #[error("the {0} is not of the right length or number")]
    Key(&'static str),
    #[error("the workstation is not the caller's, or was revoked")]
    TurnedAway,
}

pub(crate) fn welcome(rows: &[PgRow]) -> Result<Welcome, Malformed> {
    let [row] = rows else {
        return Err(if rows.is_empty() {
            Malformed::TurnedAway
        } else {
            Malformed::Rows { expected: 1, found: rows.len() }
        });
    };
    let enrolment = match (get::<Option<i32>>(row, "enrolment")?, get::<Option<&[u8]>>(row, "public_key")?) {
        (Some(number), Some(public_key)) => Some(EnrolmentState {
            number: u32::try_from(number).map_err(|_| Malformed::Key("enrolment"))?,
            public_key: PublicKey(public_key.try_into().map_err(|_| Malformed::Key("public key"))?),
            confirmed: get(row, "confirmed")?,
        }),
        _ => None,
    };
    Ok(Welcome {
        enrolment,
        standing: document("standing", get(row, "snapshot")?)?,
        installation: get(row, "installation")?,
        reviewer: get(row, "reviewer")?,
        display_name: get(row, "display_name")?,
        server_now: get(row, "server_now")?,
    })
}

pub(crate) fn enrolled(rows: &[PgRow]) -> Result<Enrolment, Malformed> {
    let [row] = rows else { return Err(Malformed::TurnedAway) };
    let secret: [u8; 32] = get::<&[u8]>(row, "secret")?.try_into().map_err(|_| Malformed::Key("secret"))?;
    let number = u32::try_from(get::<i32>(row, "enrolment")?).map_err(|_| Malformed::Key("enrolment"))?;
    Ok(Enrolment { number, secret: SecretBox::new(Box::new(secret)) })
}

pub(crate) fn released(rows: &[PgRow]) -> Result<(), Malformed> {
    let [row] = rows else { return Err(Malformed::Rows { expected: 1, found: rows.len() }) };
    let released: Option<i32> = row.try_get(0).map_err(Malformed::Column)?;
    released.map(|_| ()).ok_or(Malformed::TurnedAway)
}

pub(crate) fn given_up(rows: &[PgRow]) -> Result<(), Malformed> {
    let [row] = rows else { return Err(Malformed::Rows { expected: 1, found: rows.len() }) };
    let given_up: Option<bool> = row.try_get(0).map_err(Malformed::Column)?;
    given_up.map(|_| ()).ok_or(Malformed::TurnedAway)
}

pub(crate) fn handed_over(rows: &[PgRow]) -> Result<Vec<PartitionKey>, Malformed> {
    rows.iter().map(|row| get(row, "k").map(PartitionKey)).collect()
}

pub(crate) fn leased(rows: &[PgRow]) -> Result<LeaseReply, Malformed> {
    let mut reply = LeaseReply::default();
    for row in rows {
        let partition = PartitionKey(get::<Option<String>>(row, "partition_key")?.ok_or(Malformed::TurnedAway)?);
        let epoch = Epoch(get(row, "epoch")?);
        // The rows of a partition come together; what is said of the partition stands in each of them.
        if reply.partitions.last().is_none_or(|last| last.partition != partition) {
            reply.partitions.push(LeasedPartition {
                partition: partition.clone(),
                epoch,
                lease_ms: milliseconds(get(row, "lease_ms")?),
                after: Seq(get(row, "after_seq")?),
                more: get(row, "more")?,
            });
        }
        if let Some(id) = get::<Option<i64>>(row, "exception_id")? {
            reply.items.push(item(row, ExceptionId(id), partition, epoch)?);
        }
    }
    Ok(reply)
}

fn item(row: &PgRow, id: ExceptionId, partition: PartitionKey, epoch: Epoch) -> Result<LeasedItem, Malformed> {
    let version: i32 = get(row, "version")?;
    let version = u32::try_from(version).map_err(|_| Malformed::Version { id, version })?;
    let (Some(promised), Some(body)) =
        (get::<Option<&[u8]>>(row, "content_hash")?, get::<Option<String>>(row, "body")?)
    else {
        return Err(Malformed::Content { id });
    };
    let content = hash::content_hash(&body);
    if Digest::from_bytes(promised).map(ContentHash) != Some(content) {
        return Err(Malformed::Content { id });
    }
    Ok(LeasedItem {
        id,
        partition,
        epoch,
        seq: Seq(get(row, "seq")?),
        version,
        content,
        body,
        signatures: get::<Option<i32>>(row, "signatures")?.and_then(|count| u32::try_from(count).ok()).unwrap_or(0),
        due_on: get(row, "due_on")?,
    })
}

pub(crate) fn renewed(rows: &[PgRow]) -> Result<Vec<Renewed>, Malformed> {
    rows.iter()
        .map(|row| {
            let partition = get::<Option<String>>(row, "partition_key")?.ok_or(Malformed::TurnedAway)?;
            let held = Held { partition: PartitionKey(partition), epoch: Epoch(get(row, "epoch")?) };
            Ok(Renewed { held, lease_ms: milliseconds(get(row, "lease_ms")?) })
        })
        .collect()
}

/// One answer for each of `asked` items, in their order: the database numbers them, and answers in an order of its own. The row
/// with the number 0 is the receipt.
pub(crate) fn answers(rows: &[PgRow], asked: usize) -> Result<SignOffReply, Malformed> {
    if rows.is_empty() {
        return Err(Malformed::TurnedAway);
    }
    let (mut receipt, mut answers) = (None, Vec::with_capacity(rows.len()));
    for row in rows {
        match get::<Option<&str>>(row, "receipt")? {
            Some(text) => receipt = Some(document::<Receipt>("receipt", text)?),
            None => answers.push(row),
        }
    }
    if answers.len() != asked {
        return Err(Malformed::Rows { expected: asked, found: answers.len() });
    }
    let numbered = answers
        .into_iter()
        .map(|row| Ok((get::<i32>(row, "ordinal")?, answer(row)?)))
        .collect::<Result<_, Malformed>>()?;
    Ok(SignOffReply { answers: in_order(numbered)?, receipt })
}

fn in_order(mut numbered: Vec<(i32, Answer)>) -> Result<Vec<Answer>, Malformed> {
    numbered.sort_by_key(|(ordinal, _)| *ordinal);
    (1..)
        .zip(numbered)
        .map(
            |(place, (ordinal, answer))| {
                if usize::try_from(ordinal) == Ok(place) { Ok(answer) } else { Err(Malformed::Ordinal(place)) }
            },
        )
        .collect()
}

fn answer(row: &PgRow) -> Result<Answer, Malformed> {
    let first: Option<&str> = get(row, "first_outcome")?;
    let reviewer: Option<String> = get(row, "decided_by")?;
    let decision: Option<&str> = get(row, "decision")?;
    let at: Option<DateTime<Utc>> = get(row, "decided_at")?;
    let decision = decision.map(str::parse::<Decision>).transpose().map_err(Malformed::Name)?;
    let other = match (reviewer, decision, at) {
        (Some(reviewer), Some(decision), Some(at)) => Some(OtherDecision { reviewer, decision, at }),
        _ => None,
    };
    let now = match (get::<Option<String>>(row, "body")?, get::<Option<i32>>(row, "version")?) {
        (Some(body), Some(version)) => u32::try_from(version).ok().map(|version| CurrentContent { version, body }),
        _ => None,
    };
    let figure = match (get::<Option<&str>>(row, "figure_amount")?, get::<Option<&str>>(row, "figure_currency")?) {
        (Some(amount), Some(currency)) => {
            let read = currency.parse::<Currency>().and_then(|currency| Money::parse(amount, currency));
            Some(read.map_err(|error| Malformed::Name(error.to_string()))?)
        }
        _ => None,
    };
    Ok(Answer {
        figure,
        now,
        outcome: get::<&str>(row, "outcome")?.parse().map_err(Malformed::Name)?,
        first_outcome: first.map(str::parse::<Outcome>).transpose().map_err(Malformed::Name)?,
        other,
    })
}

pub(crate) fn document<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|cause| Malformed::Document { what, cause })
}

pub(crate) fn get<'r, T>(row: &'r PgRow, column: &str) -> Result<T, Malformed>
where
    T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    row.try_get(column).map_err(Malformed::Column)
}

/// A lease that ended while the answer was made has no time left.
fn milliseconds(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(outcome: Outcome) -> Answer {
        Answer::plain(outcome)
    }

    #[test]
    fn answers_are_put_into_the_order_of_the_questions() {
        let numbered = vec![(3, with(Outcome::Held)), (1, with(Outcome::Committed)), (2, with(Outcome::Preparer))];
        let outcomes: Vec<_> = in_order(numbered).expect("complete").into_iter().map(|answer| answer.outcome).collect();
        assert_eq!(outcomes, [Outcome::Committed, Outcome::Preparer, Outcome::Held]);
    }

    #[test]
    fn a_missing_or_repeated_answer_is_told() {
        for numbers in [[1, 1, 2], [1, 2, 4], [0, 1, 2]] {
            let numbered = numbers.map(|number| (number, with(Outcome::Committed))).to_vec();
            assert!(in_order(numbered).is_err(), "{numbers:?}");
        }
    }

    #[test]
    fn a_lease_that_is_over_has_no_time_left() {
        assert_eq!(milliseconds(-5), 0);
        assert_eq!(milliseconds(900_000), 900_000);
        assert_eq!(milliseconds(i64::MAX), u32::MAX);
    }
}
