//! What a person asks for.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::figure::may_be_corrected;
use countersign_domain::hash;
use countersign_domain::id::{BatchId, Digest, ExceptionId, SignOffKey};
use countersign_domain::money::Money;
use countersign_domain::policy::Policy;
use countersign_domain::sign_off::{COMMENT_CHARS, Decision, SignOff};

use super::{Call, Command, CommandFailure, Draining, Effect, Engine, Now, Reply, RequestId, Writing};
use crate::outbox::Pending;
use crate::port::{DeckItem, Entry, Settled, Stage, What, Write, note_step};
use crate::{FRESH_MS, REFRESH_MS};

/// What is signed with one confirmation.
struct Confirmation {
    id: BatchId,
    ids: Vec<ExceptionId>,
    decision: Decision,
    reason: Option<String>,
    comment: Option<String>,
    hash_total: Digest,
    policy_version: u32,
    figures: BTreeMap<ExceptionId, Money>,
}

impl Engine {
    pub(super) fn command(&mut self, now: Now, request: RequestId, command: Command, effects: &mut Vec<Effect>) {
        let reply = match command {
            Command::Sign { batch, ids, decision, reason, comment, hash_total, policy_version, figures } => {
                let confirmation =
                    Confirmation { id: batch, ids, decision, reason, comment, hash_total, policy_version, figures };
                match self.entries_to_sign(now, &confirmation) {
                    Ok(entries) => {
                        self.deck.set_signing(entries.iter().map(|entry| entry.item.id), true);
                        self.deck_version += 1;
                        let attestation = self.standing.as_ref().map(|standing| standing.policy.attestation.clone());
                        let write =
                            Write::Signed { entries: entries.clone(), attestation: attestation.unwrap_or_default() };
                        self.journal(write, Writing::Sign { request, entries }, effects);
                        return;
                    }
                    Err(failure) => Err(failure),
                }
            }
            Command::Undo(batch) => {
                let in_window = |pending: &Pending| pending.send_after_ms > now.mono_ms;
                match self.withdraw(request, batch, in_window, effects) {
                    Some(reply) => Ok(reply),
                    None => return,
                }
            }
            Command::CancelUnsent(batch) => match self.withdraw(request, batch, |_| true, effects) {
                Some(reply) => Ok(reply),
                None => return,
            },
            Command::SetFocus { focus, give_back } => self.set_focus(now, focus.as_ref(), give_back, effects),
            Command::Extend { ttl_ms } => match self.extend(now, request, ttl_ms) {
                Ok(None) => return,
                Ok(Some(reply)) => Ok(reply),
                Err(failure) => Err(failure),
            },
            Command::Release(ids) => Ok(Reply::Released(self.give_back(&ids))),
            Command::HandOver { ids, to } => match self.hand_over(now, request, &ids, to, effects) {
                Ok(()) => return,
                Err(failure) => Err(failure),
            },
            Command::RetryNow => {
                self.outbox.hurry(now.mono_ms, false);
                self.link.try_now(now.mono_ms);
                // Whoever asks wants to know whether there is a network.
                self.refresh_at_ms = now.mono_ms;
                self.outbox_version += 1;
                Ok(Reply::Done)
            }
            Command::Refresh => {
                // What is older than this may have changed since.
                let due = self.refresh_at_ms.saturating_sub(REFRESH_MS) + FRESH_MS;
                if now.mono_ms >= due {
                    self.refresh_at_ms = now.mono_ms;
                }
                Ok(Reply::Done)
            }
            Command::RetryDead(key) => self.retry_dead(now, key, effects),
            Command::Dismiss(key) => self.dismiss(key, effects),
            Command::Drain => {
                self.begin_drain(now);
                Ok(Reply::Done)
            }
            Command::SignOut => {
                self.begin_drain(now);
                if let Some(drain) = &mut self.drain {
                    (drain.signing_out, drain.leaves_nothing) = (true, true);
                }
                Ok(Reply::Done)
            }
            Command::CloseNow => {
                self.begin_drain(now);
                if let Some(drain) = &mut self.drain {
                    drain.deadline_ms = now.mono_ms;
                }
                Ok(Reply::Done)
            }
        };
        effects.push(Effect::Reply(request, reply));
    }

    /// Withdraws what of a batch was never sent and is one of those; the reply comes with the disk's answer, unless there is nothing.
    fn withdraw(
        &mut self,
        request: RequestId,
        batch: BatchId,
        which: impl Fn(&Pending) -> bool,
        effects: &mut Vec<Effect>,
    ) -> Option<Reply> {
        let (keys, too_late) = self.outbox.withdrawable(batch, which);
        if keys.is_empty() {
            return Some(Reply::Undone { withdrawn: 0, too_late });
        }
        self.journal(Write::Withdrawn(keys.clone()), Writing::Undo { request, keys, too_late }, effects);
        None
    }

