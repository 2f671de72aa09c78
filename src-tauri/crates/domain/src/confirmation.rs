//! What a reviewer is asked to think about, and to type, before a batch is signed.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::figure::taken;
use crate::money::{Currency, parse_decimal, with_digits};
use crate::review::reaches;
use crate::scoring::Route;
use crate::sign_off::{Decision, Outcome};
use crate::standing::{Standing, Subject, Used};
use crate::totals::Total;

/// What a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// More than one ledger entity.
    MixedEntities,
    /// A limit of the period is nearly used up.
    LimitNear,
    /// Nothing of the batch was opened.
    NothingOpened,
    /// Suggestions disagree with the decision.
    AgainstSuggestion,
    /// A lease has run out.
    LeaseGone,
}

/// Something to think about. It hinders nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// What it is about.
    pub about: About,
    /// In words.
    pub message: String,
}

/// A batch, as far as cautions look at it. The lists have the same order.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// What is decided.
    pub decision: Decision,
    /// The exceptions.
    pub subjects: &'a [Subject<'a>],
    /// What is foreseen of each.
    pub foreseen: &'a [Outcome],
    /// What was suggested of each.
    pub suggested: &'a [Route],
    /// How many were opened since they came.
    pub opened: usize,
    /// How many have a lease that ran out.
    pub lapsed: usize,
}

/// The cautions of a batch. `pending` is what was approved and not answered yet.
pub fn cautions(standing: &Standing, batch: Batch<'_>, pending: &[Used]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let mut say = |about, message: String| cautions.push(Caution { about, message });
    let entities: BTreeSet<&str> = batch.subjects.iter().map(|subject| subject.entity).collect();
    if entities.len() > 1 {
        let named: Vec<&str> = entities.iter().take(3).copied().collect();
        let more = if entities.len() > named.len() { " and others" } else { "" };
        say(About::MixedEntities, format!("{} ledger entities are mixed: {}{more}.", entities.len(), named.join(", ")));
    }
    for message in limits_near(standing, batch, pending) {
        say(About::LimitNear, message);
    }
    if batch.opened == 0 && !batch.subjects.is_empty() {
        say(About::NothingOpened, "None of these exceptions was opened since it came.".to_owned());
    }
    let escalated = batch.suggested.iter().filter(|route| **route == Route::Escalate).count();
    if batch.decision == Decision::Approve && escalated > 0 {
        let (are, them) = if escalated == 1 { ("is", "it") } else { ("are", "them") };
        say(
            About::AgainstSuggestion,
            format!("{escalated} {are} suggested for somebody senior, and you approve {them}."),
        );
    }
    if batch.lapsed > 0 {
        let (have, counts) =
            if batch.lapsed == 1 { ("has", "the decision counts") } else { ("have", "the decisions count") };
        let message = format!(
            "{} {have} a lease that lapsed: {counts} unless somebody else has it by now. Extend the leases to be sure.",
            batch.lapsed
        );
        say(About::LeaseGone, message);
    }
    cautions
}

/// Limits of which, after the batch, at least the policy's part is used.
fn limits_near(standing: &Standing, batch: Batch<'_>, pending: &[Used]) -> Vec<String> {
    if batch.decision != Decision::Approve {
        return Vec::new();
    }
    let mut added: BTreeMap<(String, Currency), Decimal> = BTreeMap::new();
    for (subject, _) in batch.subjects.iter().zip(batch.foreseen).filter(|(_, foreseen)| foreseen.accepted()) {
        let (period, _) = standing.period_of(subject.entity, subject.business_date);
        let taken = taken(subject.variance, subject.figure);
        let sum = added.entry((period, taken.currency)).or_default();
        *sum = sum.saturating_add(taken.amount.abs());
    }
    let mut messages = Vec::new();
    for ((period, currency), amount) in added {
        let Some(limit) = standing.limit_per_period(currency.code()).filter(|limit| !limit.is_zero()) else { continue };
        let of_this = |used: &&Used| used.period == period && used.currency == currency.code();
        let before = standing.used.iter().chain(pending).filter(of_this);
        let total = before.fold(amount, |sum, used| sum.saturating_add(used.approved));
        let Some(percent) = total.checked_mul(Decimal::ONE_HUNDRED).and_then(|total| total.checked_div(limit)) else {
            continue;
        };
        if !amount.is_zero() && percent >= Decimal::from(standing.policy.review.limit_near_percent) {
            messages.push(format!(
                "After this batch {} % of your limit of {} {currency} for {period} is used.",
                percent.floor().normalize(),
                limit.normalize(),
            ));
        }
    }
    messages
}

/// The currencies whose net the policy wants typed.
pub fn totals_to_type(standing: &Standing, totals: &BTreeMap<Currency, Total>) -> Vec<Currency> {
    let list = &standing.policy.review.type_total_from;
    let asked = |(currency, total): (&Currency, &Total)| {
        total.net().is_some_and(|net| reaches(list, currency.code(), net)).then_some(*currency)
    };
    totals.iter().filter_map(asked).collect()
}

/// Why typed totals do not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedWrong {
    /// One that policy asks for is not there.
    Missing(Currency),
    /// One is not the batch's.
    Mismatch {
        /// The currency, as it was named.
        currency: String,
        /// What was typed.
        typed: String,
        /// The net; `None` when the batch has nothing in this currency.
        net: Option<String>,
    },
}

