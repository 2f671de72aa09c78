//! What comes back from the backlog and the journal.

use std::collections::BTreeSet;

use countersign_domain::code::Code;

use super::{CommandFailure, Effect, Engine, Now, Record, Reply, Token, Tracked, Writing, unknown_workstation};
use crate::backoff::delay_ms;
use crate::outbox::Outbox;
use crate::port::{BacklogError, Failure, JournalError, Problem, Renewed, Welcome, Write};
use crate::{JOURNAL_RETRY_MS, REFRESH_MS};

impl Engine {
    pub(super) fn welcomed(&mut self, now: Now, result: Result<Welcome, BacklogError>, effects: &mut Vec<Effect>) {
        self.hello = false;
        let welcome = match result {
            Ok(welcome) => welcome,
            // Saying hello is what makes a workstation known: who is refused here has another reviewer's journal.
            Err(error) if unknown_workstation(&error) => return self.lost(now, self.of_somebody_else(), effects),
            Err(error) if error.failure == Failure::Refused(Problem::Revoked) => {
                // Whoever has this machine now has no business with what it leased.
                if self.deck.len() > 0 || !self.leases.is_empty() || self.link.problem.as_ref() != Some(&error) {
                    self.clear(effects);
                }
                return self.lost(now, error, effects);
            }
            Err(error) => return self.lost(now, error, effects),
        };
        let here = (welcome.installation, welcome.reviewer.clone());
        if self.bound_to.as_ref().is_some_and(|bound_to| *bound_to != here) {
            return self.lost(now, self.of_somebody_else(), effects);
        }
        if self.bound_to.is_none() {
            self.bound_to = Some(here.clone());
            self.journal(Write::Bind { installation: here.0, reviewer: here.1 }, Writing::Other, effects);
        }
        self.reviewer = Some(welcome.reviewer);
        self.stand(*welcome.standing, effects);
        self.refresh_at_ms = now.mono_ms + REFRESH_MS;
        if !self.is_enrolled(now, welcome.enrolment, effects) {
            return;
        }
        let refreshed = self.link.online;
        self.link.answered(now.wall);
        if refreshed {
            return;
        }
        self.session_version += 1;
        self.outbox.hurry(now.mono_ms, false);
        // Which leases still stand is the first thing to know.
        self.renew_at_ms = now.mono_ms;
        self.lease_at_ms = now.mono_ms;
        if self.drain.is_some() {
            self.give_everything_back();
        }
        effects.push(Effect::Record(Record {
            event: "online",
            code: None,
            item: None,
            message: format!("signed in as {}", welcome.display_name),
        }));
    }

    fn of_somebody_else(&self) -> BacklogError {
        let message = format!(
            "this journal holds the work of {} in another installation or for another login; it stays untouched. Choose the profile it belongs to, or connect with a new one",
            self.reviewer.as_deref().unwrap_or("another reviewer")
        );
        BacklogError { operation: "connect", failure: Failure::Refused(Problem::OtherInstallation), message }
    }

