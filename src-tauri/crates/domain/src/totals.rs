//! Control totals: exact sums, by currency, never across currencies.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::money::{Currency, Money};

/// The totals of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    /// How many amounts.
    pub count: u32,
    /// The sum of the positive ones.
    pub debits: Decimal,
    /// The sum of the negative ones.
    pub credits: Decimal,
    /// The largest absolute one.
    pub largest: Decimal,
}

impl Total {
    /// Debits plus credits; `None` when it cannot be held exactly.
    pub fn net(&self) -> Option<Decimal> {
        self.debits.checked_add(self.credits)
    }
}

/// Adds up; `Err` names the currency whose sum cannot be held exactly.
pub fn totals(amounts: impl IntoIterator<Item = Money>) -> Result<BTreeMap<Currency, Total>, Currency> {
    let mut totals: BTreeMap<Currency, Total> = BTreeMap::new();
    for money in amounts {
        let total = totals.entry(money.currency).or_default();
        let side = if money.amount.is_sign_negative() { &mut total.credits } else { &mut total.debits };
        *side = side.checked_add(money.amount).ok_or(money.currency)?;
        total.count += 1;
        total.largest = total.largest.max(money.amount.abs());
        total.net().ok_or(money.currency)?;
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_are_never_added_together() {
        let money = |amount: &str, code: &str| {
            Money::parse(amount, code.parse().expect("an active currency")).expect("a fitting amount")
        };
        let sums = totals([money("1.10", "USD"), money("-0.30", "USD"), money("5", "JPY")]).expect("small sums");
        assert_eq!(sums.len(), 2);
        let usd = sums[&"USD".parse().expect("an active currency")];
        assert_eq!((usd.count, usd.debits.to_string(), usd.credits.to_string()), (2, "1.10".into(), "-0.30".into()));
        assert_eq!(usd.net().map(|net| net.to_string()), Some("0.80".into()));
        assert_eq!(usd.largest.to_string(), "1.10");
    }

    #[test]
    fn a_sum_that_cannot_be_exact_is_an_error_and_not_a_panic() {
        let usd = "JPY".parse().expect("an active currency");
        let large = Money { amount: Decimal::MAX, currency: usd };
        assert_eq!(totals([large, large]), Err(usd));
    }
}
