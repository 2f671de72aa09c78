//! What the decisions on an exception came to: one effect, that of the decision, in the order of the partition, by as many people as the
//! policy asks for.

use super::decisions::Exception;
use super::finding::Finding;
use super::judge::{Signed, about, said, same_amount, weight};
use super::people::common;
use super::signatures::Signatures;
use super::verify::State;

/// How far a partition has been read.
#[derive(Debug, Default)]
pub(crate) struct Order {
    partition: Option<String>,
    seq: i64,
    effect_no: i64,
    undecided: Option<i64>,
}

impl State {
    /// Judges an exception with everything decided on it. `whole` says that every exception is read.
    pub(crate) async fn judge(&mut self, exception: &Exception, whole: bool, signatures: &mut Signatures) {
        self.counts.exceptions += 1;
        let mut signed = Vec::new();
        for row in &exception.sign_offs {
            signed.extend(self.sign_off(exception, row, signatures).await);
        }
        // The first of two comes first, whatever the order of the rows.
        signed.sort_by_key(|one| (one.row.signed_at, one.row.decides()));
        self.order(exception, whole);
        let (first, deciding): (Vec<_>, Vec<_>) = signed.iter().partition(|one| !one.row.decides());
        self.state_of(exception, &first, &deciding);
        let [deciding] = deciding[..] else { return };
        self.enough_signatures(exception, &first, deciding);
        self.reversal(exception, &first, deciding);
        self.effect(exception, deciding);
    }

    fn of(exception: &Exception, what: impl Into<String>, means: &'static str) -> Finding {
        Finding::new(what, means).chain(&exception.partition).exception(exception.id)
    }

    fn order(&mut self, exception: &Exception, whole: bool) {
        if self.order.partition.as_deref() != Some(&exception.partition) {
            self.order = Order { partition: Some(exception.partition.clone()), ..Order::default() };
        }
        let before = std::mem::replace(&mut self.order.seq, exception.seq);
        if whole && exception.seq != before + 1 {
            let what = format!("it is number {} of its partition and follows number {before}", exception.seq);
            self.findings.add(Self::of(exception, what, "Exceptions before it were removed"));
        }
        let numbers = exception.postings.iter().map(|one| one.effect_no);
        let numbers = numbers.chain(exception.routings.iter().map(|one| one.effect_no));
        let numbers: Vec<i64> = numbers.chain(exception.disputes.iter().map(|one| one.effect_no)).collect();
        self.counts.effects += numbers.len() as u64;
        let Some(&number) = numbers.first() else {
            self.order.undecided.get_or_insert(exception.seq);
            return;
        };
        if number <= self.order.effect_no {
            let what =
                format!("its effect {number} came before effect {} of an earlier exception", self.order.effect_no);
            self.findings.add(Self::of(exception, what, "Effects of a partition follow the order of its exceptions"));
        }
        if let Some(undecided) = self.order.undecided {
            let what = format!("it has an effect, and number {undecided} of its partition before it has none");
            self.findings.add(Self::of(exception, what, "Effects of a partition follow the order of its exceptions"));
        }
        self.order.effect_no = self.order.effect_no.max(number);
    }

    fn state_of(&mut self, exception: &Exception, first: &[&Signed<'_>], deciding: &[&Signed<'_>]) {
        let effects = exception.postings.len() + exception.routings.len() + exception.disputes.len();
        let mut wrong = |what: String, means| self.findings.add(Self::of(exception, what, means));
        let decided = exception.sign_offs.iter().filter(|row| row.decides()).count();
        match (exception.state.as_str(), decided) {
            ("PENDING", 0) | ("APPROVED" | "REJECTED" | "RESOLVED", 1) => {}
            ("PENDING", _) => wrong(
                "it is undecided, and a decision on it was accepted".into(),
                "A decision was put in, or taken back",
            ),
            (state, 0) => wrong(
                format!("it is {state}, and nobody decided it"),
                "It was decided without a signature, or the decision was removed",
            ),
            (_, decided) => wrong(
                format!("{decided} decisions on it were accepted"),
                "An exception is decided once: the others were put in",
            ),
        }
        match (exception.state.as_str(), effects) {
            ("RESOLVED", 1) | ("PENDING" | "APPROVED" | "REJECTED", 0) => {}
            ("RESOLVED", 0) => {
                wrong("it is resolved without an effect".into(), "A posting, a return or a dispute was removed");
            }
            (state, effects) => {
                wrong(
                    format!("it is {state} and has {effects} effects"),
                    "There is one effect for a resolved exception: the others were put in",
                );
            }
        }
        if let [deciding] = deciding {
            let row = deciding.row;
            let same = exception.decision.as_deref() == Some(&row.decision)
                && exception.decided_by.as_deref() == Some(&row.reviewer)
                && exception.decided_at == Some(row.signed_at)
                && exception.version == row.version
                && exception.content == row.content
                && same_amount(&exception.amount, deciding.amount)
                && match exception.state.as_str() {
                    "APPROVED" => row.decision == "APPROVE",
                    "REJECTED" => row.decision == "REJECT",
                    _ => true,
                };
            if !same {
                let finding = Finding::new(
                    "what the exception says about its decision is not what was signed",
                    "The exception was changed after it was decided",
                );
                self.findings.add(about(exception, row, finding));
            }
        }
        if exception.state == "PENDING" && first.iter().filter(|one| one.row.version == exception.version).count() > 1 {
            let finding = Self::of(
                exception,
                "several first approvals wait for a second one".to_owned(),
                "The second of two approvals decides: one of these was put in",
            );
            self.findings.add(finding);
        }
    }

