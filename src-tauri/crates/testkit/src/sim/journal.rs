//! A journal in memory that survives the crash of its workstation, and fails on command.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use countersign_domain::id::{ExceptionId, PartitionKey, SignOffKey, WorkstationId};
use countersign_domain::standing::Standing;
use countersign_engine::port::{
    DeckItem, Entry, Identity, Journal, JournalError, JournalFault, LeaseRow, Restored, Settled, Stage, Write,
};

/// What is on the disk.
#[derive(Debug, Clone)]
struct Disk {
    identity: Identity,
    leases: BTreeMap<PartitionKey, LeaseRow>,
    deck: BTreeMap<ExceptionId, (DeckItem, String)>,
    outbox: BTreeMap<SignOffKey, Entry>,
    standing: Option<Standing>,
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
                disk.deck.extend(items.iter().map(|(item, body)| (item.id, (item.clone(), body.clone()))));
            }
            Write::Dropped(partitions) => {
                let decided: Vec<ExceptionId> = disk
                    .outbox
                    .values()
                    .filter(|entry| matches!(entry.stage, Stage::Ready | Stage::Dead))
                    .map(|entry| entry.item.id)
                    .collect();
                disk.leases.retain(|partition, _| !partitions.contains(partition));
                disk.deck.retain(|id, (item, _)| decided.contains(id) || !partitions.contains(&item.partition));
            }
            Write::Signed(entries) => {
                if let Some(taken) = entries
                    .iter()
                    .find(|entry| disk.outbox.get(&entry.sign_off.key).is_some_and(|old| old.stage != Stage::Refused))
                {
                    let message = format!("the key {} is taken", taken.sign_off.key.0);
                    return Err(JournalError { operation: "sign", fault: JournalFault::Io, message });
                }
                disk.last_ordinal = entries.iter().map(|entry| entry.ordinal).fold(disk.last_ordinal, u64::max);
                disk.outbox.extend(entries.iter().map(|entry| (entry.sign_off.key, entry.clone())));
            }
            Write::Withdrawn(keys) => disk.outbox.retain(|key, _| !keys.contains(key)),
            Write::Settled(settled) => settled.iter().for_each(|settled| settle(&mut disk, settled)),
            Write::Dismissed(keys) => disk.outbox.retain(|key, _| !keys.contains(key)),
            Write::DeadLettered(letters) => letters.iter().for_each(|letter| {
                disk.deck.remove(&letter.id);
            }),
            Write::Cleared => {
                disk.leases.clear();
                disk.deck.clear();
                disk.outbox.retain(|_, entry| matches!(entry.stage, Stage::Ready | Stage::Dead));
            }
        }
        Ok(())
    }

    fn body(&mut self, id: ExceptionId) -> Result<Option<String>, JournalError> {
        Ok(self.disk().deck.get(&id).map(|(_, body)| body.clone()))
    }
}

fn settle(disk: &mut Disk, settled: &Settled) {
    let Some(entry) = disk.outbox.get_mut(&settled.key) else { return };
    entry.stage = settled.stage;
    entry.attempts = settled.attempts;
    entry.answer.clone_from(&settled.answer);
    entry.problem.clone_from(&settled.problem);
    let id = entry.item.id;
    if matches!(settled.stage, Stage::Committed | Stage::Refused) {
        disk.deck.remove(&id);
    }
}
