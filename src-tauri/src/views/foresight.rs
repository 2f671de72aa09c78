//! What can be foreseen of a decision from the policy and the rights that were last heard of.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use countersign_domain::id::ExceptionId;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_domain::standing::{Standing, Subject, Used};
use countersign_engine::port::{DeckItem, Entry};
use countersign_engine::{Engine, Now};
use countersign_wire::{CommandError, Mark, MarkKind, PreflightGroup, PreflightView};

use super::totals::currency_totals;
use super::{count, error, instant};

/// From here on what was heard of is old enough to say so.
const FRESH: TimeDelta = TimeDelta::hours(1);
/// How much of a key tells it from others.
const KEY_PREFIX: usize = 8;

/// What is needed to foresee a batch.
#[derive(Debug)]
pub(crate) struct Glance {
    standing: Standing,
    items: Vec<DeckItem>,
    pending: Vec<Used>,
    online: bool,
    now: DateTime<Utc>,
}

/// Copies what is needed to foresee a decision about these exceptions; `None` before anything was heard of.
pub(crate) fn glance(engine: &Engine, now: Now, ids: &[ExceptionId]) -> Option<Glance> {
    let standing = engine.standing()?.clone();
    let wanted: BTreeSet<ExceptionId> = ids.iter().copied().collect();
    let mut items: Vec<DeckItem> = wanted.iter().filter_map(|id| engine.deck_item(*id).cloned()).collect();
    // The order in which they will be sent: limits are used up in it.
    items.sort_by(|a, b| (&a.partition, a.seq).cmp(&(&b.partition, b.seq)));
    let unanswered = engine.outbox().filter(|pending| pending.unanswered()).map(|pending| &pending.entry);
    // What was accepted since is not among what the database counted then.
    let since = engine.answered().filter(|entry| counts_since(entry, standing.at));
    let pending = unanswered.chain(since).filter_map(|entry| used(&standing, entry)).collect();
    Some(Glance { pending, items, standing, online: engine.link(now).online, now: now.wall })
}

fn counts_since(entry: &Entry, at: DateTime<Utc>) -> bool {
    let first = entry.answer.as_ref().is_some_and(|answer| answer.outcome != Outcome::Duplicate);
    first && entry.settled_at.is_some_and(|settled| settled > at)
}

/// What an approval takes of the reviewer's limits.
fn used(standing: &Standing, entry: &Entry) -> Option<Used> {
    (entry.sign_off.decision == Decision::Approve).then(|| Used {
        period: standing.period_of(&entry.item.entity, entry.item.business_date).0,
        currency: entry.item.variance.currency.code().to_owned(),
        approved: entry.item.variance.amount.abs(),
    })
}

fn subject(item: &DeckItem) -> Subject<'_> {
    Subject {
        kind: item.kind,
        tier: item.tier,
        entity: &item.entity,
        variance: item.variance,
        business_date: item.business_date,
        prepared_by: &item.prepared_by,
        signatures: item.signatures,
    }
}

/// What will become of a batch, by the answers that are foreseen.
pub(crate) fn preflight(glance: Option<Glance>, decision: Decision) -> Result<PreflightView, CommandError> {
    let Some(Glance { standing, items, pending, online, now }) = glance else {
        return Err(error("NOT_CONNECTED", "Nothing can be foreseen before the first connection."));
    };
    let subjects: Vec<Subject<'_>> = items.iter().map(subject).collect();
    let outcomes = standing.foresee(decision, &subjects, &pending);
    let mut groups = Vec::new();
    for outcome in Outcome::ALL {
        let members: Vec<&DeckItem> =
            items.iter().zip(&outcomes).filter(|(_, foreseen)| **foreseen == outcome).map(|(item, _)| item).collect();
        if members.is_empty() {
            continue;
        }
        groups.push(PreflightGroup {
            outcome: outcome.as_str().to_owned(),
            accepted: outcome.accepted(),
            label: format!("{} {}", members.len(), prospect(outcome)),
            explanation: outcome.explanation().to_owned(),
            ids: members.iter().map(|item| item.id.to_string()).collect(),
            totals: currency_totals(members.iter().map(|item| item.variance))?,
        });
    }
    let refused = groups.iter().filter(|group| !group.accepted).map(|group| group.ids.len()).sum();
    let stale = match (online, now.signed_duration_since(standing.at) > FRESH) {
        (false, _) => Some("Offline: foreseen with the policy, limits and periods as last heard of"),
        (true, true) => Some("Foreseen with the policy, limits and periods of more than an hour ago"),
        (true, false) => None,
    };
    Ok(PreflightView {
        policy_version: standing.policy_version,
        as_of: instant(standing.at),
        stale: stale.map(str::to_owned),
        groups,
        refused: count(refused),
    })
}

