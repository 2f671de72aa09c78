//! The figure that a decision carries, and what deciding does, in words.

use serde::{Deserialize, Serialize};

use crate::exception::Content;
use crate::kind::Kind;
use crate::money::Money;
use crate::sign_off::Decision;

/// What deciding about one exception does, as far as it is more than posting its variance or sending it back. It follows from the content.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outlook {
    /// The figure that an approval always carries, such as what a sales claim posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<Money>,
    /// What approving does; empty where it posts the variance.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub approving: String,
    /// What rejecting does; empty where it goes back to its matching team.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rejecting: String,
    /// What was read from a picture, as it arrived, where an approval may carry a corrected amount instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// What was read, where it is an amount: what an approval without a corrected amount sends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_read: Option<Money>,
    /// What was read is no amount: an approval has to carry one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_for_amount: bool,
    /// Nobody can approve it: what that would do does not follow from its content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unapprovable: bool,
}

impl Outlook {
    /// What one decision does; `None` where that is the ordinary thing.
    pub fn words(&self, decision: Decision) -> Option<&str> {
        let words = match decision {
            Decision::Approve => &self.approving,
            Decision::Reject => &self.rejecting,
        };
        (!words.is_empty()).then_some(words)
    }

    /// What an approval weighs beside the variance, `entered` being the reviewer's own amount: the amount that is posted or sent on.
    pub fn weight(&self, entered: Option<Money>) -> Option<Money> {
        entered.or(self.figure).or(self.amount_read)
    }

    /// Whether an approval cannot be without an amount that is not there.
    pub fn lacks(&self, entered: Option<Money>) -> bool {
        self.unapprovable || (self.asks_for_amount && entered.is_none())
    }

    /// What approving does with the amount that the reviewer entered.
    pub fn approving_with(&self, entered: Money) -> String {
        let sent = format!("releases it to policy validation with {} {}", grouped(&entered.text()), entered.currency);
        match &self.read {
            Some(read) => format!("{sent}, {read} was read"),
            None => sent,
        }
    }
}

/// Whether the reviewer may approve one with a figure of their own.
pub fn may_be_corrected(kind: Kind, reverses: Option<&str>) -> bool {
    reverses.is_none() && kind.module().may_be_corrected()
}

/// What deciding does. A reversal carries no figure: the database posts the opposite of what was posted.
pub fn outlook(content: &Content) -> Outlook {
    if content.reverses.is_some() {
        let approving = "posts the opposite of what was posted for the exception that it reverses".to_owned();
        return Outlook { approving, ..Outlook::default() };
    }
    let module = content.kind.module();
    Outlook { unapprovable: module.approving(content).is_none(), ..module.outlook(content) }
}

/// The larger of a variance and a figure of the same currency, or the figure: what an approval takes of a limit. Where a receipt has no
/// figure, what was read of it counts as one.
pub fn taken(variance: Money, figure: Option<Money>) -> Money {
    match figure {
        Some(figure) if figure.currency != variance.currency || figure.amount.abs() > variance.amount.abs() => figure,
        _ => variance,
    }
}

