//! The invariants.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::id::SignOffKey;
use countersign_engine::port::{LetterRef, Stage};

use super::{DayReport, World};

impl World {
    /// The invariants, once everything has healed.
    pub(super) fn check(mut self) -> Result<DayReport, String> {
        let seed = self.day.seed;
        let mut defects = self.database.defects();
        let mut on_disk = BTreeMap::new();
        for station in &self.stations {
            for entry in station.journal.entries() {
                match entry.stage {
                    Stage::Ready => defects
                        .push(format!("{} still has an unanswered decision on {}", station.reviewer, entry.item.key)),
                    Stage::Dead => defects
                        .push(format!("{} still has a given-up decision on {}", station.reviewer, entry.item.key)),
                    Stage::Refused => {}
                    Stage::Committed => self.report.accepted += 1,
                }
                on_disk.insert(entry.sign_off.key, entry.stage);
            }
        }
        let accepted: BTreeSet<SignOffKey> = self.database.accepted().map(|(key, _)| key).collect();
        for key in &accepted {
            if on_disk.get(key) != Some(&Stage::Committed) {
                defects.push(format!("the database accepted {} and no journal knows", key.0));
            }
        }
        for key in self.promised.iter().filter(|key| on_disk.get(key) == Some(&Stage::Committed)) {
            if !accepted.contains(key) {
                defects.push(format!("a journal says {} was accepted, and the database does not", key.0));
            }
        }
        for item in self.database.items() {
            if let Some((person, ..)) = &item.decided
                && self.day.exceptions > 0
                && item.effect.is_none()
                && self
                    .database
                    .items()
                    .filter(|other| other.place.0 == item.place.0 && other.place.1 < item.place.1)
                    .all(|other| other.decided.is_some())
            {
                defects.push(format!("{} was decided by {person} and has no effect", item.key));
            }
        }
        let told: BTreeSet<LetterRef> = self.database.letters().map(|(letter, _)| letter.letter()).collect();
        for station in &self.stations {
            for letter in station.journal.letters().into_iter().filter(|letter| !told.contains(letter)) {
                defects.push(format!("{} gave {letter:?} up and the database was not told", station.reviewer));
            }
        }
        self.report.signed = self.promised.len();
        match defects.first() {
            None => Ok(self.report),
            Some(first) => Err(format!("seed {seed}: {} defects, first: {first}", defects.len())),
        }
    }
}
