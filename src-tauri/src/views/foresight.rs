//! What can be foreseen of a decision from the policy and the rights that were last heard of.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use countersign_domain::confirmation::{self, About, Batch, Caution};
use countersign_domain::figure::{may_be_corrected, taken};
use countersign_domain::id::{ContentHash, ExceptionId, PartitionKey, Seq};
use countersign_domain::money::Money;
use countersign_domain::scoring::Route;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_domain::standing::{Standing, Subject, Used};
use countersign_engine::port::{DeckItem, Entry, Stage};
use countersign_engine::{Engine, Now};
use countersign_wire::{CommandError, EffectLine, Figure, PreflightGroup, PreflightView, SignWarning, WarningKind};

use super::totals::{currency_totals, sums};
use super::{count, error, instant};

/// From here on what was heard of is old enough to say so.
const FRESH: TimeDelta = TimeDelta::hours(1);
/// The most exceptions of which the effect is told.
const EFFECT_LINES: usize = 500;

/// What is needed to foresee a batch.
#[derive(Debug)]
pub(crate) struct Glance {
    standing: Standing,
    items: Vec<DeckItem>,
    pending: Vec<Used>,
    /// The first undecided exception of each partition that is known of and not in the batch.
    undecided: HashMap<PartitionKey, Seq>,
    /// How many have a lease that ran out.
    lapsed: usize,
    online: bool,
    now: DateTime<Utc>,
}

impl Glance {
    /// What the batch is about: each exception with the content that is seen of it.
    pub(crate) fn contents(&self) -> Vec<(ExceptionId, ContentHash)> {
        self.items.iter().map(|item| (item.id, item.content)).collect()
    }
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
    let lapsed = items.iter().filter(|item| engine.lease_ends_in_ms(&item.partition, now) == 0).count();
    let given_up =
        engine.outbox().filter(|pending| pending.entry.stage == Stage::Dead).map(|pending| &pending.entry.item);
    let in_deck = engine.deck().filter(|(_, signing)| !signing).map(|(slot, _)| &slot.item);
    let others = in_deck.chain(given_up).filter(|item| !wanted.contains(&item.id));
    let mut undecided = HashMap::new();
    for item in others {
        note_undecided(&mut undecided, item);
    }
    Some(Glance { pending, items, undecided, standing, lapsed, online: engine.link(now).online, now: now.wall })
}

fn counts_since(entry: &Entry, at: DateTime<Utc>) -> bool {
    let first = entry.answer.as_ref().is_some_and(|answer| answer.outcome != Outcome::Duplicate);
    first && entry.settled_at.is_some_and(|settled| settled > at)
}

fn note_undecided(undecided: &mut HashMap<PartitionKey, Seq>, item: &DeckItem) {
    let first = undecided.entry(item.partition.clone()).or_insert(item.seq);
    *first = item.seq.min(*first);
}

/// What would commit behind an undecided exception of its partition is held instead. One that is refused, or waits for a second
/// signature, stays undecided. The items are in the order of their partitions.
fn hold_back(items: &[DeckItem], outcomes: &mut [Outcome], mut undecided: HashMap<PartitionKey, Seq>) {
    for (item, outcome) in items.iter().zip(outcomes) {
        if *outcome != Outcome::Committed {
            note_undecided(&mut undecided, item);
        } else if undecided.get(&item.partition).is_some_and(|first| *first < item.seq) {
            *outcome = Outcome::Held;
        }
    }
}

/// What an approval takes of the reviewer's limits.
fn used(standing: &Standing, entry: &Entry) -> Option<Used> {
    let taken = taken(entry.item.variance, entry.item.outlook.weight(entry.sign_off.figure));
    (entry.sign_off.decision == Decision::Approve).then(|| Used {
        period: standing.period_of(&entry.item.entity, entry.item.business_date).0,
        currency: taken.currency.code().to_owned(),
        approved: taken.amount.abs(),
    })
}

/// `entered` is the amount that the reviewer entered for it.
pub(super) fn subject(item: &DeckItem, entered: Option<Money>) -> Subject<'_> {
    Subject {
        kind: item.kind,
        tier: item.tier,
        entity: &item.entity,
        variance: item.variance,
        figure: item.outlook.weight(entered),
        lacks_amount: item.outlook.lacks(entered),
        business_date: item.business_date,
        prepared_by: &item.prepared_by,
        signatures: item.signatures,
    }
}

