//! What deciding about a sales claim does, in words.

use super::accrual::{Accrual, Basis, Rated, accrual, decimal, rated};
use crate::exception::Content;
use crate::figure::{Outlook, grouped};
use crate::money::with_digits;

pub(super) fn outlook(content: &Content) -> Outlook {
    let claimed = said_of_the_claim(content);
    let Some(Accrual { amount: figure, basis }) = accrual(content) else {
        return Outlook { rejecting: claimed, ..Outlook::default() };
    };
    let (amount, currency) = (grouped(&figure.text()), figure.currency);
    let version = content.payload.json.get("agreement_version").and_then(serde_json::Value::as_u64);
    let by = version.map_or_else(|| "by its agreement".to_owned(), |version| format!("by agreement version {version}"));
    let approving = match (basis, rated(content)) {
        (Basis::Claimed, _) => format!("posts {amount} {currency} as it was claimed: its agreement has no rate for it"),
        (Basis::Agreement, Rated::Whole(units, rate)) => {
            format!("posts {} × {} = {amount} {currency} {by}", grouped(&units.to_string()), grouped(&rate.to_string()))
        }
        (Basis::Agreement, _) => format!("posts {amount} {currency} {by}, the sum of its lines"),
    };
    let rejecting = match basis {
        Basis::Agreement => format!("{claimed}, {amount} {currency} {by}"),
        Basis::Claimed => claimed,
    };
    Outlook { figure: Some(figure), approving, rejecting, ..Outlook::default() }
}

fn said_of_the_claim(content: &Content) -> String {
    let currency = content.variance.currency;
    let Some(claimed) = decimal(content.payload.json.get("claimed_amount")) else {
        return "opens a dispute".to_owned();
    };
    let fits = claimed.scale() <= u32::from(currency.minor_units());
    let claimed = if fits { with_digits(claimed, currency) } else { claimed.to_string() };
    format!("opens a dispute: {} {currency} was claimed", grouped(&claimed))
}
