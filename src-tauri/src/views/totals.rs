//! What a selection adds up to.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::confirmation::{self, TypedWrong};
use countersign_domain::id::{ContentHash, ExceptionId};
use countersign_domain::money::{Currency, Money, with_digits};
use countersign_domain::standing::Standing;
use countersign_domain::totals::Total;
use countersign_domain::{hash, totals};
use countersign_engine::Engine;
use countersign_wire::{CommandError, CurrencyTotal, SelectionTotals, TypedTotal};

use super::{count, error};

/// What is needed of the selected exceptions.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    missing: Vec<ExceptionId>,
    items: Vec<(String, ContentHash, Money)>,
    split: Vec<ExceptionId>,
    partitions: usize,
    with_partitions: usize,
}

/// Copies what is needed of the selected exceptions.
pub(crate) fn choose(engine: &Engine, ids: &[ExceptionId]) -> Chosen {
    let wanted: BTreeSet<ExceptionId> = ids.iter().copied().collect();
    let mut chosen = Chosen::default();
    let (mut grouped, mut partitions) = (Vec::new(), BTreeSet::new());
    for id in &wanted {
        let Some(item) = engine.deck_item(*id) else {
            chosen.missing.push(*id);
            continue;
        };
        chosen.items.push((item.key.clone(), item.content, item.variance));
        partitions.insert(&item.partition);
        if let Some(group) = &item.group {
            grouped.push((*id, (&item.partition, group)));
        }
    }
    chosen.partitions = partitions.len();
    chosen.with_partitions = engine.deck().filter(|(slot, _)| partitions.contains(&slot.item.partition)).count();
    if grouped.is_empty() {
        return chosen;
    }
    let left_out: BTreeSet<_> = engine
        .deck()
        .map(|(slot, _)| &slot.item)
        .filter(|item| !wanted.contains(&item.id))
        .filter_map(|item| item.group.as_ref().map(|group| (&item.partition, group)))
        .collect();
    chosen.split = grouped.into_iter().filter(|(_, group)| left_out.contains(group)).map(|(id, _)| id).collect();
    chosen
}

/// The sums of some amounts, by currency.
pub(super) fn sums(amounts: impl IntoIterator<Item = Money>) -> Result<BTreeMap<Currency, Total>, CommandError> {
    totals::totals(amounts).map_err(|currency| {
        error(
            "TOO_LARGE",
            format!("The selection's {currency} amounts are too large to be added up exactly; select fewer."),
        )
    })
}

/// Adds up by currency.
pub(crate) fn currency_totals(amounts: impl IntoIterator<Item = Money>) -> Result<Vec<CurrencyTotal>, CommandError> {
    Ok(sums(amounts)?.into_iter().map(|(currency, total)| currency_total(currency, &total)).collect())
}

fn currency_total(currency: Currency, total: &Total) -> CurrencyTotal {
    CurrencyTotal {
        currency: currency.code().to_owned(),
        minor_units: currency.minor_units(),
        count: total.count,
        debits: with_digits(total.debits, currency),
        credits: with_digits(total.credits, currency),
        net: with_digits(total.net().unwrap_or_default(), currency),
        largest: with_digits(total.largest, currency),
    }
}

/// Copies the amounts of groups of exceptions; those that are not in the deck any more are left out.
pub(crate) fn amounts(engine: &Engine, groups: &[Vec<ExceptionId>]) -> Vec<Vec<Money>> {
    let amount = |id: &ExceptionId| engine.deck_item(*id).map(|item| item.variance);
    groups.iter().map(|ids| ids.iter().filter_map(amount).collect()).collect()
}

/// Adds up each group.
pub(crate) fn subtotals(groups: Vec<Vec<Money>>) -> Result<Vec<Vec<CurrencyTotal>>, CommandError> {
    groups.into_iter().map(currency_totals).collect()
}

/// Compares the control totals that a reviewer typed with those of the selection.
pub(crate) fn check_typed(chosen: &Chosen, standing: &Standing, typed: &[TypedTotal]) -> Result<(), CommandError> {
    let totals = sums(chosen.items.iter().map(|(_, _, money)| *money))?;
    let typed = typed.iter().map(|total| (total.currency.as_str(), total.net.as_str()));
    confirmation::check_typed(standing, &totals, typed).map_err(|wrong| match wrong {
        TypedWrong::Missing(currency) => error(
            "TOTAL_MISSING",
            format!("Policy asks for the control total in {currency}, and none was typed. Nothing was signed; type it."),
        ),
        TypedWrong::Mismatch { currency, typed, net: Some(net) } => error(
            "TOTAL_MISMATCH",
            format!("You typed {typed} {currency}; the net of the batch is {net} {currency}. Nothing was signed; compare the list with your own total."),
        ),
        TypedWrong::Mismatch { currency, typed, net: None } => error(
            "TOTAL_MISMATCH",
            format!("You typed {typed} {currency}, and nothing of the batch is in {currency}. Nothing was signed."),
        ),
    })
}

/// Adds up a selection.
pub(crate) fn totals(chosen: Chosen) -> Result<SelectionTotals, CommandError> {
    let hash_total = hash::hash_total(chosen.items.iter().map(|(key, content, _)| (key.as_str(), *content)));
    let totals = currency_totals(chosen.items.iter().map(|(_, _, money)| *money))?;
    let names = |ids: Vec<ExceptionId>| ids.iter().map(ToString::to_string).collect();
    Ok(SelectionTotals {
        count: count(chosen.items.len()),
        missing: names(chosen.missing),
        totals,
        partitions: count(chosen.partitions),
        with_partitions: count(chosen.with_partitions),
        split_groups: names(chosen.split),
        hash_total: hash_total.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use countersign_domain::policy::CurrencyAmount;

    use super::super::samples::{item, standing};
    use super::*;

    #[test]
    fn a_typed_total_that_is_missing_or_wrong_is_named_with_both_values() {
        let chosen = Chosen {
            items: [item(1, "600.00", "bob"), item(2, "-0.50", "bob")]
                .map(|item| (item.key, item.content, item.variance))
                .to_vec(),
            ..Chosen::default()
        };
        let mut standing = standing();
        standing.policy.review.type_total_from = vec![CurrencyAmount { currency: "*".into(), amount: 500.into() }];
        let typed = |net: &str| vec![TypedTotal { currency: "EUR".into(), net: net.into() }];
        assert_eq!(check_typed(&chosen, &standing, &typed("599.5")), Ok(()));
        let missing = check_typed(&chosen, &standing, &[]).expect_err("nothing was typed");
        assert_eq!(missing.code, "TOTAL_MISSING");
        let wrong = check_typed(&chosen, &standing, &typed("600.00")).expect_err("the wrong total");
        assert_eq!(wrong.code, "TOTAL_MISMATCH");
        assert!(
            wrong.message.starts_with("You typed 600.00 EUR; the net of the batch is 599.50 EUR."),
            "{}",
            wrong.message
        );
    }
}
