//! What became of decisions: durable, accepted, refused, to be tried again, given up.

use countersign_domain::code::FailureClass;
use countersign_domain::hash;
use countersign_domain::id::SignOffKey;
use countersign_domain::sign_off::{Answer, CurrentContent, Outcome};

use super::given_up::given_up;
use super::{DECISION_TIMES, Effect, Engine, Happened, Ids, Now, Record, SETTLED_REMEMBERED, Tracked};
use crate::backoff::delay_ms;
use crate::deck::Slot;
use crate::outbox::Pending;
use crate::port::{
    BacklogError, DeckItem, Entry, Failure, LeasedItem, Settled, SignOffReply, Stage, What, Write, note_step,
};

/// The pause after a partition could not be served alone, before the next one's turn: a server that can serve none is not to be
/// asked for thousands of them at once.
const ALONE_PAUSE_MS: u64 = 200;

/// What fails when a decision does.
const SIGN_OFF: &str = "sign off";

impl Engine {
    /// A decision is durable: it leaves the deck, and its undo window begins.
    pub(super) fn signed(&mut self, now: Now, entry: Entry) {
        let (place, since_ms) =
            self.deck.take(entry.item.id).map_or((None, now.mono_ms), |(place, slot)| (Some(place), slot.since_ms));
        // A decision takes from when its item was there and the one before it was made.
        let took_ms = u32::try_from(now.mono_ms.saturating_sub(since_ms.max(self.decided_at_ms))).unwrap_or(u32::MAX);
        self.decided_at_ms = now.mono_ms;
        self.decision_times_ms.push_back(took_ms);
        if self.decision_times_ms.len() > DECISION_TIMES {
            self.decision_times_ms.pop_front();
        }
        let undo_ms = if self.drain.is_some() { 0 } else { u64::from(self.settings.undo_window_ms) };
        self.outbox.insert(Pending {
            send_after_ms: now.mono_ms + undo_ms,
            next_attempt_ms: now.mono_ms,
            sending: false,
            sent: false,
            withdrawing: false,
            place,
            since_ms,
            entry,
        });
    }

    pub(super) fn signed_off(
        &mut self,
        now: Now,
        result: Result<SignOffReply, BacklogError>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(call) = self.sign_off.take() else { return };
        self.outbox.not_sending(&call.what, result.as_ref().err().map(|error| error.message.as_str()));
        self.outbox_version += 1;
        let (answers, number) = match result {
            Ok(reply) if reply.answers.len() == call.what.len() => {
                let number = reply.receipt.as_ref().map(|receipt| receipt.receipt);
                if let Some(receipt) = reply.receipt {
                    self.receipted(now, &call.what, receipt, effects);
                }
                (reply.answers, number)
            }
            Ok(reply) => {
                let message = format!("the database answered {} of {} decisions", reply.answers.len(), call.what.len());
                self.outbox.not_sending(&call.what, Some(&message));
                return self.sign_off_failed(
                    now,
                    &call.what,
                    BacklogError { operation: "sign off", failure: Failure::Structural, message },
                    effects,
                );
            }
            Err(error) => return self.sign_off_failed(now, &call.what, error, effects),
        };
        self.link.answered(now.wall);
        self.batch_limit = self.settings.commit_batch as usize;
        self.partition_limit = self.partition_limit.saturating_mul(2);
        let mut settled = Vec::with_capacity(answers.len());
        for (key, answer) in call.what.into_iter().zip(answers) {
            let Some(mut pending) = self.outbox.remove(key) else { continue };
            self.tracked.remove(&pending.entry.item.id);
            let accepted = answer.outcome.accepted();
            pending.entry.stage = if accepted { Stage::Committed } else { Stage::Refused };
            let current = answer.now.clone();
            let answer = Answer { now: None, ..answer };
            pending.entry.answer = Some(answer.clone());
            pending.entry.settled_at = Some(now.wall);
            pending.entry.receipt = number;
            note_step(&mut pending.entry.steps, now.wall, What::Answered(answer.outcome));
            let returned = self.returned(now, &pending, answer.outcome);
            settled.push(Settled {
                key,
                stage: pending.entry.stage,
                attempts: pending.entry.attempts,
                answer: Some(answer.clone()),
                problem: None,
                at: now.wall,
                receipt: number,
                steps: pending.entry.steps.clone(),
                returned,
            });
            if accepted {
                self.remember_settled(&pending.entry);
                if answer.outcome == Outcome::Duplicate {
                    effects.push(record_of("duplicate_skipped", &pending.entry, "it was accepted before"));
                }
                self.outbox.remember(pending.entry);
            } else {
                self.refused(&pending, &answer, effects);
                if let Some(current) = current {
                    self.take_back(now, &pending.entry, current);
                }
                self.outbox.insert(pending);
            }
        }
        self.session_version += 1;
        self.deck_version += 1;
        self.settle(settled, effects);
    }

