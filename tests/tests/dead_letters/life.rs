//! From the bad line to the exception.

use countersign_domain::dead_letter::Cause;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{Backlog as _, Desk as _, LetterFilter, LetterStatus};
use countersign_tests::calls::{decision, lease};
use serde_json::{Value, json};

use crate::world::{World, good, key, line, mended, withdrawn};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_line_is_corrected_rehearsed_and_sent_in_once_with_the_same_key_and_trace() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    world.send(&[line(&withdrawn(1, "p")), line(&good(2, "p"))]).await?;
    let causes = dora.backlog.causes(dora.desk).await?;
    let [cause] = causes.as_slice() else { unreachable!("one cause: {causes:?}") };
    assert_eq!((cause.cause, cause.open, cause.taken, cause.without_amount), (Cause::Currency, 1, 0, 1));

    let letter = dora.letter(&key(1)).await?;
    assert_eq!(
        (letter.field.as_deref(), letter.entity.as_deref(), letter.line),
        (Some("currency"), Some("p"), Some(1))
    );
    assert_eq!(letter.at_risk, None, "no amount is in that currency any more");
    assert_eq!(dora.rehearse(letter.id).await?.outcome, "REFUSED");
    assert_eq!(dora.take(letter.id).await?, "TAKEN");
    assert_eq!(dora.correct(letter.id, 0, &mended(1, "p")).await?, "KEPT");
    assert_eq!(dora.correct(letter.id, 0, &mended(1, "p")).await?, "KEPT", "an answer that was lost is given again");
    let at_risk = dora.letter(&key(1)).await?.at_risk.map(|money| money.currency.code());
    assert_eq!(at_risk, Some("EUR"), "what the close lacks can be read now");

    let before = (world.count(EXCEPTIONS).await?, world.count(RECORDS).await?, world.count(PARTITIONS).await?);
    let rehearsed = dora.rehearse(letter.id).await?;
    assert_eq!((rehearsed.outcome.as_str(), rehearsed.passes()), ("ENQUEUED", true), "{rehearsed:?}");
    let after = (world.count(EXCEPTIONS).await?, world.count(RECORDS).await?, world.count(PARTITIONS).await?);
    assert_eq!(before, after, "a rehearsal changes nothing");

    assert_eq!(dora.replay(letter.id).await?.outcome, "ENQUEUED");
    let again = dora.replay(letter.id).await?;
    assert_eq!(again.outcome, "ENQUEUED", "the second answer says what it became");
    assert!(again.detail.as_deref().is_some_and(|why| why.contains("before")), "{again:?}");
    assert_eq!(world.count(EXCEPTIONS).await?, 2);
    let (trace, prepared_by, arrivals): (String, Vec<String>, i64) = sqlx::query_as(
        "SELECT e.trace_id::text, e.prepared_by, (SELECT count(*) FROM countersign.audit_event a WHERE a.exception_id = e.id AND a.event = 'ARRIVED')
         FROM countersign.exception e WHERE e.idempotency_key = $1",
    )
    .bind(key(1))
    .fetch_one(&world.installation.owner)
    .await?;
    assert_eq!(json!(trace), good(1, "p")["trace_id"]);
    assert_eq!(prepared_by, ["preparer".to_owned(), dora.login.user.clone()], "whoever corrects is a preparer");
    assert_eq!(arrivals, 1);

    let detail = dora.backlog.letter(dora.desk, letter.id).await?.expect("it is kept");
    assert_eq!(detail.original, line(&withdrawn(1, "p")), "the original stays as it came, to the byte");
    let events: Vec<&str> = detail.history.iter().map(|past| past.event.as_str()).collect();
    assert_eq!(events, ["DEAD_LETTERED", "LETTER_TAKEN", "LETTER_CORRECTED", "LETTER_REPLAYED"]);
    assert_eq!((detail.letter.status, detail.letter.attempts), (LetterStatus::Replayed, 2));
    assert!(detail.exception.is_some());
    let (undone, more) = dora.backlog.letters(dora.desk, &LetterFilter::default()).await?;
    assert!(undone.is_empty() && more == 0);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_corrected_and_who_sent_it_in_cannot_sign_and_a_colleague_can() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob) = (world.remediator("dora").await?, world.remediator("bob").await?);
    let carol = world.reviewer("carol").await?;
    world.send(&[line(&withdrawn(1, "p"))]).await?;
    let letter = dora.letter(&key(1)).await?;
    dora.take(letter.id).await?;
    dora.correct(letter.id, 0, &mended(1, "p")).await?;
    assert_eq!(dora.put_back(letter.id).await?, "PUT_BACK");
    assert_eq!(bob.replay(letter.id).await?.outcome, "ENQUEUED");
    for barred in [&dora, &bob] {
        assert!(lease(&barred.backlog, barred.desk, 10).await?.items.is_empty(), "{}", barred.login.user);
    }
    let leased = lease(&carol.backlog, carol.desk, 10).await?;
    let [item] = leased.items.as_slice() else { unreachable!("one exception: {leased:?}") };
    for barred in [&dora, &bob] {
        let theirs = decision(item, &barred.login, barred.desk, Decision::Approve);
        let answer = barred.backlog.sign_off(barred.desk, &[theirs]).await?.answers;
        assert!(!matches!(answer[0].outcome, Outcome::Committed), "{answer:?}");
    }
    let hers = decision(item, &carol.login, carol.desk, Decision::Approve);
    let answer = carol.backlog.sign_off(carol.desk, &[hers]).await?.answers;
    assert_eq!(answer[0].outcome, Outcome::Committed);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_that_fails_lands_back_open_with_its_history_and_the_new_reason() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let mut arrival = withdrawn(1, "p");
    arrival["submitted_at"] = json!("2026-13-01T00:00:00Z");
    world.send(&[line(&arrival)]).await?;
    let first = dora.letter(&key(1)).await?;
    assert_eq!(first.cause, Cause::Date);
    dora.take(first.id).await?;
    arrival["submitted_at"] = json!("2026-12-01T00:00:00Z");
    dora.correct(first.id, 0, &arrival.to_string()).await?;
    let answer = dora.replay(first.id).await?;
    assert_eq!((answer.outcome.as_str(), answer.field.as_deref()), ("REFUSED", Some("currency")));
    let second = dora.letter(&key(1)).await?;
    assert_eq!((second.status, second.cause, second.attempts), (LetterStatus::Open, Cause::Currency, 2));
    assert_eq!((second.owner, second.corrections), (None, 1));
    let detail = dora.backlog.letter(dora.desk, first.id).await?.expect("it is kept");
    let reasons: Vec<&str> = detail
        .history
        .iter()
        .flat_map(|past| past.details.iter().filter(|(name, _)| name == "field").map(|(_, field)| field.as_str()))
        .collect();
    assert_eq!(reasons.first(), Some(&"submitted_at"), "why it came: {:?}", detail.history);
    assert_eq!(reasons.last(), Some(&"currency"), "why it stays: {:?}", detail.history);

    // Taken up again where it was.
    dora.take(first.id).await?;
    arrival["currency"] = json!("EUR");
    assert_eq!(dora.correct(first.id, 1, &arrival.to_string()).await?, "KEPT");
    assert_eq!(dora.replay(first.id).await?.outcome, "ENQUEUED");
    assert_eq!(dora.letter(&key(1)).await?.attempts, 3);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_again_is_counted_and_what_its_producer_mended_is_done() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let bad = line(&withdrawn(1, "p"));
    for _ in 0..3 {
        world.send(std::slice::from_ref(&bad)).await?;
    }
    let letter = dora.letter(&key(1)).await?;
    assert_eq!((letter.times, letter.attempts), (3, 1), "one letter, however often it comes");
    world.send(&[mended(1, "p").into_bytes()]).await?;
    dora.take(letter.id).await?;
    dora.correct(letter.id, 0, &mended(1, "p")).await?;
    assert_eq!(dora.replay(letter.id).await?.outcome, "DUPLICATE", "the producer's good version is in");
    assert_eq!(dora.letter(&key(1)).await?.status, LetterStatus::Replayed);
    assert_eq!(world.count(EXCEPTIONS).await?, 1);
    assert_eq!(world.count("SELECT count(*) FROM countersign.exception WHERE version > 1").await?, 0);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_was_wrong_is_corrected_and_both_are_kept() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let mut arrival = good(1, "p");
    let right = arrival.to_string();
    arrival["idempotency_key"] = json!("");
    world.send(&[line(&arrival)]).await?;
    let letter = dora.letters().await?.remove(0);
    assert_eq!((letter.cause, letter.key.as_deref()), (Cause::Name, None));
    dora.take(letter.id).await?;
    dora.correct(letter.id, 0, &right).await?;
    assert_eq!(dora.replay(letter.id).await?.outcome, "ENQUEUED");
    let detail = dora.backlog.letter(dora.desk, letter.id).await?.expect("it is kept");
    assert_eq!((detail.letter.key, detail.corrections.len()), (Some(key(1)), 1));
    assert_eq!(detail.original, line(&arrival));
    world.holds().await
}

