//! The database's two protocols, simulated: a model to test workstations against, and to be held against the real one.

use std::collections::{BTreeMap, BTreeSet};

use countersign_domain::exception::{Kind, RoutingTier};
use countersign_domain::figure::{self, Outlook, may_be_corrected};
use countersign_domain::focus::{Focus, Seen};
use countersign_domain::gate;
use countersign_domain::hash;
use countersign_domain::id::{ContentHash, Epoch, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::receipt::{CurrencyTotal, Receipt, keys_total};
use countersign_domain::sign_off::{Answer, CurrentContent, Decision, OtherDecision, Outcome, SignOff};
use countersign_engine::port::{
    GivenUp, Held, LeaseReply, LeaseRequest, LeasedItem, LeasedPartition, LetterRef, Renewed, SignOffReply,
};
use uuid::Uuid;

use chrono::{DateTime, Utc};

use crate::enrolment::sealed;

/// The longest lease, in milliseconds; a longer one is cut to it.
const LONGEST_MS: u32 = 3_600_000;

/// One exception.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its identifier.
    pub id: ExceptionId,
    /// Its key.
    pub key: String,
    /// Its partition and place.
    pub place: (PartitionKey, Seq),
    group: Option<String>,
    prepared_by: Vec<String>,
    source_hash: String,
    version: u32,
    body: String,
    content: ContentHash,
    seen: Vec<ContentHash>,
    variance: Money,
    entity: String,
    kind: Kind,
    tier: RoutingTier,
    counterparty: String,
    outlook: Outlook,
    reverses: Option<String>,
    /// With which figure it was approved first.
    first_figure: Option<Money>,
    /// The figure of the decision.
    figure: Option<Money>,
    /// What was posted.
    pub posted: Option<Money>,
    /// Who gave the first of two approvals.
    pub first_by: Option<String>,
    /// Who decided what, when.
    pub decided: Option<(String, Decision, DateTime<Utc>)>,
    /// The number of its effect.
    pub effect: Option<u64>,
}

#[derive(Debug, Default)]
struct Partition {
    epoch: i64,
    holder: Option<(WorkstationId, String)>,
    lease_until_ms: Option<u64>,
    items: Vec<ExceptionId>,
}

/// An accepted sign-off.
#[derive(Debug, Clone)]
struct Accepted {
    sign_off: SignOff,
    outcome: Outcome,
}

/// The whole database.
#[derive(Debug, Default)]
pub struct Database {
    items: BTreeMap<ExceptionId, Item>,
    by_key: BTreeMap<String, ExceptionId>,
    partitions: BTreeMap<PartitionKey, Partition>,
    sign_offs: BTreeMap<SignOffKey, Accepted>,
    /// Every decision that ever arrived, whatever became of it.
    received: BTreeSet<(SignOffKey, DateTime<Utc>)>,
    effects: u64,
    receipts: i64,
    /// What workstations gave up, and how often they told of it.
    letters: BTreeMap<LetterRef, (GivenUp, u32)>,
    /// Where each reviewer works: the workstation that leased last.
    desks: BTreeMap<String, WorkstationId>,
    /// From this absolute variance on, two people have to approve.
    pub two_from: Option<rust_decimal::Decimal>,
    /// The largest absolute variance that anybody may decide now.
    pub largest: Option<rust_decimal::Decimal>,
    /// How many effects were written for each exception; never more than one.
    pub effect_counts: BTreeMap<ExceptionId, u32>,
}

