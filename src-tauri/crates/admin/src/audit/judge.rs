//! One sign-off: that it is its workstation's, about what the workstation showed, by somebody who might.

use chrono::{DateTime, Utc};
use countersign_domain::exception::{Kind, RoutingTier};
use countersign_domain::figure;
use countersign_domain::gate;
use countersign_domain::id::{ContentHash, WorkstationId};
use countersign_domain::money::{Currency, Money, parse_decimal};
use countersign_domain::seal::Statement;
use countersign_domain::sign_off::Decision;
use countersign_domain::{hash, record};
use rust_decimal::Decimal;
use serde::Deserialize;

use super::decisions::{Exception, SignOff};
use super::finding::Finding;
use super::people::{Names, common};
use super::signatures::{Job, Signatures};
use super::verify::State;

/// What of the signed content the rules are about.
#[derive(Debug, Deserialize)]
pub(crate) struct Content {
    idempotency_key: String,
    pub(crate) kind: Kind,
    pub(crate) routing_tier: RoutingTier,
    pub(crate) ledger_entity: String,
    pub(crate) currency: String,
    variance_amount: String,
    prepared_by: Vec<String>,
    submitted_at: String,
    #[serde(default)]
    business_date: Option<String>,
    #[serde(default)]
    pub(crate) reverses: Option<String>,
}

impl Content {
    /// The day that says which period it belongs to, such as `2026-10-31`.
    fn day(&self) -> String {
        self.business_date.clone().unwrap_or_else(|| {
            DateTime::parse_from_rfc3339(&self.submitted_at)
                .map_or_else(|_| self.submitted_at.clone(), |at| at.to_utc().date_naive().to_string())
        })
    }
}

/// A sign-off with what follows from it.
pub(crate) struct Signed<'a> {
    pub(crate) row: &'a SignOff,
    pub(crate) content: Content,
    pub(crate) amount: Decimal,
    /// The figure that it carries.
    pub(crate) figure: Option<Money>,
    /// That, or what was read of a receipt without one.
    pub(crate) weighed: Option<Money>,
    /// Every name of its reviewer when it was signed.
    pub(crate) names: Names,
}

/// What counts beside the variance of an approval: its figure or what was read of a receipt, or what a reversal takes back.
pub(crate) fn weight(
    exception: &Exception,
    signed: &Content,
    weighed: Option<Money>,
    decision: &str,
) -> Option<(Decimal, String)> {
    if decision != Decision::Approve.as_str() {
        return None;
    }
    let reversed = || {
        let posted = exception.reverses.as_ref()?.amount.as_deref()?;
        Some((parse_decimal(posted).ok()?, signed.currency.clone()))
    };
    weighed.map(|money| (money.amount, money.currency.to_string())).or_else(reversed)
}

pub(crate) fn about(exception: &Exception, sign_off: &SignOff, finding: Finding) -> Finding {
    let finding = match &sign_off.place {
        Some((chain, number)) => finding.record(chain, *number),
        None => finding.chain(&exception.partition),
    };
    finding.event("SIGNED").by(&sign_off.reviewer).at(sign_off.signed_at).exception(exception.id)
}

/// Whether two amounts are the same, however many zeros they are written with.
pub(crate) fn same_amount(text: &str, amount: Decimal) -> bool {
    parse_decimal(text).is_ok_and(|parsed| parsed == amount)
}

/// A figure as it is stored: with all the digits of its currency.
fn read_figure(amount: &str, currency: &str) -> Result<Money, ()> {
    let currency: Currency = currency.parse().map_err(|_| ())?;
    Money::parse(amount, currency).ok().filter(|money| money.text() == amount).ok_or(())
}

/// A figure in words.
pub(crate) fn said(figure: Option<Money>) -> String {
    figure.map_or_else(|| "no figure".to_owned(), |figure| format!("{} {}", figure.text(), figure.currency))
}