/// A plain decimal with a comma between each three digits before its mark.
pub(crate) fn grouped(plain: &str) -> String {
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if fraction.is_empty() { text } else { format!("{text}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::gate;
    use crate::kind::Kind;

    /// What is asked about a kind follows from its payload alone.
    fn content(kind: Kind, currency: &str, payload: &Value) -> Content {
        let side = json!({"source_id": "s", "date": "2026-10-01", "currency": currency, "amount": "1"});
        let source_hash = crate::hash::sha256(b"k:e:1:PARTIAL").to_string();
        let body = json!({
            "schema_version": 1, "kind": "recon_break", "idempotency_key": "k", "trace_id": "00000000-0000-0000-0000-000000000001",
            "correlation_id": "00000000-0000-0000-0000-000000000002", "partition_key": "p", "source_hash": source_hash,
            "group_key": null, "match_decision": "PARTIAL", "routing_tier": "standard", "ledger_entity": "e",
            "counterparty": "c", "currency": currency, "variance_amount": "1", "prepared_by": ["x"],
            "submitted_at": "2026-10-05T00:10:03Z", "payload": {"statement_line": side},
        });
        let mut content = gate::read_body(&body.to_string()).expect("it passes the gates");
        content.kind = kind;
        content.payload.json = payload.as_object().cloned().expect("an object");
        content
    }

    #[test]
    fn a_claim_says_what_it_posts_and_what_rejecting_it_opens() {
        let payload =
            json!({"qualifying_units": "1234", "tier_rate": "0.0175", "claimed_amount": "30", "agreement_version": 3});
        let told = outlook(&content(Kind::SalesClaim, "USD", &payload));
        assert_eq!(told.figure.map(|figure| figure.text()), Some("21.60".to_owned()));
        assert_eq!(told.approving, "posts 1,234 × 0.0175 = 21.60 USD by agreement version 3");
        let rejecting = "opens a dispute: 30.00 USD was claimed, 21.60 USD by agreement version 3";
        assert_eq!(told.words(Decision::Reject), Some(rejecting));
    }

    #[test]
    fn a_claim_without_a_rate_posts_what_was_claimed() {
        let told = outlook(&content(Kind::SalesClaim, "JPY", &json!({"claimed_amount": "1500"})));
        assert_eq!(told.figure.map(|figure| figure.text()), Some("1500".to_owned()));
        assert_eq!(told.approving, "posts 1,500 JPY as it was claimed: its agreement has no rate for it");
        assert_eq!(told.rejecting, "opens a dispute: 1,500 JPY was claimed");
    }

    #[test]
    fn a_receipt_says_what_was_read_and_only_a_receipt_may_be_corrected() {
        let receipt = content(Kind::Receipt, "EUR", &json!({"extracted_amount": "26.42"}));
        assert_eq!(outlook(&receipt).approving, "releases it to policy validation with 26.42 EUR as it was read");
        assert_eq!((outlook(&receipt).figure, outlook(&receipt).read), (None, Some("26.42 EUR".to_owned())));
        let money = |amount| Money::parse(amount, receipt.variance.currency).expect("an amount");
        let own = Some(money("1234.5"));
        assert_eq!(outlook(&receipt).weight(None), Some(money("26.42")), "what is sent on counts");
        assert_eq!((outlook(&receipt).weight(own), outlook(&receipt).lacks(None)), (own, false));
        let with_own = "releases it to policy validation with 1,234.50 EUR, 26.42 EUR was read";
        assert_eq!(outlook(&receipt).approving_with(money("1234.5")), with_own);
        let unread = content(Kind::Receipt, "EUR", &json!({"extracted_amount": null}));
        assert_eq!(outlook(&unread).approving, "releases it to policy validation with the amount that you enter");
        for what in [json!(null), json!("2b.42"), json!("26.421"), json!("1e3"), json!("")] {
            let told = outlook(&content(Kind::Receipt, "EUR", &json!({"extracted_amount": what})));
            assert!(told.lacks(None) && !told.lacks(own) && told.weight(None).is_none(), "{what}: {told:?}");
        }
        let correctable = Kind::ALL.iter().filter(|kind| may_be_corrected(**kind, None)).collect::<Vec<_>>();
        assert_eq!(correctable, [&Kind::Receipt]);
        assert!(!may_be_corrected(Kind::Receipt, Some("k")));
    }

    #[test]
    fn a_reversal_carries_nothing_and_an_ordinary_break_has_no_words() {
        let mut claim = content(Kind::SalesClaim, "USD", &json!({"claimed_amount": "5"}));
        claim.reverses = Some("first".into());
        assert_eq!((outlook(&claim).figure, outlook(&claim).words(Decision::Reject)), (None, None));
        assert!(outlook(&claim).approving.contains("the opposite"));
        let ordinary = outlook(&content(Kind::ReconBreak, "USD", &json!({})));
        assert_eq!(ordinary, Outlook::default());
    }

    #[test]
    fn the_larger_of_both_is_taken_or_the_figure_in_its_own_currency() {
        let money = |amount, code: &str| Money::parse(amount, code.parse().expect("a currency")).expect("an amount");
        for (variance, figure, expected) in [
            (money("-5", "USD"), None, money("-5", "USD")),
            (money("-5", "USD"), Some(money("4.99", "USD")), money("-5", "USD")),
            (money("5", "USD"), Some(money("-5.01", "USD")), money("-5.01", "USD")),
            (money("5", "USD"), Some(money("1", "EUR")), money("1", "EUR")),
        ] {
            assert_eq!(taken(variance, figure), expected);
        }
    }

    #[test]
    fn digits_are_grouped_by_threes() {
        for (plain, expected) in
            [("1", "1"), ("123", "123"), ("1234", "1,234"), ("-1234567.895", "-1,234,567.895"), ("0.0175", "0.0175")]
        {
            assert_eq!(grouped(plain), expected);
        }
    }
}
