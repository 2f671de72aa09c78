//! What a selection adds up to.

use std::collections::BTreeSet;

use countersign_domain::id::{ContentHash, ExceptionId};
use countersign_domain::money::{Money, with_digits};
use countersign_domain::{hash, totals};
use countersign_engine::Engine;
use countersign_wire::{CommandError, CurrencyTotal, SelectionTotals};

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

/// Adds up by currency.
pub(super) fn currency_totals(amounts: impl IntoIterator<Item = Money>) -> Result<Vec<CurrencyTotal>, CommandError> {
    let sums = totals::totals(amounts).map_err(|currency| {
        error(
            "TOO_LARGE",
            format!("The selection's {currency} amounts are too large to be added up exactly; select fewer."),
        )
    })?;
    let totals = sums
        .into_iter()
        .map(|(currency, total)| CurrencyTotal {
            currency: currency.code().to_owned(),
            minor_units: currency.minor_units(),
            count: total.count,
            debits: with_digits(total.debits, currency),
            credits: with_digits(total.credits, currency),
            net: with_digits(total.net().unwrap_or_default(), currency),
            largest: with_digits(total.largest, currency),
        })
        .collect();
    Ok(totals)
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
