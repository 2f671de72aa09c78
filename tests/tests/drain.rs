//! Closing: what was signed is sent, what is undecided goes back to colleagues, and nothing is abandoned.

use std::time::Duration;

use countersign_domain::sign_off::Decision;
use countersign_engine::Command;
use countersign_engine::port::Stage;
use countersign_testkit::installation::Installation;
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::calls::lease;
use countersign_tests::desk::{Desk, Seat, confirmation};
use countersign_tests::faults;
use countersign_tests::owner::{self, Tally, tally};
use tokio::time::Instant;

/// How much longer than it should a busy machine may make something take.
const SLACK: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_sends_what_could_still_be_withdrawn_and_gives_back_what_is_undecided() -> anyhow::Result<()> {
    let (installation, _network, desk, seat) = seated(20, 4, |settings| settings.undo_window_ms = 60_000).await?;
    let items = seat.deck().await?;
    let signed: Vec<_> =
        items.iter().filter(|item| item.partition.0.as_str() < "p02" || item.seq.0 == 1).cloned().collect();
    seat.approve(&signed).await?;
    assert_eq!(tally(&installation.owner).await?.sign_offs, 0, "they are within their undo window");
    seat.ask(Command::Drain).await?;
    seat.closed().await?;

    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.postings, stands.pending), (12, 12, 8));
    let free = "SELECT count(*) FROM countersign.partition WHERE lease_until IS NULL";
    assert_eq!(owner::number(&installation.owner, free).await?, 4);
    assert_eq!(owner::number(&installation.owner, "SELECT count(*) FROM countersign.partition WHERE ready").await?, 2);
    let audited = "SELECT count(DISTINCT partition_key) FROM countersign.audit_event WHERE event = 'RELEASED'";
    assert_eq!(owner::number(&installation.owner, audited).await?, 4);

    let colleague = installation.reviewer("bob").await?;
    let (backlog, workstation) = installation.workstation(&colleague).await?;
    assert_eq!(lease(&backlog, workstation, 50).await?.items.len(), 8, "at once, without waiting for a lease to end");
    let counts = desk.journal()?.counts()?;
    assert_eq!((counts.committed, counts.ready, counts.undecided), (12, 0, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_signed_or_leased_once_closing_has_begun() -> anyhow::Result<()> {
    let (installation, network, _desk, seat) = seated(4, 2, |_| {}).await?;
    let items = seat.deck().await?;
    network.cut();
    seat.approve(&items[..1]).await?;
    seat.until_online(false).await?;
    seat.ask(Command::Drain).await?;
    let (_, command) = confirmation(&items[1..], Decision::Approve, 1);
    let refused = seat.try_ask(command).await?.expect_err("it is closing");
    assert!(refused.code == "CLOSING" && refused.message.contains("nothing was signed"), "{refused:?}");
    owner::until_nobody_is_connected(&installation.owner).await?;
    owner::enqueue_more(&installation, 100..110, "late").await?;
    network.pass();
    seat.closed().await?;
    let late = "SELECT count(*) FROM countersign.audit_event WHERE partition_key = 'late' AND event = 'LEASED'";
    assert_eq!(owner::number(&installation.owner, late).await?, 0);
    assert_eq!(tally(&installation.owner).await?.sign_offs, 1);
    assert_eq!(
        owner::number(&installation.owner, "SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL")
            .await?,
        0
    );
    Ok(())
}

/// Each way of closing without a network, and how long it may take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_without_a_network_ends_in_its_time_and_loses_nothing() -> anyhow::Result<()> {
    let cases = [
        ("it waits as long as it may", 5, &[Command::Drain][..], Duration::from_secs(5)),
        ("the reviewer would not wait", 300, &[Command::CloseNow], Duration::ZERO),
        ("the reviewer waited and then would not", 300, &[Command::Drain, Command::CloseNow], Duration::ZERO),
    ];
    for (case, drain_timeout_s, commands, least) in cases {
        let (installation, network, desk, seat) =
            seated(10, 2, |settings| settings.drain_timeout_s = drain_timeout_s).await?;
        let items = seat.deck().await?;
        network.cut();
        seat.approve(&items[..6]).await?;
        seat.until_online(false).await?;
        let began = Instant::now();
        for command in commands {
            seat.ask(command.clone()).await?;
        }
        seat.closed().await?;
        let took = began.elapsed();
        assert!(took >= least && took < least + SLACK, "{case}: {took:?}");
        let counts = desk.journal()?.counts()?;
        assert_eq!((counts.ready, counts.undecided), (6, 4), "{case}");
        assert_eq!(tally(&installation.owner).await?, Tally { pending: 10, ..Tally::default() }, "{case}");

        network.pass();
        let seat = desk.start()?;
        seat.until_committed(6).await?;
        seat.until_deck(4).await?;
        seat.approve(&seat.deck().await?).await?;
        seat.until_committed(10).await?;
        assert_eq!(tally(&installation.owner).await?, Tally::all_approved(10), "{case}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_that_begins_without_a_network_finishes_the_ordinary_way_when_it_comes_back() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated(10, 2, |_| {}).await?;
    let items = seat.deck().await?;
    network.cut();
    seat.approve(&items[..6]).await?;
    seat.until_online(false).await?;
    seat.ask(Command::Drain).await?;
    let drain = seat.handle.look(countersign_engine::Engine::drain).await?.expect("it has begun");
    assert!(drain.unsent == 6 && !drain.online && !drain.done && drain.gives_up_in_ms > 0, "{drain:?}");
    network.pass();
    seat.closed().await?;
    assert_eq!(tally(&installation.owner).await?.sign_offs, 6);
    assert_eq!(
        owner::number(&installation.owner, "SELECT count(*) FROM countersign.partition WHERE lease_until IS NOT NULL")
            .await?,
        0
    );
    assert_eq!(desk.journal()?.counts()?.undecided, 0);
    Ok(())
}

/// A decision that was given up is neither sent nor forgotten by closing, and does not hold it up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_keeps_what_was_given_up() -> anyhow::Result<()> {
    let (installation, _network, desk, seat) = seated(4, 2, |settings| settings.sync_max_attempts = 1).await?;
    faults::arm(&installation.owner).await?;
    let items = seat.deck().await?;
    faults::on(&installation.owner, items[0].id, "40001").await?;
    seat.approve(&items[..1]).await?;
    seat.until("it is dead", |engine, now| engine.counts(now).dead == 1).await?;
    let began = Instant::now();
    seat.ask(Command::Drain).await?;
    seat.closed().await?;
    assert!(began.elapsed() < Duration::from_secs(u64::from(desk.settings.drain_timeout_s)), "{:?}", began.elapsed());
    let entries = desk.entries()?;
    assert!(entries.len() == 1 && entries[0].stage == Stage::Dead, "{entries:?}");

    faults::off(&installation.owner).await?;
    let seat = desk.start()?;
    seat.ask(Command::RetryDead(entries[0].sign_off.key)).await?;
    seat.until_committed(1).await
}

/// A reviewer with a full deck, behind a network that can fail.
async fn seated(
    count: u64,
    partitions: u64,
    change: impl FnOnce(&mut countersign_domain::settings::Settings),
) -> anyhow::Result<(Installation, CuttingProxy, Desk, Seat)> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, count, partitions).await?;
    let network = owner::network(&installation).await?;
    let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
    change(&mut desk.settings);
    let seat = desk.start()?;
    seat.until_deck(usize::try_from(count)?).await?;
    Ok((installation, network, desk, seat))
}
