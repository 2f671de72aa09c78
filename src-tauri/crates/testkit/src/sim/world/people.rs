//! What people do all day.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::figure::may_be_corrected;
use countersign_domain::focus::Focus;
use countersign_domain::hash;
use countersign_domain::id::{BatchId, ExceptionId, SignOffKey};
use countersign_domain::money::Money;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{DeckItem, Stage};
use countersign_engine::{Command, Event, Reply, RequestId};
use rand::Rng as _;
use rust_decimal::Decimal;
use uuid::Uuid;

use super::{What, World};

impl World {
    /// The person signs some, withdraws some, gives some back.
    pub(super) fn person(&mut self, index: usize) -> Result<(), String> {
        let pause = self.random.random_range(500..60_000);
        self.at(pause, What::Person(index));
        let command = match self.random.random_range(0..20) {
            0 => self.stations[index].batches.last().copied().map(Command::Undo),
            1 if !self.healing => {
                let all: Vec<ExceptionId> = self.stations[index].engine.deck().map(|(slot, _)| slot.item.id).collect();
                (!all.is_empty()).then(|| Command::Release(vec![all[self.random.random_range(0..all.len())]]))
            }
            2 => Some(Command::RetryNow),
            3 => self.stations[index]
                .engine
                .outbox()
                .find(|pending| pending.entry.stage == Stage::Dead)
                .map(|pending| Command::RetryDead(pending.entry.sign_off.key)),
            4 => self.stations[index]
                .engine
                .outbox()
                .find(|pending| pending.entry.stage == Stage::Refused)
                .map(|pending| Command::Dismiss(pending.entry.sign_off.key)),
            6 | 7 => {
                // What was made in an earlier life is withdrawn too, if it is sure that it was not sent.
                let batches: BTreeSet<BatchId> =
                    self.stations[index].engine.outbox().map(|pending| pending.entry.batch).collect();
                batches.into_iter().next().map(Command::CancelUnsent)
            }
            8 => Some(self.refocus(index)),
            10 => {
                // Somebody else may sign it.
                let deck = self.stations[index].engine.deck();
                let returned = deck.map(|(slot, _)| &slot.item).find(|item| item.note.is_some());
                returned.map(|item| Command::Release(vec![item.id]))
            }
            9 if !self.healing => Some(Command::Extend { ttl_ms: self.random.random_range(60_000..7_200_000) }),
            5 if !self.healing => {
                let ids: Vec<ExceptionId> =
                    self.stations[index].engine.deck().map(|(slot, _)| slot.item.id).take(1).collect();
                let to = self.stations[self.random.random_range(0..self.stations.len())].reviewer.clone();
                (!ids.is_empty()).then_some(Command::HandOver { ids, to })
            }
            _ => Some(self.choose(index)),
        };
        let Some(command) = command else { return Ok(()) };
        let station = &mut self.stations[index];
        station.last_request += 1;
        let request = RequestId(station.last_request);
        if let Command::CancelUnsent(_) = &command {
            station.cancelling.insert(request);
        }
        if let Command::Sign { batch, .. } = &command {
            station.signing.insert(request, *batch);
        }
        self.step(index, Event::Command(request, command))
    }

    /// They want something else in the deck; in the end, everything.
    fn refocus(&mut self, index: usize) -> Command {
        let some = self.stations[index].engine.deck().next().map(|(slot, _)| slot.item.clone());
        let focus = some.filter(|_| !self.healing && self.random.random_range(0..4) > 0).map(|item| {
            let amount = item.variance.amount.abs();
            match self.random.random_range(0..3) {
                0 => Focus { amount_from: Some(amount), ..Focus::default() },
                1 => Focus { amount_to: Some(amount), at_most: Some(5), ..Focus::default() },
                _ => Focus { tiers: vec![item.tier], counterparties: vec![item.counterparty], ..Focus::default() },
            }
        });
        Command::SetFocus { focus, give_back: self.random.random_range(0..2) == 0 }
    }