    /// Checks the whole batch before anything is done with any of it.
    fn entries_to_sign(&mut self, now: Now, batch: &Confirmation) -> Result<Vec<Entry>, CommandFailure> {
        if let Some(problem) = self.drain.map(|_| "Countersign is closing; nothing was signed.") {
            return Err(failure("CLOSING", problem));
        }
        let Some(reviewer) = self.reviewer.clone() else {
            return Err(failure(
                "NOT_CONNECTED",
                "Connect once before you sign: your login is part of every signature.",
            ));
        };
        if batch.ids.is_empty() {
            return Err(failure("EMPTY", "Nothing is selected."));
        }
        let Some(standing) = &self.standing else {
            return Err(failure(
                "NOT_CONNECTED",
                "Connect once before you sign: the policy in force is not known yet.",
            ));
        };
        let policy_version = standing.policy_version;
        if policy_version != batch.policy_version {
            return Err(failure(
                "POLICY_CHANGED",
                "The policy changed while the dialog was open; nothing was signed. Look at the pre-flight again.",
            ));
        }
        check_texts(&standing.policy, batch.decision, batch.reason.as_deref(), batch.comment.as_deref())?;
        let chosen: BTreeSet<ExceptionId> = batch.ids.iter().copied().collect();
        if chosen.len() != batch.ids.len() {
            return Err(failure("REPEATED", "An exception is in the selection twice; nothing was signed."));
        }
        let mut items = self.chosen_items(&chosen)?;
        self.check_groups(&items, &chosen)?;
        check_figures(&items, batch)?;
        check_approvable(&items, batch.decision)?;
        let total = hash::hash_total(items.iter().map(|item| (item.key.as_str(), item.content)));
        if total != batch.hash_total {
            return Err(failure(
                "SELECTION_CHANGED",
                "An exception changed since the totals were shown. Nothing was signed; look at the selection again.",
            ));
        }
        items.sort_by(|a, b| (&a.partition, a.seq).cmp(&(&b.partition, b.seq)));
        let decided_at =
            chrono::DurationRound::duration_trunc(now.wall, chrono::Duration::microseconds(1)).unwrap_or(now.wall);
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let key = hash::sign_off_key(&item.key, item.content, batch.decision, &reviewer);
            let sign_off = SignOff {
                key,
                exception: item.id,
                content: item.content,
                epoch: item.epoch,
                decision: batch.decision,
                reason: batch.reason.clone(),
                comment: batch.comment.clone(),
                decided_at,
                policy_version,
                figure: figure_of(&item, batch),
                seal: None,
            };
            let sign_off = self.sealed(&item.key, sign_off);
            if sign_off.seal.is_none() {
                return Err(failure(
                    "NOT_ENROLLED",
                    "This workstation has no confirmed key yet, so that nothing can be signed with it.",
                ));
            }
            let offline = !self.link.online;
            // Refused or withdrawn before, the same decision goes on with its history.
            let mut steps = self.outbox.steps(key).map(<[_]>::to_vec).unwrap_or_default();
            note_step(&mut steps, now.wall, What::Signed { offline });
            let ordinal = self.outbox.next_ordinal();
            entries.push(Entry {
                ordinal,
                batch: batch.id,
                sign_off,
                item,
                stage: Stage::Ready,
                attempts: 0,
                answer: None,
                problem: None,
                offline,
                settled_at: None,
                may_be_sent: !offline,
                receipt: None,
                steps,
            });
        }
        Ok(entries)
    }

    /// All of them, or which of them are not in the deck.
    fn chosen_items(&self, chosen: &BTreeSet<ExceptionId>) -> Result<Vec<DeckItem>, CommandFailure> {
        let mut items: Vec<DeckItem> = Vec::with_capacity(chosen.len());
        let mut missing = Vec::new();
        for id in chosen {
            match self.deck.get(*id) {
                Some(slot) if !self.deck.is_signing(*id) => items.push(slot.item.clone()),
                _ => missing.push(id.to_string()),
            }
        }
        if missing.is_empty() {
            return Ok(items);
        }
        let shown: Vec<String> = missing.iter().take(5).cloned().collect();
        Err(failure(
            "NOT_IN_DECK",
            &format!(
                "{} of the selected exceptions left the deck since you selected them ({}{}). Nothing was signed; look at the selection again.",
                missing.len(),
                shown.join(", "),
                if missing.len() > shown.len() { ", …" } else { "" }
            ),
        ))
    }

    /// A group is decided whole.
    fn check_groups(&self, items: &[DeckItem], chosen: &BTreeSet<ExceptionId>) -> Result<(), CommandFailure> {
        let groups: BTreeSet<_> =
            items.iter().filter_map(|item| item.group.as_ref().map(|group| (&item.partition, group))).collect();
        let split = self.deck.slots().map(|slot| &slot.item).find(|item| {
            !chosen.contains(&item.id)
                && item.group.as_ref().is_some_and(|group| groups.contains(&(&item.partition, group)))
        });
        match split {
            Some(item) => Err(failure(
                "SPLIT_GROUP",
                &format!(
                    "Group {} is only partly selected; its items are decided together. Nothing was signed; select the whole group.",
                    item.group.as_deref().unwrap_or_default()
                ),
            )),
            None => Ok(()),
        }
    }

    fn give_back(&mut self, ids: &[ExceptionId]) -> usize {
        let partitions: BTreeSet<_> =
            ids.iter().filter_map(|id| self.deck.get(*id)).map(|slot| slot.item.partition.clone()).collect();
        for partition in &partitions {
            self.leases.give_back(partition);
        }
        self.deck_version += 1;
        self.session_version += 1;
        self.drop_partitions(&partitions)
    }

    fn hand_over(
        &mut self,
        now: Now,
        request: RequestId,
        ids: &[ExceptionId],
        to: String,
        effects: &mut Vec<Effect>,
    ) -> Result<(), CommandFailure> {
        if !self.link.online {
            return Err(failure("OFFLINE", "Only a database that can be reached hands exceptions to a colleague."));
        }
        if self.hand_over.is_some() {
            return Err(failure("BUSY", "Another hand-over is under way; try again in a moment."));
        }
        let partitions: BTreeSet<_> =
            ids.iter().filter_map(|id| self.deck.get(*id)).map(|slot| slot.item.partition.clone()).collect();
        let unsent = self
            .outbox
            .entries()
            .any(|pending| pending.entry.stage != Stage::Refused && partitions.contains(&pending.entry.item.partition));
        if unsent
            || self
                .deck
                .slots()
                .any(|slot| partitions.contains(&slot.item.partition) && self.deck.is_signing(slot.item.id))
        {
            return Err(failure(
                "UNSENT",
                "Decisions of yours in these partitions are not answered yet, and would not count any more. Send them first.",
            ));
        }
        let held = self.leases.hand_over(&partitions);
        if held.is_empty() {
            return Err(failure("NOT_IN_DECK", "Nothing of the selection is in the deck any more."));
        }
        self.drop_partitions(&partitions);
        self.deck_version += 1;
        self.session_version += 1;
        self.hand_over = Some(Call { what: (request, held.clone()), at: now });
        effects.push(Effect::HandOver(held, to));
        Ok(())
    }

    fn retry_dead(&mut self, now: Now, key: SignOffKey, effects: &mut Vec<Effect>) -> Result<Reply, CommandFailure> {
        let Some(pending) = self.outbox.get_mut(key).filter(|pending| pending.entry.stage == Stage::Dead) else {
            return Err(failure("NOT_FOUND", "This decision is not one that was given up."));
        };
        pending.entry.stage = Stage::Ready;
        pending.entry.attempts = 0;
        pending.entry.problem = None;
        pending.next_attempt_ms = now.mono_ms;
        note_step(&mut pending.entry.steps, now.wall, What::Retried);
        let steps = pending.entry.steps.clone();
        self.outbox_version += 1;
        self.session_version += 1;
        let at = now.wall;
        let settled = Settled {
            key,
            stage: Stage::Ready,
            attempts: 0,
            answer: None,
            problem: None,
            at,
            receipt: None,
            steps,
            returned: None,
        };
        self.settle(vec![settled], effects);
        Ok(Reply::Done)
    }

    fn dismiss(&mut self, key: SignOffKey, effects: &mut Vec<Effect>) -> Result<Reply, CommandFailure> {
        if self.outbox.get_mut(key).is_none_or(|pending| pending.entry.stage != Stage::Refused) {
            return Err(failure("NOT_FOUND", "This decision is not one that was refused."));
        }
        self.outbox.remove(key);
        self.outbox_version += 1;
        self.session_version += 1;
        self.journal(Write::Dismissed(vec![key]), Writing::Other, effects);
        Ok(Reply::Done)
    }

    fn begin_drain(&mut self, now: Now) {
        if self.drain.is_none() {
            let deadline_ms = now.mono_ms + u64::from(self.settings.drain_timeout_s) * 1_000;
            self.drain = Some(Draining {
                deadline_ms,
                unsent_at_start: self.outbox.unanswered(),
                done: false,
                signing_out: false,
                leaves_nothing: false,
            });
        }
        self.outbox.hurry(now.mono_ms, true);
        self.link.try_now(now.mono_ms);
        if self.link.online {
            self.give_everything_back();
        }
        self.session_version += 1;
        self.outbox_version += 1;
    }
}