/// The records that ship with the project have withdrawn currencies, too many digits and empty dates.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shipped_bad_records_are_told_by_cause_and_one_of_each_cause_goes_in_once_corrected() -> anyhow::Result<()>
{
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo/exceptions.jsonl");
    world.admin.enqueue(&shipped).await?;
    let letters = dora.letters().await?;
    let kept = world.count("SELECT count(*) FROM countersign.dead_letter").await?;
    assert_eq!(i64::try_from(letters.len())?, kept);
    let causes = dora.backlog.causes(dora.desk).await?;
    let told: u32 = causes.iter().map(|cause| cause.open + cause.taken).sum();
    assert_eq!(i64::from(told), kept);
    assert!(causes.len() >= 2 && causes.iter().all(|cause| cause.oldest.is_some()), "{causes:?}");
    let mut currencies = letters.iter().filter(|letter| letter.cause == Cause::Currency);
    let letter = currencies.next().expect("a withdrawn currency");
    let detail = dora.backlog.letter(dora.desk, letter.id).await?.expect("it is kept");
    let mut arrival: Value = serde_json::from_slice(&detail.original)?;
    let field = letter.field.as_deref().expect("the field at fault").replace('.', "/");
    *arrival.pointer_mut(&format!("/{field}")).expect("it is there") = json!("EUR");
    dora.take(letter.id).await?;
    assert_eq!(dora.correct(letter.id, 0, &arrival.to_string()).await?, "KEPT");
    let rehearsed = dora.rehearse(letter.id).await?;
    let replayed = dora.replay(letter.id).await?;
    assert_eq!(rehearsed.outcome, replayed.outcome, "a rehearsal tells what happens: {rehearsed:?} {replayed:?}");
    world.holds().await
}

pub(crate) const EXCEPTIONS: &str = "SELECT count(*) FROM countersign.exception";
const RECORDS: &str = "SELECT count(*) FROM countersign.audit_event";
const PARTITIONS: &str = "SELECT count(*) FROM countersign.partition";
