//! The list, for supervisors and auditors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use countersign_domain::dead_letter::Cause;
use countersign_domain::money::{Currency, Money};
use serde::{Deserialize, Serialize};

use crate::rows::rows;
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A dead letter, without its original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its identifier.
    pub id: i64,
    /// `OPEN`, `TAKEN`, `REPLAYED`, `DISCARDING` or `DISCARDED`.
    pub status: String,
    /// Why it is one.
    pub cause: String,
    /// When it came first.
    pub first_at: DateTime<Utc>,
    /// When it came last.
    pub last_at: DateTime<Utc>,
    /// How often it came.
    pub times: i32,
    /// How often it was tried: the arrival and every replay.
    pub attempts: i32,
    /// How often it was corrected.
    pub corrections: i32,
    /// Who works on it, or did.
    pub owner: Option<String>,
    /// Where it came from the first time.
    pub origin: String,
    /// The line there.
    pub line: Option<i64>,
    /// The named code.
    pub code: String,
    /// The failure class.
    pub class: String,
    /// The field at fault.
    pub field: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// Its key, where it could be read.
    pub idempotency_key: Option<String>,
    /// Its kind, where it could be read.
    pub kind: Option<String>,
    /// Its ledger entity, where it could be read.
    pub entity: Option<String>,
    /// Its currency, where it could be read.
    pub currency: Option<String>,
    /// Its variance, where it could be read.
    pub amount: Option<String>,
    /// How it went in.
    pub outcome: Option<String>,
    /// The exception that it became, or is about.
    pub exception: Option<i64>,
    /// Who wants to discard it, or did.
    pub discard_by: Option<String>,
    /// Why.
    pub discard_reason: Option<String>,
    /// How many bytes it has.
    pub size: i64,
}

/// Which letters are listed; an empty list wants all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Their causes.
    pub causes: Vec<Cause>,
    /// Their statuses; none stands for what is not done yet.
    pub statuses: Vec<String>,
    /// Done ones too.
    pub done: bool,
    /// Their ledger entities.
    pub entities: Vec<String>,
    /// The most that are listed.
    pub limit: u32,
}

const LETTERS: &str = "
    SELECT jsonb_build_object('id', d.id, 'status', d.status, 'cause', d.cause, 'first_at', d.first_at, 'last_at', d.last_at, 'times', d.times, 'attempts', d.attempts,
        'corrections', d.revision, 'owner', d.owner, 'origin', d.origin, 'line', d.line, 'code', d.code, 'class', d.class, 'field', d.field, 'reason', d.reason,
        'idempotency_key', coalesce(d.context ->> 'key', d.idempotency_key), 'kind', d.context ->> 'kind', 'entity', d.context ->> 'entity',
        'currency', d.context ->> 'currency', 'amount', d.context ->> 'amount', 'outcome', d.outcome, 'exception', d.exception_id, 'discard_by', d.discard_by,
        'discard_reason', d.discard_reason, 'size', d.original_size)::text
    FROM countersign.dead_letters d
    WHERE ($1 = '[]' OR $1::jsonb ? d.cause) AND ($2 = '[]' OR $2::jsonb ? d.status) AND ($3 = '[]' OR $3::jsonb ? (d.context ->> 'entity'))
    ORDER BY d.last_at DESC, d.id DESC LIMIT $4::bigint";

/// Dead letters, the latest first.
pub async fn list(database: &Database, filter: &Filter) -> Result<Vec<DeadLetter>, AdminError> {
    let mut connection = database.connect().await?;
    let json = |names: Vec<&str>| serde_json::Value::from(names).to_string();
    let causes = json(filter.causes.iter().map(|cause| cause.as_str()).collect());
    let statuses = match (filter.statuses.as_slice(), filter.done) {
        ([], true) => json(Vec::new()),
        ([], false) => json(vec!["OPEN", "TAKEN", "DISCARDING"]),
        (some, _) => json(some.iter().map(String::as_str).collect()),
    };
    let entities = json(filter.entities.iter().map(String::as_str).collect());
    let limit = filter.limit.to_string();
    rows(database, &mut connection, "list dead letters", LETTERS, &[&causes, &statuses, &entities, &limit]).await
}

/// The list by cause, those with the most letters first; a cause begins with what its letters have in common.
pub fn describe(letters: &[DeadLetter], now: DateTime<Utc>) -> String {
    if letters.is_empty() {
        return "No dead letters.\n".to_owned();
    }
    let mut causes: BTreeMap<&str, Vec<&DeadLetter>> = BTreeMap::new();
    for letter in letters {
        causes.entry(&letter.cause).or_default().push(letter);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, letters)| std::cmp::Reverse(letters.len()));
    let mut text = String::new();
    for (place, (cause, letters)) in causes.into_iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        text.push_str(&headline(cause, &letters, now));
        let head =
            ["id", "status", "age", "owner", "amount", "entity", "key", "times", "tries", "origin", "field", "reason"];
        let rows = letters.iter().map(|letter| line(letter, now));
        text.push_str(&table(&std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect::<Vec<_>>()));
    }
    text
}

/// A cause's words, or its name where this release does not know it.
pub(super) fn cause_words(cause: &str) -> String {
    cause.parse::<Cause>().map_or_else(|_| shown(cause), |cause| cause.words().to_owned())
}

