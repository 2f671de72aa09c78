//! What was given up here reaches the desk of dead letters: exceptions that could not be scored, decisions the database can never take.
//!
//! The journal keeps what is to be told until it was told. It holds the contents; the engine only knows that there is something. Telling
//! twice is telling once, so that a lost answer costs nothing.

use countersign_domain::dead_letter::Cause;
use countersign_domain::id::ExceptionId;
use serde_json::json;

use super::{Effect, Engine, Now, Record, Writing};
use crate::backoff::delay_ms;
use crate::port::{BacklogError, Entry, Failure, GivenUp, LETTERS_A_CALL, LetterRef, Write};

/// How telling goes.
#[derive(Debug)]
pub(super) struct Telling {
    /// The journal may hold something that the backlog was not told of.
    pub(super) open: bool,
    pub(super) under_way: bool,
    /// Fewer than a call takes while the one letter is looked for that the database cannot take.
    at_most: usize,
    failures: u32,
    at_ms: u64,
}

impl Telling {
    pub(super) fn new(now_ms: u64) -> Self {
        // Whether an earlier start left something, the journal says when it is asked for the first time.
        Self { open: true, under_way: false, at_most: LETTERS_A_CALL, failures: 0, at_ms: now_ms }
    }

    fn wakeup_ms(&self) -> Option<u64> {
        (self.open && !self.under_way).then_some(self.at_ms)
    }
}

impl Engine {
    /// Whether the backlog was not told yet of something that was given up here.
    pub(super) fn has_letters_to_tell(&self) -> bool {
        self.telling.under_way || (self.telling.open && self.telling.failures == 0)
    }

    pub(super) fn telling_wakeup_ms(&self) -> Option<u64> {
        self.telling.wakeup_ms().filter(|_| self.link.online)
    }

    pub(super) fn tell_of_letters(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.telling.wakeup_ms().is_some_and(|at_ms| at_ms <= now.mono_ms) {
            self.telling.under_way = true;
            effects.push(Effect::GiveUp(self.telling.at_most));
        }
    }

    /// There is something on the disk to tell of.
    pub(super) fn letters_kept(&mut self, now: Now) {
        self.telling.open = true;
        self.telling.at_ms = self.telling.at_ms.min(now.mono_ms);
    }

    pub(super) fn gave_up(
        &mut self,
        now: Now,
        letters: Vec<LetterRef>,
        result: Result<(), BacklogError>,
        effects: &mut Vec<Effect>,
    ) {
        self.telling.under_way = false;
        match result {
            Ok(()) if letters.is_empty() => {
                self.telling.open = false;
                self.telling.failures = 0;
            }
            Ok(()) => {
                self.link.answered(now.wall);
                (self.telling.failures, self.telling.at_most, self.telling.at_ms) = (0, LETTERS_A_CALL, now.mono_ms);
                let message = format!("{} dead letters of this workstation are on the desk", letters.len());
                effects.push(Effect::Record(Record { event: "letters_told", code: None, item: None, message }));
                self.told(letters, effects);
            }
            Err(error) => self.not_told(now, letters, error, effects),
        }
    }

    fn not_told(&mut self, now: Now, letters: Vec<LetterRef>, error: BacklogError, effects: &mut Vec<Effect>) {
        match error.failure {
            Failure::Offline | Failure::Refused(_) => return self.call_failed(now, error, effects),
            // One letter that the database can never take must not hold up the others: halve until it is alone.
            Failure::Structural if letters.len() > 1 => {
                self.telling.at_most = (letters.len() / 2).max(1);
                self.telling.at_ms = now.mono_ms;
            }
            Failure::Structural => {
                self.telling.at_most = LETTERS_A_CALL;
                // It stays in this journal, which is all that can be done for it.
                self.told(letters, effects);
            }
            Failure::Transient => {
                self.telling.failures = self.telling.failures.saturating_add(1);
                self.telling.at_ms = now.mono_ms + delay_ms(self.telling.failures.min(6), &mut self.random);
            }
        }
        let message = error.to_string();
        effects.push(Effect::Record(Record { event: "letters_not_told", code: None, item: None, message }));
    }

    /// No more is told of until the disk knows that these were: the next call would tell of them again.
    fn told(&mut self, letters: Vec<LetterRef>, effects: &mut Vec<Effect>) {
        self.telling.under_way = true;
        self.journal(Write::Told(letters), Writing::Told, effects);
    }

    /// The disk knows, or did not take it.
    pub(super) fn told_journaled(&mut self, now: Now, kept: bool) {
        self.telling.under_way = false;
        self.telling.at_ms = now.mono_ms + if kept { 0 } else { crate::JOURNAL_RETRY_MS };
    }
}

/// A decision for the desk to see: without its comment, which is nobody's business there.
pub(super) fn given_up(entry: &Entry, exception: ExceptionId, reason: &str, now: Now) -> GivenUp {
    let sign_off = &entry.sign_off;
    let original = json!({
        "idempotency_key": entry.item.key,
        "sign_off_key": sign_off.key.0.to_string(),
        "content": sign_off.content.0.to_string(),
        "epoch": sign_off.epoch.0,
        "decision": sign_off.decision.as_str(),
        "reason": sign_off.reason,
        "decided_at": sign_off.decided_at,
        "policy_version": sign_off.policy_version,
        "figure": sign_off.figure,
    });
    GivenUp {
        cause: Cause::SignOff,
        exception,
        version: entry.item.version,
        key: Some(sign_off.key),
        original: original.to_string(),
        reason: reason.to_owned(),
        attempts: entry.attempts + 1,
        at: now.wall,
    }
}