    fn choose(&mut self, index: usize) -> Command {
        let share = self.random.random_range(1..=3);
        let deck: Vec<_> = self.stations[index]
            .engine
            .deck()
            .filter(|(_, signing)| !signing)
            .map(|(slot, _)| slot.item.clone())
            .collect();
        let picked: BTreeSet<_> =
            deck.iter().filter(|_| self.random.random_range(0..3) < share).map(|item| item.id).collect();
        let groups: BTreeSet<_> = deck
            .iter()
            .filter(|item| picked.contains(&item.id))
            .filter_map(|item| item.group.clone().map(|group| (item.partition.clone(), group)))
            .collect();
        let chosen: Vec<&DeckItem> = deck
            .iter()
            .filter(|item| {
                picked.contains(&item.id)
                    || item.group.clone().is_some_and(|group| groups.contains(&(item.partition.clone(), group)))
            })
            .collect();
        let decision = if self.random.random_range(0..4) == 0 { Decision::Reject } else { Decision::Approve };
        let figures = if decision == Decision::Approve { self.figures(index, &chosen) } else { BTreeMap::new() };
        Command::Sign {
            batch: BatchId(Uuid::from_u128(self.random.random())),
            ids: chosen.iter().map(|item| item.id).collect(),
            decision,
            reason: (decision == Decision::Reject).then(|| "OTHER".to_owned()),
            comment: None,
            hash_total: hash::hash_total(chosen.iter().map(|item| (item.key.as_str(), item.content))),
            policy_version: 1,
            figures,
        }
    }

    /// Some receipts are corrected. Whoever was told another figure agrees with it.
    fn figures(&mut self, index: usize, chosen: &[&DeckItem]) -> BTreeMap<ExceptionId, Money> {
        let outbox = self.stations[index].engine.outbox();
        let refused = outbox.map(|pending| &pending.entry).filter(|entry| entry.stage == Stage::Refused);
        let told: BTreeMap<ExceptionId, Option<Money>> = refused
            .filter_map(|entry| {
                let answer = entry.answer.as_ref().filter(|answer| answer.outcome == Outcome::FigureDiffers)?;
                Some((entry.item.id, answer.figure))
            })
            .collect();
        let mut figures = BTreeMap::new();
        for item in chosen.iter().filter(|item| may_be_corrected(item.kind, item.reverses.as_deref())) {
            let own = (item.outlook.asks_for_amount || self.random.random_range(0..3) == 0).then(|| Money {
                amount: Decimal::new(self.random.random_range(1_100..1_102), 2),
                currency: item.variance.currency,
            });
            if let Some(figure) =
                told.get(&item.id).copied().unwrap_or(own).or(own.filter(|_| item.outlook.asks_for_amount))
            {
                figures.insert(item.id, figure);
            }
        }
        figures
    }

    /// The window says "signed": from here on nothing may lose it.
    pub(super) fn replied(
        &mut self,
        index: usize,
        request: RequestId,
        reply: &Result<Reply, countersign_engine::CommandFailure>,
    ) {
        match reply {
            Ok(Reply::Signed { .. }) => {
                if let Some(batch) = self.stations[index].signing.remove(&request) {
                    self.stations[index].batches.push(batch);
                    let keys: Vec<_> = self.stations[index]
                        .engine
                        .outbox()
                        .filter(|p| p.entry.batch == batch)
                        .map(|p| p.entry.sign_off.key)
                        .collect();
                    self.promised.extend(keys);
                }
            }
            Ok(Reply::Focused { .. }) => self.report.focused += 1,
            Ok(Reply::Extended { stand, .. }) => self.report.extended += stand,
            Ok(Reply::Undone { withdrawn, .. }) => {
                if self.stations[index].cancelling.remove(&request) {
                    self.report.cancelled += withdrawn;
                }
                let kept: BTreeSet<SignOffKey> =
                    self.stations[index].journal.entries().iter().map(|entry| entry.sign_off.key).collect();
                let reviewer = &self.stations[index].reviewer;
                let gone: Vec<SignOffKey> = self.promised.iter().filter(|key| !kept.contains(key)).copied().collect();
                // Only this person's own decisions can have been withdrawn by them.
                let others: BTreeSet<SignOffKey> = self
                    .stations
                    .iter()
                    .filter(|station| &station.reviewer != reviewer)
                    .flat_map(|station| station.journal.entries())
                    .map(|entry| entry.sign_off.key)
                    .collect();
                for key in gone {
                    if !others.contains(&key) {
                        self.promised.remove(&key);
                    }
                }
            }
            _ => {}
        }
    }
}
