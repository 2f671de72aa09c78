//! Where a reviewer stands: what a workstation keeps to foresee, while it is offline, what the database will answer.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::exception::{Kind, RoutingTier};
use crate::figure::taken;
use crate::money::Money;
use crate::person;
use crate::policy::{ANY_CURRENCY, Policy};
use crate::sign_off::{Decision, Outcome};

/// What a reviewer may sign in one currency; `*` stands for every currency without a limit of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// ISO 4217, or `*`.
    pub currency: String,
    /// The most one exception may have.
    #[serde(with = "rust_decimal::serde::str_option")]
    pub largest: Option<Decimal>,
    /// The most that may be approved in one close period.
    #[serde(with = "rust_decimal::serde::str_option")]
    pub per_period: Option<Decimal>,
}

/// What was approved in one period and currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// The period's name.
    pub period: String,
    /// ISO 4217.
    pub currency: String,
    /// The sum of what was taken: absolute variances, or figures where they are larger or of another currency.
    #[serde(with = "rust_decimal::serde::str")]
    pub approved: Decimal,
}

/// Where a period is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PeriodState {
    /// Decisions are taken.
    Open,
    /// Decisions are taken, not for much longer.
    Closing,
    /// Nothing is signed in it.
    Closed,
}

/// A period of the close calendar.
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
    /// By when it is meant to close. It is shown and decides nothing.
    #[serde(default)]
    pub closes_at: Option<DateTime<Utc>>,
}

/// Policy, rights, limits and periods of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// When, by the database's clock.
    pub at: DateTime<Utc>,
    /// The policy's version.
    pub policy_version: u32,
    /// The policy.
    pub policy: Policy,
    /// The reviewer's names, in lower case.
    pub names: Vec<String>,
    /// The kinds they may sign; all, if there is no list.
    pub kinds: Option<Vec<Kind>>,
    /// The tiers.
    pub tiers: Option<Vec<RoutingTier>>,
    /// The ledger entities.
    pub ledger_entities: Option<Vec<String>>,
    /// Their limits.
    pub limits: Vec<Limit>,
    /// What they have used of them.
    pub used: Vec<Used>,
    /// The close calendar.
    pub periods: Vec<Period>,
    /// Whether they may work on dead letters.
    #[serde(default)]
    pub remediates: bool,
}

/// What is decided about, as far as the rules look at it.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// Where it comes from.
    pub kind: Kind,
    /// How urgent it is.
    pub tier: RoutingTier,
    /// The ledger entity.
    pub entity: &'a str,
    /// The variance.
    pub variance: Money,
    /// What an approval weighs beside the variance: its figure, or what was read of a receipt.
    pub figure: Option<Money>,
    /// An approval has to carry an amount that is not there.
    pub lacks_amount: bool,
    /// The day that says which period it belongs to.
    pub business_date: NaiveDate,
    /// Everyone who prepared it.
    pub prepared_by: &'a [String],
    /// How many have signed it before.
    pub signatures: u32,
}

