//! What each reviewer might sign, as it was at any moment.

use std::collections::BTreeMap;

use countersign_domain::money::parse_decimal;
use rust_decimal::Decimal;
use serde::Deserialize;

use super::history::CALL_MICROS;

/// What a supervisor set for a reviewer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reviewer {
    pub(crate) active: bool,
    pub(crate) display_name: String,
    pub(crate) also: Vec<String>,
    pub(crate) kinds: Option<Vec<String>>,
    pub(crate) tiers: Option<Vec<String>>,
    pub(crate) entities: Option<Vec<String>>,
    /// Whether they may work at the desk of dead letters.
    pub(crate) remediates: bool,
}

/// What a supervisor set as a limit, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Limit {
    pub(crate) largest: Option<String>,
    pub(crate) per_period: Option<String>,
}

impl Reviewer {
    /// In words, for comparing.
    pub(crate) fn text(&self) -> String {
        let Self { active, display_name, also, kinds, tiers, entities, remediates } = self;
        let all =
            |list: &Option<Vec<String>>| list.as_ref().map_or_else(|| "all".to_owned(), |list| format!("{list:?}"));
        let active = if *active { "active" } else { "disabled" };
        let (kinds, tiers, entities) = (all(kinds), all(tiers), all(entities));
        let desk = if *remediates { ", at the desk of dead letters" } else { "" };
        format!(
            "{active}, named {display_name:?}, also {also:?}, kinds {kinds}, tiers {tiers}, entities {entities}{desk}"
        )
    }
}

impl Limit {
    /// In words, for comparing.
    pub(crate) fn text(&self) -> String {
        let of = |amount: &Option<String>| amount.clone().unwrap_or_else(|| "any amount".to_owned());
        format!("{} each, {} in a period", of(&self.largest), of(&self.per_period))
    }
}

/// What a record says of a reviewer.
#[derive(Deserialize)]
pub(crate) struct ReviewerDetail {
    pub(crate) login: String,
    display_name: Option<String>,
    pub(crate) also: Option<Vec<String>>,
    kinds: Option<Vec<String>>,
    tiers: Option<Vec<String>>,
    ledger_entities: Option<Vec<String>>,
}

/// What a record says of a limit.
#[derive(Deserialize)]
pub(crate) struct LimitDetail {
    login: String,
    currency: String,
    #[serde(flatten)]
    limit: Limit,
}

/// All reviewers and limits with everything that was set.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    pub(crate) reviewers: BTreeMap<String, Vec<(i64, Reviewer)>>,
    pub(crate) limits: BTreeMap<(String, String), Vec<(i64, Limit)>>,
}

/// The last of some changes that held at a moment.
fn then<T>(changes: &[(i64, T)], at: i64) -> Option<&T> {
    changes.iter().rev().find(|(since, _)| *since <= at).map(|(_, one)| one)
}

impl Rights {
    pub(crate) fn set(&mut self, at: i64, detail: ReviewerDetail) {
        let changes = self.reviewers.entry(detail.login.clone()).or_default();
        let (before, remediates) =
            changes.last().map(|(_, reviewer)| (reviewer.display_name.clone(), reviewer.remediates)).unzip();
        let reviewer = Reviewer {
            active: true,
            display_name: detail.display_name.or(before).unwrap_or(detail.login),
            also: detail.also.unwrap_or_default(),
            kinds: detail.kinds,
            tiers: detail.tiers,
            entities: detail.ledger_entities,
            remediates: remediates.unwrap_or_default(),
        };
        changes.push((at, reviewer));
    }

    pub(crate) fn disable(&mut self, at: i64, login: &str) {
        let changes = self.reviewers.entry(login.to_owned()).or_default();
        let before = changes.last().map(|(_, reviewer)| reviewer.clone()).unwrap_or_default();
        changes.push((at, Reviewer { active: false, ..before }));
    }

    pub(crate) fn remediates(&mut self, at: i64, login: &str, remediates: bool) {
        let changes = self.reviewers.entry(login.to_owned()).or_default();
        // An earlier release left no record of some reviewers.
        let before = changes.last().map(|(_, reviewer)| reviewer.clone());
        let before =
            before.unwrap_or_else(|| Reviewer { active: true, display_name: login.to_owned(), ..Reviewer::default() });
        changes.push((at, Reviewer { remediates, ..before }));
    }

    pub(crate) fn limit(&mut self, at: i64, detail: LimitDetail) {
        self.limits.entry((detail.login, detail.currency)).or_default().push((at, detail.limit));
    }

