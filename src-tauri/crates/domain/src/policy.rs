//! The policy of an installation: one document for each version, each in force from when it was set.

use std::fmt;
use std::marker::PhantomData;

use rust_decimal::Decimal;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::exception::{Kind, RoutingTier};
use crate::money::parse_decimal;
use crate::scoring::Thresholds;
use crate::sign_off::REASON_CODES;

/// The currency that stands for every one that is not named.
pub const ANY_CURRENCY: &str = "*";
/// The most rules, the most reason codes.
const RULES: usize = 100;
const REASONS: usize = 50;
/// The most days from a business date to the due date.
const DUE_DAYS: u32 = 3_650;

/// Why a document is no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {reason}")]
pub struct PolicyError {
    /// The field at fault.
    pub field: String,
    /// What was expected.
    pub reason: String,
}

/// When two people have to approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FourEyesRule {
    /// ISO 4217, or `*` for every currency that no rule names.
    pub currency: String,
    /// Only for this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only for this tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<RoutingTier>,
    /// From this absolute variance on, in the currency's own units.
    #[serde(with = "rust_decimal::serde::str")]
    pub at_or_above: Decimal,
}

/// The thresholds of suggestions, in units of each currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoring {
    /// Above this absolute variance an exception of the standard tier is one for somebody senior.
    #[serde(with = "rust_decimal::serde::str")]
    pub escalate_above: Decimal,
    /// Up to this absolute variance a matched exception needs no closer look.
    #[serde(with = "rust_decimal::serde::str")]
    pub tolerance: Decimal,
}

/// A reason that a decision may carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasonCode {
    /// What is signed.
    pub code: String,
    /// What it means.
    pub text: String,
}

/// Bounds on leases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseLimits {
    /// The longest lease, in milliseconds; a longer one is cut to it.
    pub longest_ms: u32,
}

/// One version's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// When two people have to approve.
    pub four_eyes: Vec<FourEyesRule>,
    /// The thresholds of suggestions.
    pub scoring: Scoring,
    /// What a rejection may give as its reason.
    pub reason_codes: Vec<ReasonCode>,
    /// What a reviewer attests with each confirmation.
    pub attestation: String,
    /// Bounds on leases.
    pub lease: LeaseLimits,
    /// What the screen helps with.
    #[serde(default, deserialize_with = "by_name")]
    pub review: ReviewRules,
    /// When somebody is told how badly receipts are read.
    #[serde(default, deserialize_with = "by_name")]
    pub capture: CaptureRules,
}

/// Reads an object. A list would do for a structure whose fields may all be absent, and says nothing of which is which.
fn by_name<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ByName<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(ByName(PhantomData))
}

/// An amount for a currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurrencyAmount {
    /// ISO 4217, or `*` for every currency that is not named.
    pub currency: String,
    /// In the currency's own units.
    #[serde(with = "rust_decimal::serde::str")]
    pub amount: Decimal,
}

/// Days from the business date to the due date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DueDays {
    /// In the standard tier.
    pub standard: u32,
    /// In the priority tier.
    pub priority: u32,
    /// In the escalated tier.
    pub escalated: u32,
}

/// What helps a reviewer to look, and asks them to look twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewRules {
    /// Below these absolute variances an exception is not material.
    pub materiality: Vec<CurrencyAmount>,
    /// From these absolute nets on, the reviewer types the control total of a batch. Empty: never.
    pub type_total_from: Vec<CurrencyAmount>,
    /// When an exception that arrives without a due date has to be decided.
    pub due_days: DueDays,
    /// From this part of a cumulative limit on it is said to be near, in percent.
    pub limit_near_percent: u32,
}

impl Default for ReviewRules {
    fn default() -> Self {
        let any = |amount: i64| vec![CurrencyAmount { currency: ANY_CURRENCY.to_owned(), amount: amount.into() }];
        Self {
            materiality: any(1_000),
            type_total_from: Vec::new(),
            due_days: DueDays { standard: 30, priority: 10, escalated: 3 },
            limit_near_percent: 80,
        }
    }
}

