//! Leases that are to last longer than they are renewed for, and the warning before they run out.

use chrono::{DateTime, Utc};

use super::commands::failure;
use super::{CommandFailure, Effect, Engine, Extending, Now, Reply, RequestId};
use crate::port::{BacklogError, Renewed};

impl Engine {
    /// Until when the first lease stands, while leases are extended.
    pub fn offline_until(&self, now: Now) -> Option<DateTime<Utc>> {
        (self.extended_until_ms > now.mono_ms).then(|| self.leases.first_until()).flatten()
    }

    /// Milliseconds until the first lease lapses, when it is near and will not be renewed by itself.
    ///
    /// Renewals come when a third of the time is over. When half of it is, one was missed or is failing, and the same time again is
    /// left to do something.
    pub fn lease_warning_in_ms(&self, now: Now) -> Option<u64> {
        let at_ms = self.next_warning_ms()?;
        let deadline_ms = self.leases.first_deadline_ms()?;
        (now.mono_ms >= at_ms).then(|| deadline_ms.saturating_sub(now.mono_ms))
    }

    /// When the warning is due, unless renewals go on.
    pub(super) fn next_warning_ms(&self) -> Option<u64> {
        if self.link.online && self.trouble.is_none() {
            return None;
        }
        let half_ms = u64::from(self.settings.lease_timeout_ms) / 2;
        self.leases.first_deadline_ms().map(|deadline_ms| deadline_ms.saturating_sub(half_ms))
    }

    pub(super) fn note_lease_warning(&mut self, now: Now) {
        let warned = self.lease_warning_in_ms(now).is_some();
        if warned != self.warned_at_ms.is_some() {
            self.warned_at_ms = warned.then_some(now.mono_ms);
            self.session_version += 1;
        }
    }

    /// Rows say that their lease runs out, and that it lapsed: the window reads them again when one begins to.
    pub(super) fn note_lease_turns(&mut self, now: Now) {
        if self.leases.next_turn_ms(self.turned_at_ms).is_some_and(|at_ms| at_ms <= now.mono_ms) {
            self.deck_version += 1;
        }
        self.turned_at_ms = now.mono_ms;
    }

    /// Asks for longer leases. The reply comes with the database's answer, unless there is nothing to ask.
    pub(super) fn extend(
        &mut self,
        now: Now,
        request: RequestId,
        ttl_ms: u32,
    ) -> Result<Option<Reply>, CommandFailure> {
        if !self.link.online {
            return Err(failure("OFFLINE", "Leases are extended by the database, which cannot be reached now."));
        }
        if self.drain.is_some() {
            return Err(failure("CLOSING", "Countersign is closing; nothing was extended."));
        }
        if self.extending.is_some() {
            return Err(failure("BUSY", "Leases are being extended already; try again in a moment."));
        }
        if self.leases.is_empty() {
            return Ok(Some(Reply::Extended { stand: 0, lost: 0, granted_ms: None, at: now.wall }));
        }
        self.extending = Some(Extending { request, ttl_ms, asked: false });
        self.renew_at_ms = now.mono_ms;
        Ok(None)
    }

    /// How long leases last that are taken or renewed now: an extension is never shortened.
    pub(super) fn ordinary_ttl_ms(&self, now: Now) -> u32 {
        let left_ms = u32::try_from(self.extended_until_ms.saturating_sub(now.mono_ms)).unwrap_or(u32::MAX);
        self.settings.lease_timeout_ms.max(left_ms)
    }

    pub(super) fn renewal_ms(&self, now: Now) -> u32 {
        self.extending.map_or(0, |extending| extending.ttl_ms).max(self.ordinary_ttl_ms(now))
    }

    /// Takes note of an answer to a renewal that extends. `asked` is when it was asked for.
    pub(super) fn extended(&mut self, asked: Now, answer: &[Renewed], lost: usize, effects: &mut Vec<Effect>) {
        // One that was under way when somebody asked was for the ordinary time.
        if !self.is_extending() {
            return;
        }
        let Some(Extending { request, .. }) = self.extending.take() else { return };
        let granted_ms = answer.iter().map(|renewed| renewed.lease_ms).min();
        if let Some(granted_ms) = granted_ms.filter(|granted_ms| *granted_ms > self.settings.lease_timeout_ms) {
            self.extended_until_ms = self.extended_until_ms.max(asked.mono_ms + u64::from(granted_ms));
        }
        let reply = Reply::Extended { stand: answer.len(), lost, granted_ms, at: asked.wall };
        effects.push(Effect::Reply(request, Ok(reply)));
    }

    /// Whether the renewal under way is for somebody who waits for it.
    pub(super) fn is_extending(&self) -> bool {
        self.extending.is_some_and(|extending| extending.asked)
    }

    /// There is nothing left to extend.
    pub(super) fn nothing_to_extend(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.leases.is_empty()
            && self.renew.is_none()
            && let Some(Extending { request, .. }) = self.extending.take()
        {
            let reply = Reply::Extended { stand: 0, lost: 0, granted_ms: None, at: now.wall };
            effects.push(Effect::Reply(request, Ok(reply)));
        }
    }

    /// A renewal failed, or cannot be asked for, and with it the extension.
    pub(super) fn not_extended(&mut self, error: &BacklogError, effects: &mut Vec<Effect>) {
        if let Some(Extending { request, .. }) = self.extending.take() {
            let failure = CommandFailure { code: error.code(), message: error.to_string() };
            effects.push(Effect::Reply(request, Err(failure)));
        }
    }
}