    /// As many distinct people as the policy asks for that was in force.
    fn enough_signatures(&mut self, exception: &Exception, first: &[&Signed<'_>], deciding: &Signed<'_>) {
        let row = deciding.row;
        let Some(version) = row.in_force.and_then(|version| u32::try_from(version).ok()) else { return };
        let content = &deciding.content;
        let Some((policy, in_force)) = self.history.policy(version, row.signed_at) else {
            let what = format!("the policy {version} that it names was never put in force");
            self.findings.add(about(exception, row, Finding::new(what, "It cannot be told how many had to sign")));
            return;
        };
        let weight = weight(exception, content, deciding.weighed, &row.decision);
        let two = policy.needs_two(content.kind, content.routing_tier, &content.currency, deciding.amount)
            || weight.is_some_and(|(amount, currency)| {
                policy.needs_two(content.kind, content.routing_tier, &currency, amount)
            });
        if !in_force {
            let what = format!("the policy {version} that it names was not in force when it was signed");
            self.findings.add(about(
                exception,
                row,
                Finding::new(what, "It was judged by another policy than it had to be"),
            ));
        }
        if row.decision != "APPROVE" {
            return;
        }
        let mut others =
            first.iter().filter(|one| one.row.version == row.version && one.row.decision == "APPROVE").peekable();
        if two && others.peek().is_none() {
            let what = format!("one person approved it, and the policy {version} asks for two");
            self.findings.add(about(exception, row, Finding::new(what, "A second person had to approve it")));
        }
        // The database compares the names of then and of now.
        let other_figure = others
            .clone()
            .find(|other| other.figure != deciding.figure && !self.history.before_figures(other.row.signed_at));
        if let Some(other) = other_figure.filter(|_| two) {
            let what = format!("it carries {}, and the first approval {}", said(deciding.figure), said(other.figure));
            self.findings.add(about(exception, row, Finding::new(what, "Both approvals are of one figure")));
        }
        let same = others.find_map(|other| {
            let now = self.history.people.names(&other.row.reviewer, row.signed_at);
            common(&deciding.names, other.names.union(&now)).map(str::to_owned)
        });
        if let Some(name) = same {
            let what = format!("both approvals of it are of one person, {name}");
            self.findings.add(about(exception, row, Finding::new(what, "Two different people had to approve it")));
        }
    }

    fn reversal(&mut self, exception: &Exception, first: &[&Signed<'_>], deciding: &Signed<'_>) {
        let Some(original) = &exception.reverses else {
            if deciding.content.reverses.is_some() {
                let finding =
                    Finding::new("what it reverses was forgotten", "The exception was changed after it arrived");
                self.findings.add(about(exception, deciding.row, finding));
            }
            return;
        };
        if deciding.content.reverses.as_deref() != Some(&original.key) || original.amount.is_none() {
            let finding = Finding::new(
                "what it reverses has another key, or was not posted",
                "A reversal is of an exception that was posted",
            );
            self.findings.add(about(exception, deciding.row, finding));
        }
        for one in first.iter().chain([&deciding]) {
            let mut names = |signer: &String| self.history.people.names(signer, one.row.signed_at);
            if let Some(name) =
                original.signers.iter().find(|signer| common(&one.names, names(signer).iter()).is_some())
            {
                let what = format!("its reviewer signed what it reverses, as {name}");
                self.findings.add(about(
                    exception,
                    one.row,
                    Finding::new(what, "Nobody signs the reversal of their own decision"),
                ));
            }
        }
    }
}
