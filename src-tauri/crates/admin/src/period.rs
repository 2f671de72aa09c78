//! The close calendar.

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::standing::PeriodState;
use serde::{Deserialize, Serialize};

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Whose; `*` for every entity without a period of its own on that day.
    pub ledger_entity: String,
    /// Its name.
    pub name: String,
    /// Its first day.
    pub first_day: NaiveDate,
    /// Its last day.
    pub last_day: NaiveDate,
    /// Where it is in its life.
    pub state: PeriodState,
    /// By when it is meant to close.
    #[serde(default)]
    pub closes_at: Option<DateTime<Utc>>,
    /// When that changed last.
    pub changed_at: DateTime<Utc>,
    /// By whom.
    pub changed_by: String,
    /// Undecided exceptions whose day lies in it.
    pub undecided: u64,
    /// Decided exceptions in it whose effect waits for an earlier one.
    pub held: u64,
}

/// The whole calendar, the latest day first.
pub async fn list(database: &Database) -> Result<Vec<Period>, AdminError> {
    let mut connection = database.connect().await?;
    rows(database, &mut connection, "list periods", PERIODS, &[]).await
}

/// What is not done yet is counted once, by day and entity, and then dealt to the periods.
const PERIODS: &str = "
    WITH unresolved AS MATERIALIZED (
        SELECT e.ledger_entity, e.business_date, count(*) FILTER (WHERE e.state = 'PENDING') AS undecided,
               count(*) FILTER (WHERE e.state <> 'PENDING') AS held
        FROM countersign.exceptions e WHERE e.state <> 'RESOLVED' GROUP BY e.ledger_entity, e.business_date
    ), placed AS MATERIALIZED (
        SELECT u.*, (SELECT p.ledger_entity FROM countersign.periods p
                     WHERE p.ledger_entity IN (u.ledger_entity, '*') AND u.business_date BETWEEN p.first_day AND p.last_day
                     ORDER BY p.ledger_entity = '*' LIMIT 1) AS whose
        FROM unresolved u
    )
    SELECT jsonb_build_object('ledger_entity', p.ledger_entity, 'name', p.name, 'first_day', p.first_day, 'last_day', p.last_day,
               'state', p.state, 'closes_at', p.closes_at, 'changed_at', p.changed_at, 'changed_by', p.changed_by,
               'undecided', coalesce(sum(u.undecided), 0), 'held', coalesce(sum(u.held), 0))::text
    FROM countersign.periods p
    LEFT JOIN placed u ON u.whose = p.ledger_entity AND u.business_date BETWEEN p.first_day AND p.last_day
    GROUP BY p.ledger_entity, p.name, p.first_day, p.last_day, p.state, p.closes_at, p.changed_at, p.changed_by
    ORDER BY p.last_day DESC, p.ledger_entity, p.name";

/// Adds an open period.
pub async fn add(
    database: &Database,
    entity: &str,
    name: &str,
    first_day: NaiveDate,
    last_day: NaiveDate,
    closes_at: Option<DateTime<Utc>>,
) -> Result<(), AdminError> {
    if last_day < first_day {
        return Err(AdminError::Request(format!("the last day, {last_day}, is before the first, {first_day}")));
    }
    let mut connection = database.connect().await?;
    sqlx::query("SELECT countersign.period_add($1, $2, $3::date, $4::date, $5)")
        .bind(entity)
        .bind(name)
        .bind(first_day.to_string())
        .bind(last_day.to_string())
        .bind(closes_at)
        .execute(&mut connection)
        .await
        .map_err(database.refused("add the period"))?;
    Ok(())
}

/// Says by when a period is meant to close, or takes that back. The deadline before.
pub async fn deadline(
    database: &Database,
    entity: &str,
    name: &str,
    closes_at: Option<DateTime<Utc>>,
    reason: &str,
) -> Result<Option<DateTime<Utc>>, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_scalar("SELECT countersign.period_deadline($1, $2, $3, $4)")
        .bind(entity)
        .bind(name)
        .bind(closes_at)
        .bind(reason)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("set the deadline"))
}

/// What a deadline means, in words.
pub fn describe_deadline(entity: &str, name: &str, closes_at: Option<DateTime<Utc>>) -> String {
    let (name, entity) = (shown(name), shown(entity));
    closes_at.map_or_else(
        || format!("The period {name} of {entity} has no deadline.\n"),
        |at| format!("The period {name} of {entity} is meant to close by {}.\n", instant(at)),
    )
}

/// Moves a period on, or back. How many of its exceptions are undecided.
pub async fn move_to(
    database: &Database,
    entity: &str,
    name: &str,
    state: PeriodState,
    reason: &str,
) -> Result<u64, AdminError> {
    let mut connection = database.connect().await?;
    let undecided: i64 = sqlx::query_scalar("SELECT countersign.period_move($1, $2, $3, $4)")
        .bind(entity)
        .bind(name)
        .bind(word(state))
        .bind(reason)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("move the period"))?;
    Ok(u64::try_from(undecided).unwrap_or_default())
}

/// What moving a period came to, in words.
pub fn describe_move(entity: &str, name: &str, state: PeriodState, undecided: u64) -> String {
    let means = match state {
        PeriodState::Open => "decisions in it are taken",
        PeriodState::Closing => "decisions in it are taken until it is closed",
        PeriodState::Closed => "nothing in it can be signed until it is reopened",
    };
    format!(
        "The period {} of {} is {} now: {means}. {undecided} of its exceptions are undecided.\n",
        shown(name),
        shown(entity),
        word(state)
    )
}

/// The calendar as a table.
pub fn describe(periods: &[Period]) -> String {
    if periods.is_empty() {
        return "No periods: each day belongs to the open period of its month. Add one: `countersign-admin period add`.\n"
            .to_owned();
    }
    let columns =
        head(["entity", "period", "first day", "last day", "state", "closes by", "undecided", "held", "changed", "by"]);
    let lines = periods.iter().map(|period| {
        vec![
            shown(&period.ledger_entity),
            shown(&period.name),
            period.first_day.to_string(),
            period.last_day.to_string(),
            word(period.state).to_owned(),
            period.closes_at.map_or_else(|| "-".to_owned(), instant),
            period.undecided.to_string(),
            period.held.to_string(),
            instant(period.changed_at),
            shown(&period.changed_by),
        ]
    });
    table(&std::iter::once(columns).chain(lines).collect::<Vec<_>>())
}

fn word(state: PeriodState) -> &'static str {
    match state {
        PeriodState::Open => "open",
        PeriodState::Closing => "closing",
        PeriodState::Closed => "closed",
    }
}
