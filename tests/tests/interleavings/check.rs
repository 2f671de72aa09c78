//! The rules, a second time: each says what breaks it.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::exception::{Kind, RoutingTier};
use countersign_tests::chain;
use rust_decimal::Decimal;

use crate::facts::{self, Facts, Item, Signed};
use crate::world::World;

pub(crate) async fn check(world: &World) -> anyhow::Result<Vec<String>> {
    let owner = &world.office.installation.owner;
    let facts = facts::read(owner).await?;
    let mut broken = chain::audit(owner).await?.defects;
    let judge = Judge { facts: &facts, people: &world.people };
    broken.extend(judge.two_pairs_of_eyes());
    broken.extend(judge.no_preparer());
    broken.extend(judge.single_limits());
    broken.extend(judge.sums());
    broken.extend(judge.closed_periods());
    broken.extend(judge.effects());
    broken.extend(judge.receipts());
    Ok(broken)
}

struct Judge<'a> {
    facts: &'a Facts,
    people: &'a [Vec<String>],
}

impl Judge<'_> {
    fn person(&self, login: &str) -> &[String] {
        let login = login.to_lowercase();
        self.people.iter().find(|names| names.contains(&login)).map_or(&[], Vec::as_slice)
    }

    fn item(&self, signed: &Signed) -> &Item {
        &self.facts.items[&signed.exception]
    }

    /// Whether the policy in force when this was signed asks for two.
    fn needs_two(&self, signed: &Signed) -> bool {
        let versions = &self.item(signed).versions;
        let version = versions.iter().find(|version| version.number == signed.version);
        let read = version
            .and_then(|version| Some((version.kind.parse::<Kind>().ok()?, version.tier.parse::<RoutingTier>().ok()?)));
        read.is_none_or(|(kind, tier)| {
            self.facts.policies[&signed.in_force].needs_two(kind, tier, &signed.currency, signed.amount)
        })
    }

    /// What takes effect on an approval was approved by two different people on that very version, or did not need it when the one
    /// who decided signed.
    fn two_pairs_of_eyes(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut by_version: BTreeMap<(i64, i32), Vec<&Signed>> = BTreeMap::new();
        for signed in &self.facts.signed {
            by_version.entry((signed.exception, signed.version)).or_default().push(signed);
        }
        for ((exception, version), signed) in &by_version {
            let (first, decided): (Vec<&Signed>, Vec<&Signed>) =
                signed.iter().partition(|one| one.outcome == "AWAITING_SECOND");
            if first.len() > 1 || decided.len() > 1 {
                broken.push(format!(
                    "{exception} v{version}: {} first approvals, {} decisions",
                    first.len(),
                    decided.len()
                ));
            }
            for one in &first {
                if one.decision != "APPROVE" || !self.needs_two(one) {
                    broken.push(format!("{exception} v{version}: waits for a second it does not need: {one:?}"));
                }
            }
            for one in decided.iter().filter(|one| one.decision == "APPROVE") {
                match first.first() {
                    Some(first) if self.person(&first.reviewer) == self.person(&one.reviewer) => {
                        broken.push(format!("{exception} v{version}: one person twice: {first:?} {one:?}"));
                    }
                    None if self.needs_two(one) => {
                        broken.push(format!("{exception} v{version}: one approver is not enough: {one:?}"));
                    }
                    _ => {}
                }
            }
        }
        for (id, item) in &self.facts.items {
            let last = item.versions.last().map_or(0, |version| version.number);
            let waits = self
                .facts
                .signed
                .iter()
                .any(|one| one.exception == *id && one.version == last && one.outcome == "AWAITING_SECOND");
            if item.state == "PENDING" && waits != item.first_by.is_some() {
                broken.push(format!("{id}: the first approval of v{last} is {waits}, and kept as {:?}", item.first_by));
            }
        }
        broken
    }

    /// Nobody signed what they prepared a version of, nor one of a group of which they prepared something undecided, nor the
    /// reversal of what they signed.
    fn no_preparer(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for signed in &self.facts.signed {
            let (person, item) = (self.person(&signed.reviewer), self.item(signed));
            let prepared = |item: &Item, upto: i64| {
                item.versions
                    .iter()
                    .filter(|version| version.at <= upto)
                    .any(|version| person.iter().any(|name| version.prepared_by.contains(name)))
            };
            if prepared(item, signed.at) {
                broken.push(format!("prepared by the one who signed: {signed:?}"));
            }
            let group = self.facts.items.values().filter(|other| {
                other.id != item.id
                    && other.partition == item.partition
                    && item.group.is_some()
                    && other.group == item.group
            });
            for other in group {
                let decided_before = self.facts.signed.iter().any(|one| {
                    one.exception == other.id
                        && one.outcome != "AWAITING_SECOND"
                        && (one.chain_seq < signed.chain_seq || one.receipt == signed.receipt)
                });
                if !decided_before && prepared(other, signed.at) {
                    broken
                        .push(format!("{} of the same group was prepared by the one who signed: {signed:?}", other.id));
                }
            }
            let of_original = self.facts.signed.iter().filter(|one| Some(one.exception) == item.reverses);
            for one in of_original {
                if self.person(&one.reviewer) == person {
                    broken.push(format!("the reversal of one's own: {one:?} {signed:?}"));
                }
            }
        }
        broken
    }

    /// The limit in force when something was signed. Which one the database read is not known to the microsecond: the last ones set
    /// before are looked at, and the most generous of them counts.
    fn limit(&self, signed: &Signed, which: impl Fn(&facts::LimitSet) -> Decimal) -> Decimal {
        const UNSURE: usize = 3;
        let of = |code: &str| {
            let set = self
                .facts
                .limits
                .iter()
                .rev()
                .filter(|set| set.login == signed.reviewer && set.currency == code && set.at < signed.at);
            set.take(UNSURE).map(&which).max()
        };
        of(&signed.currency).or_else(|| of("*")).unwrap_or(Decimal::MAX)
    }

    fn single_limits(&self) -> Vec<String> {
        let over = |signed: &&Signed| signed.amount.abs() > self.limit(signed, |set| set.largest);
        self.facts.signed.iter().filter(over).map(|signed| format!("over the largest amount: {signed:?}")).collect()
    }

    /// What adds up is within the limit after every step, and what is kept as used is what was approved and did not lapse.
    fn sums(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut sums: BTreeMap<(String, String, String), Vec<&Signed>> = BTreeMap::new();
        for signed in self.facts.signed.iter().filter(|signed| signed.decision == "APPROVE") {
            sums.entry((signed.reviewer.clone(), signed.period.clone(), signed.currency.clone()))
                .or_default()
                .push(signed);
        }
        for ((reviewer, period, currency), approvals) in &sums {
            for (place, signed) in approvals.iter().enumerate() {
                let sum: Decimal = approvals[..=place]
                    .iter()
                    .filter(|one| !self.lapsed_by(one, signed.at))
                    .map(|one| one.amount.abs())
                    .sum();
                let most = self.limit(signed, |set| set.per_period);
                if sum > most {
                    broken.push(format!("{reviewer} approved {sum} of {most} in {period}: {signed:?}"));
                }
            }
            let total: Decimal =
                approvals.iter().filter(|one| !self.lapsed_by(one, i64::MAX)).map(|one| one.amount.abs()).sum();
            let kept = self
                .facts
                .used
                .iter()
                .find(|used| used.reviewer == *reviewer && used.period == *period && used.currency == *currency);
            let kept = kept.map_or(Decimal::ZERO, |used| used.approved);
            if kept != total {
                broken.push(format!("{reviewer} approved {total} in {period} {currency}, and {kept} is kept"));
            }
        }
        for used in &self.facts.used {
            if !used.approved.is_zero()
                && !sums.contains_key(&(used.reviewer.clone(), used.period.clone(), used.currency.clone()))
            {
                broken.push(format!("nothing was approved for {used:?}"));
            }
        }
        broken
    }

    /// Whether a first approval had lapsed at an instant, because its version was corrected before anybody decided.
    fn lapsed_by(&self, signed: &Signed, at: i64) -> bool {
        signed.outcome == "AWAITING_SECOND"
            && self.item(signed).versions.iter().any(|version| version.number > signed.version && version.at < at)
    }

    fn closed_periods(&self) -> Vec<String> {
        let closed_at = |signed: &&Signed| {
            let moves = self.facts.moved.iter();
            let last = moves.rev().find(|moved| moved.period == signed.period && moved.at < signed.at);
            last.is_some_and(|moved| moved.to == "closed")
        };
        let closed = self.facts.signed.iter().filter(closed_at);
        let mut broken: Vec<String> = closed.map(|signed| format!("signed in a closed period: {signed:?}")).collect();
        // It could not be closed while something in it was held, and nothing was signed in it since.
        for item in self.facts.items.values().filter(|item| matches!(item.state.as_str(), "APPROVED" | "REJECTED")) {
            let decided = self.facts.signed.iter().rfind(|signed| signed.exception == item.id);
            let moved =
                self.facts.moved.iter().rfind(|moved| decided.is_some_and(|signed| signed.period == moved.period));
            if moved.is_some_and(|moved| moved.to == "closed") {
                broken.push(format!("{} is held in a closed period", item.id));
            }
        }
        broken
    }

    /// One effect at most, exactly one of what is resolved, in the order of the partition, with nothing undecided before it.
    fn effects(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut partitions: BTreeMap<&str, BTreeMap<i64, &Item>> = BTreeMap::new();
        for item in self.facts.items.values() {
            partitions.entry(&item.partition).or_default().insert(item.seq, item);
            if item.effects.len() != usize::from(item.state == "RESOLVED") {
                broken.push(format!("{} is {} with effects {:?}", item.id, item.state, item.effects));
            }
        }
        for (partition, items) in &partitions {
            let effects: Vec<i64> = items.values().flat_map(|item| item.effects.iter().copied()).collect();
            if effects.windows(2).any(|pair| pair[0] >= pair[1]) {
                broken.push(format!("{partition}: effects out of order: {effects:?}"));
            }
            let resolved = items.values().take_while(|item| item.state == "RESOLVED").count();
            let held_up = items.values().nth(resolved).is_none_or(|item| item.state == "PENDING");
            if resolved != effects.len() || !held_up {
                broken.push(format!(
                    "{partition}: {resolved} resolved in a row, {} effects, and the next waits for nothing: {}",
                    effects.len(),
                    !held_up
                ));
            }
        }
        let numbers: Vec<i64> = self.facts.items.values().flat_map(|item| item.effects.iter().copied()).collect();
        if numbers.iter().collect::<BTreeSet<_>>().len() != numbers.len() {
            broken.push("an effect has the number of another one".to_owned());
        }
        broken
    }

    fn receipts(&self) -> Vec<String> {
        let of = |receipt: i64| self.facts.signed.iter().filter(|signed| signed.receipt == receipt).count();
        let wrong = self.facts.receipts.iter().filter(|receipt| of(receipt.receipt) != receipt.committed);
        wrong.map(|receipt| format!("{receipt:?} covers {} decisions", of(receipt.receipt))).collect()
    }
}