    /// Puts the exception of a refused decision back where it was, with the note that is returned: it is still to be decided, and
    /// still this workstation's.
    fn returned(&mut self, now: Now, pending: &Pending, outcome: Outcome) -> Option<String> {
        let item = &pending.entry.item;
        let stands =
            self.leases.get(&item.partition).is_some_and(|lease| lease.epoch == item.epoch && !lease.giving_back);
        let elsewhere = self.scoring.contains(item.id) || self.deck.get(item.id).is_some();
        if !outcome.leaves_undecided() || !stands || elsewhere || self.drain.is_some() {
            return None;
        }
        let note = refused_note(outcome);
        let item = DeckItem { note: Some(note.clone()), ..item.clone() };
        self.tracked.insert(item.id, Tracked::in_deck(&item));
        self.deck.put_back(pending.place, Slot { item, since_ms: now.mono_ms });
        Some(note)
    }

    fn refused(&mut self, pending: &Pending, answer: &Answer, effects: &mut Vec<Effect>) {
        let item = &pending.entry.item;
        effects.push(record_of("refused", &pending.entry, answer.outcome.as_str()));
        match answer.outcome {
            // It comes back with its new content, if the lease still stands.
            Outcome::StaleVersion => {
                self.leases.rewind(&item.partition, item.seq);
                self.lease_at_ms = 0;
                self.notes.insert(item.id, "Returned: it changed upstream".to_owned());
            }
            // Whether the lease is gone is for the next renewal to say.
            Outcome::LeaseSuperseded => self.renew_at_ms = 0,
            _ => {}
        }
    }

    /// An exception that changed is shown as it is now, if its lease still stands.
    fn take_back(&mut self, now: Now, entry: &Entry, current: CurrentContent) {
        let item = &entry.item;
        let stands = self
            .leases
            .get(&item.partition)
            .is_some_and(|lease| lease.epoch == entry.sign_off.epoch && !lease.giving_back);
        if !stands || self.drain.is_some() || self.scoring.contains(item.id) {
            return;
        }
        let leased = LeasedItem {
            id: item.id,
            partition: item.partition.clone(),
            epoch: entry.sign_off.epoch,
            seq: item.seq,
            version: current.version,
            content: hash::content_hash(&current.body),
            body: current.body,
            signatures: 0,
            due_on: item.due_on,
        };
        self.enter_scoring(now, leased);
    }

    fn remember_settled(&mut self, entry: &Entry) {
        let settled = (entry.item.version, Ids::of(&entry.item));
        if self.settled.insert(entry.item.id, settled).is_none() {
            self.settled_order.push_back(entry.item.id);
        }
        if self.settled_order.len() > SETTLED_REMEMBERED
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
    }

    fn sign_off_failed(&mut self, now: Now, keys: &[SignOffKey], error: BacklogError, effects: &mut Vec<Effect>) {
        match error.failure {
            Failure::Offline | Failure::Refused(_) => self.call_failed(now, error, effects),
            // One decision that the database cannot read must not hold up the others: halve until it is alone. (A group is never
            // cut; one with such a decision in it is given up whole.)
            Failure::Structural if keys.len() > 1 && self.batch_limit > 1 => {
                self.batch_limit = (keys.len() / 2).clamp(1, self.batch_limit - 1);
            }
            Failure::Structural => {
                self.batch_limit = self.settings.commit_batch as usize;
                self.give_up(now, keys, &error, effects);
            }
            Failure::Transient => self.try_again(now, keys, &error, effects),
        }
    }

