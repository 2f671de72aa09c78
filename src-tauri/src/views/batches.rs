//! Confirmations, and what has become of their decisions.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use countersign_domain::hash;
use countersign_domain::id::{BatchId, SignOffKey};
use countersign_domain::money::Money;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Batch, Entry, Stage};
use countersign_engine::{Engine, Now};
use countersign_paper::receipt::{BatchReceipt, FORMAT, Line, Total};
use countersign_wire::{BatchRow, BatchView, CommandError, CurrencyTotal, DecisionChoice, OutboxRow, OutboxState};

use super::outbox::{pending_row, row};
use super::totals::currency_totals;
use super::{error, instant};

/// The most decisions one view carries: more than one confirmation can hold.
const ROWS: usize = 5_000;

/// A confirmation that is not kept any more, or never was.
pub(crate) fn no_batch() -> CommandError {
    error("NO_BATCH", "This confirmation is not on this workstation any more; the database's receipts tell of it.")
}

/// What is known of a confirmation's decisions that are not done with.
pub(crate) fn pending(engine: &Engine, now: Now, batch: BatchId) -> HashMap<SignOffKey, OutboxRow> {
    let of_it = engine.outbox().filter(|pending| pending.entry.batch == batch);
    of_it.map(|pending| (pending.entry.sign_off.key, pending_row(pending, now))).collect()
}

/// The counts of a confirmation.
pub(crate) fn batch_row(batch: &Batch) -> BatchRow {
    BatchRow {
        batch: batch.id.0.to_string(),
        decided_at: instant(batch.decided_at),
        decision: match batch.decision {
            Decision::Approve => DecisionChoice::Approve,
            Decision::Reject => DecisionChoice::Reject,
        },
        signed: batch.signed,
        committed: batch.committed,
        held: batch.held,
        awaiting: batch.awaiting,
        refused: batch.refused,
        waiting: batch.waiting,
        unsent: batch.unsent,
    }
}

/// A confirmation in full.
pub(crate) fn batch(
    batch: Batch,
    entries: &[Entry],
    mut pending: HashMap<SignOffKey, OutboxRow>,
) -> Result<BatchView, CommandError> {
    let amounts = |keep: fn(&Entry) -> bool| -> Vec<Money> {
        entries.iter().filter(|entry| keep(entry)).map(|entry| entry.item.variance).collect()
    };
    let signed = entries.iter().map(|entry| (entry.item.key.as_str(), entry.sign_off.content));
    let hash_total = hash::hash_total(signed).to_string();
    let shown = |entry: &Entry| {
        let here = pending.remove(&entry.sign_off.key);
        here.unwrap_or_else(|| row(entry, state(entry.stage), None))
    };
    Ok(BatchView {
        row: batch_row(&batch),
        totals: currency_totals(amounts(|_| true))?,
        accepted: currency_totals(amounts(accepted))?,
        hash_total,
        receipts: batch.receipts.iter().map(ToString::to_string).collect(),
        rows: entries.iter().take(ROWS).map(shown).collect(),
        reason: batch.reason,
        comment: batch.comment,
        policy_version: batch.policy_version,
        attestation: batch.attestation,
    })
}

fn accepted(entry: &Entry) -> bool {
    entry.answer.as_ref().is_some_and(|answer| answer.outcome.accepted())
}

fn state(stage: Stage) -> OutboxState {
    match stage {
        Stage::Ready => OutboxState::Ready,
        Stage::Committed => OutboxState::Committed,
        Stage::Refused => OutboxState::Refused,
        Stage::Dead => OutboxState::Dead,
    }
}

/// The receipt that is written to a file.
pub(crate) fn receipt(view: BatchView, reviewer: String, workstation: String, made_at: DateTime<Utc>) -> BatchReceipt {
    let BatchView { row, .. } = view;
    BatchReceipt {
        format: FORMAT,
        made_at,
        batch: row.batch,
        reviewer,
        workstation,
        decided_at: row.decided_at,
        decision: match row.decision {
            DecisionChoice::Approve => Decision::Approve.as_str().to_owned(),
            DecisionChoice::Reject => Decision::Reject.as_str().to_owned(),
        },
        reason: view.reason,
        comment: view.comment,
        policy_version: view.policy_version,
        attestation: view.attestation,
        signed: row.signed,
        committed: row.committed,
        held: row.held,
        awaiting: row.awaiting,
        refused: row.refused,
        waiting: row.waiting,
        totals: view.totals.into_iter().map(total).collect(),
        accepted: view.accepted.into_iter().map(total).collect(),
        hash_total: view.hash_total,
        receipts: view.receipts,
        decisions: view.rows.into_iter().map(line).collect(),
    }
}