    /// Everything that may have held for a call that ended at a moment; `None` for what no record set.
    fn possible(&self, login: &str, at: i64) -> Vec<Option<&Reviewer>> {
        let Some(changes) = self.reviewers.get(login) else { return vec![None] };
        let began = at.saturating_sub(CALL_MICROS);
        let meanwhile = changes.iter().filter(|(since, _)| began < *since && *since <= at);
        [then(changes, began)].into_iter().chain(meanwhile.map(|(_, reviewer)| Some(reviewer))).collect()
    }

    /// Whether a login was no active reviewer. `unset` says whether it may have been one without a record.
    pub(crate) fn inactive(&self, login: &str, at: i64, unset: bool) -> bool {
        !self.possible(login, at).into_iter().any(|one| one.map_or(unset, |one| one.active))
    }

    /// Whether something was surely not of what a reviewer might sign.
    pub(crate) fn outside(&self, login: &str, at: i64, kind: &str, tier: &str, entity: &str) -> bool {
        let within =
            |list: &Option<Vec<String>>, one: &str| list.as_ref().is_none_or(|all| all.iter().any(|x| x == one));
        !self.possible(login, at).into_iter().any(|one| {
            one.is_none_or(|one| within(&one.kinds, kind) && within(&one.tiers, tier) && within(&one.entities, entity))
        })
    }

    /// The largest amount that a reviewer might have signed, if there was a limit and this amount is over it.
    pub(crate) fn over(&self, login: &str, at: i64, currency: &str, amount: Decimal) -> Option<Decimal> {
        let of =
            |currency: &str| self.limits.get(&(login.to_owned(), currency.to_owned())).map_or(&[][..], Vec::as_slice);
        let (own, any) = (of(currency), of("*"));
        let largest = |changes: &[(i64, Limit)], at| {
            // What has more digits than any amount is no limit.
            then(changes, at)?.largest.as_deref().map(|text| parse_decimal(text).unwrap_or(Decimal::MAX))
        };
        let began = at.saturating_sub(CALL_MICROS);
        let meanwhile = own.iter().chain(any).map(|(since, _)| *since).filter(|since| began < *since && *since <= at);
        let mut most = Decimal::ZERO;
        for at in [began].into_iter().chain(meanwhile) {
            most = most.max(largest(own, at).or_else(|| largest(any, at))?);
        }
        (amount.abs() > most).then_some(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail<T: for<'a> Deserialize<'a>>(json: &str) -> T {
        serde_json::from_str(json).expect("it reads")
    }

    #[test]
    fn rights_are_those_of_their_time() {
        let hour = 60 * CALL_MICROS;
        let mut rights = Rights::default();
        rights.set(hour, detail(r#"{"login": "a", "display_name": "A"}"#));
        rights.set(2 * hour, detail(r#"{"login": "a", "display_name": null, "kinds": ["receipt"]}"#));
        rights.disable(3 * hour, "a");
        assert_eq!(rights.reviewers["a"][1].1.display_name, "A");
        assert!(rights.inactive("a", hour - 1, false) && !rights.inactive("a", hour, false));
        assert!(!rights.inactive("a", 3 * hour + 1, false) && rights.inactive("a", 4 * hour, false));
        assert!(rights.inactive("b", hour, false) && !rights.inactive("b", hour, true));
        let outside = |at, kind| rights.outside("a", at, kind, "standard", "US01");
        assert!(!outside(hour, "sales_claim") && !outside(2 * hour, "sales_claim"));
        assert!(outside(2 * hour + CALL_MICROS, "sales_claim") && !outside(3 * hour - 1, "receipt"));
    }

    #[test]
    fn limits_are_those_of_their_time_and_of_the_currency_before_those_of_all() {
        let hour = 60 * CALL_MICROS;
        let mut rights = Rights::default();
        for (at, currency, largest) in [(hour, "*", "10"), (2 * hour, "USD", "100")] {
            let json =
                format!(r#"{{"login": "a", "currency": "{currency}", "largest": "{largest}", "per_period": null}}"#);
            rights.limit(at, detail(&json));
        }
        rights.limit(3 * hour, detail(r#"{"login": "a", "currency": "USD", "largest": null}"#));
        let over = |at, amount: i64| rights.over("a", at, "USD", amount.into()).is_some();
        assert!(!over(hour, 1_000) && over(hour + CALL_MICROS, 11) && over(hour + CALL_MICROS, -11));
        assert!(!over(2 * hour + CALL_MICROS, 100) && over(2 * hour + CALL_MICROS, 101));
        assert!(!over(3 * hour + 1, 100) && over(3 * hour + CALL_MICROS, 11) && !over(hour * 5, 10));
    }
}