/// Only receipts that are approved have figures of the reviewer's own, over zero and with the digits of their currency; and have to
/// where what was read is no amount.
fn check_figures(items: &[DeckItem], batch: &Confirmation) -> Result<(), CommandFailure> {
    for (id, figure) in &batch.figures {
        let Some(item) = items.iter().find(|item| item.id == *id) else {
            return Err(failure(
                "FIGURE_UNWANTED",
                &format!("A corrected amount is given for exception {id}, which is not selected; nothing was signed."),
            ));
        };
        if batch.decision != Decision::Approve {
            let message = format!("{} is rejected, and carries no amount. Nothing was signed.", item.key);
            return Err(failure("FIGURE_UNWANTED", &message));
        }
        if !may_be_corrected(item.kind, item.reverses.as_deref()) {
            let message = format!(
                "A corrected amount is given for {}, and only receipts have one. Nothing was signed; take it out and sign again.",
                item.key
            );
            return Err(failure("FIGURE_UNWANTED", &message));
        }
        if figure.amount.is_zero() || figure.amount.is_sign_negative() {
            let message = format!(
                "The corrected amount of {} is {}, and has to be over zero. Nothing was signed; enter it again, or reject the receipt.",
                item.key,
                figure.text()
            );
            return Err(failure("FIGURE_UNREADABLE", &message));
        }
        let (places, most) = (figure.amount.scale(), figure.currency.minor_units());
        if places > u32::from(most) {
            let message = format!(
                "The corrected amount of {} has {places} decimal places, {} has {most}. Nothing was signed; enter it again.",
                item.key, figure.currency
            );
            return Err(failure("FIGURE_UNREADABLE", &message));
        }
    }
    let lacking = |item: &&DeckItem| item.outlook.asks_for_amount && !batch.figures.contains_key(&item.id);
    match items.iter().find(lacking).filter(|_| batch.decision == Decision::Approve) {
        Some(item) => Err(failure(
            "FIGURE_MISSING",
            &format!(
                "What was read of {} is no amount ({}). Nothing was signed; enter the amount of the receipt, or reject it.",
                item.key,
                item.outlook.read.as_deref().unwrap_or("nothing")
            ),
        )),
        None => Ok(()),
    }
}

