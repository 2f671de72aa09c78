//! What was signed is durable before it is called signed, is sent until it is answered, and takes effect once.

#[path = "outbox/attempts.rs"]
mod attempts;
#[path = "outbox/refusals.rs"]
mod refusals;

use std::time::Duration;

use countersign_domain::id::BatchId;
use countersign_domain::settings::Settings;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{Stage, What};
use countersign_engine::{Command, Engine, Reply};
use countersign_journal::Counts;
use countersign_testkit::installation::Installation;
use countersign_tests::child::{self, Workstation};
use countersign_tests::desk::{Desk, Seat, confirmation, log_of};
use countersign_tests::owner::{self, Tally, tally};

/// As many as a deck can hold.
const FULL_DECK: usize = 5_000;

fn full_deck(undo_window_ms: u32) -> Settings {
    Settings { queue_maxsize: 5_000, lease_prefetch: 5_000, commit_batch: 1_000, undo_window_ms, ..Settings::default() }
}

/// Signs everything in its deck and waits for its end, when it is started by one of the tests below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_workstation_that_is_killed() -> anyhow::Result<()> {
    let Some(desk) = child::desk_from_environment()? else { return Ok(()) };
    let seat = desk.start()?;
    seat.until_deck(FULL_DECK).await?;
    let items = seat.deck().await?;
    child::say("signing")?;
    seat.approve(&items).await?;
    child::say("signed 5000")?;
    std::future::pending().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_decisions_survive_a_kill_right_after_they_were_called_signed() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 5_000, 50).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings = full_deck(60_000);
    let mut workstation = Workstation::start(&desk, "the_workstation_that_is_killed")?;
    workstation.said("signed 5000").await?;
    workstation.kill().await?;
    assert_eq!(desk.journal()?.counts()?, Counts { ready: 5_000, ..Counts::default() });
    assert_eq!(tally(&installation.owner).await?, Tally { pending: 5_000, ..Tally::default() });

    desk.settings.undo_window_ms = 0;
    let seat = desk.start()?;
    seat.until_committed(FULL_DECK).await?;
    seat.leave().await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(5_000));
    let sql = "SELECT count(DISTINCT exception_id) FROM (SELECT exception_id FROM countersign.posting
               UNION ALL SELECT exception_id FROM countersign.routing) AS effect";
    assert_eq!(owner::number(&installation.owner, sql).await?, 5_000);
    assert_eq!(desk.journal()?.counts()?, Counts { committed: 5_000, ..Counts::default() });
    Ok(())
}

/// The kill comes when the log has grown by so many bytes since the signing began: in the midst of the transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_in_the_journal_whole_or_not_at_all_whenever_the_kill_comes() -> anyhow::Result<()> {
    const MEBIBYTE: u64 = 1024 * 1024;
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 5_000, 50).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings = full_deck(60_000);
    let seat = desk.start()?;
    seat.until_deck(FULL_DECK).await?;
    seat.leave().await?;
    // From here on there is no network: what happens is between the program and its disk.
    desk.target.port = closed_port()?;
    let mut found = Vec::new();
    for grown in [0, 1, MEBIBYTE, 2 * MEBIBYTE, 3 * MEBIBYTE, 4 * MEBIBYTE, u64::MAX] {
        let copy = desk.copy()?;
        let mut workstation = Workstation::start(&copy, "the_workstation_that_is_killed")?;
        workstation.said("signing").await?;
        let log = log_of(&copy.journal_path());
        let size = || std::fs::metadata(&log).map_or(0, |log| log.len());
        let start = size();
        while size() - start < grown && !workstation.speaks_within(Duration::from_micros(100)).await {}
        workstation.kill().await?;
        let counts = copy.journal()?.counts()?;
        assert_eq!(counts.ready + counts.undecided, 5_000, "after {grown} bytes");
        assert!(counts.ready == 0 || counts.ready == 5_000, "after {grown} bytes: {counts:?}");
        found.push(counts.ready);
    }
    // The first kills come before the commit, the last one after the word.
    assert_eq!((found[0], found[found.len() - 1]), (0, 5_000), "{found:?}");
    println!("decisions in the journal after each kill: {found:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_withdrawn_in_time_is_back_in_its_place_and_never_sent() -> anyhow::Result<()> {
    let (installation, desk, seat) = seated(12, 3, 60_000).await?;
    let before = seat.deck().await?;
    let kept = seat.approve(&before[..4]).await?;
    let withdrawn = seat.approve(&before[4..9]).await?;
    assert_eq!(seat.deck().await?, before[9..]);
    assert_eq!(seat.ask(Command::Undo(withdrawn)).await?, Reply::Undone { withdrawn: 5, too_late: 0 });
    assert_eq!(seat.deck().await?, before[4..]);
    assert_eq!(seat.ask(Command::Undo(withdrawn)).await?, Reply::Undone { withdrawn: 0, too_late: 0 });
    seat.ask(Command::Drain).await?;
    seat.closed().await?;
    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.postings, stands.pending), (4, 4, 8));
    let entries = desk.entries()?;
    assert!(entries.iter().all(|entry| entry.batch == kept && entry.stage == Stage::Committed) && entries.len() == 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_withdrawn_too_late_is_told() -> anyhow::Result<()> {
    let (installation, _desk, seat) = seated(5, 1, 0).await?;
    let batch = seat.approve(&seat.deck().await?).await?;
    seat.until_committed(5).await?;
    assert_eq!(seat.ask(Command::Undo(batch)).await?, Reply::Undone { withdrawn: 0, too_late: 5 });
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(5));
    Ok(())
}

