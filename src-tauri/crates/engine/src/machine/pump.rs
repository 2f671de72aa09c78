//! After every event: what is to be asked for next, and when to look again.

use super::{Call, Effect, Engine, Now, Writing};
use crate::port::Write;

impl Engine {
    /// When to call again with [`Event::Tick`] if nothing else happens, on the monotonic clock.
    pub fn next_wakeup_ms(&self, now: Now) -> Option<u64> {
        let drain = self.drain.filter(|drain| !drain.done).map(|drain| drain.deadline_ms);
        let work = if !self.link.online {
            self.link.next_attempt_ms.filter(|_| !self.hello && !self.enrolling)
        } else if self.lease.is_some() || self.renew.is_some() || self.release.is_some() {
            None
        } else {
            let renew = (!self.leases.is_empty()).then_some(self.renew_at_ms);
            let lease = self.wants_lease(now).then_some(self.lease_at_ms);
            let pause = (self.control_at_ms > now.mono_ms).then_some(self.control_at_ms);
            [renew, lease].into_iter().flatten().map(|at| at.max(self.control_at_ms)).chain(pause).min()
        };
        let pause = (self.send_at_ms > now.mono_ms).then_some(self.send_at_ms);
        let sending =
            self.outbox.next_wakeup_ms(now.mono_ms).into_iter().chain(pause).min().filter(|_| self.link.online);
        let refresh = (self.link.online && !self.hello).then_some(self.refresh_at_ms);
        let unkept = !self.unsettled.is_empty() || !self.unkept.is_empty();
        let settling = unkept.then_some(self.settle_at_ms);
        let pipeline =
            [self.scoring_wakeup_ms(), self.watch_wakeup_ms(), self.lag_wakeup_ms(), self.telling_wakeup_ms()];
        let warning = self.next_warning_ms();
        let turn = self.leases.next_turn_ms(now.mono_ms);
        [drain, work, sending, settling, refresh, warning, turn]
            .into_iter()
            .chain(pipeline)
            .flatten()
            .filter(|at| *at > now.mono_ms)
            .min()
    }

    /// Decides what to ask for next.
    pub(super) fn pump(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.note_saturation(now, effects);
        self.note_lease_warning(now);
        self.note_lease_turns(now);
        self.look_for_lost(now, effects);
        self.note_lag(now, effects);
        self.write_again(now, effects);
        if self.drain.is_some_and(|drain| drain.done) || self.finish_drain(now, effects) {
            return;
        }
        self.hand_to_pool(now, effects);
        if !self.link.online {
            if !self.hello && !self.enrolling && self.link.next_attempt_ms.is_some_and(|at| at <= now.mono_ms) {
                self.hello = true;
                effects.push(Effect::Hello);
            }
            return;
        }
        if !self.hello && now.mono_ms >= self.refresh_at_ms {
            self.hello = true;
            effects.push(Effect::Hello);
        }
        if self.sign_off.is_none() && now.mono_ms >= self.send_at_ms {
            let keys = self.outbox.next_batch(now.mono_ms, self.batch_limit, self.partition_limit);
            if !keys.is_empty() {
                let unmarked = self.outbox.unmarked(&keys);
                self.sign_off = Some(Call { what: keys, at: now });
                self.outbox_version += 1;
                if unmarked.is_empty() {
                    self.send(now, effects);
                } else {
                    self.journal(Write::Sending(unmarked), Writing::Mark, effects);
                }
            }
        }
        self.tell_of_letters(now, effects);
        if self.lease.is_some() || self.renew.is_some() || self.release.is_some() || now.mono_ms < self.control_at_ms {
            return;
        }
        self.nothing_to_extend(now, effects);
        if !self.leases.is_empty() && (now.mono_ms >= self.renew_at_ms || self.extending.is_some()) {
            let held = self.leases.held();
            self.renew = Some(Call { what: held.clone(), at: now });
            if let Some(extending) = &mut self.extending {
                extending.asked = true;
            }
            effects.push(Effect::Renew(held, self.renewal_ms(now)));
            return;
        }
        let idle = self.leases.idle(&self.partitions_in_use());
        if !idle.is_empty() {
            self.release = Some(Call { what: idle.clone(), at: now });
            effects.push(Effect::Release(idle));
            return;
        }
        if let Some(request) = self.next_lease(now) {
            self.lease = Some(Call { what: self.focus_changes, at: now });
            effects.push(Effect::Lease(request));
        }
    }

    /// Sends what was chosen.
    pub(super) fn send(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let Some(call) = &mut self.sign_off else { return };
        call.at = now;
        let batch = self.outbox.send(&call.what, now.wall);
        let sign_offs = batch.into_iter().map(|entry| self.sealed(&entry.item.key, entry.sign_off)).collect();
        effects.push(Effect::SignOff(sign_offs));
    }

    /// What was chosen is not sent after all.
    pub(super) fn do_not_send(&mut self) {
        if let Some(call) = self.sign_off.take() {
            self.outbox.not_sending(&call.what, None);
        }
        self.outbox_version += 1;
    }
}