/// What will become of a batch, by the answers that are foreseen. `figures` are the amounts that were entered, as far as they read;
/// `opened` is how many of its exceptions were looked at in full.
pub(crate) fn preflight(
    glance: Option<Glance>,
    decision: Decision,
    figures: &BTreeMap<ExceptionId, Money>,
    opened: usize,
) -> Result<PreflightView, CommandError> {
    let Some(Glance { standing, items, pending, undecided, lapsed, online, now }) = glance else {
        return Err(error("NOT_CONNECTED", "Nothing can be foreseen before the first connection."));
    };
    let entered = |item: &DeckItem| {
        let own = figures.get(&item.id).copied();
        own.filter(|_| decision == Decision::Approve && may_be_corrected(item.kind, item.reverses.as_deref()))
    };
    let subjects: Vec<Subject<'_>> = items.iter().map(|item| subject(item, entered(item))).collect();
    let mut outcomes = standing.foresee(decision, &subjects, &pending);
    hold_back(&items, &mut outcomes, undecided);
    let suggested: Vec<Route> = items.iter().map(|item| item.suggestion.route).collect();
    let batch = Batch { decision, subjects: &subjects, foreseen: &outcomes, suggested: &suggested, opened, lapsed };
    let warnings = confirmation::cautions(&standing, batch, &pending).into_iter().map(warning).collect();
    let totals = sums(items.iter().map(|item| item.variance))?;
    let asked = confirmation::totals_to_type(&standing, &totals);
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
            explanation: meaning(outcome).to_owned(),
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
        warnings,
        type_totals: asked.iter().map(ToString::to_string).collect(),
        attestation: standing.policy.attestation.clone(),
        effects: effects(&items, decision, entered),
    })
}

/// What the decision does, where that is not the ordinary thing.
fn effects(items: &[DeckItem], decision: Decision, entered: impl Fn(&DeckItem) -> Option<Money>) -> Vec<EffectLine> {
    let line = |item: &DeckItem| {
        let approved = decision == Decision::Approve;
        let correctable = approved && may_be_corrected(item.kind, item.reverses.as_deref());
        item.outlook.words(decision).map(|words| EffectLine {
            id: item.id.to_string(),
            words: entered(item).map_or_else(|| words.to_owned(), |own| item.outlook.approving_with(own)),
            figure: item.outlook.figure.filter(|_| approved).map(|figure| Figure {
                id: item.id.to_string(),
                amount: figure.text(),
                currency: figure.currency.to_string(),
            }),
            read: item.outlook.read.clone().filter(|_| correctable),
        })
    };
    items.iter().filter_map(line).take(EFFECT_LINES).collect()
}

fn warning(caution: Caution) -> SignWarning {
    let kind = match caution.about {
        About::MixedEntities => WarningKind::MixedEntities,
        About::LimitNear => WarningKind::LimitNear,
        About::NothingOpened => WarningKind::NothingOpened,
        About::AgainstSuggestion => WarningKind::AgainstSuggestion,
        About::LeaseGone => WarningKind::LeaseGone,
    };
    SignWarning { kind, message: caution.message }
}

/// What an answer that is foreseen reads like, behind how many it is about.
fn prospect(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed => "will commit".to_owned(),
        Outcome::AwaitingSecond => "will wait for a second signature".to_owned(),
        Outcome::Held => "will be accepted and take effect when earlier ones are decided".to_owned(),
        Outcome::Duplicate => "will change nothing".to_owned(),
        Outcome::FigureDiffers => "will be refused: the amount is missing".to_owned(),
        refused => format!("will be refused: {}", refused.in_brief()),
    }
}

