//! Closing: what is under way is finished, what is undecided goes back, and what is left after its time is named.

use countersign_domain::code::Code;

use super::{Draining, Effect, Engine, Happened, Ids, Now, Record, Writing};
use crate::DRAIN_TOLD;
use crate::port::Write;

impl Engine {
    pub(super) fn finish_drain(&mut self, now: Now, effects: &mut Vec<Effect>) -> bool {
        let Some(drain) = self.drain else { return false };
        let writes_wait = !self.writing.is_empty();
        let unsent = self.outbox.unanswered();
        let calls = self.sign_off.is_some()
            || self.lease.is_some()
            || self.renew.is_some()
            || self.release.is_some()
            || self.hand_over.is_some();
        // Offline nothing can be given back; leases lapse by themselves. A given-up decision keeps its lease.
        let given_back =
            !self.link.online || (self.undecided() == 0 && self.leases.idle(&self.partitions_in_use()).is_empty());
        let unkept = !self.unsettled.is_empty() || !self.unkept.is_empty();
        let untold = self.link.online && self.has_letters_to_tell();
        let nothing_left = unsent == 0 && !unkept && !untold && !calls && !writes_wait && given_back;
        let timed_out = now.mono_ms >= drain.deadline_ms && !writes_wait;
        if !nothing_left && !timed_out {
            return false;
        }
        if drain.signing_out {
            self.drain = Some(Draining { signing_out: false, ..drain });
            self.clear(effects);
            return false;
        }
        self.drain = Some(Draining { done: true, ..drain });
        self.session_version += 1;
        if timed_out && !nothing_left {
            self.drain_timed_out(unsent, effects);
        }
        effects.push(Effect::Drained { cut_short: !nothing_left });
        true
    }

    /// Says what is left: how many, and which decisions.
    fn drain_timed_out(&self, unsent: usize, effects: &mut Vec<Effect>) {
        let message = format!(
            "{unsent} decisions stay on disk and are sent next time; {} undecided exceptions were not given back",
            self.undecided()
        );
        let code = Some(Code::DrainTimeout);
        effects.push(Effect::Record(Record { event: "drain_timeout", code, item: None, message }));
        for pending in self.outbox.entries().filter(|pending| pending.unanswered()).take(DRAIN_TOLD) {
            let item = &pending.entry.item;
            Self::trace(item.id, Some(Ids::of(item)), Happened::DrainTimeout, effects);
        }
    }

    /// Forgets everything but unanswered decisions, on the disk too.
    pub(super) fn clear(&mut self, effects: &mut Vec<Effect>) {
        self.deck.clear();
        self.leases.clear();
        self.scoring.clear();
        self.tracked.clear();
        self.unsaved.clear();
        self.notes.clear();
        self.outbox.forget_answered();
        self.receipts.clear();
        (self.focus, self.extended_until_ms) = (None, 0);
        self.focus_changes += 1;
        self.deck_version += 1;
        self.outbox_version += 1;
        self.session_version += 1;
        self.journal(Write::Cleared, Writing::Other, effects);
    }

    /// What is undecided goes back to colleagues. (Offline it stays in the journal, for the next start.)
    pub(super) fn give_everything_back(&mut self) {
        let partitions = self.leases.held().into_iter().map(|held| held.partition).collect();
        self.drop_partitions(&partitions);
        self.leases.give_back_all();
        self.deck_version += 1;
    }
}
