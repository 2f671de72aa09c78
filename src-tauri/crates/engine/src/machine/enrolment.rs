//! The workstation's key, what is in force, and handing leases on.

use countersign_domain::id::PartitionKey;
use countersign_domain::receipt::Receipt;
use countersign_domain::scoring::Thresholds;
use countersign_domain::seal::Enrolment;
use countersign_domain::standing::Standing;

use super::{CommandFailure, Effect, Engine, Now, Record, Reply, Writing};
use crate::port::{BacklogError, EnrolmentState, Failure, Problem, Write};
use crate::{RECEIPTS_SHOWN, STANDING_KEPT_MS};

impl Engine {
    /// Whether a supervisor has confirmed the key that this workstation signs with. If not, what is missing is asked for.
    pub(super) fn is_enrolled(&mut self, now: Now, known: Option<EnrolmentState>, effects: &mut Vec<Effect>) -> bool {
        let mine = self.keys.enrolment().map(|enrolment| enrolment.number);
        let public = self.keys.public();
        match known.filter(|known| Some(known.number) == mine && known.public_key == public) {
            Some(EnrolmentState { confirmed: true, .. }) => true,
            Some(_) => {
                self.lost(now, self.unconfirmed(), effects);
                false
            }
            None => {
                self.lost(now, self.unconfirmed(), effects);
                self.enrolling = true;
                effects.push(Effect::Enrol(public));
                false
            }
        }
    }

    fn unconfirmed(&self) -> BacklogError {
        let message = format!(
            "this workstation is new here. Tell a supervisor its number {} and the fingerprint {}; once they have confirmed it, work can begin",
            self.workstation.0,
            self.keys.public().fingerprint()
        );
        BacklogError { operation: "enrol", failure: Failure::Refused(Problem::NotEnrolled), message }
    }

    pub(super) fn enrolled(&mut self, now: Now, result: Result<Enrolment, BacklogError>, effects: &mut Vec<Effect>) {
        self.enrolling = false;
        match result {
            Ok(enrolment) => {
                let message = format!("enrolment {} is asked for", enrolment.number);
                effects.push(Effect::Record(Record { event: "enrolment_requested", code: None, item: None, message }));
                self.keys.enrolled(enrolment);
                self.reseal();
                self.lost(now, self.unconfirmed(), effects);
            }
            Err(error) => self.lost(now, error, effects),
        }
    }

    /// Takes up what is in force now.
    pub(super) fn stand(&mut self, standing: Standing, effects: &mut Vec<Effect>) {
        let before = self.standing.as_ref().map(|standing| standing.policy_version);
        if before.is_some_and(|before| before != standing.policy_version) {
            let message = format!("policy {} is in force", standing.policy_version);
            effects.push(Effect::Record(Record { event: "policy_changed", code: None, item: None, message }));
        }
        if let Some(held) = self.standing.as_mut().filter(|held| says_the_same(held, &standing)) {
            held.at = standing.at;
            let written = self.standing_written_at;
            if written.is_some_and(|at| standing.at.signed_duration_since(at).num_milliseconds() < STANDING_KEPT_MS) {
                return;
            }
        }
        self.standing_written_at = Some(standing.at);
        self.journal(Write::Standing(Box::new(standing.clone())), Writing::Other, effects);
        self.standing = Some(standing);
        self.session_version += 1;
    }

    pub(super) fn thresholds(&self) -> Thresholds {
        let of = |standing: &Standing| standing.policy.thresholds(standing.policy_version);
        self.standing.as_ref().map_or_else(Thresholds::default, of)
    }

    /// Keeps the receipt of a call, and says if it does not add up.
    pub(super) fn receipted(
        &mut self,
        now: Now,
        keys: &[countersign_domain::id::SignOffKey],
        receipt: Receipt,
        effects: &mut Vec<Effect>,
    ) {
        let checked = receipt.check(keys);
        let message = format!(
            "receipt {}: {} submitted = {} committed + {} refused + {} duplicate",
            receipt.receipt, receipt.submitted, receipt.committed, receipt.refused, receipt.duplicate
        );
        effects.push(Effect::Record(Record { event: "receipt", code: None, item: None, message }));
        if let Err(problem) = checked {
            let problem = format!("Receipt {} cannot be right: {problem}. Tell your auditor.", receipt.receipt);
            effects.push(Effect::Record(Record {
                event: "receipt_wrong",
                code: None,
                item: None,
                message: problem.clone(),
            }));
            self.receipt_problem = Some(problem);
        }
        if self.standing.as_ref().is_some_and(|standing| standing.policy_version != receipt.policy_version) {
            self.refresh_at_ms = now.mono_ms;
        }
        self.receipts.push_front(receipt);
        self.receipts.truncate(RECEIPTS_SHOWN);
    }

    pub(super) fn handed_over(
        &mut self,
        now: Now,
        result: Result<Vec<PartitionKey>, BacklogError>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(call) = self.hand_over.take() else { return };
        let (request, held) = call.what;
        self.session_version += 1;
        match result {
            Ok(handed) => {
                self.link.answered(now.wall);
                // What was not handed over was not held any more.
                let gone = held.into_iter().map(|held| held.partition).collect();
                self.leases.remove(&gone);
                self.journal(Write::Dropped(gone.into_iter().collect()), Writing::Other, effects);
                effects.push(Effect::Reply(request, Ok(Reply::HandedOver(handed.len()))));
            }
            Err(error) => {
                self.leases.keep(&held);
                self.lease_at_ms = now.mono_ms;
                let failure = CommandFailure { code: error.code(), message: error.to_string() };
                effects.push(Effect::Reply(request, Err(failure)));
                self.call_failed(now, error, effects);
            }
        }
    }
}

/// Whether nothing but the time is new.
fn says_the_same(held: &Standing, heard: &Standing) -> bool {
    *held == Standing { at: held.at, ..heard.clone() }
}