/// How a status reads.
pub(super) fn status_words(letter: &DeadLetter) -> &str {
    match letter.status.as_str() {
        "OPEN" => "open",
        "TAKEN" => "taken",
        "REPLAYED" => "went in",
        "DISCARDING" => "to be discarded",
        "DISCARDED" => "discarded",
        other => other,
    }
}

fn headline(cause: &str, letters: &[&DeadLetter], now: DateTime<Utc>) -> String {
    let undone: Vec<_> =
        letters.iter().filter(|letter| !matches!(letter.status.as_str(), "REPLAYED" | "DISCARDED")).collect();
    let taken = undone.iter().filter(|letter| letter.status == "TAKEN").count();
    let mut text = format!("{} ({}): {} open, {taken} taken", cause_words(cause), shown(cause), undone.len() - taken);
    if undone.len() < letters.len() {
        let _ = write!(text, ", {} done", letters.len() - undone.len());
    }
    if let Some(oldest) = undone.iter().map(|letter| letter.first_at).min() {
        let _ = write!(text, "; the oldest is {} old", age(oldest, now));
    }
    let (at_risk, without) = at_risk(undone.into_iter().copied());
    if !at_risk.is_empty() {
        let amounts: Vec<String> =
            at_risk.iter().map(|(currency, amount)| format!("{currency} {}", amount.amount)).collect();
        let _ = write!(text, "; the close lacks {}", amounts.join(", "));
    }
    if without > 0 {
        let _ = write!(text, "; {without} without an amount that can be read");
    }
    text.push('\n');
    text
}

/// Absolute amounts by currency, and how many have none.
fn at_risk<'l>(letters: impl Iterator<Item = &'l DeadLetter>) -> (BTreeMap<Currency, Money>, usize) {
    let (mut sums, mut without) = (BTreeMap::<Currency, Money>::new(), 0);
    for letter in letters {
        let sum = amount(letter).and_then(|money| {
            let before = sums
                .get(&money.currency)
                .map_or(Some(money.amount.abs()), |sum| sum.amount.checked_add(money.amount.abs()));
            before.map(|amount| Money { amount, ..money })
        });
        match sum {
            Some(money) => drop(sums.insert(money.currency, money)),
            None => without += 1,
        }
    }
    (sums, without)
}

fn amount(letter: &DeadLetter) -> Option<Money> {
    Money::parse(letter.amount.as_deref()?, letter.currency.as_deref()?.parse().ok()?).ok()
}

fn line(letter: &DeadLetter, now: DateTime<Utc>) -> Vec<String> {
    let text = |text: &Option<String>| shown(text.as_deref().unwrap_or("-"));
    let amount = amount(letter).map_or_else(|| "-".to_owned(), |money| format!("{} {}", money.currency, money.amount));
    vec![
        letter.id.to_string(),
        status_words(letter).to_owned(),
        age(letter.first_at, now),
        text(&letter.owner),
        amount,
        text(&letter.entity),
        text(&letter.idempotency_key),
        letter.times.to_string(),
        letter.attempts.to_string(),
        origin(letter),
        text(&letter.field),
        shown(&letter.reason),
    ]
}

pub(super) fn origin(letter: &DeadLetter) -> String {
    shown(&letter.line.map_or_else(|| letter.origin.clone(), |line| format!("{}:{line}", letter.origin)))
}

/// Whole days, or hours on the first day.
pub(super) fn age(since: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let age = now.signed_duration_since(since);
    match age.num_days() {
        ..=0 => format!("{} h", age.num_hours().max(0)),
        days => format!("{days} d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(id: i64, cause: &str, status: &str, currency: &str, amount: &str) -> DeadLetter {
        let at = DateTime::UNIX_EPOCH;
        DeadLetter {
            id,
            status: status.to_owned(),
            cause: cause.to_owned(),
            first_at: at,
            last_at: at,
            times: 1,
            attempts: 1,
            corrections: 0,
            owner: None,
            origin: "a.jsonl".to_owned(),
            line: Some(7),
            code: "POISON_MESSAGE".to_owned(),
            class: "STRUCTURAL".to_owned(),
            field: None,
            reason: "because".to_owned(),
            idempotency_key: None,
            kind: None,
            entity: None,
            currency: Some(currency.to_owned()),
            amount: Some(amount.to_owned()),
            outcome: None,
            exception: None,
            discard_by: None,
            discard_reason: None,
            size: 1,
        }
    }

    #[test]
    fn letters_are_told_by_cause_with_what_the_close_lacks() {
        let letters = [
            letter(1, "DATE", "OPEN", "USD", "-1.50"),
            letter(2, "CURRENCY", "OPEN", "DEM", "5.00"),
            letter(3, "DATE", "TAKEN", "USD", "0.25"),
            letter(4, "DATE", "REPLAYED", "USD", "100.00"),
            letter(5, "DATE", "DISCARDING", "JPY", "7"),
        ];
        let text = describe(&letters, DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(50));
        let first = text.lines().next();
        let expected = "A date that is not valid (DATE): 2 open, 1 taken, 1 done; the oldest is 2 d old; the close lacks JPY 7, USD 1.75";
        assert_eq!(first, Some(expected));
        let currency = "A currency that is not in use (CURRENCY): 1 open, 0 taken; the oldest is 2 d old; 1 without an amount that can be read";
        assert!(text.contains(currency), "{text}");
        assert!(text.contains("a.jsonl:7"), "{text}");
    }
}