/// What cannot be worked out from an exception's content cannot be approved.
fn check_approvable(items: &[DeckItem], decision: Decision) -> Result<(), CommandFailure> {
    match items.iter().find(|item| decision == Decision::Approve && item.outlook.unapprovable) {
        Some(item) => Err(failure(
            "NOT_APPROVABLE",
            &format!(
                "What approving {} would do cannot be worked out from its content. Nothing was signed; reject it, or take it out and sign again.",
                item.key
            ),
        )),
        None => Ok(()),
    }
}

/// What an approval carries: what follows from the content, or what the reviewer entered.
fn figure_of(item: &DeckItem, batch: &Confirmation) -> Option<Money> {
    let own = batch.figures.get(&item.id).copied();
    own.or(item.outlook.figure).filter(|_| batch.decision == Decision::Approve)
}

fn check_texts(
    policy: &Policy,
    decision: Decision,
    reason: Option<&str>,
    comment: Option<&str>,
) -> Result<(), CommandFailure> {
    match reason {
        None if decision == Decision::Reject => {
            return Err(failure("REASON_MISSING", "Choose a reason to reject; nothing was signed."));
        }
        Some(code) if !policy.knows_reason(code) => {
            return Err(failure("REASON_UNKNOWN", "The reason is not one of the policy's; nothing was signed."));
        }
        _ => {}
    }
    let Some(comment) = comment else { return Ok(()) };
    if comment.chars().count() > COMMENT_CHARS {
        return Err(failure(
            "COMMENT_TOO_LONG",
            &format!("The comment has more than {COMMENT_CHARS} characters; nothing was signed."),
        ));
    }
    if comment.contains('\0') {
        return Err(failure("COMMENT_UNREADABLE", "The comment contains a NUL character; nothing was signed."));
    }
    Ok(())
}

pub(super) fn failure(code: &'static str, message: &str) -> CommandFailure {
    CommandFailure { code, message: message.to_owned() }
}
