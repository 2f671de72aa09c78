//! Reading single values of the command line.

use chrono::{DateTime, NaiveDate, Utc};
use countersign_domain::money::{Currency, parse_decimal};
use countersign_domain::policy::ANY_CURRENCY;
use sqlx::types::Decimal;

pub(super) fn currency(text: &str) -> Result<String, String> {
    if text == ANY_CURRENCY {
        return Ok(text.to_owned());
    }
    text.parse::<Currency>()
        .map(|currency| currency.to_string())
        .map_err(|error| format!("{error}; expected one, or *"))
}

pub(super) fn amount(text: &str) -> Result<Decimal, String> {
    match parse_decimal(text) {
        Ok(amount) if amount.is_sign_negative() => Err("expected an amount that is not negative".to_owned()),
        Ok(amount) => Ok(amount),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn day(text: &str) -> Result<NaiveDate, String> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| "expected a day such as 2026-10-31".to_owned())
}

pub(super) fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    DateTime::parse_from_rfc3339(text)
        .map(|instant| instant.with_timezone(&Utc))
        .map_err(|_| "expected an instant such as 2026-11-05T18:00:00Z".to_owned())
}

pub(super) fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if (1..=500).contains(&text.chars().count()) {
        Ok(text.to_owned())
    } else {
        Err("expected 1 to 500 characters".to_owned())
    }
}
