//! How well receipts are read, by the day.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::rows::{head, rows};
use crate::text::table;
use crate::{AdminError, Database};

/// A day's receipts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureDay {
    /// The day they were submitted, in UTC.
    pub day: NaiveDate,
    /// How many arrived.
    pub receipts: u32,
    /// How many of them drift.
    pub drifting: u32,
    /// Their share in percent, with one decimal place.
    pub share: String,
    /// Whether policy lets that pass no more.
    pub alert: bool,
}

/// The days with receipts, latest first, at most 31.
pub async fn days(database: &Database) -> Result<Vec<CaptureDay>, AdminError> {
    const SQL: &str = "
        SELECT jsonb_build_object('day', c.day, 'receipts', c.receipts, 'drifting', c.drifting, 'share', c.share::text, 'alert', c.alert)::text
        FROM countersign.capture_days() AS c ORDER BY c.day DESC";
    let mut connection = database.connect().await?;
    rows(database, &mut connection, "list the days of the capture", SQL, &[]).await
}

/// The days as a table.
pub fn describe(days: &[CaptureDay]) -> String {
    if days.is_empty() {
        return "No receipts arrived.\n".to_owned();
    }
    let lines = days.iter().map(|day| {
        let alert = if day.alert { "too many" } else { "" };
        vec![
            day.day.to_string(),
            day.receipts.to_string(),
            day.drifting.to_string(),
            format!("{} %", day.share),
            alert.to_owned(),
        ]
    });
    table(&std::iter::once(head(["day", "receipts", "drifting", "share", ""])).chain(lines).collect::<Vec<_>>())
}
