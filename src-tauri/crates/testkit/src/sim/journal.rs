//! A journal in memory that survives the crash of its workstation, and fails on command.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use countersign_domain::dead_letter::Cause;
use countersign_domain::focus::Focus;
use countersign_domain::id::{BatchId, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId};
use countersign_domain::sign_off::Outcome;
use countersign_domain::standing::Standing;
use countersign_engine::port::{
    Batch, DeckItem, Entry, GivenUp, Identity, Journal, JournalError, JournalFault, LeaseRow, LetterRef,
    LocalDeadLetter, Restored, Settled, Stage, Write,
};

/// What is on the disk.
#[derive(Debug, Clone)]
struct Disk {
    identity: Identity,
    leases: BTreeMap<PartitionKey, LeaseRow>,
    deck: BTreeMap<ExceptionId, (DeckItem, String)>,
    outbox: BTreeMap<SignOffKey, Entry>,
    standing: Option<Standing>,
    focus: Option<Focus>,
    previous: BTreeMap<ExceptionId, (PartitionKey, u32, String)>,
    ui_state: Option<String>,
    /// What was given up, and whether the database was told.
    letters: BTreeMap<LetterRef, (GivenUp, bool)>,
    /// Outlives the entries that had the ordinals.
    last_ordinal: u64,
    /// The next writes fail as if the disk were full.
    full: bool,
}

/// A journal whose disk outlives it.
#[derive(Debug, Clone)]
pub struct MemoryJournal(Arc<Mutex<Disk>>);

impl MemoryJournal {
    /// An empty disk.
    pub fn new(workstation: WorkstationId) -> Self {
        let identity = Identity { workstation, bound_to: None };
        Self(Arc::new(Mutex::new(Disk {
            identity,
            leases: BTreeMap::new(),
            deck: BTreeMap::new(),
            outbox: BTreeMap::new(),
            standing: None,
            focus: None,
            previous: BTreeMap::new(),
            ui_state: None,
            letters: BTreeMap::new(),
            last_ordinal: 0,
            full: false,
        })))
    }

    /// Fills or frees the disk.
    pub fn set_full(&self, full: bool) {
        self.disk().full = full;
    }

    /// Every decision on the disk.
    pub fn entries(&self) -> Vec<Entry> {
        self.disk().outbox.values().cloned().collect()
    }

    /// What was given up, as far as the disk knows.
    pub fn letters(&self) -> Vec<LetterRef> {
        self.disk().letters.keys().cloned().collect()
    }

    fn disk(&self) -> std::sync::MutexGuard<'_, Disk> {
        self.0.lock().expect("no test thread panicked while it held the disk")
    }
}

impl Journal for MemoryJournal {
    fn restore(&mut self) -> Result<Restored, JournalError> {
        let disk = self.disk();
        let mut outbox: Vec<Entry> = disk.outbox.values().cloned().collect();
        outbox.sort_by_key(|entry| entry.ordinal);
        let decided: Vec<ExceptionId> = outbox
            .iter()
            .filter(|entry| matches!(entry.stage, Stage::Ready | Stage::Dead))
            .map(|entry| entry.item.id)
            .collect();
        Ok(Restored {
            identity: disk.identity.clone(),
            leases: disk.leases.values().cloned().collect(),
            deck: disk.deck.values().map(|(item, _)| item.clone()).filter(|item| !decided.contains(&item.id)).collect(),
            last_ordinal: disk.last_ordinal,
            outbox,
            standing: disk.standing.clone(),
            focus: disk.focus.clone(),
        })
    }

