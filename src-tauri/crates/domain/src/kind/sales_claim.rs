//! A retailer's deduction against the agreement.

mod accrual;
mod calculation;
mod claim;
mod gates;
mod outlook;

use crate::calculation::Step;
use crate::evidence::{Evidence, Line, facts};
use crate::exception::Content;
use crate::figure::Outlook;
use crate::gate::Rejection;
use crate::hash;
use crate::kind::{Effect, KindModule};
use crate::money::Money;
use crate::scoring::{Finding, Thresholds};

pub use accrual::{Accrual, Basis, accrual};
pub use calculation::LINE_ITEMS;
pub use claim::{LineItem, SalesClaim};

/// Everything that belongs to the kind.
pub struct Module;

impl KindModule for Module {
    fn name(&self) -> &'static str {
        "sales_claim"
    }

    fn plural(&self) -> &'static str {
        "sales claims"
    }

    fn read(&self, _content: &Content) -> Result<(), Rejection> {
        Ok(())
    }

    fn gates(&self, content: &Content) -> Result<(), Rejection> {
        gates::pass(content)
    }

    fn key(&self, content: &Content) -> Option<String> {
        let part = |field| content.payload.text(field);
        let (invoice, lines) = (part("retailer_invoice")?, part("line_item_hash")?);
        let (tier, period) = (part("promo_tier")?, part("claim_period")?);
        Some(hash::sha256(format!("{invoice}|{lines}|{tier}|{period}").as_bytes()).to_string())
    }

    fn findings(&self, content: &Content, thresholds: &Thresholds) -> Vec<Finding> {
        // A reversal takes back what was posted, whatever was claimed.
        if content.reverses.is_some() {
            return Vec::new();
        }
        let claimed = amount(content, "claimed_amount");
        let Some((model, claimed)) = accrual(content).zip(claimed) else {
            return vec![Finding {
                rule: "Claim against agreement",
                inputs: Vec::new(),
                reason: "What is claimed, or what approving it would post, cannot be read exactly.".to_owned(),
                asks_for_a_look: true,
            }];
        };
        vec![compared(content, claimed, model, thresholds)]
    }

    fn evidence(&self, content: &Content) -> Evidence {
        let text = |field: &str| content.payload.json.get(field).and_then(crate::evidence::plain);
        Evidence {
            left: "Claimed",
            right: "By agreement",
            lines: vec![Line {
                label: "Amount",
                left: text("claimed_amount"),
                right: text("contract_amount"),
                numeric: true,
            }],
            facts: facts(
                content,
                &[
                    ("Retailer invoice", "retailer_invoice"),
                    ("Vendor", "vendor_name"),
                    ("Claim period", "claim_period"),
                    ("Promotion tier", "promo_tier"),
                    ("Agreement", "agreement_ref"),
                    ("Agreement version", "agreement_version"),
                    ("Qualifying units", "qualifying_units"),
                    ("Tier rate", "tier_rate"),
                    ("Line items", "line_item_count"),
                ],
            ),
        }
    }

    fn calculation(&self, content: &Content) -> Vec<Step> {
        calculation::steps(content)
    }

    fn approving(&self, content: &Content) -> Option<Effect> {
        let Accrual { mut amount, basis } = accrual(content)?;
        if content.reverses.is_some() {
            amount.amount = -amount.amount;
        }
        let what = match basis {
            Basis::Agreement => "accrual by the agreement",
            Basis::Claimed => "accrual of what is claimed",
        };
        Some(Effect::Posting { amount, what })
    }

    fn outlook(&self, content: &Content) -> Outlook {
        outlook::outlook(content)
    }

    fn rejecting(&self, content: &Content) -> Effect {
        let by_agreement = accrual(content).filter(|accrual| accrual.basis == Basis::Agreement);
        Effect::Dispute {
            claimed: amount(content, "claimed_amount"),
            by_agreement: by_agreement.map(|accrual| accrual.amount),
        }
    }

    #[cfg(test)]
    fn schema(&self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<SalesClaim>()
    }
}

fn amount(content: &Content, field: &str) -> Option<Money> {
    Money::parse(content.payload.text(field)?, content.variance.currency).ok()
}

/// What is claimed against what the agreement gives.
fn compared(content: &Content, claimed: Money, model: Accrual, thresholds: &Thresholds) -> Finding {
    let said = |money: Money| format!("{} {}", money.text(), money.currency);
    let finding = |reason: String, asks_for_a_look| Finding {
        rule: "Claim against agreement",
        inputs: vec![("Claimed", said(claimed)), ("Approving posts", said(model.amount))],
        reason,
        asks_for_a_look,
    };
    if model.basis == Basis::Claimed {
        return finding("The agreement has no rate for it: approving posts what is claimed.".to_owned(), true);
    }
    let difference = Money { amount: claimed.amount - model.amount.amount, currency: claimed.currency };
    if difference.amount.is_zero() && content.variance.amount.is_zero() {
        return finding("The claim is what the agreement gives.".to_owned(), false);
    }
    if difference.amount != content.variance.amount {
        let reason = format!(
            "Claimed are {} and the agreement gives {}, which is not the variance of {}.",
            said(claimed),
            said(model.amount),
            said(content.variance)
        );
        return finding(reason, true);
    }
    let more = if difference.amount.is_sign_negative() { "less" } else { "more" };
    let reason = format!(
        "Claimed are {}, the agreement gives {}: {} {more}. Rejecting opens a dispute with both figures.",
        said(claimed),
        said(model.amount),
        said(Money { amount: difference.amount.abs(), ..difference })
    );
    finding(reason, difference.amount.abs() > thresholds.tolerance)
}

#[cfg(test)]
mod tests;
