//! The figures of decisions, and what deciding does.

use countersign_domain::exception::Kind;
use countersign_domain::figure::Outlook;
use countersign_domain::hash::{content_hash, sha256};
use countersign_engine::port::{DeckItem, Journal as _, Stage, Write};

use super::fixture::*;

/// A claim of 1,234 units at 0.0175, as it was handed out.
fn claim() -> (DeckItem, String) {
    let lines = sha256(b"lines").to_string();
    let key = sha256(format!("CJ-1|{lines}|coupon|2026-09").as_bytes());
    let body = format!(
        r#"{{"schema_version":1,"kind":"sales_claim","idempotency_key":"{key}","trace_id":"00000000-0000-0000-0000-000000000001","correlation_id":"00000000-0000-0000-0000-000000000002","partition_key":"partition-0","source_hash":"s","group_key":null,"match_decision":"PARTIAL","routing_tier":"standard","ledger_entity":"DE01","counterparty":"c","currency":"USD","variance_amount":"8.40","prepared_by":["x"],"submitted_at":"2026-10-05T00:10:03Z","payload":{{"retailer_invoice":"CJ-1","vendor_id":"v","vendor_name":"v","claim_period":"2026-09","promo_tier":"coupon","agreement_ref":"terms","agreement_version":3,"line_item_hash":"{lines}","qualifying_units":"1234","tier_rate":"0.0175","rate_basis":"per_unit","claimed_amount":"30.00","contract_amount":"21.60","line_item_count":1,"line_items":[{{"product_id":"p","item":"SOUP","quantity":"1234"}}]}}}}"#
    );
    let content = content_hash(&body);
    (DeckItem { kind: Kind::SalesClaim, content, variance: money("8.40", "USD"), ..item(1) }, body)
}

#[test]
fn a_figure_and_what_deciding_does_are_there_after_a_restart() {
    let place = place();
    let outlook = Outlook { figure: Some(money("21.60", "USD")), approving: "posts it".into(), ..Outlook::default() };
    let mut signed = entry(5);
    signed.item.outlook = outlook.clone();
    let mut journal = place.open();
    apply(&mut journal, [leased(), signing(vec![signed.clone(), entry(6)])]);
    drop(journal);
    let outbox = restored(&mut place.open()).outbox;
    assert_eq!(outbox, [signed, entry(6)]);
    assert_eq!((outbox[0].sign_off.figure, &outbox[0].item.outlook), (Some(money("21.60", "USD")), &outlook));
    assert_eq!(outbox[1].sign_off.figure, None);
}

#[test]
fn a_refused_decision_keeps_its_figure_when_another_takes_its_place() {
    let place = place();
    let mut journal = place.open();
    let mut again = entry(5);
    again.ordinal = 6;
    again.batch = countersign_domain::id::BatchId(uuid::Uuid::from_u128(6));
    again.sign_off.figure = Some(money("22.00", "USD"));
    apply(&mut journal, [leased(), signing(vec![entry(5)]), settle(5..=5, Stage::Refused, REFUSED)]);
    apply(&mut journal, [signing(vec![again.clone()])]);
    let (_, first) = journal.batch(entry(5).batch).expect("it reads").expect("it is remembered");
    assert_eq!(first[0].sign_off.figure, Some(money("21.60", "USD")));
    assert_eq!(restored(&mut journal).outbox[0].sign_off.figure, Some(money("22.00", "USD")));
}

#[test]
fn what_an_earlier_release_kept_says_after_the_upgrade_what_deciding_does() {
    let place = place();
    let (item, body) = claim();
    let mut unanswered = entry(1);
    unanswered.sign_off.content = item.content;
    unanswered.item = item.clone();
    let mut journal = place.open();
    let unreadable = (DeckItem { kind: Kind::Receipt, ..self::item(2) }, self::body(2));
    let items = vec![(item.clone(), body), unreadable.clone()];
    apply(&mut journal, [Write::Leased { leases: vec![lease(0)], items }, signing(vec![unanswered])]);
    // As the release before had it.
    journal
        .connection
        .execute_batch(
            "ALTER TABLE outbox DROP COLUMN figure; ALTER TABLE superseded DROP COLUMN figure; \
             UPDATE deck SET item = json_remove(item, '$.outlook'); UPDATE outbox SET item = json_remove(item, '$.outlook'); \
             DROP TABLE given_up; DROP INDEX dead_letter_untold; ALTER TABLE dead_letter DROP COLUMN told; \
             PRAGMA user_version = 5",
        )
        .expect("it is taken back");
    drop(journal);
    let restored = restored(&mut place.open());
    let effect = &restored.outbox[0].item.outlook;
    assert_eq!(effect.figure, Some(money("21.60", "USD")));
    assert_eq!(effect.approving, "posts 1,234 × 0.0175 = 21.60 USD by agreement version 3");
    assert_eq!(restored.outbox[0].sign_off.figure, None, "what was signed stays as it was sealed");
    assert_eq!(restored.deck, [unreadable.0], "what cannot be read stays as it is");
    let mut journal = place.open();
    apply(&mut journal, [Write::Withdrawn(vec![key_of(&restored.outbox[0])])]);
    let back = super::fixture::restored(&mut journal).deck.into_iter().find(|known| known.id == item.id);
    assert_eq!(back.map(|item| item.outlook.figure), Some(Some(money("21.60", "USD"))));
}

fn key_of(entry: &countersign_engine::port::Entry) -> countersign_domain::id::SignOffKey {
    entry.sign_off.key
}
