//! An exception at a glance: how old it is, what policy makes of it, what keeps it back, and the one state its row shows.

use std::collections::HashMap;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

use crate::exception::{Kind, RoutingTier};
use crate::id::Seq;
use crate::money::Money;
use crate::policy::{Policy, ReviewRules};

/// A lease that ends sooner than this is said to be running out, in milliseconds.
pub const LEASE_SHORT_MS: u64 = 120_000;

/// How old an exception is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aging {
    /// Up to 30 days.
    UpTo30,
    /// 31 to 60 days.
    UpTo60,
    /// 61 to 90 days.
    UpTo90,
    /// More than 90 days.
    Over90,
}

impl Aging {
    /// The bucket of an age in whole days.
    pub fn of(days: u32) -> Self {
        match days {
            0..=30 => Self::UpTo30,
            31..=60 => Self::UpTo60,
            61..=90 => Self::UpTo90,
            _ => Self::Over90,
        }
    }
}

/// Whole days between two instants; 0 when a clock is behind.
pub fn age_days(submitted: DateTime<Utc>, now: DateTime<Utc>) -> u32 {
    u32::try_from((now - submitted).num_days()).unwrap_or(0)
}

/// What policy makes of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// The variance is zero after half-up rounding to the currency's minor units.
    ZeroVariance,
    /// The variance is not zero, and below the currency's materiality.
    BelowMateriality,
    /// The variance is above the threshold of large ones, in whatever tier.
    Large,
    /// Two people have to approve it; the first may have done so.
    NeedsSecond,
    /// It was decided here before and came back.
    Returned,
}

/// What the traits are made of.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Where it comes from.
    pub kind: Kind,
    /// How urgent it is.
    pub tier: RoutingTier,
    /// The variance.
    pub variance: Money,
    /// How many have signed it.
    pub signatures: u32,
    /// It came back.
    pub returned: bool,
}

/// The traits of an exception. Before a policy is known only those that need none are said.
pub fn traits(policy: Option<&Policy>, seen: Seen) -> Vec<Trait> {
    let size = seen.variance.rounded().abs();
    let currency = seen.variance.currency.code();
    let below = |policy: &Policy| {
        ReviewRules::amount_of(&policy.review.materiality, currency).is_some_and(|material| size < material)
    };
    let two = |policy: &Policy| policy.needs_two(seen.kind, seen.tier, currency, seen.variance.amount);
    [
        (Trait::ZeroVariance, size.is_zero()),
        (Trait::BelowMateriality, !size.is_zero() && policy.is_some_and(below)),
        (Trait::Large, policy.is_some_and(|policy| size > policy.scoring.escalate_above)),
        (Trait::NeedsSecond, seen.signatures > 0 || policy.is_some_and(two)),
        (Trait::Returned, seen.returned),
    ]
    .into_iter()
    .filter_map(|(named, holds)| holds.then_some(named))
    .collect()
}

/// For each place in a partition, the index of the nearest earlier one of the same partition among those given. Effects follow
/// the order of a partition, so that this is what keeps the effect back, as far as it is known here.
pub fn behind<P: Hash + Eq>(places: &[(P, Seq)]) -> Vec<Option<usize>> {
    let mut partitions: HashMap<&P, Vec<usize>> = HashMap::new();
    for (index, (partition, _)) in places.iter().enumerate() {
        partitions.entry(partition).or_default().push(index);
    }
    let mut behind = vec![None; places.len()];
    for members in partitions.values_mut() {
        members.sort_unstable_by_key(|index| places[*index].1);
        for pair in members.windows(2) {
            behind[pair[1]] = Some(pair[0]);
        }
    }
    behind
}

/// How urgent a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// Nothing to do.
    Calm,
    /// Good to know.
    Info,
    /// Soon to be looked at.
    Warning,
    /// Cannot be signed, or was refused.
    Bad,
}

