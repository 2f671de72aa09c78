//! The effect is that of the decision: the one that its kind has, of what was approved, and no other.

use countersign_domain::gate;
use countersign_domain::kind::sales_claim::{Basis, accrual};
use countersign_domain::kind::{Effect, Kind};
use countersign_domain::money::parse_decimal;

use super::decisions::{Dispute, Exception, Posting, Routing};
use super::finding::Finding;
use super::judge::{Signed, about, same_amount};
use super::verify::State;

const CHANGED: &str = "The effect was changed after it was written";

/// The one effect of an exception.
enum Written<'a> {
    Posting(&'a Posting),
    Routing(&'a Routing),
    Dispute(&'a Dispute),
}

impl Written<'_> {
    fn at(&self) -> i64 {
        match self {
            Self::Posting(one) => one.at,
            Self::Routing(one) => one.at,
            Self::Dispute(one) => one.at,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Posting(_) => "posted",
            Self::Routing(_) => "sent on",
            Self::Dispute(_) => "disputed",
        }
    }
}

/// What has to be there.
enum Expected {
    Posting,
    Dispute,
    Routing(&'static str),
}

impl State {
    /// Compares the effect with the decision that brought it about.
    pub(crate) fn effect(&mut self, exception: &Exception, deciding: &Signed<'_>) {
        let row = deciding.row;
        let posted = exception.postings.first().map(Written::Posting);
        let routed = exception.routings.first().map(Written::Routing);
        let written = posted.or(routed).or_else(|| exception.disputes.first().map(Written::Dispute));
        let Some(written) = written else {
            if row.outcome == "COMMITTED" && exception.state != "RESOLVED" {
                let what = "it took effect when it was signed, and there is no effect";
                self.findings.add(about(exception, row, Finding::new(what, "The effect was removed")));
            }
            return;
        };
        let early = self.history.before_figures(written.at());
        let wrong = match (expected(deciding, early), &written) {
            (Expected::Posting, Written::Posting(one)) => posting(exception, deciding, one),
            (Expected::Dispute, Written::Dispute(one)) => dispute(deciding, one),
            (Expected::Routing(to), Written::Routing(one)) => routing(deciding, one, to, early),
            _ => {
                let done = if row.decision == "APPROVE" { "approved" } else { "rejected" };
                Some(format!(
                    "it was {}, which is not what happens to a {} that is {done}",
                    written.name(),
                    deciding.content.kind.as_str()
                ))
            }
        };
        if let Some(what) = wrong {
            self.findings.add(about(exception, row, Finding::new(what, CHANGED)));
        }
    }
}

/// What a decision brings about; earlier releases posted whatever was approved and returned the rest.
fn expected(deciding: &Signed<'_>, early: bool) -> Expected {
    let approved = deciding.row.decision == "APPROVE";
    if early || deciding.content.reverses.is_some() || deciding.content.kind == Kind::ReconBreak {
        return if approved { Expected::Posting } else { Expected::Routing("matching team") };
    }
    let module = deciding.content.kind.module();
    let content = deciding.row.body.as_ref().and_then(|(_, body)| gate::read_body(body).ok());
    let effect = content
        .and_then(|content| if approved { module.approving(&content) } else { Some(module.rejecting(&content)) });
    match effect {
        Some(Effect::Dispute { .. }) => Expected::Dispute,
        Some(Effect::Routing { to }) => Expected::Routing(to),
        Some(Effect::Posting { .. }) | None => Expected::Posting,
    }
}

fn posting(exception: &Exception, deciding: &Signed<'_>, posting: &Posting) -> Option<String> {
    let (row, content) = (deciding.row, &deciding.content);
    let reversed = exception.reverses.as_ref().and_then(|original| parse_decimal(original.amount.as_deref()?).ok());
    let amount = match (reversed, deciding.figure) {
        (Some(reversed), _) => -reversed,
        (None, Some(figure)) => figure.amount,
        (None, None) => deciding.amount,
    };
    if !same_amount(&posting.amount, amount) {
        return Some(format!("{} {} was posted, and {amount} was approved", posting.amount, posting.currency));
    }
    if posting.currency != content.currency
        || posting.entity != content.ledger_entity
        || (row.place.is_some() && posting.period != row.period)
    {
        return Some("it was posted to another entity, currency or period than was approved".to_owned());
    }
    let bases: &[&str] = match (reversed, deciding.figure) {
        // A release before said VARIANCE of a reversal too.
        (Some(_), _) => &["REVERSAL", "VARIANCE"],
        (None, Some(_)) => &["AGREEMENT", "CLAIMED"],
        (None, None) => &["VARIANCE"],
    };
    if !bases.contains(&posting.basis.as_str()) {
        return Some(format!("its posting says {}, and was made of something else", posting.basis));
    }
    if let Some(why) = basis(deciding, posting) {
        return Some(why);
    }
    let body = deciding.figure.and(row.body.as_ref()).and_then(|(_, body)| gate::read_body(body).ok());
    let payload = body.map(|content| content.payload)?;
    let claimed = payload.text("claimed_amount").and_then(|text| parse_decimal(text).ok());
    let version = payload.json.get("agreement_version").and_then(serde_json::Value::as_i64);
    let pinned = posting.agreement_version.map(i64::from) == version;
    let both = posting.units.as_deref().zip(posting.rate.as_deref());
    let product = both.and_then(|(units, rate)| parse_decimal(units).ok()?.checked_mul(parse_decimal(rate).ok()?));
    let rounded = product.map(|product| countersign_domain::money::round_half_up(product, amount.scale()));
    if !pinned || !same(posting.claimed.as_deref(), claimed) || rounded.is_some_and(|rounded| rounded != amount) {
        return Some("its posting names other units, another rate, agreement or claim than was approved".to_owned());
    }
    None
}

/// A claim's accrual says where it comes from: an agreement, with its units, or what was claimed.
fn basis(deciding: &Signed<'_>, posting: &Posting) -> Option<String> {
    let body = deciding.figure.and(deciding.row.body.as_ref()).and_then(|(_, body)| gate::read_body(body).ok())?;
    let (basis, has_units) = match accrual(&body)?.basis {
        Basis::Agreement => ("AGREEMENT", true),
        Basis::Claimed => ("CLAIMED", false),
    };
    let wrong =
        posting.basis != basis || posting.units.is_some() != has_units || (posting.rate.is_some() && !has_units);
    wrong.then(|| format!("its posting says {}, and by its content that is {basis}", posting.basis))
}

fn dispute(deciding: &Signed<'_>, dispute: &Dispute) -> Option<String> {
    let (row, content) = (deciding.row, &deciding.content);
    if dispute.reason != row.reason {
        return Some("its dispute has another reason than was signed".to_owned());
    }
    let body = row.body.as_ref().and_then(|(_, body)| gate::read_body(body).ok())?;
    let Effect::Dispute { claimed, by_agreement } = body.kind.module().rejecting(&body) else { return None };
    let (claimed, by_agreement) = (claimed.map(|money| money.amount), by_agreement.map(|money| money.amount));
    let difference = claimed.zip(by_agreement).map(|(claimed, given)| claimed - given);
    let version = body.payload.json.get("agreement_version").and_then(serde_json::Value::as_i64);
    let same = dispute.currency == content.currency
        && dispute.entity == content.ledger_entity
        && same(dispute.claimed.as_deref(), claimed)
        && same(dispute.by_agreement.as_deref(), by_agreement)
        && same(dispute.difference.as_deref(), difference)
        && dispute.agreement_version.map(i64::from) == version;
    (!same).then(|| "its dispute has other figures, or another agreement, than was rejected".to_owned())
}

fn routing(deciding: &Signed<'_>, routing: &Routing, to: &str, early: bool) -> Option<String> {
    let row = deciding.row;
    if routing.to != to {
        return Some(format!("it was sent to the {}, and goes to the {to}", routing.to));
    }
    if row.decision == "REJECT" && routing.reason != row.reason {
        return Some("it was returned for another reason than was signed".to_owned());
    }
    let corrected = deciding.figure.map(|figure| (figure.text(), figure.currency.to_string()));
    let [amount, currency] = &routing.corrected;
    if amount.clone().zip(currency.clone()) != corrected || amount.is_some() != currency.is_some() {
        return Some("it was sent on with another amount than was approved".to_owned());
    }
    let correctable =
        !early && deciding.content.reverses.is_none() && deciding.content.kind.module().may_be_corrected();
    let body = row.body.as_ref().filter(|_| correctable).and_then(|(_, body)| gate::read_body(body).ok())?;
    let read = body.payload.text("extracted_amount").map(|text| text.chars().take(200).collect::<String>());
    (routing.read[0] != read).then(|| "it was sent on with another amount than was read".to_owned())
}

/// Whether a number in a row is the expected one.
fn same(text: Option<&str>, expected: Option<rust_decimal::Decimal>) -> bool {
    match (text, expected) {
        (None, None) => true,
        (Some(text), Some(expected)) => same_amount(text, expected),
        _ => false,
    }
}
