//! The desk's answers, read into the port's types.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use countersign_domain::dead_letter::Cause;
use countersign_domain::id::ExceptionId;
use countersign_domain::money::{Currency, Money};
use countersign_engine::port::{
    CauseLine, Correction, Letter, LetterAnswer, LetterDetail, LetterId, LetterStatus, PastEvent,
};
use serde::Deserialize;
use sqlx::postgres::PgRow;

use super::prepare::Body;
use crate::reply::{Malformed, document, get};

/// A letter of a list, with what only the command line shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The letter.
    pub letter: Letter,
    /// How it went in.
    pub outcome: Option<String>,
    /// The exception that it became, or is about.
    pub exception: Option<ExceptionId>,
    /// Who wants to discard it, or did, and why.
    pub discard: Option<(String, String)>,
}

/// A status as the database names it.
pub(super) fn name(status: LetterStatus) -> &'static str {
    match status {
        LetterStatus::Open => "OPEN",
        LetterStatus::Taken => "TAKEN",
        LetterStatus::Replayed => "REPLAYED",
        LetterStatus::Discarding => "DISCARDING",
        LetterStatus::Discarded => "DISCARDED",
    }
}

fn status(text: &str) -> Result<LetterStatus, Malformed> {
    use LetterStatus::{Discarded, Discarding, Open, Replayed, Taken};
    [Open, Taken, Replayed, Discarding, Discarded]
        .into_iter()
        .find(|status| name(*status) == text)
        .ok_or_else(|| Malformed::Name(format!("`{text}` is no status of a dead letter")))
}

#[derive(Deserialize)]
struct ByCause {
    cause: String,
    open: u32,
    taken: u32,
    without_amount: u32,
    oldest: DateTime<Utc>,
    amounts: Vec<Sum>,
}

/// What letters of one currency and so many decimal places add up to.
#[derive(Deserialize)]
struct Sum {
    currency: String,
    places: u32,
    letters: u32,
    amount: String,
}

#[derive(Deserialize)]
struct Told {
    id: i64,
    status: String,
    cause: String,
    field: Option<String>,
    reason: String,
    origin: String,
    line: Option<i64>,
    first_at: DateTime<Utc>,
    last_at: DateTime<Utc>,
    times: u32,
    attempts: u32,
    owner: Option<String>,
    key: Option<String>,
    kind: Option<String>,
    entity: Option<String>,
    currency: Option<String>,
    amount: Option<String>,
    corrections: u32,
    outcome: Option<String>,
    exception: Option<i64>,
    discard_by: Option<String>,
    discard_reason: Option<String>,
}

#[derive(Deserialize)]
struct Record {
    at: DateTime<Utc>,
    event: String,
    actor: String,
    details: BTreeMap<String, String>,
}

/// Whoever is turned away gets no row.
fn only(rows: &[PgRow]) -> Result<&PgRow, Malformed> {
    match rows {
        [row] => Ok(row),
        [] => Err(Malformed::TurnedAway),
        more => Err(Malformed::Rows { expected: 1, found: more.len() }),
    }
}

pub(super) fn causes(rows: &[PgRow]) -> Result<Vec<CauseLine>, Malformed> {
    let lines: Vec<ByCause> = document("list of causes", get(only(rows)?, "causes")?)?;
    lines.into_iter().map(ByCause::read).collect()
}

impl ByCause {
    fn read(self) -> Result<CauseLine, Malformed> {
        let mut without_amount = self.without_amount;
        let mut at_risk: BTreeMap<Currency, Money> = BTreeMap::new();
        for sum in &self.amounts {
            let known = sum.read().and_then(|money| match at_risk.get(&money.currency) {
                None => Some(money),
                Some(before) => {
                    let amount = before.amount.checked_add(money.amount)?;
                    Some(Money { amount, ..money })
                }
            });
            match known {
                Some(money) => drop(at_risk.insert(money.currency, money)),
                None => without_amount = without_amount.saturating_add(sum.letters),
            }
        }
        Ok(CauseLine {
            cause: self.cause.parse().map_err(Malformed::Name)?,
            open: self.open,
            taken: self.taken,
            oldest: Some(self.oldest),
            at_risk: at_risk.into_values().collect(),
            without_amount,
        })
    }
}

impl Sum {
    /// Nothing where no amount can be in this currency, or none with so many places.
    fn read(&self) -> Option<Money> {
        let currency: Currency = self.currency.parse().ok()?;
        if self.places > u32::from(currency.minor_units()) {
            return None;
        }
        Money::parse(&self.amount, currency).ok()
    }
}

pub(super) fn letters(rows: &[PgRow]) -> Result<(Vec<Answered>, u32), Malformed> {
    let row = only(rows)?;
    let lines: Vec<Told> = document("list of dead letters", get(row, "letters")?)?;
    let more = u32::try_from(get::<i32>(row, "more")?).map_err(|_| Malformed::Key("more"))?;
    Ok((lines.into_iter().map(Told::read).collect::<Result<_, _>>()?, more))
}

