//! What fills the deck.

use std::collections::BTreeSet;

use countersign_domain::focus::{Focus, Seen};
use countersign_domain::id::{ExceptionId, PartitionKey};

use super::commands::failure;
use super::{CommandFailure, Effect, Engine, Now, Reply, Writing};
use crate::port::{DeckItem, Stage, Write};

impl Engine {
    /// What fills the deck; `None` is everything the reviewer may sign.
    pub fn focus(&self) -> Option<&Focus> {
        self.focus.as_ref()
    }

    /// Undecided exceptions of the deck that are outside of the focus.
    pub fn outside(&self) -> usize {
        self.focus.as_ref().map_or(0, |focus| self.outside_of(focus).len())
    }

    pub(super) fn set_focus(
        &mut self,
        now: Now,
        focus: Option<&Focus>,
        outside_goes: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<Reply, CommandFailure> {
        if self.drain.is_some() {
            return Err(failure("CLOSING", "Countersign is closing; the focus stays."));
        }
        if let Some(problem) = focus.and_then(Focus::problem) {
            return Err(failure("FOCUS_UNREADABLE", &format!("{problem} The focus stays as it was.")));
        }
        if focus != self.focus.as_ref() {
            // Without a focus nothing was passed over, so that nothing has to be gone through again.
            let passed_over = self.focus.is_some();
            self.focus = focus.cloned();
            self.focus_changes += 1;
            self.lease_at_ms = now.mono_ms;
            if passed_over {
                self.leases.restart();
            }
            self.journal(Write::Focus(focus.cloned()), Writing::Other, effects);
        }
        let given_back = match focus {
            Some(focus) if outside_goes => self.give_back_outside(focus, effects),
            _ => 0,
        };
        self.deck_version += 1;
        self.session_version += 1;
        Ok(Reply::Focused { given_back })
    }

    /// How many more a focus with a bound of its own lets in. What is outside of it takes none of its room.
    pub(super) fn room_in_focus(&self, held: usize) -> usize {
        let Some(focus) = &self.focus else { return usize::MAX };
        let Some(at_most) = focus.at_most else { return usize::MAX };
        let inside = self.deck.len() - self.outside_of(focus).len();
        (at_most as usize).saturating_sub(inside + self.scoring.len() + held)
    }

    /// The most the deck may hold.
    pub(super) fn bound(&self) -> u32 {
        let at_most = self.focus.as_ref().and_then(|focus| focus.at_most);
        self.settings.queue_maxsize.min(at_most.unwrap_or(u32::MAX))
    }

    /// A group is decided together: it is inside if any of it is.
    fn outside_of(&self, focus: &Focus) -> BTreeSet<ExceptionId> {
        let inside = |item: &DeckItem| focus.holds(seen(item));
        let items = || self.deck.slots().map(|slot| &slot.item);
        let groups: BTreeSet<(&PartitionKey, &str)> =
            items().filter(|item| inside(item)).filter_map(group_of).collect();
        let outside = |item: &&DeckItem| !inside(item) && group_of(item).is_none_or(|group| !groups.contains(&group));
        items().filter(outside).map(|item| item.id).collect()
    }

    /// Partitions go back whole, those alone of which nothing is inside and nothing is unanswered. Of the others, what is outside
    /// leaves the deck; it is handed out again when a focus wants it.
    fn give_back_outside(&mut self, focus: &Focus, effects: &mut Vec<Effect>) -> usize {
        let outside = self.outside_of(focus);
        let signing = |id: ExceptionId| self.deck.is_signing(id);
        let unanswered = self
            .outbox
            .entries()
            .filter(|pending| pending.entry.stage != Stage::Refused)
            .map(|pending| pending.entry.item.partition.clone());
        let inside = self
            .deck
            .slots()
            .map(|slot| &slot.item)
            .filter(|item| signing(item.id) || !outside.contains(&item.id))
            .map(|item| item.partition.clone());
        let kept: BTreeSet<PartitionKey> = unanswered.chain(inside).chain(self.scoring.partitions().cloned()).collect();
        let leaving: Vec<(ExceptionId, PartitionKey)> = self
            .deck
            .slots()
            .map(|slot| &slot.item)
            .filter(|item| outside.contains(&item.id) && !signing(item.id))
            .map(|item| (item.id, item.partition.clone()))
            .collect();
        let mut left = Vec::new();
        for (id, partition) in &leaving {
            if kept.contains(partition) {
                left.push(*id);
            } else {
                self.leases.give_back(partition);
            }
            self.deck.take(*id);
            self.tracked.remove(id);
            self.notes.remove(id);
        }
        if !left.is_empty() {
            self.journal(Write::Left(left), Writing::Other, effects);
        }
        leaving.len()
    }
}

fn group_of(item: &DeckItem) -> Option<(&PartitionKey, &str)> {
    item.group.as_deref().map(|group| (&item.partition, group))
}

fn seen(item: &DeckItem) -> Seen<'_> {
    Seen {
        entity: &item.entity,
        kind: item.kind,
        tier: item.tier,
        counterparty: &item.counterparty,
        variance: item.variance,
        due_on: item.due_on,
    }
}
