//! A log holds nothing of an exception's content.

use chrono::DateTime;
use countersign_domain::hash;
use countersign_domain::id::{Epoch, ExceptionId, PartitionKey, Seq, WorkstationId};
use countersign_domain::scoring::Thresholds;
use countersign_domain::settings::Settings;
use countersign_engine::port::{Identity, LeaseReply, LeasedItem, LeasedPartition, Restored, Welcome, Write};
use countersign_engine::{Effect, Engine, Event, Now, Scored, deck_item};
use countersign_testkit::enrolment::{enrolled, keys_of, standing_of};
use uuid::Uuid;

const CANARY: &str = "4711canary";

fn now(mono_ms: u64) -> Now {
    Now { mono_ms, wall: DateTime::UNIX_EPOCH }
}

/// Bodies that fail in different places, each with the canary where the reason quotes it.
fn failing_bodies() -> Vec<String> {
    vec![
        CANARY.to_owned(),
        format!("{{\"{CANARY}\": 1}}"),
        format!("{{\"schema_version\": \"{CANARY}\"}}"),
        format!("{{\"amount\": 1.5, \"note\": \"{CANARY}\"}}"),
        format!(
            r#"{{"schema_version": 1, "kind": "{CANARY}", "idempotency_key": "k", "partition_key": "p", "submitted_at":
            "2026-01-01T00:00:00Z", "source_hash": "s", "match_decision": "BREAK", "routing_tier": "T1", "payload": {{}}}}"#
        ),
    ]
}

#[test]
fn a_body_that_cannot_be_read_is_in_its_dead_letter_and_in_no_record() {
    let identity = Identity { workstation: WorkstationId(Uuid::nil()), bound_to: None };
    let restored = Restored {
        identity,
        leases: Vec::new(),
        deck: Vec::new(),
        outbox: Vec::new(),
        last_ordinal: 0,
        standing: None,
        focus: None,
    };
    let settings = Settings { max_attempts: 1, ..Settings::default() };
    let mut engine = Engine::new(settings, restored, keys_of(WorkstationId(Uuid::nil())), 7, now(0));
    engine.step(now(0), Event::Tick);
    let welcome = Welcome {
        installation: Uuid::nil(),
        reviewer: "alice".to_owned(),
        display_name: "Alice".to_owned(),
        server_now: DateTime::UNIX_EPOCH,
        enrolment: Some(enrolled(WorkstationId(Uuid::nil()))),
        standing: Box::new(standing_of("alice", DateTime::UNIX_EPOCH)),
    };
    engine.step(now(1), Event::Welcomed(Ok(welcome)));
    engine.step(now(2), Event::Tick);

    let partition = PartitionKey("p".to_owned());
    let items: Vec<LeasedItem> = failing_bodies()
        .into_iter()
        .zip(1..)
        .map(|(body, seq)| LeasedItem {
            id: ExceptionId(seq),
            partition: partition.clone(),
            epoch: Epoch(1),
            seq: Seq(seq),
            version: 1,
            content: hash::content_hash(&body),
            body,
            signatures: 0,
            due_on: None,
        })
        .collect();
    let held = LeasedPartition { partition, epoch: Epoch(1), lease_ms: 60_000, after: Seq(5), more: false };
    let count = items.len();
    let mut effects = engine.step(now(3), Event::Leased(Ok(LeaseReply { partitions: vec![held], items })));
    let scored: Vec<Scored> = effects
        .iter()
        .find_map(|effect| if let Effect::Score(leased, _) = effect { Some(leased.clone()) } else { None })
        .expect("new items are scored")
        .into_iter()
        .map(|leased| Scored { result: deck_item(&leased, &Thresholds::default()), worker: 0, leased })
        .collect();
    let quoting = scored
        .iter()
        .filter(|scored| scored.result.as_ref().is_err_and(|unscored| unscored.reason.contains(CANARY)))
        .count();
    assert!(quoting > 0, "a reason that quotes the content is what this is about: {scored:?}");
    effects.extend(engine.step(now(4), Event::Scored(scored)));

    let records: Vec<String> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Record(record) => Some(format!("{record:?}")),
            Effect::Trace(trace) => Some(format!("{trace:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(records.iter().filter(|record| record.contains("DeadLettered")).count(), count, "{records:?}");
    assert!(!records.iter().any(|record| record.contains(CANARY)), "{records:?}");
    let letters = effects.iter().find_map(|effect| match effect {
        Effect::Journal(_, Write::DeadLettered(letters)) => Some(letters),
        _ => None,
    });
    let letters = letters.expect("they are kept");
    assert!(letters.len() == count && letters.iter().all(|letter| letter.body.contains(CANARY)));
}
