//! What was signed is durable before it is called signed, is sent until it is answered, and takes effect once.

use std::time::Duration;

use anyhow::ensure;
use countersign_domain::settings::Settings;
use countersign_engine::port::Stage;
use countersign_engine::{Command, Reply};
use countersign_journal::Counts;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::child::{self, Workstation};
use countersign_tests::desk::{Desk, Seat, confirmation, log_of};
use countersign_tests::faults;
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
    let deck = seat.deck().await?;
    child::say("signing")?;
    seat.approve(&deck).await?;
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
    let sent = tally(&installation.owner).await?;
    assert_eq!((sent.sign_offs, sent.postings, sent.pending), (4, 4, 8));
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
async fn being_offline_never_counts_as_an_attempt() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 3, 1).await?;
    let network = owner::network(&installation).await?;
    let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
    desk.timing.lock = Duration::from_secs(40);
    desk.settings.sync_max_attempts = 2;
    let seat = desk.start()?;
    seat.until_deck(3).await?;
    let held = owner::hold(&installation.owner, "p00").await?;
    seat.approve(&seat.deck().await?).await?;
    for lost in 1..=5 {
        owner::until_waiting(&installation.owner, lost).await?;
        network.cut();
        seat.until_online(false).await?;
        network.pass();
        seat.ask(Command::RetryNow).await?;
    }
    owner::until_waiting(&installation.owner, 6).await?;
    assert!(seat.outbox().await?.iter().all(|entry| entry.attempts == 0 && entry.stage == Stage::Ready));
    held.rollback().await?;
    seat.until_committed(3).await?;
    // Five calls whose answers nobody heard are done too by now, or find everything done.
    owner::until(&installation.owner, "no call is left", "SELECT count(*) = 0 FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND query LIKE '%countersign.sign_off(%' AND pid <> pg_backend_pid()")
        .await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(3));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_keeps_failing_is_dead_at_exactly_the_last_attempt_and_lives_again_on_command()
-> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 6, 2).await?;
    faults::arm(&installation.owner).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings.sync_max_attempts = 3;
    let seat = desk.start()?;
    seat.until_deck(6).await?;
    let (failing, others): (Vec<_>, Vec<_>) =
        seat.deck().await?.into_iter().partition(|item| item.partition.0 == "p00");
    faults::on(&installation.owner, failing[0].id, "40001").await?;
    seat.approve(&failing[..1]).await?;
    for attempts in 1..3 {
        seat.until("an attempt is counted", move |engine, _| {
            engine.outbox().any(|pending| pending.entry.attempts == attempts && !pending.sending)
        })
        .await?;
        let waiting = seat.outbox().await?.remove(0);
        assert!(waiting.stage == Stage::Ready && waiting.problem.is_some_and(|why| why.contains("40001")));
        seat.ask(Command::RetryNow).await?;
    }
    seat.until("it is dead", |engine, now| engine.counts(now).dead == 1).await?;
    assert_eq!(faults::count(&installation.owner).await?, 3);

    // Its own partition waits behind it, the other one does not.
    seat.approve(&failing[1..]).await?;
    seat.approve(&others).await?;
    seat.until_committed(3).await?;
    seat.ask(Command::RetryNow).await?;
    let counts = seat.counts().await?;
    assert_eq!((counts.dead, counts.ready, counts.sending), (1, 2, 0));
    assert_eq!(faults::count(&installation.owner).await?, 3, "a dead one is not tried by itself");
    seat.leave().await?;
    let entries = desk.entries()?;
    assert_eq!((entries[0].stage, entries[0].attempts), (Stage::Dead, 3), "also on disk");

    faults::off(&installation.owner).await?;
    let seat = desk.start()?;
    seat.until_online(true).await?;
    assert_eq!(seat.counts().await?.dead, 1, "a restart is no command");
    seat.ask(Command::RetryDead(entries[0].sign_off.key)).await?;
    seat.until("the rest is committed", |engine, now| {
        let counts = engine.counts(now);
        counts.dead + counts.ready + counts.sending == 0
    })
    .await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(6));
    Ok(())
}