    fn write(&mut self, write: &Write) -> Result<(), JournalError> {
        let mut disk = self.disk();
        if disk.full {
            return Err(JournalError {
                operation: "write",
                fault: JournalFault::Full,
                message: "the disk is full".to_owned(),
            });
        }
        match write {
            Write::Bind { installation, reviewer } => disk.identity.bound_to = Some((*installation, reviewer.clone())),
            Write::Standing(standing) => disk.standing = Some(standing.as_ref().clone()),
            Write::Leased { leases, items } => {
                disk.leases.extend(leases.iter().map(|row| (row.partition.clone(), row.clone())));
                for (item, body) in items {
                    keep_previous(&mut disk, item.id, |old| old.content != item.content);
                    disk.deck.insert(item.id, (item.clone(), body.clone()));
                }
            }
            Write::Dropped(partitions) => {
                let decided = decided(&disk);
                disk.leases.retain(|partition, _| !partitions.contains(partition));
                disk.deck.retain(|id, (item, _)| decided.contains(id) || !partitions.contains(&item.partition));
                let Disk { previous, deck, .. } = &mut *disk;
                previous.retain(|id, (partition, ..)| deck.contains_key(id) || !partitions.contains(partition));
            }
            Write::Focus(focus) => {
                disk.focus.clone_from(focus);
                disk.leases.values_mut().for_each(|row| (row.after, row.more) = (Seq(0), true));
            }
            Write::Left(ids) => {
                let decided = decided(&disk);
                for id in ids.iter().filter(|id| !decided.contains(id)) {
                    disk.deck.remove(id);
                    disk.previous.remove(id);
                }
            }
            Write::Sending(keys) => keys.iter().for_each(|key| {
                if let Some(entry) = disk.outbox.get_mut(key) {
                    entry.may_be_sent = true;
                }
            }),
            Write::UiState(state) => disk.ui_state = Some(state.clone()),
            Write::Signed { entries, .. } => {
                if let Some(taken) = entries
                    .iter()
                    .find(|entry| disk.outbox.get(&entry.sign_off.key).is_some_and(|old| old.stage != Stage::Refused))
                {
                    let message = format!("the key {} is taken", taken.sign_off.key.0);
                    return Err(JournalError { operation: "sign", fault: JournalFault::Io, message });
                }
                disk.outbox.retain(|_, old| {
                    let about = |new: &Entry| {
                        new.sign_off.exception == old.sign_off.exception && new.sign_off.content == old.sign_off.content
                    };
                    old.stage != Stage::Refused || !entries.iter().any(about)
                });
                disk.last_ordinal = entries.iter().map(|entry| entry.ordinal).fold(disk.last_ordinal, u64::max);
                disk.outbox.extend(entries.iter().map(|entry| (entry.sign_off.key, entry.clone())));
            }
            Write::Withdrawn(keys) => disk.outbox.retain(|key, _| !keys.contains(key)),
            Write::Settled(settled) => settled.iter().for_each(|settled| settle(&mut disk, settled)),
            Write::Dismissed(keys) => disk.outbox.retain(|key, _| !keys.contains(key)),
            Write::DeadLettered(letters) => letters.iter().for_each(|letter| {
                disk.deck.remove(&letter.id);
                let kept = of_exception(letter);
                disk.letters.insert(kept.letter(), (kept, false));
            }),
            Write::GivenUp(letters) => {
                disk.letters.extend(letters.iter().map(|letter| (letter.letter(), (letter.clone(), false))));
            }
            Write::Told(letters) => letters.iter().for_each(|letter| {
                if let Some((_, told)) = disk.letters.get_mut(letter) {
                    *told = true;
                }
            }),
            Write::Cleared => {
                disk.leases.clear();
                disk.deck.clear();
                disk.previous.clear();
                disk.letters.retain(|letter, _| letter.key.is_some());
                (disk.focus, disk.ui_state) = (None, None);
                disk.outbox.retain(|_, entry| matches!(entry.stage, Stage::Ready | Stage::Dead));
            }
        }
        Ok(())
    }

    fn body(&mut self, id: ExceptionId) -> Result<Option<String>, JournalError> {
        Ok(self.disk().deck.get(&id).map(|(_, body)| body.clone()))
    }

    fn previous(&mut self, id: ExceptionId) -> Result<Option<(u32, String)>, JournalError> {
        Ok(self.disk().previous.get(&id).map(|(_, version, body)| (*version, body.clone())))
    }

    fn entry(&mut self, key: SignOffKey) -> Result<Option<Entry>, JournalError> {
        Ok(self.disk().outbox.get(&key).cloned())
    }

    /// No simulated day looks back.
    fn batches(&mut self) -> Result<Vec<Batch>, JournalError> {
        Ok(Vec::new())
    }

    fn batch(&mut self, _id: BatchId) -> Result<Option<(Batch, Vec<Entry>)>, JournalError> {
        Ok(None)
    }

    fn ui_state(&mut self) -> Result<Option<String>, JournalError> {
        Ok(self.disk().ui_state.clone())
    }

    fn untold(&mut self, at_most: usize) -> Result<Vec<GivenUp>, JournalError> {
        let disk = self.disk();
        let untold = disk.letters.values().filter(|(_, told)| !told).map(|(letter, _)| letter.clone());
        Ok(untold.take(at_most).collect())
    }
}

fn of_exception(letter: &LocalDeadLetter) -> GivenUp {
    let LocalDeadLetter { id, version, body, reason, attempts, at } = letter.clone();
    GivenUp { cause: Cause::Scoring, exception: id, version, key: None, original: body, reason, attempts, at }
}

fn decided(disk: &Disk) -> Vec<ExceptionId> {
    let unanswered = disk.outbox.values().filter(|entry| matches!(entry.stage, Stage::Ready | Stage::Dead));
    unanswered.map(|entry| entry.item.id).collect()
}

fn keep_previous(disk: &mut Disk, id: ExceptionId, which: impl FnOnce(&DeckItem) -> bool) {
    if let Some((old, body)) = disk.deck.get(&id).filter(|(old, _)| which(old)) {
        let kept = (old.partition.clone(), old.version, body.clone());
        disk.previous.insert(id, kept);
    }
}

fn settle(disk: &mut Disk, settled: &Settled) {
    let Some(entry) = disk.outbox.get_mut(&settled.key) else { return };
    entry.stage = settled.stage;
    entry.attempts = settled.attempts;
    entry.answer.clone_from(&settled.answer);
    entry.problem.clone_from(&settled.problem);
    let id = entry.item.id;
    if settled.stage == Stage::Ready {
        disk.letters.retain(|letter, (_, told)| *told || letter.key != Some(settled.key));
    }
    let Some(entry) = disk.outbox.get_mut(&settled.key) else { return };
    entry.receipt = settled.receipt;
    entry.steps.clone_from(&settled.steps);
    if let Some(note) = &settled.returned
        && let Some((item, _)) = disk.deck.get_mut(&id)
        && disk.leases.get(&item.partition).is_some_and(|lease| lease.epoch == item.epoch)
    {
        item.note = Some(note.clone());
    } else if matches!(settled.stage, Stage::Committed | Stage::Refused) {
        if settled.answer.as_ref().is_some_and(|answer| answer.outcome == Outcome::StaleVersion) {
            keep_previous(disk, id, |_| true);
        } else {
            disk.previous.remove(&id);
        }
        disk.deck.remove(&id);
    }
}