/// When somebody is told how badly receipts are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaptureRules {
    /// When more than this part of a day's receipts drift, in percent.
    pub alert_percent: u32,
}

impl Default for CaptureRules {
    fn default() -> Self {
        Self { alert_percent: 10 }
    }
}

impl ReviewRules {
    fn check(&self) -> Result<(), PolicyError> {
        let wrong = |field: String, reason: String| Err(PolicyError { field, reason });
        for (list, amounts) in [("materiality", &self.materiality), ("type_total_from", &self.type_total_from)] {
            if amounts.len() > RULES {
                return wrong(format!("review.{list}"), format!("expected at most {RULES} currencies"));
            }
            for (number, each) in amounts.iter().enumerate() {
                let (code, field) = (each.currency.as_str(), format!("review.{list}[{number}]"));
                if code != ANY_CURRENCY && code.parse::<crate::money::Currency>().is_err() {
                    return wrong(format!("{field}.currency"), "expected a currency of ISO 4217, or *".to_owned());
                }
                if amounts[..number].iter().any(|other| other.currency == each.currency) {
                    return wrong(format!("{field}.currency"), "the currency is there twice".to_owned());
                }
                amount(&format!("{field}.amount"), each.amount)?;
            }
        }
        let DueDays { standard, priority, escalated } = self.due_days;
        for (tier, days) in [("standard", standard), ("priority", priority), ("escalated", escalated)] {
            if days > DUE_DAYS {
                return wrong(format!("review.due_days.{tier}"), format!("expected 0 to {DUE_DAYS} days"));
            }
        }
        if !(1..=100).contains(&self.limit_near_percent) {
            return wrong("review.limit_near_percent".to_owned(), "expected 1 to 100".to_owned());
        }
        Ok(())
    }

    /// The amount of a currency in one of the lists.
    pub fn amount_of(list: &[CurrencyAmount], currency: &str) -> Option<Decimal> {
        let of = |code: &str| list.iter().find(|each| each.currency == code).map(|each| each.amount);
        of(currency).or_else(|| of(ANY_CURRENCY))
    }
}

impl Default for Policy {
    /// The policy that an installation begins with.
    fn default() -> Self {
        let reason = |(code, text): (&str, &str)| ReasonCode { code: code.to_owned(), text: text.to_owned() };
        Self {
            four_eyes: Vec::new(),
            scoring: Scoring { escalate_above: Decimal::from(50_000), tolerance: Decimal::from(5) },
            reason_codes: REASON_CODES.map(reason).to_vec(),
            attestation: "I have examined these exceptions and their evidence, and I decide as stated.".to_owned(),
            lease: LeaseLimits { longest_ms: 43_200_000 },
            review: ReviewRules::default(),
            capture: CaptureRules::default(),
        }
    }
}