/// The two ways in which an answer gets lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_whose_answer_was_lost_is_sent_again_and_takes_effect_once() -> anyhow::Result<()> {
    for swallowed in [true, false] {
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 20, 4).await?;
        let network = owner::network(&installation).await?;
        let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
        desk.timing.lock = Duration::from_secs(40);
        let seat = desk.start()?;
        seat.until_deck(20).await?;
        // The call is in the server, and waits there, when the network begins to lose its answer.
        let held = owner::hold(&installation.owner, "p01").await?;
        seat.approve(&seat.deck().await?).await?;
        owner::until_waiting(&installation.owner, 1).await?;
        if swallowed {
            network.swallow_replies();
        } else {
            network.cut_after_server_bytes(0);
        }
        held.rollback().await?;
        owner::until(&installation.owner, "it is committed", "SELECT count(*) = 20 FROM countersign.sign_off").await?;
        assert_eq!(seat.counts().await?.committed, 0, "nobody has told the workstation");
        if !swallowed {
            seat.until_online(false).await?;
        }
        network.pass();
        seat.until_committed(20).await?;
        seat.leave().await?;
        assert_eq!(desk.journal()?.counts()?, Counts { committed: 20, duplicates: 20, ..Counts::default() });
        assert_eq!(tally(&installation.owner).await?, Tally::all_approved(20));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_checked_whole_before_any_of_it_is_signed() -> anyhow::Result<()> {
    let (_installation, desk, seat) = seated(6, 2, 60_000).await?;
    let items = seat.deck().await?;
    seat.approve(&items[..1]).await?;
    // The first of these is signed already.
    let (_, command) = confirmation(&items, Decision::Approve, 1);
    let refused = seat.try_ask(command).await?.expect_err("one left the deck");
    assert!(refused.code == "NOT_IN_DECK" && refused.message.contains("Nothing was signed"), "{refused:?}");
    assert_eq!(seat.deck().await?, items[1..]);
    seat.leave().await?;
    assert_eq!(desk.entries()?.len(), 1);
    Ok(())
}

/// A reviewer with a full deck of `count` exceptions.
async fn seated(count: u64, partitions: u64, undo_window_ms: u32) -> anyhow::Result<(Installation, Desk, Seat)> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, count, partitions).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings.undo_window_ms = undo_window_ms;
    let seat = desk.start()?;
    seat.until_deck(usize::try_from(count)?).await?;
    Ok((installation, desk, seat))
}

/// A port at which nobody listens.
fn closed_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The reviewer's own receipt: whatever becomes of its decisions, they add up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmation_is_told_with_all_its_decisions_and_what_was_attested() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 6, 2).await?;
    let seat = Desk::of(&installation, "alice").await?.start()?;
    seat.until_deck(6).await?;
    let items = seat.deck().await?;
    let id = seat.approve(&items[..4]).await?;
    seat.until_committed(4).await?;
    let attested = |engine: &Engine, _| engine.standing().map(|standing| standing.policy.attestation.clone());
    let attested = seat.handle.look(attested).await?.expect("it was heard of");
    let (batch, entries) = seat.handle.batch(id).await??.expect("it is here");
    assert_eq!((batch.signed, batch.committed, batch.waiting, batch.unsent), (4, 4, 0, 0));
    assert_eq!((batch.attestation, batch.policy_version), (attested, 1));
    assert!(!batch.receipts.is_empty() && entries.iter().all(|entry| entry.receipt.is_some()));
    assert_eq!(entries.len(), 4);
    let steps = seat.handle.steps(entries[0].sign_off.key).await??;
    let whats: Vec<_> = steps.into_iter().map(|step| step.what).collect();
    assert_eq!(whats[..2], [What::Signed { offline: false }, What::Attempted { problem: None }]);
    assert!(matches!(whats[2..], [What::Answered(Outcome::Committed | Outcome::Held)]), "{whats:?}");
    assert_eq!(seat.handle.batches().await??.len(), 1);
    assert!(seat.handle.batch(BatchId(uuid::Uuid::nil())).await??.is_none());

    seat.handle.keep_ui_state("half a comment".to_owned()).await??;
    assert_eq!(seat.handle.ui_state().await??.as_deref(), Some("half a comment"));
    seat.ask(Command::SignOut).await?;
    // Whatever the window sends from now on is not kept.
    let late = seat.handle.keep_ui_state("the rest of it".to_owned()).await;
    assert!(late.is_err(), "{late:?}");
    Ok(())
}
