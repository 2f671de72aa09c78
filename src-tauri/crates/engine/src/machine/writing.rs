//! What goes to the disk, and goes there again when it was not taken.

use super::{Effect, Engine, Now, Token, Writing};
use crate::port::{Settled, Write};

impl Engine {
    /// What the disk did not take, once more.
    pub(super) fn write_again(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if now.mono_ms < self.settle_at_ms {
            return;
        }
        for letters in std::mem::take(&mut self.unkept) {
            self.keep_letters(letters, effects);
        }
        if !self.unsettled.is_empty() {
            let settled = std::mem::take(&mut self.unsettled);
            self.settle(settled, effects);
        }
    }

    /// Keeps what the backlog is to be told of.
    pub(super) fn keep_letters(&mut self, letters: Write, effects: &mut Vec<Effect>) {
        self.journal(letters.clone(), Writing::Letters(letters), effects);
    }

    pub(super) fn settle(&mut self, settled: Vec<Settled>, effects: &mut Vec<Effect>) {
        self.journal(Write::Settled(settled.clone()), Writing::Settle(settled), effects);
    }

    pub(super) fn journal(&mut self, write: Write, what: Writing, effects: &mut Vec<Effect>) {
        self.last_token += 1;
        let token = Token(self.last_token);
        self.writing.insert(token, what);
        effects.push(Effect::Journal(token, write));
    }
}