/// A colleague's transaction holds one partition for longer than the lock timeout, every time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_stays_locked_holds_nobody_elses_decisions() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 8, 4).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.timing.lock = Duration::from_millis(100);
    desk.settings.sync_max_attempts = 2;
    let seat = desk.start()?;
    seat.until_deck(8).await?;
    let held = owner::hold(&installation.owner, "p02").await?;
    seat.approve(&seat.deck().await?).await?;
    until_settled(&seat, 7).await?;
    let stages = stages(&seat).await?;
    held.rollback().await?;
    assert_eq!(seat.counts().await?.committed, 6, "what is left: {stages:?}");
    assert!(stages.iter().all(|(partition, _)| partition == "p02"), "{stages:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_decision_that_the_database_cannot_read_is_found_by_halving_and_the_others_commit() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 20, 4).await?;
    faults::arm(&installation.owner).await?;
    let seat = Desk::of(&installation, "alice").await?.start()?;
    seat.until_deck(20).await?;
    let deck = seat.deck().await?;
    let poison = deck.iter().filter(|item| item.partition.0 == "p01").nth(1).expect("each partition has five").clone();
    faults::on(&installation.owner, poison.id, "22000").await?;
    seat.approve(&deck).await?;
    // Of its own partition the first is before it, three are behind it.
    until_settled(&seat, 17).await?;
    let left = stages(&seat).await?;
    assert_eq!(seat.counts().await?.committed, 16, "{left:?}");
    assert!(left.iter().all(|(partition, _)| partition == "p01"), "{left:?}");
    assert_eq!(
        left.iter().map(|(_, stage)| *stage).collect::<Vec<_>>(),
        [Stage::Dead, Stage::Ready, Stage::Ready, Stage::Ready]
    );
    let raised = faults::count(&installation.owner).await?;
    assert!(raised <= 10, "20 decisions are halved in a few calls, not {raised}");

    faults::off(&installation.owner).await?;
    let dead = seat.outbox().await?.remove(0);
    seat.ask(Command::RetryDead(dead.sign_off.key)).await?;
    seat.until_committed(20).await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(20));
    Ok(())
}

/// A report is decided whole, so that halving cannot take it apart; it must not hold up everything else for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_with_such_a_decision_in_it_does_not_hold_up_the_others() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    let report = |number| Arrival { group: Some("report"), ..Arrival::new(number, "a-report") }.body();
    installation.enqueue(&(0..3).map(report).collect::<Vec<_>>()).await?;
    installation.enqueue(&(10..15).map(|number| Arrival::new(number, "other").body()).collect::<Vec<_>>()).await?;
    faults::arm(&installation.owner).await?;
    let seat = Desk::of(&installation, "alice").await?.start()?;
    seat.until_deck(8).await?;
    let deck = seat.deck().await?;
    let poison = deck.iter().find(|item| item.group.is_some()).expect("the report is here").id;
    faults::on(&installation.owner, poison, "22000").await?;
    seat.approve(&deck).await?;
    until_settled(&seat, 6).await?;
    let left = stages(&seat).await?;
    assert!(left.iter().all(|(partition, _)| partition == "a-report"), "{left:?}");
    assert!(left.iter().any(|(_, stage)| *stage == Stage::Dead), "{left:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_checked_whole_before_any_of_it_is_signed() -> anyhow::Result<()> {
    let (_installation, desk, seat) = seated(6, 2, 60_000).await?;
    let deck = seat.deck().await?;
    seat.approve(&deck[..1]).await?;
    // The first of these is signed already.
    let (_, command) = confirmation(&deck, countersign_domain::sign_off::Decision::Approve);
    let refused = seat.try_ask(command).await?.expect_err("one left the deck");
    assert!(refused.code == "NOT_IN_DECK" && refused.message.contains("Nothing was signed"), "{refused:?}");
    assert_eq!(seat.deck().await?, deck[1..]);
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

/// Waits until so many decisions were accepted or given up, ending every wait between attempts meanwhile.
async fn until_settled(seat: &Seat, count: usize) -> anyhow::Result<()> {
    let deadline = tokio::time::Instant::now() + countersign_tests::DEADLINE;
    loop {
        let counts = seat.counts().await?;
        if counts.committed + counts.dead >= count {
            return Ok(());
        }
        ensure!(tokio::time::Instant::now() < deadline, "{count} were to be settled: {counts:?}");
        seat.ask(Command::RetryNow).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Partition and stage of every decision that is not accepted.
async fn stages(seat: &Seat) -> anyhow::Result<Vec<(String, Stage)>> {
    let outbox = seat.outbox().await?;
    Ok(outbox.into_iter().map(|entry| (entry.item.partition.0, entry.stage)).collect())
}

/// A port at which nobody listens.
fn closed_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
