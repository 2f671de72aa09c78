//! What is looked up, over the schema's functions.

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::exception::{Kind, RoutingTier};
use countersign_domain::id::{ExceptionId, WorkstationId};
use countersign_domain::money::{Money, MoneyError};
use countersign_engine::port::{
    BacklogError, CaptureDay, Close, CloseLine, History, Hour, Overview, OverviewLine, PastEvent, Picture, Reading,
};
use serde::Deserialize;
use sqlx::postgres::PgRow;

use crate::PgBacklog;
use crate::failure::Step;
use crate::reply::{Malformed, document, get};

impl Reading for PgBacklog {
    async fn overview(&self, workstation: WorkstationId) -> Result<Overview, BacklogError> {
        const OPERATION: &str = "overview";
        let query =
            sqlx::query("SELECT at, lines::text AS lines, more FROM countersign.overview($1)").bind(workstation.0);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        overview(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn close(&self, workstation: WorkstationId, since: DateTime<Utc>) -> Result<Close, BacklogError> {
        const OPERATION: &str = "close overview";
        let query = sqlx::query(
            "SELECT at, lines::text AS lines, hours::text AS hours FROM countersign.close_overview($1, $2)",
        )
        .bind(workstation.0)
        .bind(since);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        close(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn capture(&self, workstation: WorkstationId) -> Result<Vec<CaptureDay>, BacklogError> {
        const OPERATION: &str = "capture";
        let query = sqlx::query("SELECT days::text AS days FROM countersign.capture($1)").bind(workstation.0);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        capture(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn history(&self, workstation: WorkstationId, exception: ExceptionId) -> Result<History, BacklogError> {
        const OPERATION: &str = "history";
        let query = sqlx::query(
            "SELECT at, exception::text AS exception, partition::text AS partition, counterparty::text AS counterparty, \
                    approved, rejected, pending \
             FROM countersign.history($1, $2)",
        )
        .bind(workstation.0)
        .bind(exception.0);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        history(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }

    async fn picture(
        &self,
        workstation: WorkstationId,
        exception: ExceptionId,
    ) -> Result<Option<Picture>, BacklogError> {
        const OPERATION: &str = "picture";
        let query =
            sqlx::query("SELECT media_type, bytes, page_width, page_height FROM countersign.picture_of($1, $2)")
                .bind(workstation.0)
                .bind(exception.0);
        let rows = self.connections.rows(OPERATION, Step::Call, query).await?;
        picture(&rows).map_err(|error| self.malformed(OPERATION, &error))
    }
}

#[derive(Deserialize)]
struct Line {
    entity: String,
    kind: Kind,
    tier: RoutingTier,
    currency: String,
    free: u32,
    free_amount: String,
    held: u32,
    held_amount: String,
    mine: u32,
}

#[derive(Deserialize)]
struct Remaining {
    entity: String,
    tier: RoutingTier,
    left: u32,
    held: u32,
    signed: u32,
    mine: u32,
}

#[derive(Deserialize)]
struct Past {
    until: DateTime<Utc>,
    arrived: u32,
    decided: u32,
    left: u32,
}

#[derive(Deserialize)]
struct Captured {
    day: NaiveDate,
    receipts: u32,
    drifting: u32,
    share: String,
    alert: bool,
}

#[derive(Deserialize)]
struct Record {
    at: DateTime<Utc>,
    event: String,
    actor: String,
    details: std::collections::BTreeMap<String, String>,
}

/// Whoever is turned away gets no row.
fn only(rows: &[PgRow]) -> Result<&PgRow, Malformed> {
    match rows {
        [row] => Ok(row),
        [] => Err(Malformed::TurnedAway),
        more => Err(Malformed::Rows { expected: 1, found: more.len() }),
    }
}

fn overview(rows: &[PgRow]) -> Result<Overview, Malformed> {
    let row = only(rows)?;
    let lines: Vec<Line> = document("overview", get(row, "lines")?)?;
    let lines = lines.into_iter().map(|line| line.read().map_err(|error| Malformed::Name(error.to_string())));
    Ok(Overview { at: get(row, "at")?, lines: lines.collect::<Result<_, _>>()?, more: count(row, "more")? })
}

impl Line {
    fn read(self) -> Result<OverviewLine, MoneyError> {
        let currency = self.currency.parse()?;
        Ok(OverviewLine {
            entity: self.entity,
            kind: self.kind,
            tier: self.tier,
            free: self.free,
            free_amount: Money::parse(&self.free_amount, currency)?,
            held: self.held,
            held_amount: Money::parse(&self.held_amount, currency)?,
            mine: self.mine,
        })
    }
}

fn close(rows: &[PgRow]) -> Result<Close, Malformed> {
    let row = only(rows)?;
    let lines: Vec<Remaining> = document("close overview", get(row, "lines")?)?;
    let hours: Vec<Past> = document("close overview", get(row, "hours")?)?;
    let line =
        |Remaining { entity, tier, left, held, signed, mine }| CloseLine { entity, tier, left, held, signed, mine };
    let hour = |Past { until, arrived, decided, left }| Hour { until, arrived, decided, left };
    Ok(Close {
        at: get(row, "at")?,
        lines: lines.into_iter().map(line).collect(),
        hours: hours.into_iter().map(hour).collect(),
    })
}

fn capture(rows: &[PgRow]) -> Result<Vec<CaptureDay>, Malformed> {
    let days: Vec<Captured> = document("capture", get(only(rows)?, "days")?)?;
    let day = |Captured { day, receipts, drifting, share, alert }| CaptureDay { day, receipts, drifting, share, alert };
    Ok(days.into_iter().map(day).collect())
}

fn history(rows: &[PgRow]) -> Result<History, Malformed> {
    let row = only(rows)?;
    let events = |column| -> Result<Vec<PastEvent>, Malformed> {
        let events: Vec<Record> = document("history", get(row, column)?)?;
        let event = |Record { at, event, actor, details }| PastEvent {
            at,
            event,
            actor,
            details: details.into_iter().collect(),
        };
        Ok(events.into_iter().map(event).collect())
    };
    Ok(History {
        at: get(row, "at")?,
        exception: events("exception")?,
        partition: events("partition")?,
        counterparty: events("counterparty")?,
        approved: count(row, "approved")?,
        rejected: count(row, "rejected")?,
        pending: count(row, "pending")?,
    })
}

fn picture(rows: &[PgRow]) -> Result<Option<Picture>, Malformed> {
    let row = only(rows)?;
    let Some(media_type) = get::<Option<String>>(row, "media_type")? else { return Ok(None) };
    Ok(Some(Picture {
        media_type,
        bytes: get(row, "bytes")?,
        page_width: count(row, "page_width")?,
        page_height: count(row, "page_height")?,
    }))
}

fn count(row: &PgRow, column: &'static str) -> Result<u32, Malformed> {
    u32::try_from(get::<i32>(row, column)?).map_err(|_| Malformed::Key(column))
}