/// What an answer that is foreseen reads like, behind how many it is about.
fn prospect(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed => "will commit".to_owned(),
        Outcome::AwaitingSecond => "will wait for a second signature".to_owned(),
        Outcome::Held => "will wait for earlier ones".to_owned(),
        Outcome::Duplicate => "will change nothing".to_owned(),
        refused => format!("will be refused: {}", lower_first(refusal(refused))),
    }
}

/// A refusal in a few words.
fn refusal(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Preparer => "You prepared it",
        Outcome::OverLimit => "Over your limit",
        Outcome::PeriodClosed => "Period closed",
        Outcome::NotEligible => "Not yours to sign",
        Outcome::StaleVersion => "Changed upstream",
        Outcome::LeaseSuperseded => "Taken by a colleague",
        Outcome::AlreadyDecided => "Decided before",
        Outcome::KeyReused => "Signed otherwise",
        Outcome::Forged => "Not as it was sealed",
        Outcome::Committed | Outcome::AwaitingSecond | Outcome::Held | Outcome::Duplicate => "Accepted",
    }
}

fn lower_first(words: &str) -> String {
    let mut words = words.to_owned();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    words
}

/// What to know of each exception before it is decided, in the same order. Neither who signed nor what they decided is ever said.
pub(crate) fn marks(items: &[&DeckItem], standing: Option<&Standing>) -> Vec<Vec<Mark>> {
    let subjects: Vec<Subject<'_>> = items.iter().map(|item| subject(item)).collect();
    // A rejection takes nothing of a limit, so that each is looked at alone; what is refused then is refused in any case.
    let foreseen = standing.map(|standing| standing.foresee(Decision::Reject, &subjects, &[])).unwrap_or_default();
    let outcomes = foreseen.into_iter().map(Some).chain(std::iter::repeat(None));
    items.iter().zip(outcomes).map(|(item, outcome)| marks_of(item, outcome)).collect()
}

fn marks_of(item: &DeckItem, outcome: Option<Outcome>) -> Vec<Mark> {
    let signed = (item.signatures > 0).then(|| Mark {
        kind: MarkKind::Signed,
        label: signatures(item.signatures),
        explanation: "It takes effect with a second signature. Decide it for yourself.".to_owned(),
    });
    let reversal = item.reverses.as_ref().map(|key| Mark {
        kind: MarkKind::Reversal,
        label: format!("Reversal of {}", prefix(key)),
        explanation: format!("It undoes the exception with the key {key}."),
    });
    let refused = outcome.filter(|outcome| !outcome.accepted()).map(|outcome| Mark {
        kind: MarkKind::Refusal,
        label: refusal(outcome).to_owned(),
        explanation: outcome.explanation().to_owned(),
    });
    signed.into_iter().chain(reversal).chain(refused).collect()
}

/// How far an exception that needs two signatures is.
pub(super) fn signatures(count: u32) -> String {
    format!("{count} of 2 signed")
}