    pub(super) fn renewed(&mut self, now: Now, result: Result<Vec<Renewed>, BacklogError>, effects: &mut Vec<Effect>) {
        let Some(call) = self.renew.take() else { return };
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                if self.is_extending() {
                    self.not_extended(&error, effects);
                }
                return self.call_failed(now, error, effects);
            }
        };
        self.link.answered(now.wall);
        self.trouble = None;
        self.renew_at_ms = now.mono_ms + u64::from(self.settings.lease_timeout_ms) / 3;
        let (rows, lost) = self.leases.renewed(&call.what, &answer, call.at.mono_ms, call.at.wall);
        self.extended(call.at, &answer, lost.len(), effects);
        self.session_version += 1;
        self.deck_version += 1;
        if !rows.is_empty() {
            let rows = self.durable(rows);
            self.journal_leased(rows, Vec::new(), effects);
        }
        if !lost.is_empty() {
            self.leases.remove(&lost);
            let gone = self.drop_partitions(&lost);
            let message = format!(
                "{} partitions lapsed and were taken by somebody else; {gone} undecided exceptions left the deck",
                lost.len()
            );
            effects.push(Effect::Record(Record {
                event: "lease_lost",
                code: Some(Code::LeaseExpired),
                item: None,
                message,
            }));
            self.journal(Write::Dropped(lost.into_iter().collect()), Writing::Other, effects);
        }
    }

    pub(super) fn released(&mut self, now: Now, result: Result<(), BacklogError>, effects: &mut Vec<Effect>) {
        let Some(call) = self.release.take() else { return };
        if let Err(error) = result {
            return self.call_failed(now, error, effects);
        }
        self.link.answered(now.wall);
        let partitions: BTreeSet<_> = call.what.into_iter().map(|held| held.partition).collect();
        self.leases.remove(&partitions);
        // An item may have come between the call and its answer: it goes with its lease.
        if self.drop_partitions(&partitions) > 0 {
            self.deck_version += 1;
        }
        self.session_version += 1;
        self.journal(Write::Dropped(partitions.into_iter().collect()), Writing::Other, effects);
    }

    pub(super) fn call_failed(&mut self, now: Now, error: BacklogError, effects: &mut Vec<Effect>) {
        if unknown_workstation(&error) || Self::is_about_the_link(&error) {
            return self.lost(now, error, effects);
        }
        // Answered, so the connection is good; the request waits a little.
        self.link.answered(now.wall);
        self.control_at_ms = now.mono_ms + delay_ms(1, &mut self.random);
        self.trouble = Some(error.clone());
        self.session_version += 1;
        effects.push(Effect::Record(Record {
            event: "call_failed",
            code: None,
            item: None,
            message: error.to_string(),
        }));
    }

    pub(super) fn journaled(
        &mut self,
        now: Now,
        token: Token,
        result: Result<(), JournalError>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(what) = self.writing.remove(&token) else { return };
        if self.journal_problem.as_ref() != result.as_ref().err() {
            self.journal_problem = result.as_ref().err().cloned();
            self.session_version += 1;
        }
        match (what, result) {
            (Writing::Other | Writing::Settle(_) | Writing::Leased(_), Ok(())) => {}
            (Writing::Letters(_), Ok(())) => self.letters_kept(now),
            (Writing::Told, result) => self.told_journaled(now, result.is_ok()),
            (Writing::Letters(letters), Err(error)) => {
                self.unkept.push(letters);
                self.settle_at_ms = now.mono_ms + JOURNAL_RETRY_MS;
                journal_failed(&error, effects);
            }
            (Writing::Leased(partitions), Err(error)) => {
                self.unsaved.extend(partitions);
                journal_failed(&error, effects);
            }
            (Writing::Settle(settled), Err(error)) => {
                self.unsettled.extend(settled);
                self.settle_at_ms = now.mono_ms + JOURNAL_RETRY_MS;
                journal_failed(&error, effects);
            }
            (Writing::Other, Err(error)) => {
                journal_failed(&error, effects);
            }
            (Writing::Sign { request, entries }, Ok(())) => {
                let count = entries.len();
                self.outbox.supersede(&entries);
                for entry in entries {
                    self.signed(now, entry);
                }
                self.deck_version += 1;
                self.outbox_version += 1;
                self.session_version += 1;
                effects.push(Effect::Reply(request, Ok(Reply::Signed { count })));
            }
            (Writing::Sign { request, entries }, Err(error)) => {
                self.deck.set_signing(entries.iter().map(|entry| entry.item.id), false);
                self.deck_version += 1;
                effects.push(Effect::Reply(
                    request,
                    Err(CommandFailure { code: error.fault.code(), message: error.message }),
                ));
            }
            (Writing::Undo { request, keys, too_late }, Ok(())) => {
                for key in &keys {
                    let Some(pending) = self.outbox.remove(*key) else { continue };
                    self.outbox.remember_withdrawn(pending.entry.clone(), now.wall);
                    // The lease may have been lost in the meantime; then there is nothing to put back.
                    if self.leases.get(&pending.entry.item.partition).is_some_and(|lease| !lease.giving_back) {
                        self.tracked.insert(pending.entry.item.id, Tracked::in_deck(&pending.entry.item));
                        self.deck.put_back(pending.place, Outbox::slot(&pending));
                    }
                }
                self.deck_version += 1;
                self.outbox_version += 1;
                self.session_version += 1;
                effects.push(Effect::Reply(request, Ok(Reply::Undone { withdrawn: keys.len(), too_late })));
            }
            (Writing::Mark, Ok(())) if self.link.online => self.send(now, effects),
            (Writing::Mark, Ok(())) => self.do_not_send(),
            (Writing::Mark, Err(error)) => {
                // What the disk does not know was sent could be withdrawn after a crash, although it was.
                self.do_not_send();
                self.send_at_ms = now.mono_ms + JOURNAL_RETRY_MS;
                journal_failed(&error, effects);
            }
            (Writing::Undo { request, keys, .. }, Err(error)) => {
                for key in &keys {
                    if let Some(pending) = self.outbox.get_mut(*key) {
                        pending.withdrawing = false;
                    }
                }
                effects.push(Effect::Reply(
                    request,
                    Err(CommandFailure { code: error.fault.code(), message: error.message }),
                ));
            }
        }
    }
}

fn journal_failed(error: &JournalError, effects: &mut Vec<Effect>) {
    effects.push(Effect::Record(Record {
        event: "journal_failed",
        code: None,
        item: None,
        message: error.to_string(),
    }));
}