impl Policy {
    /// Reads a document as a supervisor wrote it, and says what is wrong with it.
    pub fn parse(json: &str) -> Result<Self, PolicyError> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let policy: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| PolicyError { field: error.path().to_string(), reason: error.inner().to_string() })?;
        policy.check()?;
        Ok(policy)
    }

    fn check(&self) -> Result<(), PolicyError> {
        let wrong = |field: String, reason: &str| Err(PolicyError { field, reason: reason.to_owned() });
        if self.four_eyes.len() > RULES {
            return wrong("four_eyes".into(), &format!("expected at most {RULES} rules"));
        }
        for (number, rule) in self.four_eyes.iter().enumerate() {
            let code = rule.currency.as_str();
            if code != ANY_CURRENCY && code.parse::<crate::money::Currency>().is_err() {
                return wrong(format!("four_eyes[{number}].currency"), "expected a currency of ISO 4217, or *");
            }
            amount(&format!("four_eyes[{number}].at_or_above"), rule.at_or_above)?;
        }
        amount("scoring.escalate_above", self.scoring.escalate_above)?;
        amount("scoring.tolerance", self.scoring.tolerance)?;
        if self.capture.alert_percent > 100 {
            return wrong("capture.alert_percent".into(), "expected 0 to 100");
        }
        if self.reason_codes.is_empty() || self.reason_codes.len() > REASONS {
            return wrong("reason_codes".into(), &format!("expected 1 to {REASONS} codes"));
        }
        for (number, reason) in self.reason_codes.iter().enumerate() {
            let known = |other: &ReasonCode| other.code == reason.code;
            let plain = |letter: u8| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == b'_';
            if reason.code.is_empty() || reason.code.len() > 64 || !reason.code.bytes().all(plain) {
                return wrong(format!("reason_codes[{number}].code"), "expected 1 to 64 of A-Z, 0-9 and _");
            }
            if self.reason_codes[..number].iter().any(known) {
                return wrong(format!("reason_codes[{number}].code"), "the code is there twice");
            }
            if reason.text.trim().is_empty() || reason.text.chars().count() > 200 {
                return wrong(format!("reason_codes[{number}].text"), "expected 1 to 200 characters");
            }
        }
        if self.attestation.trim().is_empty() || self.attestation.chars().count() > 2_000 {
            return wrong("attestation".into(), "expected 1 to 2000 characters");
        }
        if !(30_000..=43_200_000).contains(&self.lease.longest_ms) {
            return wrong("lease.longest_ms".into(), "expected 30000 to 43200000");
        }
        self.review.check()
    }

    /// Whether an exception needs two approvers. `countersign.sign_off` in the database decides the same.
    pub fn needs_two(&self, kind: Kind, tier: RoutingTier, currency: &str, variance: Decimal) -> bool {
        let named = self.four_eyes.iter().any(|rule| rule.currency == currency);
        self.four_eyes.iter().any(|rule| {
            (rule.currency == currency || (rule.currency == ANY_CURRENCY && !named))
                && rule.kind.is_none_or(|only| only == kind)
                && rule.tier.is_none_or(|only| only == tier)
                && variance.abs() >= rule.at_or_above
        })
    }

    /// The thresholds that suggestions are made with.
    pub fn thresholds(&self, version: u32) -> Thresholds {
        Thresholds { version, escalate_above: self.scoring.escalate_above, tolerance: self.scoring.tolerance }
    }

    /// Whether a rejection may give this reason.
    pub fn knows_reason(&self, code: &str) -> bool {
        self.reason_codes.iter().any(|reason| reason.code == code)
    }
}