    /// The database cannot serve a call now. Which partition it is about shows when it is alone; only then it is an attempt, so that
    /// the trouble of one partition stays its own.
    fn try_again(&mut self, now: Now, keys: &[SignOffKey], error: &BacklogError, effects: &mut Vec<Effect>) {
        self.link.answered(now.wall);
        effects.push(Effect::Record(Record {
            event: "call_failed",
            code: None,
            item: None,
            message: error.to_string(),
        }));
        let partitions = self.outbox.partitions_of(keys);
        if partitions > 1 {
            self.partition_limit = partitions / 2;
            self.send_at_ms = now.mono_ms + delay_ms(0, &mut self.random);
            return;
        }
        self.send_at_ms = now.mono_ms + ALONE_PAUSE_MS;
        let (mut most, mut exhausted) = (0, Vec::new());
        for key in keys {
            let Some(pending) = self.outbox.get_mut(*key) else { continue };
            pending.entry.attempts += 1;
            most = pending.entry.attempts.max(most);
            if pending.entry.attempts >= self.settings.sync_max_attempts {
                exhausted.push(*key);
            }
        }
        let delay_ms = delay_ms(most, &mut self.random);
        for key in keys {
            let Some(pending) = self.outbox.get_mut(*key) else { continue };
            pending.next_attempt_ms = now.mono_ms + delay_ms;
            pending.entry.problem = Some(error.message.clone());
            if !exhausted.contains(key) {
                let (item, attempt) = (&pending.entry.item, pending.entry.attempts);
                let happened = Happened::RetryScheduled { operation: SIGN_OFF, attempt, delay_ms };
                Self::trace(item.id, Some(Ids::of(item)), happened, effects);
            }
        }
        self.give_up(now, &exhausted, error, effects);
    }

    fn give_up(&mut self, now: Now, keys: &[SignOffKey], error: &BacklogError, effects: &mut Vec<Effect>) {
        let structural = error.failure == Failure::Structural;
        let class = if structural { FailureClass::Structural } else { FailureClass::Transient };
        let (mut settled, mut letters) = (Vec::new(), Vec::new());
        for key in keys {
            let Some(pending) = self.outbox.get_mut(*key) else { continue };
            pending.entry.stage = Stage::Dead;
            pending.entry.problem = Some(error.message.clone());
            note_step(&mut pending.entry.steps, now.wall, What::GivenUp(error.message.clone()));
            let (item, attempts) = (&pending.entry.item, pending.entry.attempts);
            if structural {
                letters.push(given_up(&pending.entry, item.id, &error.message, now));
            }
            let happened =
                Happened::DeadLettered { operation: SIGN_OFF, attempts: attempts + u32::from(structural), class };
            Self::trace(item.id, Some(Ids::of(item)), happened, effects);
            settled.push(Settled {
                key: *key,
                stage: Stage::Dead,
                attempts,
                answer: None,
                problem: Some(error.message.clone()),
                at: now.wall,
                receipt: None,
                steps: pending.entry.steps.clone(),
                returned: None,
            });
        }
        if !letters.is_empty() {
            // Before it is settled: what is told of and then sent again after a crash is given up again, and is told in vain.
            self.keep_letters(Write::GivenUp(letters), effects);
        }
        if !settled.is_empty() {
            self.session_version += 1;
            self.settle(settled, effects);
        }
    }
}

/// Why an exception is in the deck again after its decision was refused.
pub(super) fn refused_note(outcome: Outcome) -> String {
    format!("Refused: {}", outcome.in_brief())
}

fn record_of(event: &'static str, entry: &Entry, message: &str) -> Effect {
    let item = &entry.item;
    Effect::Record(Record {
        event,
        code: None,
        item: Some((item.trace_id, item.source_hash.clone(), item.match_decision.as_str())),
        message: format!("{} on {}: {message}", entry.sign_off.decision.as_str(), item.key),
    })
}