impl Standing {
    /// Foresees the answer to each decision, in the order in which they will be sent. `pending` is what was approved and not answered
    /// yet, by period and currency: it counts against the limits too. What others do meanwhile cannot be foreseen.
    pub fn foresee(&self, decision: Decision, subjects: &[Subject<'_>], pending: &[Used]) -> Vec<Outcome> {
        let mut used: HashMap<(String, String), Decimal> = HashMap::new();
        for used_before in self.used.iter().chain(pending) {
            *used.entry((used_before.period.clone(), used_before.currency.clone())).or_default() +=
                used_before.approved;
        }
        subjects.iter().map(|subject| self.foresee_one(decision, subject, &mut used)).collect()
    }

    fn foresee_one(
        &self,
        decision: Decision,
        subject: &Subject<'_>,
        used: &mut HashMap<(String, String), Decimal>,
    ) -> Outcome {
        if subject.prepared_by.iter().any(|person| self.names.contains(&person::folded(person))) {
            return Outcome::Preparer;
        }
        let kind = self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&subject.kind));
        let tier = self.tiers.as_ref().is_none_or(|tiers| tiers.contains(&subject.tier));
        let entity = self.ledger_entities.as_ref();
        let entity = entity.is_none_or(|entities| entities.iter().any(|entity| entity == subject.entity));
        if !(kind && tier && entity) {
            return Outcome::NotEligible;
        }
        let figure = subject.figure.filter(|_| decision == Decision::Approve);
        let over = |money: Money| {
            let largest = self.limit(money.currency.code(), |limit| limit.largest);
            largest.is_some_and(|largest| money.amount.abs() > largest)
        };
        if over(subject.variance) {
            return Outcome::OverLimit;
        }
        if decision == Decision::Approve && subject.lacks_amount {
            return Outcome::FigureDiffers;
        }
        if figure.is_some_and(over) {
            return Outcome::OverLimit;
        }
        let (period, state) = self.period_of(subject.entity, subject.business_date);
        if state == PeriodState::Closed {
            return Outcome::PeriodClosed;
        }
        if decision == Decision::Approve {
            let taken = taken(subject.variance, figure);
            let (currency, amount) = (taken.currency.code(), taken.amount.abs());
            let spent = used.entry((period, currency.to_owned())).or_default();
            if self.limit(currency, |limit| limit.per_period).is_some_and(|most| *spent + amount > most)
                && !amount.is_zero()
            {
                return Outcome::OverLimit;
            }
            *spent += amount;
            let two =
                |money: Money| self.policy.needs_two(subject.kind, subject.tier, money.currency.code(), money.amount);
            if subject.signatures == 0 && (two(subject.variance) || figure.is_some_and(two)) {
                return Outcome::AwaitingSecond;
            }
        }
        Outcome::Committed
    }

    /// The period of a day at an entity, and where it is in its life. A day in no period is in the open one of its month.
    pub fn period_of(&self, entity: &str, day: NaiveDate) -> (String, PeriodState) {
        let holds = |period: &&Period| (period.first_day..=period.last_day).contains(&day);
        let of = |whose: &str| self.periods.iter().filter(|period| period.ledger_entity == whose).find(holds);
        of(entity).or_else(|| of(ANY_CURRENCY)).map_or_else(
            || (day.format("%Y-%m").to_string(), PeriodState::Open),
            |period| (period.name.clone(), period.state),
        )
    }

    /// The most that may be approved in one close period, in a currency.
    pub fn limit_per_period(&self, currency: &str) -> Option<Decimal> {
        self.limit(currency, |limit| limit.per_period)
    }

    fn limit(&self, currency: &str, which: impl Fn(&Limit) -> Option<Decimal>) -> Option<Decimal> {
        let of = |code: &str| self.limits.iter().filter(|limit| limit.currency == code).find_map(&which);
        of(currency).or_else(|| of(ANY_CURRENCY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FourEyesRule;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date that exists")
    }

    fn money(amount: &str, currency: &str) -> Money {
        Money::parse(amount, currency.parse().expect("a currency")).expect("an amount")
    }

    fn subject<'a>(amount: &str, prepared_by: &'a [String]) -> Subject<'a> {
        Subject {
            kind: Kind::ReconBreak,
            tier: RoutingTier::Standard,
            entity: "DE01",
            variance: money(amount, "USD"),
            figure: None,
            lacks_amount: false,
            business_date: day("2026-10-05"),
            prepared_by,
            signatures: 0,
        }
    }

    fn standing() -> Standing {
        let limit = |currency: &str, largest: &str, per_period: &str| Limit {
            currency: currency.to_owned(),
            largest: largest.parse().ok(),
            per_period: per_period.parse().ok(),
        };
        let period = |entity: &str, name: &str, state| Period {
            ledger_entity: entity.to_owned(),
            name: name.to_owned(),
            first_day: day("2026-10-01"),
            last_day: day("2026-10-31"),
            state,
            closes_at: None,
        };
        let rule = FourEyesRule { currency: "*".to_owned(), kind: None, tier: None, at_or_above: 50.into() };
        Standing {
            at: DateTime::UNIX_EPOCH,
            policy_version: 2,
            policy: Policy { four_eyes: vec![rule], ..Policy::default() },
            names: vec!["alice".to_owned(), "a.smith".to_owned()],
            kinds: None,
            tiers: Some(vec![RoutingTier::Standard]),
            ledger_entities: None,
            limits: vec![limit("USD", "80", "100.00"), limit("*", "1", "")],
            used: Vec::new(),
            periods: vec![period("*", "2026-10", PeriodState::Closing), period("FR01", "P10", PeriodState::Closed)],
            remediates: false,
        }
    }

    fn foreseen(change: impl FnOnce(&mut Subject<'_>)) -> Outcome {
        let mut one = subject("12.50", &[]);
        change(&mut one);
        standing().foresee(Decision::Approve, &[one], &[])[0]
    }

    #[test]
    fn each_rule_is_foreseen() {
        let prepared = ["A.Smith".to_owned()];
        assert_eq!(foreseen(|_| ()), Outcome::Committed);
        assert_eq!(standing().foresee(Decision::Approve, &[subject("1", &prepared)], &[]), [Outcome::Preparer]);
        assert_eq!(foreseen(|one| one.tier = RoutingTier::Priority), Outcome::NotEligible);
        assert_eq!(foreseen(|one| one.variance = money("-80.01", "USD")), Outcome::OverLimit);
        assert_eq!(foreseen(|one| one.variance = money("2", "EUR")), Outcome::OverLimit);
        assert_eq!(foreseen(|one| one.entity = "FR01"), Outcome::PeriodClosed);
        assert_eq!(foreseen(|one| one.variance = money("-50", "USD")), Outcome::AwaitingSecond);
        let second = |one: &mut Subject<'_>| (one.variance, one.signatures) = (money("-50", "USD"), 1);
        assert_eq!(foreseen(second), Outcome::Committed);
    }

    #[test]
    fn a_figure_counts_where_it_is_larger_or_of_another_currency_and_only_for_approvals() {
        let with = |amount: &str, currency: &str| {
            let figure = Some(money(amount, currency));
            foreseen(|one| one.figure = figure)
        };
        assert_eq!(with("12.49", "USD"), Outcome::Committed);
        assert_eq!(with("50", "USD"), Outcome::AwaitingSecond);
        assert_eq!(with("-80.01", "USD"), Outcome::OverLimit);
        assert_eq!(with("1", "EUR"), Outcome::Committed);
        assert_eq!(with("1.01", "EUR"), Outcome::OverLimit);
        let mut large = subject("12.50", &[]);
        large.figure = Some(money("80.01", "USD"));
        assert_eq!(standing().foresee(Decision::Reject, &[large], &[]), [Outcome::Committed]);
        // The variance is what two have to sign from 50 on, whatever a figure in another currency says.
        assert_eq!(
            foreseen(|one| (one.variance, one.figure) = (money("50", "USD"), Some(money("1", "EUR")))),
            Outcome::AwaitingSecond
        );
    }

    #[test]
    fn a_figure_takes_from_the_limit_of_its_own_currency() {
        let mut subjects = ["40", "40", "40"].map(|amount| subject(amount, &[]));
        subjects[0].figure = Some(money("45.01", "USD"));
        subjects[1].figure = Some(money("0.99", "EUR"));
        subjects[2].figure = Some(money("54.99", "USD"));
        let approve = standing().foresee(Decision::Approve, &subjects, &[]);
        assert_eq!(approve, [Outcome::Committed, Outcome::Committed, Outcome::AwaitingSecond]);
        subjects[2].figure = Some(money("55", "USD"));
        assert_eq!(standing().foresee(Decision::Approve, &subjects, &[])[2], Outcome::OverLimit);
    }

    #[test]
    fn what_does_not_fit_into_a_period_is_left_out_and_a_smaller_one_may_fit() {
        let amounts = ["60", "45", "40", "0.01"].map(|amount| subject(amount, &[]));
        let approve = standing().foresee(Decision::Approve, &amounts, &[]);
        assert_eq!(approve, [Outcome::AwaitingSecond, Outcome::OverLimit, Outcome::Committed, Outcome::OverLimit]);
        assert_eq!(standing().foresee(Decision::Reject, &amounts, &[]), [Outcome::Committed; 4]);
        let pending = [Used { period: "2026-10".to_owned(), currency: "USD".to_owned(), approved: Decimal::from(100) }];
        assert_eq!(standing().foresee(Decision::Approve, &amounts[2..3], &pending), [Outcome::OverLimit]);
    }

    #[test]
    fn a_day_without_a_calendar_is_in_the_open_period_of_its_month() {
        assert_eq!(standing().period_of("DE01", day("2027-01-31")), ("2027-01".to_owned(), PeriodState::Open));
    }
}
