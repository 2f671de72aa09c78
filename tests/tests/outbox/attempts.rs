//! What the database fails: which failures count as attempts, what is given up, and whom that holds up.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use countersign_engine::Command;
use countersign_engine::port::Stage;
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::desk::{Desk, Seat};
use countersign_tests::faults;
use countersign_tests::owner::{self, Tally, tally};

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
    let items = seat.deck().await?;
    let poison = items.iter().filter(|item| item.partition.0 == "p01").nth(1).expect("each partition has five").clone();
    faults::on(&installation.owner, poison.id, "22000").await?;
    seat.approve(&items).await?;
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
    let items = seat.deck().await?;
    let poison = items.iter().find(|item| item.group.is_some()).expect("the report is here").id;
    faults::on(&installation.owner, poison, "22000").await?;
    seat.approve(&items).await?;
    let settled = until_settled(&seat, 6).await;
    let raised = faults::count(&installation.owner).await?;
    settled.with_context(|| format!("{raised} calls were made and failed"))?;
    assert!(raised <= 10, "8 decisions are sorted in a few calls, not {raised}");
    let left = stages(&seat).await?;
    assert!(left.iter().all(|(partition, _)| partition == "a-report"), "{left:?}");
    assert!(left.iter().any(|(_, stage)| *stage == Stage::Dead), "{left:?}");
    Ok(())
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