impl State {
    /// Judges one sign-off by itself; `None` if what it is about cannot be told.
    pub(crate) async fn sign_off<'a>(
        &mut self,
        exception: &Exception,
        row: &'a SignOff,
        signatures: &mut Signatures,
    ) -> Option<Signed<'a>> {
        self.counts.sign_offs += 1;
        let wrong = |what: &str, means: &'static str| about(exception, row, Finding::new(what, means));
        let Some((stored, body)) = &row.body else {
            self.findings
                .add(wrong("the content that it signs is not there", "What was shown to the reviewer was removed"));
            return None;
        };
        let content = hash::content_hash(body);
        if content.0.0[..] != row.content[..] || content.0.0[..] != stored[..] {
            self.findings.add(wrong(
                "the content of the version it names is not the one that it signs",
                "The content was changed after it was signed, or the sign-off was put on another content",
            ));
            return None;
        }
        let Ok(figure) = row.figure.as_ref().map(|(amount, currency)| read_figure(amount, currency)).transpose() else {
            self.findings.add(wrong("its figure is none", "The figure was changed afterwards"));
            return None;
        };
        let payload =
            record::payload_hash(exception.id, row.reason.as_deref(), row.comment.as_deref(), row.decided_at, figure);
        if payload.0[..] != row.payload[..] {
            self.findings.add(wrong(
                "its reason, comment, instant or figure is not the one that was signed",
                "The words of the decision were changed afterwards",
            ));
        }
        let Ok(decision) = row.decision.parse::<Decision>() else {
            self.findings.add(wrong("its decision is none", "The decision was changed afterwards"));
            return None;
        };
        if hash::sign_off_key(&exception.key, content, decision, &row.reviewer).0.0[..] != row.key[..] {
            self.findings.add(wrong(
                "its key is not that of its exception, content, decision and reviewer",
                "One of these was changed afterwards",
            ));
        }
        self.sealed(exception, row, content, (decision, figure), signatures).await;
        let Ok(signed) = serde_json::from_str::<Content>(body) else {
            self.findings.add(wrong("the content that it signs does not read", "It cannot be told what was approved"));
            return None;
        };
        let Ok(amount) = parse_decimal(&signed.variance_amount) else {
            self.findings.add(wrong("the amount that it signs does not read", "It cannot be told what was approved"));
            return None;
        };
        if signed.idempotency_key != exception.key {
            self.findings
                .add(wrong("it signs another exception's content", "The decision was moved to another exception"));
        }
        let names = self.history.people.names(&row.reviewer, row.signed_at);
        // Whoever corrected it later prepared a later version: a first approval of an earlier one lapsed then.
        let later = row.version != exception.version;
        let known = signed.prepared_by.iter().chain(exception.prepared_by.iter().filter(|_| !later));
        let barred = exception.barred.iter().filter(|_| row.decides() && !later);
        if let Some(name) = common(&names, known.chain(barred)) {
            let what = format!("its reviewer is barred from it as {name}");
            self.findings.add(wrong(&what, "Nobody signs what they prepared, or what reverses their own decision"));
        }
        let weighed = figure.or_else(|| self.read(row, &signed, body, decision));
        if row.place.is_some() {
            let weight = weight(exception, &signed, weighed, &row.decision);
            let larger =
                |(weight, currency): &(Decimal, String)| *currency != signed.currency || weight.abs() > amount.abs();
            let (taken, currency) = weight.filter(larger).unwrap_or_else(|| (amount, signed.currency.clone()));
            if row.amount.as_deref().is_none_or(|text| !same_amount(text, taken))
                || row.currency.as_deref() != Some(currency.as_str())
            {
                self.findings.add(wrong(
                    "its amount is neither that of the content it signs nor that of its figure",
                    "The amount was changed afterwards",
                ));
            }
            self.rules(exception, row, &signed, amount);
            if currency != signed.currency || taken != amount {
                self.largest(exception, row, &currency, taken);
            }
            if let Some(why) = self.figure(row, &signed, body, figure, decision) {
                self.findings
                    .add(wrong(&why, "It was approved with a figure that does not follow from what was shown"));
            }
        }
        Some(Signed { row, content: signed, amount, figure, weighed, names })
    }

    /// What its reviewer might sign then, and the period.
    fn rules(&mut self, exception: &Exception, row: &SignOff, signed: &Content, amount: Decimal) {
        let (history, findings) = (&self.history, &mut self.findings);
        let mut wrong =
            |what: String, means: &'static str| findings.add(about(exception, row, Finding::new(what, means)));
        let (at, login, entity, day) = (row.signed_at, row.reviewer.as_str(), &signed.ledger_entity, signed.day());
        if let Some(period) = history.calendar.closed(entity, &day, at) {
            wrong(
                format!("it was signed while the period {period} was closed"),
                "Nothing is signed in a closed period",
            );
        }
        if !history.calendar.named(entity, &day, at, row.period.as_deref()) {
            let period = row.period.as_deref().unwrap_or("none");
            wrong(
                format!("its period is {period}, and {day} did not belong to it"),
                "The period was changed after it was signed",
            );
        }
        if history.rights.inactive(login, at, history.early(login)) {
            wrong("its reviewer was no active reviewer then".into(), "Who is disabled signs nothing");
        }
        if history.rights.outside(login, at, signed.kind.as_str(), signed.routing_tier.as_str(), entity) {
            wrong(
                "its reviewer might not sign exceptions like it".into(),
                "It was signed against a supervisor's orders",
            );
        }
        self.largest(exception, row, &signed.currency, amount);
    }

    fn largest(&mut self, exception: &Exception, row: &SignOff, currency: &str, amount: Decimal) {
        if let Some(most) = self.history.rights.over(&row.reviewer, row.signed_at, currency, amount) {
            let what = format!("its reviewer might sign no more than {most} {currency}, and it is {amount}");
            self.findings.add(about(exception, row, Finding::new(what, "It was signed over a limit")));
        }
    }

    /// What was read of a receipt that is approved, where it is an amount; earlier releases did not weigh it.
    fn read(&self, row: &SignOff, signed: &Content, body: &str, decision: Decision) -> Option<Money> {
        let weighs = decision == Decision::Approve
            && figure::may_be_corrected(signed.kind, signed.reverses.as_deref())
            && !self.history.before_figures(row.signed_at);
        if weighs { figure::outlook(&gate::read_body(body).ok()?).amount_read } else { None }
    }

    /// What is wrong with the figure that a decision carries.
    fn figure(
        &self,
        row: &SignOff,
        signed: &Content,
        body: &str,
        figure: Option<Money>,
        decision: Decision,
    ) -> Option<String> {
        if self.history.before_figures(row.signed_at) {
            return figure.map(|_| "it carries a figure, and was signed before there were any".to_owned());
        }
        let correctable = figure::may_be_corrected(signed.kind, signed.reverses.as_deref());
        if decision == Decision::Approve && correctable {
            let lacks = figure.is_none() && self.read(row, signed, body, decision).is_none();
            return match figure {
                None if lacks => Some("it carries no amount, and what was read is none".to_owned()),
                Some(figure) if figure.amount <= Decimal::ZERO => Some("its amount is not over zero".to_owned()),
                _ => None,
            };
        }
        let expected = match (decision, signed.kind) {
            (Decision::Approve, kind) if kind != Kind::ReconBreak => match gate::read_body(body) {
                Ok(content) => figure::outlook(&content).figure,
                Err(_) => return Some("what it signs does not read, so that nobody can tell what it posts".to_owned()),
            },
            _ => None,
        };
        (figure != expected).then(|| format!("it carries {}, and has to carry {}", said(figure), said(expected)))
    }

    /// The signature, by the key that a supervisor confirmed.
    async fn sealed(
        &mut self,
        exception: &Exception,
        row: &SignOff,
        content: ContentHash,
        (decision, figure): (Decision, Option<Money>),
        signatures: &mut Signatures,
    ) {
        let wrong = |what: &str, means: &'static str| about(exception, row, Finding::new(what, means));
        let (Some(signature), Some(enrolment), Some(policy)) = (&row.signature, row.enrolment, row.policy_version)
        else {
            if row.place.is_some() || row.signature.is_some() {
                self.findings.add(wrong(
                    "it has no signature",
                    "Nothing proves that a workstation made this decision: it was put in by somebody else",
                ));
            } else {
                self.counts.unsigned += 1;
            }
            return;
        };
        let (Ok(enrolment), Ok(policy_version), Ok(signature)) =
            (u32::try_from(enrolment), u32::try_from(policy), <[u8; 64]>::try_from(&signature[..]))
        else {
            self.findings.add(wrong("its signature is none", "It was changed afterwards"));
            return;
        };
        let Some(enrolled) = self.history.enrolled(row.workstation, enrolment).cloned() else {
            let what = format!("enrolment {enrolment} of the workstation {} was never confirmed", row.workstation);
            self.findings.add(wrong(&what, "Nobody vouches for the key that it is signed with"));
            return;
        };
        if enrolled.reviewer != row.reviewer {
            let what = format!("the key that it is signed with is that of {}", enrolled.reviewer);
            self.findings.add(wrong(&what, "Somebody signed in another's name"));
        }
        if enrolled.at > row.signed_at {
            self.findings
                .add(wrong("it was signed before its key was confirmed", "Its instant was changed, or its key"));
        }
        if self.history.revoked(row.workstation).is_some_and(|revoked| revoked < row.signed_at) {
            self.findings.add(wrong("its workstation had been revoked before", "A revoked workstation signs nothing"));
        }
        let Some(decided_at) = DateTime::<Utc>::from_timestamp_micros(row.decided_at) else {
            self.findings.add(wrong("its instant is none", "It was changed afterwards"));
            return;
        };
        let statement = Statement {
            idempotency_key: &exception.key,
            content,
            decision,
            reason: row.reason.as_deref(),
            comment: row.comment.as_deref(),
            reviewer: &row.reviewer,
            workstation: WorkstationId(row.workstation),
            policy_version,
            decided_at,
            figure,
        };
        let finding = wrong(
            "its signature is not that of its workstation over this decision",
            "The decision was changed after it was signed, or it was never made at that workstation",
        );
        let job = Job { place: self.findings.place(), bytes: statement.bytes(), signature, key: enrolled.key, finding };
        signatures.check(job, self).await;
    }
}