impl Database {
    /// Takes a canonical body in; the outcome as the database names it.
    pub fn enqueue(&mut self, body: &str) -> &'static str {
        let content = gate::read_body(body).expect("only what passed the gates is enqueued");
        let outlook = figure::outlook(&content);
        let partition = PartitionKey(content.partition_key);
        if let Some(item) = self.by_key.get(&content.idempotency_key).and_then(|id| self.items.get_mut(id)) {
            if item.source_hash == content.source_hash || item.seen.contains(&hash::content_hash(body)) {
                return "DUPLICATE";
            }
            if item.decided.is_some() || item.place.0 != partition {
                return "CONFLICT";
            }
            item.version += 1;
            item.source_hash = content.source_hash;
            body.clone_into(&mut item.body);
            item.content = hash::content_hash(body);
            item.seen.push(item.content);
            item.prepared_by.extend(content.prepared_by);
            item.variance = content.variance;
            item.outlook = outlook;
            item.first_figure = None;
            item.first_by = None;
            return "CORRECTED";
        }
        let id = ExceptionId(i64::try_from(self.items.len()).expect("fewer than 2^63 items") + 1);
        let entry = self.partitions.entry(partition.clone()).or_default();
        entry.items.push(id);
        let seq = Seq(i64::try_from(entry.items.len()).expect("fewer than 2^63 items"));
        let item = Item {
            id,
            key: content.idempotency_key.clone(),
            place: (partition, seq),
            group: content.group_key,
            prepared_by: content.prepared_by,
            source_hash: content.source_hash,
            version: 1,
            body: body.to_owned(),
            content: hash::content_hash(body),
            seen: vec![hash::content_hash(body)],
            variance: content.variance,
            entity: content.ledger_entity,
            kind: content.kind,
            tier: content.routing_tier,
            counterparty: content.counterparty,
            outlook,
            reverses: content.reverses,
            first_figure: None,
            figure: None,
            posted: None,
            first_by: None,
            decided: None,
            effect: None,
        };
        self.by_key.insert(content.idempotency_key, id);
        self.items.insert(id, item);
        "ENQUEUED"
    }

    /// Every exception.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// Accepted sign-offs by key: their exception and first outcome.
    pub fn accepted(&self) -> impl Iterator<Item = (SignOffKey, ExceptionId)> {
        self.sign_offs.iter().map(|(key, accepted)| (*key, accepted.sign_off.exception))
    }

    /// Whether a decision ever arrived.
    pub fn has_received(&self, key: SignOffKey, decided_at: DateTime<Utc>) -> bool {
        self.received.contains(&(key, decided_at))
    }

    /// Partitions under a lease now.
    pub fn leased(&self, now_ms: u64) -> usize {
        self.partitions
            .values()
            .filter(|partition| partition.lease_until_ms.is_some_and(|until| until >= now_ms))
            .count()
    }

    fn expire(&mut self, now_ms: u64) {
        for partition in self.partitions.values_mut() {
            if partition.lease_until_ms.is_some_and(|until| until < now_ms) {
                partition.lease_until_ms = None;
            }
        }
    }

    /// They prepared it, or another pending item of its group.
    fn shut_out(&self, item: &Item, person: &str) -> bool {
        let prepared = |item: &Item| {
            item.prepared_by.iter().any(|preparer| preparer == person) || item.first_by.as_deref() == Some(person)
        };
        let in_group = |other: &Item| {
            item.group.is_some()
                && other.group == item.group
                && other.place.0 == item.place.0
                && other.decided.is_none()
        };
        prepared(item) || self.items.values().any(|other| in_group(other) && prepared(other))
    }

    fn signable(&self, id: ExceptionId, person: &str) -> bool {
        let item = &self.items[&id];
        item.decided.is_none() && !self.shut_out(item, person) && !self.over_limit(item)
    }

    fn over_limit(&self, item: &Item) -> bool {
        self.largest.is_some_and(|largest| item.variance.amount.abs() > largest)
    }

    /// The figure that an approval has to carry; `Err` where any will do.
    fn expected(item: &Item, decision: Decision) -> Result<Option<Money>, ()> {
        if decision == Decision::Reject {
            return Ok(None);
        }
        match may_be_corrected(item.kind, item.reverses.as_deref()) {
            true if item.first_by.is_none() => Err(()),
            true => Ok(item.first_figure),
            false => Ok(item.outlook.figure),
        }
    }

    /// Whether a focus wants it: a group is wanted whole if any of it is.
    fn wanted(&self, id: ExceptionId, focus: Option<&Focus>) -> bool {
        let Some(focus) = focus else { return true };
        let item = &self.items[&id];
        let holds = |item: &Item| {
            focus.holds(Seen {
                entity: &item.entity,
                kind: item.kind,
                tier: item.tier,
                counterparty: &item.counterparty,
                variance: item.variance,
                due_on: None,
            })
        };
        let in_group = |other: &Item| {
            item.group.is_some()
                && other.group == item.group
                && other.place.0 == item.place.0
                && other.decided.is_none()
        };
        holds(item) || self.items.values().any(|other| in_group(other) && holds(other))
    }

    fn hand_out(
        &self,
        key: &PartitionKey,
        after: Seq,
        want: usize,
        person: &str,
        focus: Option<&Focus>,
    ) -> (Vec<ExceptionId>, bool) {
        let open: Vec<ExceptionId> = self.partitions[key]
            .items
            .iter()
            .copied()
            .filter(|id| self.items[id].place.1 > after && self.signable(*id, person) && self.wanted(*id, focus))
            .collect();
        // Groups of generated arrivals are contiguous; one that the limit falls into goes whole.
        let mut end = want.min(open.len());
        while end > 0
            && end < open.len()
            && self.items[&open[end]].group.is_some()
            && self.items[&open[end]].group == self.items[&open[end - 1]].group
        {
            end += 1;
        }
        (open[..end].to_vec(), end < open.len())
    }

    /// As `countersign.lease`.
    pub fn lease(
        &mut self,
        now_ms: u64,
        workstation: WorkstationId,
        person: &str,
        request: &LeaseRequest,
    ) -> LeaseReply {
        self.expire(now_ms);
        self.desks.insert(person.to_owned(), workstation);
        let mut reply = LeaseReply::default();
        let mut left = request.want as usize;
        let own: Vec<PartitionKey> = self
            .partitions
            .iter()
            .filter(|(_, partition)| {
                partition.lease_until_ms.is_some()
                    && partition.holder.as_ref().is_some_and(|(holder, _)| *holder == workstation)
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in own {
            let after =
                request.held.iter().find(|cursor| cursor.partition == key).map_or(Seq(0), |cursor| cursor.after);
            self.append(&mut reply, &mut left, now_ms, &key, after, person, request.focus.as_ref());
        }
        let free: Vec<PartitionKey> = self
            .partitions
            .iter()
            .filter(|(_, partition)| {
                partition.lease_until_ms.is_none() && {
                    let wanted = |id| self.signable(id, person) && self.wanted(id, request.focus.as_ref());
                    partition.items.iter().any(|id| wanted(*id))
                }
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in free {
            if left == 0 {
                break;
            }
            let partition = self.partitions.get_mut(&key).expect("just listed");
            partition.epoch += 1;
            partition.holder = Some((workstation, person.to_owned()));
            partition.lease_until_ms = Some(now_ms + u64::from(request.ttl_ms.min(LONGEST_MS)));
            self.append(&mut reply, &mut left, now_ms, &key, Seq(0), person, request.focus.as_ref());
        }
        reply
    }

    #[expect(clippy::too_many_arguments, reason = "a lease call has as many parts")]
    fn append(
        &self,
        reply: &mut LeaseReply,
        left: &mut usize,
        now_ms: u64,
        key: &PartitionKey,
        after: Seq,
        person: &str,
        focus: Option<&Focus>,
    ) {
        let (ids, more) = self.hand_out(key, after, *left, person, focus);
        *left = left.saturating_sub(ids.len());
        let partition = &self.partitions[key];
        let epoch = Epoch(partition.epoch);
        let lease_ms = partition.lease_until_ms.unwrap_or(now_ms).saturating_sub(now_ms);
        reply.partitions.push(LeasedPartition {
            partition: key.clone(),
            epoch,
            lease_ms: u32::try_from(lease_ms).unwrap_or(u32::MAX),
            after: ids.last().map_or(after, |id| self.items[id].place.1),
            more,
        });
        reply.items.extend(ids.into_iter().map(|id| {
            let item = &self.items[&id];
            let (partition, seq) = item.place.clone();
            LeasedItem {
                id,
                partition,
                epoch,
                seq,
                version: item.version,
                content: item.content,
                body: item.body.clone(),
                signatures: item.first_by.is_some().into(),
                due_on: None,
            }
        }));
    }

    fn stands(&self, workstation: WorkstationId, person: &str, held: &Held) -> bool {
        self.partitions.get(&held.partition).is_some_and(|partition| {
            Epoch(partition.epoch) == held.epoch
                && partition
                    .holder
                    .as_ref()
                    .is_some_and(|(holder, reviewer)| *holder == workstation && reviewer == person)
        })
    }

    /// As `countersign.renew`.
    pub fn renew(
        &mut self,
        now_ms: u64,
        workstation: WorkstationId,
        person: &str,
        held: &[Held],
        ttl_ms: u32,
    ) -> Vec<Renewed> {
        let ttl_ms = ttl_ms.min(LONGEST_MS);
        let standing: Vec<Held> = held.iter().filter(|held| self.stands(workstation, person, held)).cloned().collect();
        for held in &standing {
            self.partitions.get_mut(&held.partition).expect("it stands").lease_until_ms =
                Some(now_ms + u64::from(ttl_ms));
        }
        standing.into_iter().map(|held| Renewed { held, lease_ms: ttl_ms }).collect()
    }

    /// As `countersign.release`.
    pub fn release(&mut self, workstation: WorkstationId, person: &str, held: &[Held]) {
        for held in held {
            if self.stands(workstation, person, held) {
                self.partitions.get_mut(&held.partition).expect("it stands").lease_until_ms = None;
            }
        }
    }

    /// As `countersign.hand_over`, to the workstation of a colleague who has leased before.
    pub fn hand_over(
        &mut self,
        now_ms: u64,
        workstation: WorkstationId,
        person: &str,
        held: &[Held],
        to: &str,
        ttl_ms: u32,
    ) -> Vec<PartitionKey> {
        let Some(desk) = self.desks.get(to).copied() else { return Vec::new() };
        let standing: Vec<PartitionKey> = held
            .iter()
            .filter(|held| self.stands(workstation, person, held))
            .map(|held| held.partition.clone())
            .collect();
        for key in &standing {
            let partition = self.partitions.get_mut(key).expect("it stands");
            partition.epoch += 1;
            partition.holder = Some((desk, to.to_owned()));
            partition.lease_until_ms = Some(now_ms + u64::from(ttl_ms));
        }
        standing
    }

    /// As `countersign.give_up`.
    pub fn give_up(&mut self, letters: &[GivenUp]) {
        for letter in letters {
            self.letters.entry(letter.letter()).or_insert_with(|| (letter.clone(), 0)).1 += 1;
        }
    }

    /// What workstations gave up, and how often each was told.
    pub fn letters(&self) -> impl Iterator<Item = (&GivenUp, u32)> {
        self.letters.values().map(|(letter, times)| (letter, *times))
    }

    /// As `countersign.sign_off`.
    pub fn sign_off(
        &mut self,
        wall: DateTime<Utc>,
        workstation: WorkstationId,
        person: &str,
        sign_offs: &[SignOff],
    ) -> SignOffReply {
        self.received.extend(sign_offs.iter().map(|sign_off| (sign_off.key, sign_off.decided_at)));
        let mut answers: Vec<Answer> =
            sign_offs.iter().map(|sign_off| self.decide(wall, workstation, person, sign_off)).collect();
        // Effects follow once the whole call is decided.
        let touched: Vec<PartitionKey> = sign_offs
            .iter()
            .filter_map(|sign_off| self.items.get(&sign_off.exception))
            .map(|item| item.place.0.clone())
            .collect();
        for key in touched {
            for id in self.partitions[&key].items.clone() {
                let item = self.items.get_mut(&id).expect("it is in its partition");
                if item.decided.is_none() {
                    break;
                }
                if item.effect.is_none() {
                    self.effects += 1;
                    item.effect = Some(self.effects);
                    let approved = item.decided.as_ref().is_some_and(|(_, decision, _)| *decision == Decision::Approve);
                    let posts = approved && item.kind != Kind::Receipt;
                    item.posted = posts.then(|| item.figure.unwrap_or(item.variance));
                    *self.effect_counts.entry(id).or_default() += 1;
                }
            }
        }
        for (answer, sign_off) in answers.iter_mut().zip(sign_offs) {
            if answer.outcome == Outcome::Held && self.items[&sign_off.exception].effect.is_some() {
                answer.outcome = Outcome::Committed;
                self.sign_offs.get_mut(&sign_off.key).expect("just accepted").outcome = Outcome::Committed;
            }
        }
        let receipt = Some(self.receipt(wall, workstation, person, sign_offs, &answers));
        SignOffReply { answers, receipt }
    }

    fn receipt(
        &mut self,
        wall: DateTime<Utc>,
        workstation: WorkstationId,
        person: &str,
        sign_offs: &[SignOff],
        answers: &[Answer],
    ) -> Receipt {
        self.receipts += 1;
        let fresh = |answer: &Answer| answer.outcome.accepted() && answer.outcome != Outcome::Duplicate;
        let count = |which: &dyn Fn(&Answer) -> bool| answers.iter().filter(|answer| which(answer)).count() as u64;
        let (mut outcomes, mut totals) = (BTreeMap::new(), BTreeMap::new());
        for (answer, sign_off) in answers.iter().zip(sign_offs) {
            *outcomes.entry(answer.outcome.as_str().to_owned()).or_default() += 1;
            let Some(item) = self.items.get(&sign_off.exception).filter(|_| fresh(answer)) else { continue };
            let total: &mut CurrencyTotal =
                totals.entry(item.variance.currency.code().to_owned()).or_insert_with(|| {
                    let zero = rust_decimal::Decimal::ZERO;
                    CurrencyTotal { items: 0, debits: zero, credits: zero, net: zero }
                });
            let amount = item.variance.amount;
            total.items += 1;
            total.net += amount;
            *(if amount.is_sign_negative() { &mut total.credits } else { &mut total.debits }) += amount;
        }
        Receipt {
            receipt: self.receipts,
            at: wall.timestamp_micros(),
            installation: Uuid::from_u128(1),
            reviewer: person.to_owned(),
            workstation: workstation.0,
            policy_version: 1,
            submitted: answers.len() as u64,
            committed: count(&fresh),
            duplicate: count(&|answer| answer.outcome == Outcome::Duplicate),
            refused: count(&|answer| !answer.outcome.accepted()),
            under_another_policy: 0,
            outcomes,
            totals,
            keys_sha256: keys_total(sign_offs.iter().map(|sign_off| sign_off.key.0)),
            records: Vec::new(),
            duplicates: Vec::new(),
            unknown: Vec::new(),
        }
    }

    fn decide(&mut self, wall: DateTime<Utc>, workstation: WorkstationId, person: &str, sign_off: &SignOff) -> Answer {
        let plain = Answer::plain;
        let Some(item) = self.items.get(&sign_off.exception) else { return plain(Outcome::NotEligible) };
        let claimed = SignOff { seal: None, ..sign_off.clone() };
        if sign_off.seal != sealed(claimed, &item.key, person, workstation).seal {
            return plain(Outcome::Forged);
        }
        if sign_off.key != hash::sign_off_key(&item.key, sign_off.content, sign_off.decision, person) {
            return plain(Outcome::KeyReused);
        }
        if let Some(first) = self.sign_offs.get(&sign_off.key) {
            let same = |a: &SignOff, b: &SignOff| {
                (&a.reason, &a.comment, a.decided_at, a.figure) == (&b.reason, &b.comment, b.decided_at, b.figure)
            };
            return if same(&first.sign_off, sign_off) {
                Answer { first_outcome: Some(first.outcome), ..plain(Outcome::Duplicate) }
            } else {
                plain(Outcome::KeyReused)
            };
        }
        if item.first_by.as_deref() == Some(person) {
            return plain(Outcome::NotEligible);
        }
        if self.shut_out(item, person) {
            return plain(Outcome::Preparer);
        }
        let other = item.decided.clone().map(|(reviewer, decision, at)| OtherDecision { reviewer, decision, at });
        let held = Held { partition: item.place.0.clone(), epoch: sign_off.epoch };
        if !self.stands(workstation, person, &held) {
            return Answer { other, ..plain(Outcome::LeaseSuperseded) };
        }
        if other.is_some() {
            return Answer { other, ..plain(Outcome::AlreadyDecided) };
        }
        if self.over_limit(item) {
            return plain(Outcome::OverLimit);
        }
        if item.content != sign_off.content {
            let now = Some(CurrentContent { version: item.version, body: item.body.clone() });
            return Answer { now, ..plain(Outcome::StaleVersion) };
        }
        if let Ok(figure) = Self::expected(item, sign_off.decision)
            && figure != sign_off.figure
        {
            return Answer { figure, ..plain(Outcome::FigureDiffers) };
        }
        let approved = sign_off.decision == Decision::Approve;
        let corrected = sign_off.figure.filter(|_| may_be_corrected(item.kind, item.reverses.as_deref()));
        let to_nothing = corrected.is_some_and(|figure| figure.amount <= rust_decimal::Decimal::ZERO);
        if approved && (item.outlook.lacks(sign_off.figure) || to_nothing) {
            return plain(Outcome::FigureDiffers);
        }
        let weight = item.outlook.weight(sign_off.figure).filter(|_| approved).unwrap_or(item.variance).amount.abs();
        if self.largest.is_some_and(|largest| weight > largest) {
            return plain(Outcome::OverLimit);
        }
        let first = item.first_by.is_none()
            && sign_off.decision == Decision::Approve
            && self.two_from.is_some_and(|from| item.variance.amount.abs().max(weight) >= from);
        if first {
            let item = self.items.get_mut(&sign_off.exception).expect("just looked at");
            (item.first_by, item.first_figure) = (Some(person.to_owned()), sign_off.figure);
            let accepted = Accepted { sign_off: sign_off.clone(), outcome: Outcome::AwaitingSecond };
            self.sign_offs.insert(sign_off.key, accepted);
            return plain(Outcome::AwaitingSecond);
        }
        let item = self.items.get_mut(&sign_off.exception).expect("just looked at");
        item.decided = Some((person.to_owned(), sign_off.decision, wall));
        item.figure = sign_off.figure;
        self.sign_offs.insert(sign_off.key, Accepted { sign_off: sign_off.clone(), outcome: Outcome::Held });
        plain(Outcome::Held)
    }

    /// What is wrong with the database alone.
    pub fn defects(&self) -> Vec<String> {
        let mut defects = Vec::new();
        for (id, count) in &self.effect_counts {
            if *count != 1 {
                defects.push(format!("exception {id} has {count} effects"));
            }
        }
        for item in self.items.values() {
            let weight =
                item.outlook.weight(item.figure).map_or(item.variance.amount.abs(), |money| money.amount.abs());
            let two = self.two_from.is_some_and(|from| item.variance.amount.abs().max(weight) >= from);
            let approved = item.decided.as_ref().is_some_and(|(_, decision, _)| *decision == Decision::Approve);
            if approved && item.kind == Kind::SalesClaim && item.figure != item.outlook.figure {
                defects
                    .push(format!("{} was approved with {:?}, and comes to {:?}", item.key, item.figure, item.outlook));
            }
            if approved && item.outlook.lacks(item.figure) {
                defects.push(format!("{} was approved, and nobody can say with which amount", item.key));
            }
            if approved && item.first_by.is_some() && item.first_figure != item.figure {
                defects.push(format!("{} was approved with {:?} and {:?}", item.key, item.first_figure, item.figure));
            }
            if let Some((second, Decision::Approve, _)) = item.decided.as_ref().filter(|_| two)
                && item.first_by.as_ref().is_none_or(|first| first == second)
            {
                defects.push(format!("{} was approved by {second} after {:?}", item.key, item.first_by));
            }
        }
        for (key, partition) in &self.partitions {
            let effects: Vec<Option<u64>> = partition.items.iter().map(|id| self.items[id].effect).collect();
            let written: Vec<u64> = effects.iter().flatten().copied().collect();
            if !written.is_sorted() || effects.iter().skip_while(|effect| effect.is_some()).any(Option::is_some) {
                defects.push(format!("the effects of {} are out of order: {effects:?}", key.0));
            }
        }
        let decided = self.sign_offs.values().filter(|accepted| accepted.outcome != Outcome::AwaitingSecond);
        let mut decided: Vec<ExceptionId> = decided.map(|accepted| accepted.sign_off.exception).collect();
        decided.sort_unstable();
        let signed = decided.len();
        decided.dedup();
        if decided.len() != signed {
            defects.push("an exception was accepted twice".to_owned());
        }
        defects
    }
}