/// The first letters of a key, with a mark where it goes on.
fn prefix(key: &str) -> String {
    match key.char_indices().nth(KEY_PREFIX) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::policy::{FourEyesRule, Policy};
    use countersign_domain::standing::{Limit, Period, PeriodState};

    use super::super::samples::{at, day, item};
    use super::*;

    /// Two signatures from 500 on, at most 1,000 each and 1,500 in September.
    fn standing() -> Standing {
        let rule = FourEyesRule { currency: "EUR".into(), kind: None, tier: None, at_or_above: 500.into() };
        Standing {
            at: at(8),
            policy_version: 3,
            policy: Policy { four_eyes: vec![rule], ..Policy::default() },
            names: vec!["dana".into()],
            kinds: None,
            tiers: None,
            ledger_entities: None,
            limits: vec![Limit { currency: "*".into(), largest: Some(1_000.into()), per_period: Some(1_500.into()) }],
            used: Vec::new(),
            periods: vec![Period {
                ledger_entity: "*".into(),
                name: "2026-09".into(),
                first_day: day(1),
                last_day: day(30),
                state: PeriodState::Closing,
            }],
        }
    }

    fn looked_at(items: Vec<DeckItem>) -> Glance {
        Glance { standing: standing(), items, pending: Vec::new(), online: true, now: at(8) }
    }

    #[test]
    fn a_batch_is_told_by_what_will_become_of_it() {
        let items = vec![
            item(1, "10.00", "bob"),
            item(2, "-500.00", "bob"),
            item(3, "1000.01", "bob"),
            item(4, "1.00", "DANA"),
            // Over the limit of the period: 10 and 500 went before.
            item(5, "995.00", "bob"),
        ];
        let view = preflight(Some(looked_at(items)), Decision::Approve).expect("small sums");
        let told: Vec<(&str, &str, Vec<&str>)> = view
            .groups
            .iter()
            .map(|group| (group.outcome.as_str(), group.label.as_str(), group.ids.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            told,
            [
                ("COMMITTED", "1 will commit", vec!["1"]),
                ("AWAITING_SECOND", "1 will wait for a second signature", vec!["2"]),
                ("PREPARER", "1 will be refused: you prepared it", vec!["4"]),
                ("OVER_LIMIT", "2 will be refused: over your limit", vec!["3", "5"]),
            ]
        );
        assert_eq!((view.policy_version, view.refused, view.stale), (3, 3, None));
        assert_eq!(view.groups[3].totals[0].debits, "1995.01");
    }

    #[test]
    fn what_is_not_answered_yet_counts_against_the_limits() {
        let pending = vec![Used { period: "2026-09".into(), currency: "EUR".into(), approved: 1_495.into() }];
        let glance = Glance { pending, ..looked_at(vec![item(1, "10.00", "bob")]) };
        let view = preflight(Some(glance), Decision::Approve).expect("small sums");
        assert_eq!(view.groups[0].outcome, "OVER_LIMIT");
    }

    #[test]
    fn what_is_old_or_heard_of_before_the_line_went_is_said_to_be() {
        for (online, hour, words) in [(true, 8, None), (true, 10, Some("an hour ago")), (false, 8, Some("Offline"))] {
            let glance = Glance { online, now: at(hour), ..looked_at(vec![item(1, "10.00", "bob")]) };
            let view = preflight(Some(glance), Decision::Approve).expect("small sums");
            assert_eq!(view.stale.is_some(), words.is_some());
            assert!(view.stale.unwrap_or_default().contains(words.unwrap_or_default()));
        }
        assert_eq!(preflight(None, Decision::Approve).expect_err("nothing was heard of").code, "NOT_CONNECTED");
    }

    #[test]
    fn a_mark_says_that_somebody_signed_and_neither_who_nor_what() {
        let signed = DeckItem { signatures: 1, reverses: Some("0123456789abcdef".into()), ..item(1, "600.00", "bob") };
        let closed = Standing {
            periods: vec![Period { state: PeriodState::Closed, ..standing().periods.remove(0) }],
            ..standing()
        };
        let labels = |standing: Option<&Standing>| -> Vec<String> {
            marks(&[&signed], standing).remove(0).into_iter().map(|mark| mark.label).collect()
        };
        assert_eq!(labels(None), ["1 of 2 signed", "Reversal of 01234567…"]);
        assert_eq!(labels(Some(&standing())), ["1 of 2 signed", "Reversal of 01234567…"]);
        assert_eq!(labels(Some(&closed)), ["1 of 2 signed", "Reversal of 01234567…", "Period closed"]);
        assert!(marks(&[&item(2, "1.00", "bob")], Some(&standing())).remove(0).is_empty());
    }
}