fn amount(field: &str, amount: Decimal) -> Result<(), PolicyError> {
    // 8 decimal places and 20 digits before them: what the database's check allows too.
    let most = parse_decimal("99999999999999999999").unwrap_or(Decimal::MAX);
    if amount.is_sign_negative() || amount > most || amount.scale() > 8 {
        let reason = "expected a decimal in a string, not negative, with at most 8 decimal places".to_owned();
        return Err(PolicyError { field: field.to_owned(), reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut document = serde_json::to_value(Policy::default()).expect("a policy is JSON");
        change(&mut document);
        document.to_string()
    }

    #[test]
    fn what_is_written_reads_back() {
        assert_eq!(Policy::parse(&json(|_| ())).expect("the default is good"), Policy::default());
    }

    #[test]
    fn a_document_of_an_earlier_release_says_nothing_of_review_and_means_the_defaults() {
        let without = |document: &mut serde_json::Value| drop(document.as_object_mut().map(|all| all.remove("review")));
        assert_eq!(Policy::parse(&json(without)).expect("it is good still").review, ReviewRules::default());
        let some =
            |document: &mut serde_json::Value| document["review"] = serde_json::json!({"limit_near_percent": 90});
        let review = Policy::parse(&json(some)).expect("what is not said has its default").review;
        assert_eq!(review, ReviewRules { limit_near_percent: 90, ..ReviewRules::default() });
    }

    #[test]
    fn what_is_no_policy_is_told_by_its_field() {
        let review = |field: &str, value: serde_json::Value| json(|document| document["review"][field] = value);
        let twice = serde_json::json!([{"currency": "*", "amount": "1"}, {"currency": "*", "amount": "2"}]);
        let rule = |rule: serde_json::Value| json(|document| document["four_eyes"] = serde_json::json!([rule]));
        for (text, field) in [
            ("{".to_owned(), ""),
            (json(|document| document["more"] = 1.into()), "more"),
            (rule(serde_json::json!({"currency": "USD"})), "four_eyes[0]"),
            (rule(serde_json::json!({"currency": "USD", "at_or_above": 5})), "four_eyes[0].at_or_above"),
            (rule(serde_json::json!({"currency": "USD", "at_or_above": "-5"})), "four_eyes[0].at_or_above"),
            (rule(serde_json::json!({"currency": "US", "at_or_above": "5"})), "four_eyes[0].currency"),
            (rule(serde_json::json!({"currency": "USD", "kind": "x", "at_or_above": "5"})), "four_eyes[0].kind"),
            (json(|document| document["reason_codes"] = serde_json::json!([])), "reason_codes"),
            (json(|document| document["reason_codes"][1]["code"] = "OTHER".into()), "reason_codes[5].code"),
            (json(|document| document["reason_codes"][0]["code"] = "other".into()), "reason_codes[0].code"),
            (json(|document| document["attestation"] = " ".into()), "attestation"),
            (json(|document| document["lease"]["longest_ms"] = 1.into()), "lease.longest_ms"),
            (review("more", 1.into()), "review.more"),
            (
                review("materiality", serde_json::json!([{"currency": "US", "amount": "1"}])),
                "review.materiality[0].currency",
            ),
            (
                review("materiality", serde_json::json!([{"currency": "USD", "amount": 1}])),
                "review.materiality[0].amount",
            ),
            (
                review("type_total_from", serde_json::json!([{"currency": "*", "amount": "-1"}])),
                "review.type_total_from[0].amount",
            ),
            (review("type_total_from", twice), "review.type_total_from[1].currency"),
            (
                review("due_days", serde_json::json!({"standard": 3651, "priority": 1, "escalated": 1})),
                "review.due_days.standard",
            ),
            (review("due_days", serde_json::json!({"standard": 1})), "review.due_days"),
            (review("limit_near_percent", 0.into()), "review.limit_near_percent"),
            (review("limit_near_percent", 101.into()), "review.limit_near_percent"),
        ] {
            let error = Policy::parse(&text).expect_err(&text);
            assert!(error.field.contains(field), "{text}: {error}");
        }
    }

    #[test]
    fn a_rule_for_any_currency_gives_way_to_one_that_names_it() {
        let rule = |currency: &str, kind, tier, at_or_above: i64| FourEyesRule {
            currency: currency.to_owned(),
            kind,
            tier,
            at_or_above: at_or_above.into(),
        };
        let policy = Policy {
            four_eyes: vec![
                rule("*", None, None, 100),
                rule("JPY", None, None, 10_000),
                rule("USD", Some(Kind::Receipt), Some(RoutingTier::Priority), 50),
            ],
            ..Policy::default()
        };
        let two = |kind, tier, currency, amount: i64| policy.needs_two(kind, tier, currency, amount.into());
        for (kind, tier, currency, amount, expected) in [
            (Kind::ReconBreak, RoutingTier::Standard, "EUR", 100, true),
            (Kind::ReconBreak, RoutingTier::Standard, "EUR", -100, true),
            (Kind::ReconBreak, RoutingTier::Standard, "EUR", 99, false),
            (Kind::ReconBreak, RoutingTier::Standard, "JPY", 100, false),
            (Kind::ReconBreak, RoutingTier::Standard, "JPY", -10_000, true),
            (Kind::ReconBreak, RoutingTier::Standard, "USD", 1_000, false),
            (Kind::Receipt, RoutingTier::Priority, "USD", 50, true),
            (Kind::Receipt, RoutingTier::Standard, "USD", 50, false),
        ] {
            assert_eq!(two(kind, tier, currency, amount), expected, "{kind:?} {tier:?} {currency} {amount}");
        }
    }
}
