//! Corrected amounts, as the reviewer typed them.

use std::collections::BTreeMap;

use countersign_domain::id::ExceptionId;
use countersign_domain::money::{Currency, Money};
use countersign_wire::{CommandError, Figure};

use super::error;

/// The most corrected amounts of one batch.
const FIGURES: usize = 5_000;

/// Reads each as an amount that its currency has.
pub(crate) fn figures(figures: &[Figure]) -> Result<BTreeMap<ExceptionId, Money>, CommandError> {
    if figures.len() > FIGURES {
        let message = format!("{} corrected amounts are given; at most {FIGURES} can be.", figures.len());
        return Err(error("TOO_MANY", message));
    }
    let mut read = BTreeMap::new();
    for figure in figures {
        let id: ExceptionId = figure.id.parse().map_err(|_| unreadable(figure, "it names no exception"))?;
        let currency: Currency = figure
            .currency
            .trim()
            .parse()
            .map_err(|why: countersign_domain::money::MoneyError| unreadable(figure, &why.to_string()))?;
        let money = Money::parse(figure.amount.trim(), currency).map_err(|why| unreadable(figure, &why.to_string()))?;
        if read.insert(id, money).is_some() {
            return Err(unreadable(figure, "it is given twice"));
        }
    }
    Ok(read)
}

/// Those that can be taken: what is foreseen while one is typed goes by the rest, and signing says what is wrong with it.
pub(crate) fn figures_that_read(given: &[Figure]) -> BTreeMap<ExceptionId, Money> {
    let each = given.iter().take(FIGURES).filter_map(|figure| figures(std::slice::from_ref(figure)).ok());
    each.flatten().filter(|(_, money)| money.amount.is_sign_positive() && !money.amount.is_zero()).collect()
}

fn unreadable(figure: &Figure, why: &str) -> CommandError {
    let id: String = figure.id.chars().take(40).collect();
    let message =
        format!("The corrected amount of exception {id} cannot be taken: {why}. Nothing was signed; enter it again.");
    error("FIGURE_UNREADABLE", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(id: &str, amount: &str, currency: &str) -> Figure {
        Figure { id: id.into(), amount: amount.into(), currency: currency.into() }
    }

    #[test]
    fn a_corrected_amount_is_one_that_its_currency_has() {
        let read = figures(&[figure("7", " 26.4 ", "EUR"), figure("9", "5", "JPY")]).expect("good amounts");
        let told: Vec<String> =
            read.iter().map(|(id, money)| format!("{id} {} {}", money.text(), money.currency)).collect();
        assert_eq!(told, ["7 26.40 EUR", "9 5 JPY"]);
        for (wrong, why) in [
            (vec![figure("x", "1", "EUR")], "names no exception"),
            (vec![figure("7", "1", "EURO")], "not an ISO 4217 currency"),
            (vec![figure("7", "26,42", "EUR")], "not a plain decimal"),
            (vec![figure("7", "5.5", "JPY")], "1 decimal places, JPY has 0"),
            (vec![figure("7", "1", "EUR"), figure("7", "2", "EUR")], "given twice"),
        ] {
            let refused = figures(&wrong).expect_err("it cannot be taken");
            assert_eq!(refused.code, "FIGURE_UNREADABLE");
            assert!(
                refused.message.contains(why) && refused.message.contains("Nothing was signed"),
                "{}",
                refused.message
            );
        }
        let typed =
            [figure("7", "26,42", "EUR"), figure("8", "0", "EUR"), figure("9", "-1", "EUR"), figure("10", "5", "EUR")];
        assert_eq!(figures_that_read(&typed).into_keys().collect::<Vec<_>>(), [ExceptionId(10)]);
        assert_eq!(figures(&vec![figure("7", "1", "EUR"); FIGURES + 1]).expect_err("too many").code, "TOO_MANY");
    }
}