/// Compares what was typed with the nets, exactly. Every one that was typed has to be right, also where none is asked for.
pub fn check_typed<'a>(
    standing: &Standing,
    totals: &BTreeMap<Currency, Total>,
    typed: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), TypedWrong> {
    let mut given = BTreeSet::new();
    for (code, text) in typed {
        let (currency, net) = totals
            .iter()
            .find(|(currency, _)| currency.code() == code)
            .map_or((None, None), |(currency, total)| (Some(*currency), total.net()));
        if net.is_none() || parse_decimal(text).ok() != net {
            let net = currency.zip(net).map(|(currency, net)| with_digits(net, currency));
            return Err(TypedWrong::Mismatch { currency: short(code), typed: short(text), net });
        }
        given.extend(currency);
    }
    match totals_to_type(standing, totals).into_iter().find(|currency| !given.contains(currency)) {
        Some(currency) => Err(TypedWrong::Missing(currency)),
        None => Ok(()),
    }
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::About::{AgainstSuggestion, LeaseGone, LimitNear, MixedEntities, NothingOpened};
    use super::*;
    use crate::exception::{Kind, RoutingTier};
    use crate::money::Money;
    use crate::policy::{CurrencyAmount, Policy};
    use crate::standing::Limit;
    use crate::totals::totals;

    fn money(amount: &str, code: &str) -> Money {
        Money::parse(amount, code.parse().expect("a currency")).expect("an amount")
    }

    fn standing() -> Standing {
        let mut policy = Policy::default();
        policy.review.type_total_from = vec![CurrencyAmount { currency: "*".into(), amount: 1_000.into() }];
        let limit = Limit { currency: "USD".into(), largest: None, per_period: Some(1_000.into()) };
        Standing {
            at: DateTime::UNIX_EPOCH,
            policy_version: 2,
            policy,
            names: Vec::new(),
            kinds: None,
            tiers: None,
            ledger_entities: None,
            limits: vec![limit],
            used: vec![used("500")],
            periods: Vec::new(),
            remediates: false,
        }
    }

    fn used(amount: &str) -> Used {
        Used { period: "2026-10".into(), currency: "USD".into(), approved: parse_decimal(amount).expect("a decimal") }
    }

    fn subject<'a>(entity: &'a str, amount: &str) -> Subject<'a> {
        Subject {
            kind: Kind::Receipt,
            tier: RoutingTier::Standard,
            entity,
            variance: money(amount, "USD"),
            figure: None,
            lacks_amount: false,
            business_date: "2026-10-05".parse().expect("a date"),
            prepared_by: &[],
            signatures: 0,
        }
    }

    #[test]
    fn each_caution_is_said_when_it_holds_and_not_otherwise() {
        let (one, other) = (subject("DE01", "-299.99"), subject("FR01", "0.01"));
        let both = [one.clone(), other];
        let calm = Batch {
            decision: Decision::Approve,
            subjects: std::slice::from_ref(&one),
            foreseen: &[Outcome::Committed],
            suggested: &[Route::RouteReview],
            opened: 1,
            lapsed: 0,
        };
        let mixed =
            Batch { subjects: &both, foreseen: &[Outcome::Committed; 2], suggested: &[Route::Escalate; 2], ..calm };
        let refused = Batch { foreseen: &[Outcome::Committed, Outcome::Preparer], ..mixed };
        let rejected = Batch { decision: Decision::Reject, ..mixed };
        for (batch, pending, expected) in [
            (calm, vec![], vec![]),
            (calm, vec![used("0.01")], vec![LimitNear]),
            (Batch { opened: 0, ..calm }, vec![], vec![NothingOpened]),
            (Batch { lapsed: 2, ..calm }, vec![], vec![LeaseGone]),
            (mixed, vec![], vec![MixedEntities, LimitNear, AgainstSuggestion]),
            (refused, vec![], vec![MixedEntities, AgainstSuggestion]),
            (rejected, vec![used("1")], vec![MixedEntities]),
        ] {
            let found: Vec<About> =
                cautions(&standing(), batch, &pending).iter().map(|caution| caution.about).collect();
            assert_eq!(found, expected);
        }
        let messages: Vec<String> =
            cautions(&standing(), mixed, &[]).into_iter().map(|caution| caution.message).collect();
        assert_eq!(messages[0], "2 ledger entities are mixed: DE01, FR01.");
        assert_eq!(messages[1], "After this batch 80 % of your limit of 1000 USD for 2026-10 is used.");
    }

    #[test]
    fn a_typed_total_is_compared_exactly() {
        let sums = totals([money("600.00", "USD"), money("400.00", "USD"), money("-7", "JPY")]).expect("small sums");
        let usd: Currency = "USD".parse().expect("a currency");
        assert_eq!(totals_to_type(&standing(), &sums), [usd]);
        let wrong = |currency: &str, typed: &str, net: Option<&str>| {
            Err(TypedWrong::Mismatch { currency: currency.into(), typed: typed.into(), net: net.map(str::to_owned) })
        };
        for (typed, expected) in [
            (vec![("USD", "1000.00")], Ok(())),
            (vec![("USD", "1000")], Ok(())),
            (vec![("USD", "1000.00"), ("JPY", "-7")], Ok(())),
            (vec![], Err(TypedWrong::Missing(usd))),
            (vec![("JPY", "-7")], Err(TypedWrong::Missing(usd))),
            (vec![("USD", "1000.01")], wrong("USD", "1000.01", Some("1000.00"))),
            (vec![("USD", "1,000.00")], wrong("USD", "1,000.00", Some("1000.00"))),
            (vec![("USD", "1000.00"), ("JPY", "7")], wrong("JPY", "7", Some("-7"))),
            (vec![("USD", "1000.00"), ("EUR", "0")], wrong("EUR", "0", None)),
            (vec![("USD", "")], wrong("USD", "", Some("1000.00"))),
        ] {
            assert_eq!(check_typed(&standing(), &sums, typed.clone()), expected, "{typed:?}");
        }
    }
}
