//! The deck is bounded: leasing suspends at the bound, goes on by itself, and what waits behind it costs the workstation nothing.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use countersign_domain::settings::Settings;
use countersign_engine::{Command, POLL_MS, Reply};
use countersign_testkit::installation::Installation;
use countersign_tests::child::{self, Workstation};
use countersign_tests::desk::Desk;
use countersign_tests::owner::{self, Tally, tally};

const LEASED: &str = "SELECT count(*) FROM countersign.audit_event WHERE event = 'LEASED'";
const HELD: &str = "SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL";

/// Calls of `lease` that began after the ones at the moment: each connection shows its last statement.
const CALLS_SINCE: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%countersign.lease(%'
    AND pid <> pg_backend_pid() AND query_start > (SELECT at FROM public.since)";

/// From here on lease calls are counted.
const SINCE: &str = "DROP TABLE IF EXISTS public.since; CREATE TABLE public.since AS SELECT clock_timestamp() AS at";

/// Longer than the longest pause between two lease calls: whoever would call again has done so.
const A_POLL_LATER: Duration = Duration::from_millis(POLL_MS + POLL_MS / 2 + 500);

fn small_deck() -> Settings {
    Settings { queue_maxsize: 10, lease_prefetch: 10, undo_window_ms: 0, ..Settings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leasing_suspends_at_the_bound_and_goes_on_by_itself_when_there_is_room() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 60, 12).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings = small_deck();
    let seat = desk.start()?;
    seat.until("the bound is reached", |engine, _| engine.saturated()).await?;
    let (leased, held) =
        (owner::number(&installation.owner, LEASED).await?, owner::number(&installation.owner, HELD).await?);
    assert_eq!((leased, held), (2, 2), "two partitions of five fill a deck of ten");

    // There is more, and more comes; every wait is ended; a poll later nothing was even asked for.
    owner::run(&installation.owner, SINCE).await?;
    owner::enqueue_more(&installation, 1_000..1_020, "a-late-one").await?;
    seat.ask(Command::RetryNow).await?;
    tokio::time::sleep(A_POLL_LATER).await;
    assert_eq!(owner::number(&installation.owner, "SELECT count(*) FROM countersign.partition WHERE ready").await?, 11);
    assert_eq!(owner::number(&installation.owner, LEASED).await?, leased);
    assert_eq!(owner::number(&installation.owner, CALLS_SINCE).await?, 0, "the database is left alone");
    assert_eq!(seat.deck().await?.len(), 10);

    let first = seat.deck().await?;
    seat.approve(&first).await?;
    let again = "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%countersign.lease(%'
        AND pid <> pg_backend_pid() AND query_start > (SELECT at FROM public.since)";
    owner::until(&installation.owner, "it asks again by itself", again).await?;
    let mut signed = first.len();
    while signed < 80 {
        seat.until("there is something to decide", |engine, _| engine.deck().count() > 0).await?;
        let items = seat.deck().await?;
        ensure!(items.len() <= 10, "{} exceptions in a deck of ten", items.len());
        seat.approve(&items).await?;
        signed += items.len();
    }
    seat.until_committed(80).await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(80));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_partition_is_handed_out_a_deck_at_a_time_in_its_order() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 45, 1).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings = small_deck();
    let seat = desk.start()?;
    let mut places = Vec::new();
    while places.len() < 45 {
        let full = 10.min(45 - places.len());
        seat.until_deck(full).await?;
        let items = seat.deck().await?;
        places.extend(items.iter().map(|item| item.seq.0));
        seat.approve(&items).await?;
    }
    assert_eq!(places, (1..=45).collect::<Vec<_>>());
    seat.until_committed(45).await?;
    assert_eq!(owner::number(&installation.owner, LEASED).await?, 1, "one lease, from the first to the last");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_still_be_withdrawn_keeps_its_place_in_the_deck() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 40, 8).await?;
    let mut desk = Desk::of(&installation, "alice").await?;
    desk.settings = Settings { undo_window_ms: 60_000, ..small_deck() };
    let seat = desk.start()?;
    seat.until_deck(10).await?;
    let items = seat.deck().await?;
    let batch = seat.approve(&items).await?;
    tokio::time::sleep(A_POLL_LATER).await;
    assert_eq!(owner::number(&installation.owner, LEASED).await?, 2, "all ten may come back");
    assert_eq!(seat.ask(Command::Undo(batch)).await?, Reply::Undone { withdrawn: 10, too_late: 0 });
    assert_eq!(seat.deck().await?, items);
    Ok(())
}

/// Fills its deck and waits for its end, when it is started by the test below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_workstation_that_is_measured() -> anyhow::Result<()> {
    let Some(desk) = child::desk_from_environment()? else { return Ok(()) };
    let seat = desk.start()?;
    seat.until_deck(5_000).await?;
    child::say("filled")?;
    std::future::pending().await
}

/// A million rows take this machine half a minute to write, so they are for `COUNTERSIGN_FULL=1`; otherwise it is 300,000, which
/// would show just as well that anything on the workstation grows with the backlog.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workstations_memory_does_not_depend_on_what_is_pending() -> anyhow::Result<()> {
    let many = if std::env::var("COUNTERSIGN_FULL").is_ok_and(|full| full == "1") { 1_000_000 } else { 300_000 };
    let mut peaks_kib = Vec::new();
    for pending in [5_000, many] {
        let installation = Installation::create().await?;
        owner::enqueue_in_bulk(&installation.owner, pending).await?;
        peaks_kib.push(leanest_kib(&installation).await?);
        assert_eq!(tally(&installation.owner).await?.pending, pending);
    }
    let (few_kib, many_kib) = (peaks_kib[0], peaks_kib[1]);
    println!("peak memory with a full deck: {few_kib} KiB of 5,000 pending, {many_kib} KiB of {many}");
    assert!(many_kib * 10 <= few_kib * 11, "{many_kib} KiB with {many} pending, {few_kib} KiB with 5,000");
    Ok(())
}

/// The peak of the leanest of five workstations with a full deck. What a peak has beyond that comes from which of its threads
/// happened to run at the same time; small lease calls, because of a large one all is in hand at once with what is being scored.
async fn leanest_kib(installation: &Installation) -> anyhow::Result<u64> {
    let mut leanest_kib = u64::MAX;
    for _ in 0..5 {
        let mut desk = Desk::of(installation, "alice").await?;
        desk.settings = Settings { queue_maxsize: 5_000, lease_prefetch: 100, ..Settings::default() };
        let mut workstation = Workstation::start(&desk, "the_workstation_that_is_measured")?;
        workstation.said("filled").await?;
        leanest_kib = leanest_kib.min(child::peak_memory_kib(workstation.id()?).context("it runs")?);
        workstation.kill().await?;
        // What it held is for the next one.
        owner::until_nobody_is_connected(&installation.owner).await?;
        installation.lapse().await?;
    }
    Ok(leanest_kib)
}