/// What a row's state is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Circumstances<'a> {
    /// Until the lease lapses.
    pub lease_ends_in_ms: u64,
    /// Why it came back.
    pub note: Option<&'a str>,
    /// The refusal that is foreseen, in a few words and in full.
    pub refusal: Option<(&'a str, &'a str)>,
    /// How many have signed it.
    pub signatures: u32,
    /// The place of the undecided exception before it.
    pub behind: Option<Seq>,
    /// The key of the exception that it reverses.
    pub reverses: Option<&'a str>,
}

/// The state of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowState {
    /// The most important, in a few words; empty with nothing to say.
    pub label: String,
    /// All of it, the most important first.
    pub explanation: String,
    /// How urgent the most important is.
    pub tone: Tone,
}

/// What to say of a row: a lease that is gone comes first, then what came back, what will be refused, a lease that is running
/// out, a first signature, an earlier item, a reversal.
pub fn row_state(at: Circumstances<'_>) -> RowState {
    let mut said: Vec<(String, String, Tone)> = Vec::new();
    let mut say = |label: &str, explanation: String, tone| said.push((label.to_owned(), explanation, tone));
    if at.lease_ends_in_ms == 0 {
        let explanation = "Its lease has lapsed. A decision still counts unless somebody else has it by now; extend the lease to be sure.";
        say("Lease lapsed", explanation.to_owned(), Tone::Warning);
    }
    if let Some(note) = at.note {
        say("Came back", sentence(note), Tone::Bad);
    }
    if let Some((label, explanation)) = at.refusal {
        say(label, sentence(explanation), Tone::Bad);
    }
    if (1..LEASE_SHORT_MS).contains(&at.lease_ends_in_ms) {
        say(
            "Lease ends soon",
            "Its lease runs out within two minutes: sign it or extend the lease.".to_owned(),
            Tone::Warning,
        );
    }
    if at.signatures > 0 {
        let explanation = "It takes effect with a second signature. Decide it for yourself.";
        say(&format!("{} of 2 signed", at.signatures), explanation.to_owned(), Tone::Info);
    }
    if let Some(Seq(seq)) = at.behind {
        let explanation =
            format!("Its effect waits until number {seq} of its partition, which is undecided, is decided.");
        say(&format!("Behind no. {seq}"), explanation, Tone::Info);
    }
    if let Some(key) = at.reverses {
        say("Reversal", format!("It undoes the exception with the key {key}."), Tone::Info);
    }
    let explanation = said.iter().map(|(_, explanation, _)| explanation.as_str()).collect::<Vec<_>>().join(" ");
    match said.into_iter().next() {
        Some((label, _, tone)) => RowState { label, explanation, tone },
        None => RowState { label: String::new(), explanation, tone: Tone::Calm },
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Whether the absolute amount reaches what the list says for its currency.
pub fn reaches(list: &[crate::policy::CurrencyAmount], currency: &str, amount: Decimal) -> bool {
    ReviewRules::amount_of(list, currency).is_some_and(|from| amount.abs() >= from)
}

#[cfg(test)]
mod tests {
    use super::Trait::{BelowMateriality, Large, NeedsSecond, Returned, ZeroVariance};
    use super::*;
    use crate::policy::{CurrencyAmount, FourEyesRule};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("an instant")
    }

    #[test]
    fn days_are_whole_and_fall_into_their_buckets() {
        let now = at("2026-10-05T12:00:00Z");
        for (submitted, days, aging) in [
            ("2026-10-06T00:00:00Z", 0, Aging::UpTo30),
            ("2026-10-04T12:00:01Z", 0, Aging::UpTo30),
            ("2026-10-04T12:00:00Z", 1, Aging::UpTo30),
            ("2026-09-05T12:00:00Z", 30, Aging::UpTo30),
            ("2026-09-04T12:00:00Z", 31, Aging::UpTo60),
            ("2026-08-05T12:00:00Z", 61, Aging::UpTo90),
            ("2026-07-07T12:00:00Z", 90, Aging::UpTo90),
            ("2026-07-06T12:00:00Z", 91, Aging::Over90),
        ] {
            let age = age_days(at(submitted), now);
            assert_eq!((age, Aging::of(age)), (days, aging), "{submitted}");
        }
    }

    fn policy() -> Policy {
        let amount = |currency: &str, amount: i64| CurrencyAmount { currency: currency.into(), amount: amount.into() };
        let rule = FourEyesRule { currency: "*".into(), kind: None, tier: None, at_or_above: 60_000.into() };
        let mut policy = Policy { four_eyes: vec![rule], ..Policy::default() };
        policy.review.materiality = vec![amount("*", 1_000), amount("JPY", 100_000)];
        policy
    }

    #[test]
    fn traits_follow_the_policy_of_the_currency() {
        let named = |amount: &str, code: &str, signatures, returned| {
            let variance =
                Money { amount: amount.parse().expect("a decimal"), currency: code.parse().expect("a currency") };
            let seen = Seen { kind: Kind::Receipt, tier: RoutingTier::Priority, variance, signatures, returned };
            (traits(Some(&policy()), seen), traits(None, seen))
        };
        for (amount, code, signatures, returned, expected, without) in [
            ("0.00", "USD", 0, false, vec![ZeroVariance], vec![ZeroVariance]),
            ("0.004", "USD", 0, true, vec![ZeroVariance, Returned], vec![ZeroVariance, Returned]),
            ("-0.005", "USD", 0, false, vec![BelowMateriality], vec![]),
            ("-999.99", "USD", 0, false, vec![BelowMateriality], vec![]),
            ("1000.00", "USD", 0, false, vec![], vec![]),
            ("99999", "JPY", 0, false, vec![BelowMateriality, Large, NeedsSecond], vec![]),
            ("50000.00", "EUR", 0, false, vec![], vec![]),
            ("-50000.01", "EUR", 1, false, vec![Large, NeedsSecond], vec![NeedsSecond]),
        ] {
            assert_eq!(named(amount, code, signatures, returned), (expected, without), "{amount} {code}");
        }
    }

    #[test]
    fn each_is_behind_the_nearest_earlier_one_of_its_partition_whatever_their_order() {
        let places = [("a", 7), ("b", 1), ("a", 3), ("a", 9), ("b", 2)].map(|(partition, seq)| (partition, Seq(seq)));
        assert_eq!(behind(&places), [Some(2), None, None, Some(0), Some(1)]);
    }

    #[test]
    fn the_most_important_is_the_label_and_all_of_it_the_explanation() {
        let all = Circumstances {
            lease_ends_in_ms: 0,
            note: Some("It changed upstream"),
            refusal: Some(("Period closed", "Its close period is closed.")),
            signatures: 1,
            behind: Some(Seq(12)),
            reverses: Some("k"),
        };
        let good = Circumstances { lease_ends_in_ms: LEASE_SHORT_MS, ..Circumstances::default() };
        for (circumstances, label, tone) in [
            (all, "Lease lapsed", Tone::Warning),
            (Circumstances { lease_ends_in_ms: 1, ..all }, "Came back", Tone::Bad),
            (Circumstances { lease_ends_in_ms: 1, note: None, ..all }, "Period closed", Tone::Bad),
            (
                Circumstances { lease_ends_in_ms: 119_999, note: None, refusal: None, ..all },
                "Lease ends soon",
                Tone::Warning,
            ),
            (Circumstances { signatures: 1, behind: Some(Seq(12)), ..good }, "1 of 2 signed", Tone::Info),
            (Circumstances { behind: Some(Seq(12)), reverses: Some("k"), ..good }, "Behind no. 12", Tone::Info),
            (Circumstances { reverses: Some("k"), ..good }, "Reversal", Tone::Info),
            (good, "", Tone::Calm),
        ] {
            let state = row_state(circumstances);
            assert_eq!((state.label.as_str(), state.tone), (label, tone));
            assert!(state.label.chars().count() <= 16, "{label}");
        }
        let told = row_state(all).explanation;
        let order = ["has lapsed", "changed upstream.", "period is closed", "second signature", "number 12", "key k"];
        let found: Vec<_> = order.iter().map(|part| told.find(part)).collect();
        assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{told}");
    }
}
