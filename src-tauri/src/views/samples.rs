//! An exception for tests.

use chrono::{DateTime, NaiveDate, TimeZone as _, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::hash;
use countersign_domain::id::{ContentHash, Epoch, ExceptionId, PartitionKey, Seq};
use countersign_domain::money::Money;
use countersign_domain::scoring::{Route, Suggestion};
use countersign_engine::port::DeckItem;

/// A whole hour of the day on which the tests happen.
pub(crate) fn at(hour: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 10, 5, hour, 0, 0).single().expect("a date that exists")
}

/// A day of the month that is being closed.
pub(crate) fn day(day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 9, day).expect("a date that exists")
}

/// A receipt in euros.
pub(crate) fn item(id: i64, amount: &str, prepared_by: &str) -> DeckItem {
    DeckItem {
        id: ExceptionId(id),
        key: format!("key-{id}-0123456789"),
        partition: PartitionKey("p".into()),
        epoch: Epoch(1),
        seq: Seq(id),
        version: 1,
        content: ContentHash(hash::sha256(b"")),
        group: None,
        kind: Kind::Receipt,
        entity: "de-01".into(),
        counterparty: "ACME".into(),
        variance: Money::parse(amount, "EUR".parse().expect("a currency")).expect("an amount"),
        submitted_at: at(7),
        business_date: day(15),
        prepared_by: vec![prepared_by.into()],
        signatures: 0,
        reverses: None,
        match_decision: MatchDecision::Partial,
        tier: RoutingTier::Standard,
        trace_id: uuid::Uuid::nil(),
        source_hash: String::new(),
        suggestion: Suggestion { route: Route::RouteReview, reasons: Vec::new(), policy_version: 1 },
        note: None,
    }
}
