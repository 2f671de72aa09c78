//! Exceptions and a standing for tests.

use chrono::{DateTime, NaiveDate, TimeZone as _, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::figure::Outlook;
use countersign_domain::hash;
use countersign_domain::id::{ContentHash, Epoch, ExceptionId, PartitionKey, Seq};
use countersign_domain::money::Money;
use countersign_domain::policy::{FourEyesRule, Policy};
use countersign_domain::scoring::{Route, Suggestion};
use countersign_domain::standing::{Limit, Period, PeriodState, Standing};
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
        due_on: None,
        match_decision: MatchDecision::Partial,
        tier: RoutingTier::Standard,
        trace_id: uuid::Uuid::nil(),
        source_hash: String::new(),
        suggestion: Suggestion { route: Route::RouteReview, reasons: Vec::new(), policy_version: 1 },
        outlook: Outlook::default(),
        note: None,
    }
}

/// Two signatures from 500 on, at most 1,000 each and 1,500 in September.
pub(crate) fn standing() -> Standing {
    let rule = FourEyesRule { currency: "EUR".into(), kind: None, tier: None, at_or_above: 500.into() };
    Standing {
        at: at(8),
        policy_version: 3,
        policy: Policy { four_eyes: vec![rule], ..Policy::default() },
        names: vec!["dana".into()],
        kinds: None,
        tiers: None,
        ledger_entities: None,
        limits: vec![Limit { currency: "*".into(), largest: Some(1_000.into()), per_period: Some(1_500.into()) }],
        used: Vec::new(),
        periods: vec![Period {
            ledger_entity: "*".into(),
            name: "2026-09".into(),
            first_day: day(1),
            last_day: day(30),
            state: PeriodState::Closing,
            closes_at: None,
        }],
        remediates: false,
    }
}