impl Told {
    fn read(self) -> Result<Answered, Malformed> {
        let cause: Cause = self.cause.parse().map_err(Malformed::Name)?;
        let at_risk = match (&self.amount, &self.currency) {
            (Some(amount), Some(currency)) => {
                currency.parse().ok().and_then(|currency| Money::parse(amount, currency).ok())
            }
            _ => None,
        };
        let letter = Letter {
            id: LetterId(self.id),
            status: status(&self.status)?,
            cause,
            field: self.field,
            reason: self.reason,
            origin: self.origin,
            line: self.line,
            first_at: self.first_at,
            last_at: self.last_at,
            times: self.times,
            attempts: self.attempts,
            owner: self.owner,
            key: self.key,
            kind: self.kind.and_then(|kind| kind.parse().ok()),
            entity: self.entity,
            at_risk,
            corrections: self.corrections,
        };
        Ok(Answered {
            letter,
            outcome: self.outcome,
            exception: self.exception.map(ExceptionId),
            discard: self.discard_by.zip(self.discard_reason),
        })
    }
}

pub(super) fn detail(rows: &[PgRow]) -> Result<Option<LetterDetail>, Malformed> {
    let row = only(rows)?;
    let Some(text) = get::<Option<&str>>(row, "letter")? else { return Ok(None) };
    let Answered { letter, exception, discard, .. } = document::<Told>("dead letter", text)?.read()?;
    let revisions = get::<Option<Vec<i32>>>(row, "revisions")?.unwrap_or_default();
    let by = get::<Option<Vec<String>>>(row, "made_by")?.unwrap_or_default();
    let at = get::<Option<Vec<DateTime<Utc>>>>(row, "made_at")?.unwrap_or_default();
    let bodies = get::<Option<Vec<String>>>(row, "bodies")?.unwrap_or_default();
    let corrections = revisions.into_iter().zip(by).zip(at).zip(bodies).map(|(((revision, by), at), body)| {
        let revision = u32::try_from(revision).map_err(|_| Malformed::Key("revision"))?;
        Ok(Correction { revision, by, at, body })
    });
    let history: Vec<Record> = document("history", get::<Option<&str>>(row, "history")?.unwrap_or("[]"))?;
    let event =
        |Record { at, event, actor, details }| PastEvent { at, event, actor, details: details.into_iter().collect() };
    Ok(Some(LetterDetail {
        letter,
        original: get(row, "original")?,
        original_size: u64::try_from(get::<i64>(row, "original_size")?).map_err(|_| Malformed::Key("original_size"))?,
        corrections: corrections.collect::<Result<_, Malformed>>()?,
        history: history.into_iter().map(event).collect(),
        discard,
        exception,
    }))
}

/// The first letters of those that were asked for, and at least one.
pub(super) fn bodies(rows: &[PgRow], ids: &[LetterId]) -> Result<Vec<Body>, Malformed> {
    if rows.is_empty() {
        return Err(Malformed::TurnedAway);
    }
    if rows.len() > ids.len() {
        return Err(Malformed::Rows { expected: ids.len(), found: rows.len() });
    }
    let body = |(place, (row, id)): (usize, (&PgRow, &LetterId))| {
        if get::<i64>(row, "letter")? != id.0 {
            return Err(Malformed::Ordinal(place));
        }
        Ok(Body {
            revision: u32::try_from(get::<i32>(row, "revision")?).map_err(|_| Malformed::Key("revision"))?,
            text: get(row, "body")?,
            lacking: get(row, "lacking")?,
        })
    };
    (1..).zip(rows.iter().zip(ids)).map(body).collect()
}

/// One for each letter, in the order that was asked.
pub(super) fn answers(rows: &[PgRow], ids: &[LetterId]) -> Result<Vec<LetterAnswer>, Malformed> {
    if rows.is_empty() {
        return Err(Malformed::TurnedAway);
    }
    if rows.len() != ids.len() {
        return Err(Malformed::Rows { expected: ids.len(), found: rows.len() });
    }
    let answer = |(place, (row, id)): (usize, (&PgRow, &LetterId))| {
        if usize::try_from(get::<i32>(row, "ordinal")?) != Ok(place) {
            return Err(Malformed::Ordinal(place));
        }
        Ok(LetterAnswer {
            id: *id,
            outcome: get(row, "outcome")?,
            field: get(row, "field")?,
            detail: get(row, "detail")?,
        })
    };
    (1..).zip(rows.iter().zip(ids)).map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(currency: &str, places: u32, letters: u32, amount: &str) -> Sum {
        Sum { currency: currency.to_owned(), places, letters, amount: amount.to_owned() }
    }

    #[test]
    fn amounts_at_risk_are_those_that_a_currency_can_have() {
        let line = ByCause {
            cause: "CURRENCY".to_owned(),
            open: 9,
            taken: 1,
            without_amount: 1,
            oldest: DateTime::UNIX_EPOCH,
            amounts: vec![
                sum("BHD", 3, 1, "1.005"),
                sum("DEM", 2, 3, "12.50"),
                sum("JPY", 1, 1, "100.0"),
                sum("JPY", 0, 1, "100"),
                sum("USD", 0, 1, "5"),
                sum("USD", 2, 2, "0.10"),
            ],
        };
        let read = line.read().expect("a line");
        let at_risk: Vec<String> =
            read.at_risk.iter().map(|money| format!("{} {}", money.currency, money.amount)).collect();
        assert_eq!(at_risk, ["BHD 1.005", "JPY 100", "USD 5.10"]);
        assert_eq!(read.without_amount, 1 + 3 + 1, "withdrawn, or with too many places");
    }

    #[test]
    fn every_status_has_one_name() {
        for text in ["OPEN", "TAKEN", "REPLAYED", "DISCARDING", "DISCARDED"] {
            assert_eq!(status(text).map(name).ok(), Some(text));
        }
        assert!(status("open").is_err());
    }
}