fn total(total: CurrencyTotal) -> Total {
    let CurrencyTotal { currency, minor_units: _, count, debits, credits, net, largest } = total;
    Total { currency, count, debits, credits, net, largest }
}

fn line(row: OutboxRow) -> Line {
    let state = match row.state {
        OutboxState::Held => "HELD",
        OutboxState::Ready => "READY",
        OutboxState::Sending => "SENDING",
        OutboxState::Committed => "COMMITTED",
        OutboxState::Refused => "REFUSED",
        OutboxState::Dead => "DEAD",
    };
    Line {
        exception: row.exception_id,
        entity: row.entity,
        counterparty: row.counterparty,
        amount: row.amount,
        currency: row.currency,
        state: state.to_owned(),
        outcome: row.outcome,
        message: row.message,
        sign_off_key: row.key,
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::sign_off::{Answer, Outcome, SignOff};

    use super::super::samples::{at, item};
    use super::*;

    fn entry(id: i64, amount: &str, stage: Stage, outcome: Option<Outcome>) -> Entry {
        let item = item(id, amount, "bob");
        let key = hash::sign_off_key(&item.key, item.content, Decision::Approve, "dana");
        let sign_off = SignOff {
            key,
            exception: item.id,
            content: item.content,
            epoch: item.epoch,
            decision: Decision::Approve,
            reason: None,
            comment: Some("seen".into()),
            decided_at: at(8),
            policy_version: 3,
            figure: None,
            seal: None,
        };
        Entry {
            ordinal: 1,
            batch: BatchId(uuid::Uuid::nil()),
            sign_off,
            item,
            stage,
            attempts: 0,
            answer: outcome.map(Answer::plain),
            problem: None,
            offline: false,
            settled_at: None,
            may_be_sent: true,
            receipt: None,
            steps: Vec::new(),
        }
    }

    #[test]
    fn a_receipt_reconciles_with_the_decisions_it_lists() {
        let entries = [
            entry(1, "10.00", Stage::Committed, Some(Outcome::Committed)),
            entry(2, "-2.50", Stage::Committed, Some(Outcome::AwaitingSecond)),
            entry(3, "100.00", Stage::Refused, Some(Outcome::OverLimit)),
            entry(4, "1.00", Stage::Ready, None),
            entry(5, "0.50", Stage::Committed, Some(Outcome::Held)),
        ];
        let counts = Batch {
            id: BatchId(uuid::Uuid::nil()),
            decided_at: at(8),
            decision: Decision::Approve,
            reason: None,
            comment: Some("seen".into()),
            policy_version: 3,
            attestation: "I have looked.".into(),
            signed: 5,
            committed: 1,
            held: 1,
            awaiting: 1,
            refused: 1,
            waiting: 1,
            unsent: 0,
            receipts: vec![7, 8],
        };
        let mut sending = row(&entries[3], OutboxState::Sending, None);
        sending.attempts = 2;
        let pending = HashMap::from([(entries[3].sign_off.key, sending)]);
        let view = batch(counts, &entries, pending).expect("small sums");
        assert_eq!((view.totals[0].count, view.totals[0].net.as_str()), (5, "109.00"));
        assert_eq!((view.accepted[0].count, view.accepted[0].net.as_str()), (3, "8.00"));
        assert_eq!(
            view.rows.iter().map(|row| row.state).collect::<Vec<_>>(),
            [
                OutboxState::Committed,
                OutboxState::Committed,
                OutboxState::Refused,
                OutboxState::Sending,
                OutboxState::Committed,
            ]
        );
        let items = entries.iter().map(|entry| (entry.item.key.as_str(), entry.sign_off.content));
        assert_eq!(view.hash_total, hash::hash_total(items).to_string());
        let receipt = receipt(view, "dana".into(), "desk".into(), at(9));
        assert_eq!(
            receipt.reconciliation().as_deref(),
            Ok("5 signed = 1 committed + 1 held + 1 awaiting a second signature + 1 refused + 1 waiting")
        );
        assert_eq!(receipt.receipts, ["7", "8"]);
        assert_eq!(receipt.attestation, "I have looked.");
        assert_eq!(
            (receipt.decisions[2].state.as_str(), receipt.decisions[2].outcome.as_deref()),
            ("REFUSED", Some("OVER_LIMIT"))
        );
    }
}