/// What an answer that is foreseen means. A figure is only foreseen to be missing.
fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::FigureDiffers => {
            "It cannot be read how much would be approved. Enter the amount of the receipt, or reject what cannot be worked out."
        }
        other => other.explanation(),
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::exception::Kind;
    use countersign_domain::figure::Outlook;
    use countersign_domain::policy::CurrencyAmount;

    use super::super::samples::{at, item, standing};
    use super::*;

    fn looked_at(items: Vec<DeckItem>) -> Glance {
        Glance {
            standing: standing(),
            items,
            pending: Vec::new(),
            undecided: HashMap::new(),
            lapsed: 0,
            online: true,
            now: at(8),
        }
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
        let view = preflight(Some(looked_at(items)), Decision::Approve, &BTreeMap::new(), 1).expect("small sums");
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
    fn what_stands_behind_an_undecided_one_takes_effect_later() {
        let partition = |name: &str, item: DeckItem| DeckItem { partition: PartitionKey(name.into()), ..item };
        let items = vec![
            // The first undecided one of `a` is the second, and not in the batch.
            partition("a", item(1, "1.00", "bob")),
            partition("a", item(3, "1.00", "bob")),
            // In `b` the first is refused, in `c` it waits for a second signature.
            partition("b", item(4, "1.00", "DANA")),
            partition("b", item(5, "1.00", "bob")),
            partition("c", item(6, "500.00", "bob")),
            partition("c", item(7, "1.00", "bob")),
            partition("d", item(8, "1.00", "bob")),
        ];
        let undecided = HashMap::from([(PartitionKey("a".into()), Seq(2)), (PartitionKey("d".into()), Seq(9))]);
        let view = preflight(Some(Glance { undecided, ..looked_at(items) }), Decision::Approve, &BTreeMap::new(), 1)
            .expect("small sums");
        let told: Vec<(&str, Vec<&str>)> = view
            .groups
            .iter()
            .map(|group| (group.outcome.as_str(), group.ids.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            told,
            [
                ("COMMITTED", vec!["1", "8"]),
                ("AWAITING_SECOND", vec!["6"]),
                ("HELD", vec!["3", "5", "7"]),
                ("PREPARER", vec!["4"]),
            ]
        );
        assert!(view.groups[2].accepted);
        assert_eq!(view.groups[2].label, "3 will be accepted and take effect when earlier ones are decided");
    }

    #[test]
    fn what_is_not_answered_yet_counts_against_the_limits() {
        let pending = vec![Used { period: "2026-09".into(), currency: "EUR".into(), approved: 1_495.into() }];
        let glance = Glance { pending, ..looked_at(vec![item(1, "10.00", "bob")]) };
        let view = preflight(Some(glance), Decision::Approve, &BTreeMap::new(), 1).expect("small sums");
        assert_eq!(view.groups[0].outcome, "OVER_LIMIT");
    }

    #[test]
    fn what_is_old_or_heard_of_before_the_line_went_is_said_to_be() {
        for (online, hour, words) in [(true, 8, None), (true, 10, Some("an hour ago")), (false, 8, Some("Offline"))] {
            let glance = Glance { online, now: at(hour), ..looked_at(vec![item(1, "10.00", "bob")]) };
            let view = preflight(Some(glance), Decision::Approve, &BTreeMap::new(), 1).expect("small sums");
            assert_eq!(view.stale.is_some(), words.is_some());
            assert!(view.stale.unwrap_or_default().contains(words.unwrap_or_default()));
        }
        assert_eq!(
            preflight(None, Decision::Approve, &BTreeMap::new(), 0).expect_err("nothing was heard of").code,
            "NOT_CONNECTED"
        );
    }

    #[test]
    fn what_a_decision_does_is_told_where_it_is_not_the_ordinary_thing() {
        let outlook = |figure: Option<Money>, read: Option<&str>| Outlook {
            figure,
            approving: "posts or releases".into(),
            rejecting: "disputes or returns".into(),
            read: read.map(str::to_owned),
            ..Outlook::default()
        };
        let accrual = Money::parse("1000.01", "EUR".parse().expect("a currency")).ok();
        let claim = DeckItem { kind: Kind::SalesClaim, outlook: outlook(accrual, None), ..item(1, "10.00", "bob") };
        let receipt = DeckItem { outlook: outlook(None, Some("1O.00 EUR")), ..item(2, "10.00", "bob") };
        let batch = || vec![claim.clone(), receipt.clone(), item(3, "1.00", "bob")];
        let view = preflight(Some(looked_at(batch())), Decision::Approve, &BTreeMap::new(), 1).expect("small sums");
        let told: Vec<_> = view.effects.iter().map(|line| (line.id.as_str(), line.words.as_str())).collect();
        assert_eq!(told, [("1", "posts or releases"), ("2", "posts or releases")]);
        let figure = view.effects[0].figure.as_ref().expect("the accrual");
        assert_eq!((figure.id.as_str(), figure.amount.as_str(), figure.currency.as_str()), ("1", "1000.01", "EUR"));
        assert_eq!((&view.effects[1].figure, view.effects[1].read.as_deref()), (&None, Some("1O.00 EUR")));
        // The accrual is over the limit of a thousand, which the variance is not.
        assert_eq!(view.groups.last().map(|group| (group.outcome.as_str(), group.ids.len())), Some(("OVER_LIMIT", 1)));
        let rejected = preflight(Some(looked_at(batch())), Decision::Reject, &BTreeMap::new(), 1).expect("small sums");
        assert!(rejected.effects.iter().all(|line| line.figure.is_none() && line.read.is_none()));
        assert_eq!(rejected.effects[0].words, "disputes or returns");
        assert_eq!(rejected.refused, 0);
    }

    #[test]
    fn what_to_think_about_and_what_to_type_is_said_before_the_signature() {
        let mut standing = standing();
        let from = CurrencyAmount { currency: "EUR".into(), amount: 1_200.into() };
        standing.policy.review.type_total_from = vec![from];
        let other = DeckItem { entity: "fr-01".into(), ..item(2, "700.00", "bob") };
        let items = vec![item(1, "600.00", "bob"), other];
        let glance = Glance { standing, lapsed: 1, ..looked_at(items) };
        let view = preflight(Some(glance), Decision::Approve, &BTreeMap::new(), 0).expect("small sums");
        let kinds: Vec<WarningKind> = view.warnings.iter().map(|warning| warning.kind).collect();
        let expected =
            [WarningKind::MixedEntities, WarningKind::LimitNear, WarningKind::NothingOpened, WarningKind::LeaseGone];
        assert_eq!(kinds, expected);
        assert_eq!(view.type_totals, ["EUR"]);
        let calm = preflight(Some(looked_at(vec![item(1, "10.00", "bob")])), Decision::Approve, &BTreeMap::new(), 1)
            .expect("small sums");
        assert_eq!((calm.warnings, calm.type_totals), (vec![], vec![]));
    }

    fn euros(amount: &str) -> Money {
        Money::parse(amount, "EUR".parse().expect("a currency")).expect("an amount")
    }

    #[test]
    fn the_amount_of_a_receipt_is_weighed_as_read_and_as_entered() {
        let read = |text: &str| Outlook {
            approving: "releases it to policy validation".into(),
            read: Some(format!("{text} EUR")),
            amount_read: Money::parse(text, "EUR".parse().expect("a currency")).ok(),
            asks_for_amount: text.contains('O'),
            ..Outlook::default()
        };
        let receipt =
            |id: i64, text: &str| DeckItem { kind: Kind::Receipt, outlook: read(text), ..item(id, "0.00", "bob") };
        let told = |text: &str, figures: &[(i64, &str)], decision| {
            let items = vec![receipt(1, text)];
            let figures = figures.iter().map(|(id, amount)| (ExceptionId(*id), euros(amount))).collect();
            let view = preflight(Some(looked_at(items)), decision, &figures, 1).expect("small sums");
            let groups: Vec<String> = view.groups.iter().map(|group| group.label.clone()).collect();
            (groups, view.effects.first().map(|line| line.words.clone()).unwrap_or_default())
        };
        let approve = Decision::Approve;
        for (text, figures, expected) in [
            ("12.50", vec![], "1 will commit"),
            ("1000000.00", vec![], "1 will be refused: over your limit"),
            ("500.00", vec![], "1 will wait for a second signature"),
            ("1O.00", vec![], "1 will be refused: the amount is missing"),
            ("1O.00", vec![(1, "10.00")], "1 will commit"),
            ("12.50", vec![(1, "500.00")], "1 will wait for a second signature"),
            ("1000000.00", vec![(1, "10.00")], "1 will commit"),
        ] {
            assert_eq!(told(text, &figures, approve).0, [expected], "{text} {figures:?}");
        }
        assert_eq!(told("1O.00", &[], Decision::Reject).0, ["1 will commit"], "it is returned");
        let (_, words) = told("12.50", &[(1, "13.50")], approve);
        assert_eq!(words, "releases it to policy validation with 13.50 EUR, 12.50 EUR was read");
    }
}
