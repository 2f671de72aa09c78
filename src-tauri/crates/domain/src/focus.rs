//! What a reviewer wants in the deck.

use chrono::NaiveDate;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::exception::{Kind, RoutingTier};
use crate::money::Money;

/// The most names one list may have.
pub const NAMES: usize = 100;

/// Which exceptions are wanted. A list that is empty and a bound that is absent let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Focus {
    /// Ledger entities.
    pub entities: Vec<String>,
    /// Where exceptions come from.
    pub kinds: Vec<Kind>,
    /// How urgent they are.
    pub tiers: Vec<RoutingTier>,
    /// Counterparties, exactly as they arrived.
    pub counterparties: Vec<String>,
    /// ISO 4217 codes.
    pub currencies: Vec<String>,
    /// The least absolute variance, in each currency's own units.
    #[serde(with = "rust_decimal::serde::str_option")]
    pub amount_from: Option<Decimal>,
    /// The largest absolute variance.
    #[serde(with = "rust_decimal::serde::str_option")]
    pub amount_to: Option<Decimal>,
    /// The first due date.
    pub due_from: Option<NaiveDate>,
    /// The last due date.
    pub due_to: Option<NaiveDate>,
    /// How many exceptions the deck may hold; the setting's bound without it, and never more.
    pub at_most: Option<u32>,
}

/// What of an exception a focus looks at.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Its entity.
    pub entity: &'a str,
    /// Its kind.
    pub kind: Kind,
    /// Its tier.
    pub tier: RoutingTier,
    /// Its counterparty.
    pub counterparty: &'a str,
    /// Its variance.
    pub variance: Money,
    /// Its due date.
    pub due_on: Option<NaiveDate>,
}

impl Focus {
    /// Says why it cannot be asked for, as a sentence.
    pub fn problem(&self) -> Option<String> {
        for (what, list) in
            [("entities", &self.entities), ("counterparties", &self.counterparties), ("currencies", &self.currencies)]
        {
            if list.len() > NAMES {
                return Some(format!("{} {what} are named; at most {NAMES} can be.", list.len()));
            }
        }
        if self.at_most == Some(0) {
            return Some("The deck has to hold at least one exception.".to_owned());
        }
        if let (Some(from), Some(to)) = (self.amount_from, self.amount_to)
            && from > to
        {
            return Some(format!("No amount is at least {from} and at most {to}."));
        }
        if self.amount_from.or(self.amount_to).is_some_and(|amount| amount.is_sign_negative() && !amount.is_zero()) {
            return Some("Amounts are compared without their sign: a bound is not negative.".to_owned());
        }
        if let (Some(from), Some(to)) = (self.due_from, self.due_to)
            && from > to
        {
            return Some(format!("No day is from {from} on and until {to}."));
        }
        None
    }

    /// Whether an exception is inside. One without a due date is outside of every range of due dates.
    pub fn holds(&self, seen: Seen<'_>) -> bool {
        let amount = seen.variance.amount.abs();
        let named = |list: &[String], name: &str| list.is_empty() || list.iter().any(|each| each == name);
        let due = |bound: Option<NaiveDate>, within: fn(NaiveDate, NaiveDate) -> bool| {
            bound.is_none_or(|bound| seen.due_on.is_some_and(|due| within(due, bound)))
        };
        named(&self.entities, seen.entity)
            && named(&self.counterparties, seen.counterparty)
            && named(&self.currencies, seen.variance.currency.code())
            && (self.kinds.is_empty() || self.kinds.contains(&seen.kind))
            && (self.tiers.is_empty() || self.tiers.contains(&seen.tier))
            && self.amount_from.is_none_or(|least| amount >= least)
            && self.amount_to.is_none_or(|most| amount <= most)
            && due(self.due_from, |due, bound| due >= bound)
            && due(self.due_to, |due, bound| due <= bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(amount: &str) -> Money {
        Money::parse(amount, "USD".parse().expect("a currency")).expect("an amount")
    }

    #[test]
    fn each_bound_holds_alone() {
        let day = |text: &str| text.parse::<NaiveDate>().expect("a date");
        let seen = Seen {
            entity: "DE01",
            kind: Kind::Receipt,
            tier: RoutingTier::Priority,
            counterparty: "Acme",
            variance: money("-12.50"),
            due_on: Some(day("2026-10-05")),
        };
        let holds = |change: &dyn Fn(&mut Focus)| {
            let mut focus = Focus::default();
            change(&mut focus);
            focus.holds(seen)
        };
        assert!(holds(&|_| ()));
        assert!(holds(&|focus| focus.entities = vec!["FR01".into(), "DE01".into()]));
        assert!(!holds(&|focus| focus.entities = vec!["FR01".into()]));
        assert!(holds(&|focus| focus.kinds = vec![Kind::Receipt]));
        assert!(!holds(&|focus| focus.kinds = vec![Kind::ReconBreak]));
        assert!(!holds(&|focus| focus.tiers = vec![RoutingTier::Standard]));
        assert!(!holds(&|focus| focus.counterparties = vec!["acme".into()]));
        assert!(!holds(&|focus| focus.currencies = vec!["EUR".into()]));
        assert!(holds(&|focus| focus.amount_from = Some(Decimal::new(125, 1))));
        assert!(!holds(&|focus| focus.amount_from = Some(Decimal::new(126, 1))));
        assert!(!holds(&|focus| focus.amount_to = Some(Decimal::new(124, 1))));
        assert!(holds(&|focus| focus.due_from = Some(day("2026-10-05"))));
        assert!(!holds(&|focus| focus.due_to = Some(day("2026-10-04"))));
        let undated = Seen { due_on: None, ..seen };
        assert!(!Focus { due_to: Some(day("2030-01-01")), ..Focus::default() }.holds(undated));
        assert!(Focus::default().holds(undated));
    }
}
