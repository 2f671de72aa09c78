//! The deck: leased and undecided exceptions, in the order in which they came. It is bounded by `queue_maxsize`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use countersign_domain::code::FailureClass;
use countersign_domain::figure;
use countersign_domain::gate;
use countersign_domain::id::{ExceptionId, PartitionKey, SignOffKey};
use countersign_domain::scoring::{self, Thresholds};

use crate::machine::{Ids, Unscored};
use crate::port::{DeckItem, Entry, LeasedItem, Stage};

/// An exception in the deck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The exception.
    pub item: DeckItem,
    /// When it came, on the monotonic clock.
    pub since_ms: u64,
}

/// Reads and scores a leased exception: what happens in the scoring pool. One that cannot be read never can.
pub fn deck_item(leased: &LeasedItem, thresholds: &Thresholds) -> Result<DeckItem, Unscored> {
    let content = gate::read_body(&leased.body).map_err(|rejection| {
        let reason = match rejection.field {
            Some(field) => format!("{field}: {}", rejection.reason),
            None => rejection.reason,
        };
        Unscored { class: FailureClass::Structural, reason, ids: Ids::read(&leased.body) }
    })?;
    let suggestion = scoring::score(&content, thresholds);
    let outlook = figure::outlook(&content);
    Ok(DeckItem {
        id: leased.id,
        key: content.idempotency_key,
        partition: leased.partition.clone(),
        epoch: leased.epoch,
        seq: leased.seq,
        version: leased.version,
        content: leased.content,
        group: content.group_key,
        kind: content.kind,
        entity: content.ledger_entity,
        counterparty: content.counterparty,
        variance: content.variance,
        submitted_at: content.submitted_at,
        business_date: content.business_date,
        prepared_by: content.prepared_by,
        signatures: leased.signatures,
        reverses: content.reverses,
        due_on: leased.due_on,
        match_decision: content.match_decision,
        tier: content.routing_tier,
        trace_id: content.trace_id,
        source_hash: content.source_hash,
        suggestion,
        outlook,
        note: None,
    })
}

/// The deck. Places are given once and never reused, so that a withdrawn decision puts its item back where it was.
#[derive(Debug, Default)]
pub(crate) struct Deck {
    slots: BTreeMap<u64, Slot>,
    places: HashMap<ExceptionId, u64>,
    next_place: u64,
    /// Items whose decision is on its way to the disk: shown, and not to be decided a second time.
    signing: BTreeSet<ExceptionId>,
}

impl Deck {
    /// The deck of an earlier start, in the order of the partitions. What was decided and is unanswered has its place in it, to which
    /// it may come back.
    pub(crate) fn restore(mut items: Vec<DeckItem>, outbox: &[Entry], now_ms: u64) -> (Self, HashMap<SignOffKey, u64>) {
        let (mut deck, mut places) = (Self::default(), HashMap::new());
        let mut decided: Vec<(&DeckItem, SignOffKey)> = outbox
            .iter()
            .filter(|entry| matches!(entry.stage, Stage::Ready | Stage::Dead))
            .map(|entry| (&entry.item, entry.sign_off.key))
            .collect();
        let order = |item: &DeckItem| (item.partition.clone(), item.seq, item.id);
        decided.sort_by_cached_key(|(item, _)| order(item));
        let mut decided = decided.into_iter().peekable();
        items.sort_by_cached_key(order);
        for item in items {
            while let Some((_, key)) = decided.next_if(|(earlier, _)| order(earlier) < order(&item)) {
                places.insert(key, deck.new_place());
            }
            deck.put(item, now_ms);
        }
        for (_, key) in decided {
            places.insert(key, deck.new_place());
        }
        (deck, places)
    }

    fn new_place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    pub(crate) fn get(&self, id: ExceptionId) -> Option<&Slot> {
        self.places.get(&id).and_then(|place| self.slots.get(place))
    }

    pub(crate) fn is_signing(&self, id: ExceptionId) -> bool {
        self.signing.contains(&id)
    }

    pub(crate) fn set_signing(&mut self, ids: impl IntoIterator<Item = ExceptionId>, signing: bool) {
        for id in ids {
            if signing {
                self.signing.insert(id);
            } else {
                self.signing.remove(&id);
            }
        }
    }

    /// Adds an item, or replaces it where it is.
    pub(crate) fn put(&mut self, item: DeckItem, since_ms: u64) {
        let place = *self.places.entry(item.id).or_insert_with(|| {
            self.next_place += 1;
            self.next_place
        });
        self.slots.insert(place, Slot { item, since_ms });
    }

    /// Keeps a place for an item that is being scored: it comes where it was leased, whichever is scored first.
    pub(crate) fn reserve(&mut self, id: ExceptionId) {
        if !self.places.contains_key(&id) {
            let place = self.new_place();
            self.places.insert(id, place);
        }
    }

    /// Gives up the place of an item that does not come.
    pub(crate) fn unreserve(&mut self, id: ExceptionId) {
        if self.get(id).is_none() {
            self.places.remove(&id);
        }
    }

    /// Takes an item out and remembers its place for [`Deck::put_back`].
    pub(crate) fn take(&mut self, id: ExceptionId) -> Option<(u64, Slot)> {
        self.signing.remove(&id);
        let place = self.places.remove(&id)?;
        self.slots.remove(&place).map(|slot| (place, slot))
    }

    /// Takes an item out that comes back in another version or under another lease, and keeps its place for it.
    pub(crate) fn outdate(&mut self, id: ExceptionId) -> bool {
        self.places.get(&id).is_some_and(|place| self.slots.remove(place).is_some())
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.places.clear();
        self.signing.clear();
    }

    pub(crate) fn put_back(&mut self, place: Option<u64>, slot: Slot) {
        let Some(place) = place else { return self.put(slot.item, slot.since_ms) };
        self.places.insert(slot.item.id, place);
        self.slots.insert(place, slot);
    }

    /// Takes out the undecided items of these partitions. Those on their way to the disk stay: the reviewer has signed them.
    pub(crate) fn drop_partitions(&mut self, partitions: &BTreeSet<PartitionKey>) -> usize {
        let gone: Vec<ExceptionId> = self
            .slots
            .values()
            .map(|slot| &slot.item)
            .filter(|item| partitions.contains(&item.partition) && !self.signing.contains(&item.id))
            .map(|item| item.id)
            .collect();
        for id in &gone {
            self.take(*id);
        }
        gone.len()
    }
}
