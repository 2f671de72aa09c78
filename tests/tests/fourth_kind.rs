//! A fourth kind is one module and one migration: here it goes from arrival to effect, and nothing else was changed for it.

#[path = "../../src-tauri/crates/domain/tests/fourth_kind/intercompany.rs"]
mod intercompany;
#[path = "authority/office.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod office;

use countersign_domain::gate::{judge_among, read_body_among};
use countersign_domain::hash;
use countersign_domain::kind::Effect;
use countersign_domain::scoring::{Route, Thresholds, score};
use countersign_domain::sign_off::{Decision, Outcome, SignOff};
use countersign_engine::port::LeasedItem;
use countersign_testkit::enrolment::sealed;
use intercompany::{INTERCOMPANY, KINDS, arrival, key};
use serde_json::{Value, json};
use sqlx::types::chrono::DateTime;

use crate::office::{Office, Paper, Seat};

const MIGRATION: &str = include_str!("fourth_kind/intercompany.sql");

/// What DE01 and FR01 do not agree on, on a day: 1,203 against 1,200.
fn body(day: &str) -> String {
    let mut document = arrival(&[("day", day)], "3");
    document["idempotency_key"] = json!(key(day));
    judge_among(document.to_string().as_bytes(), &KINDS).expect("it passes the gates").body
}

fn decision(seat: &Seat, item: &LeasedItem, decision: Decision) -> SignOff {
    let content = read_body_among(&item.body, &KINDS).expect("what was handed out can be read");
    let sign_off = SignOff {
        key: hash::sign_off_key(&content.idempotency_key, item.content, decision, seat.user()),
        exception: item.id,
        content: item.content,
        epoch: item.epoch,
        decision,
        reason: (decision == Decision::Reject).then(|| "WRONG_AMOUNT".to_owned()),
        comment: None,
        decided_at: DateTime::UNIX_EPOCH,
        policy_version: 1,
        figure: None,
        seal: None,
    };
    sealed(sign_off, &content.idempotency_key, seat.user(), seat.desk)
}

async fn answered(office: &Office, body: &Value) -> anyhow::Result<(String, Option<String>, Option<String>)> {
    Ok(sqlx::query_as("SELECT outcome, field, cause FROM countersign.enqueue($1)")
        .bind([body.to_string()])
        .fetch_one(&office.installation.owner)
        .await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fourth_kind_goes_from_arrival_to_effect() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let document: Value = serde_json::from_str(&body("2026-09-30"))?;
    let (outcome, field, cause) = answered(&office, &document).await?;
    let refused = [Some("REFUSED"), Some("kind"), Some("UNKNOWN_VALUE")];
    assert_eq!([Some(outcome.as_str()), field.as_deref(), cause.as_deref()], refused, "nobody knows it yet");

    sqlx::raw_sql(MIGRATION).execute(&office.installation.owner).await?;
    let forgotten: Option<String> = office
        .ask(
            "SELECT string_agg(p.proname, ', ') FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace AND p.prokind = 'f'
               AND pg_get_functiondef(p.oid) ~ '''recon_break'', ''sales_claim'', ''receipt''[])]'",
        )
        .await?;
    assert_eq!(forgotten, None, "these list the kinds without it");

    // Its own gates, in the database as in the module.
    let mut other = document.clone();
    other["payload"]["day"] = json!("2026-08-31");
    let (outcome, field, cause) = answered(&office, &other).await?;
    let refused = [Some("REFUSED"), Some("idempotency_key"), Some("KEY")];
    assert_eq!([Some(outcome.as_str()), field.as_deref(), cause.as_deref()], refused);

    // Beside another kind, in one call.
    let bodies = [body("2026-09-30"), Paper::new(1, "p", 100).body(), body("2026-09-29")];
    assert_eq!(office.installation.enqueue(&bodies).await?, ["ENQUEUED"; 3]);
    assert_eq!(office.installation.enqueue(&bodies).await?, ["DUPLICATE"; 3]);

    let alice = office.seat("alice").await?;
    let items = alice.lease().await?;
    let mine: Vec<&LeasedItem> = items
        .iter()
        .filter(|item| read_body_among(&item.body, &KINDS).is_ok_and(|content| content.kind == INTERCOMPANY))
        .collect();
    assert_eq!((items.len(), mine.len()), (3, 2));
    let content = read_body_among(&mine[0].body, &KINDS).expect("it can be read");
    assert_eq!(score(&content, &Thresholds::default()).route, Route::AutoApprove);
    let batch = [decision(&alice, mine[0], Decision::Approve), decision(&alice, mine[1], Decision::Reject)];
    assert_eq!(alice.send(&batch).await?, [Outcome::Committed; 2]);

    // What the module says is what happened, once each, with the marker.
    let Some(Effect::Posting { amount, .. }) = content.kind.module().approving(&content) else {
        anyhow::bail!("approving it posts something");
    };
    let Effect::Routing { to } = content.kind.module().rejecting(&content) else {
        anyhow::bail!("rejecting it returns it");
    };
    let posted: (String, String, i64) = sqlx::query_as(
        "SELECT p.amount::text, p.currency, (SELECT count(*) FROM countersign.posting)
         FROM countersign.posting p JOIN countersign.exception e ON e.id = p.exception_id AND e.state = 'RESOLVED' AND e.resolved_at = p.posted_at",
    )
    .fetch_one(&office.installation.owner)
    .await?;
    assert_eq!(posted, (amount.text(), "JPY".to_owned(), 1));
    assert_eq!(amount.text(), "3", "1,203 less 1,200");
    let routed: String = office
        .ask(
            "SELECT r.routed_to FROM countersign.routing r JOIN countersign.exception e ON e.id = r.exception_id
               AND e.state = 'RESOLVED' AND e.resolved_at = r.routed_at",
        )
        .await?;
    assert_eq!(routed, to);
    assert_eq!(alice.send(&batch).await?, [Outcome::Duplicate; 2]);

    // Somebody who may sign nothing else gets the next one, and whoever may sign others does not.
    assert_eq!(office.installation.enqueue(&[body("2026-09-28")]).await?, ["ENQUEUED"]);
    office.installation.lapse().await?;
    for (name, kinds, expected) in [("bob", "receipt", 0), ("carol", "intercompany", 1)] {
        let seat = office.seat(name).await?;
        sqlx::query("UPDATE countersign.reviewer SET kinds = ARRAY[$2] WHERE login = $1")
            .bind(seat.user())
            .bind(kinds)
            .execute(&office.installation.owner)
            .await?;
        assert_eq!(seat.lease().await?.len(), expected, "{name}");
    }
    Ok(())
}
