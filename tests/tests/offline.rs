//! After the first lease the network is a convenience: work goes on without it, and nothing is lost or done twice for that.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use countersign_domain::id::PartitionKey;
use countersign_domain::sign_off::{Decision, Outcome};
use countersign_engine::port::{Backlog as _, Failure, Stage};
use countersign_engine::{Command, Reply};
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::calls::{decision, lease};
use countersign_tests::desk::{Desk, Seat};
use countersign_tests::owner::{self, Tally, tally};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_without_a_network_and_over_a_restart_and_sends_itself_when_it_is_back() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated(30, 3).await?;
    let items = seat.deck().await?;
    network.cut();
    seat.approve(&items[..10]).await?;
    seat.until_online(false).await?;
    seat.approve(&items[10..15]).await?;
    seat.leave().await?;

    let seat = desk.start()?;
    seat.until("the first attempt failed", |engine, now| engine.link(now).problem.is_some()).await?;
    let (mut left, mut unsent) = (seat.deck().await?, seat.outbox().await?);
    left.sort_by_key(|item| item.id);
    let mut expected = items[15..].to_vec();
    expected.sort_by_key(|item| item.id);
    assert_eq!(left, expected, "the deck came back from the disk");
    unsent.retain(|entry| entry.stage == Stage::Ready);
    assert_eq!(unsent.len(), 15, "the outbox too");
    for item in &left {
        let body = seat.handle.body(item.id).await??.expect("its content is here");
        assert_eq!(countersign_domain::hash::content_hash(&body), item.content);
    }
    seat.approve(&left[..5]).await?;
    assert_eq!(tally(&installation.owner).await?, Tally { pending: 30, ..Tally::default() });

    network.pass();
    seat.until_committed(20).await?;
    seat.leave().await?;
    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.postings, stands.pending), (20, 20, 10));
    let counts = desk.journal()?.counts()?;
    assert_eq!((counts.committed, counts.undecided), (20, 10));
    assert!(counts.signed_offline >= 10, "those made while it was known: {counts:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start_without_a_network_says_what_to_do_before_anything_can_be_signed() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 3, 1).await?;
    let network = owner::network(&installation).await?;
    network.cut();
    let seat = Desk::of(&installation, "alice").await?.behind(&network).start()?;
    seat.until("the first attempt failed", |engine, now| engine.link(now).problem.is_some()).await?;
    let problem = seat.link().await?.problem.expect("seen just now");
    assert!(problem.failure == Failure::Offline && problem.message.contains("tried again by itself"), "{problem}");
    network.pass();
    seat.until_deck(3).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_signed_offline_can_be_taken_back_after_a_restart_and_what_was_sent_cannot() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated(12, 3).await?;
    let items = seat.deck().await?;
    network.cut();
    let attempted = seat.approve(&items[..4]).await?;
    seat.until_online(false).await?;
    let unsent = seat.approve(&items[4..8]).await?;
    seat.leave().await?;

    let seat = desk.start()?;
    seat.until("the first attempt failed", |engine, now| engine.link(now).problem.is_some()).await?;
    let batches = seat.handle.batches().await??;
    let told: Vec<_> = batches.iter().map(|batch| (batch.id, batch.signed, batch.waiting, batch.unsent)).collect();
    assert_eq!(told, [(unsent, 4, 4, 4), (attempted, 4, 4, 0)]);
    assert_eq!(seat.ask(Command::CancelUnsent(unsent)).await?, Reply::Undone { withdrawn: 4, too_late: 0 });
    assert_eq!(seat.ask(Command::CancelUnsent(attempted)).await?, Reply::Undone { withdrawn: 0, too_late: 4 });
    assert_eq!(seat.deck().await?.len(), 8);
    network.pass();
    seat.until_committed(4).await?;
    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.pending), (4, 8));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_are_extended_for_work_without_a_network() -> anyhow::Result<()> {
    let (installation, network, _desk, seat) = seated(6, 2).await?;
    let asked_ms = 2 * 3_600_000;
    let reply = seat.ask(Command::Extend { ttl_ms: asked_ms }).await?;
    ensure!(
        matches!(reply, Reply::Extended { stand: 2, lost: 0, granted_ms: Some(ms), .. } if ms > asked_ms - 60_000),
        "{reply:?}"
    );
    network.cut();
    let long = "SELECT count(*) FROM countersign.partition WHERE lease_until > clock_timestamp() + interval '1 hour'";
    assert_eq!(sqlx::query_scalar::<_, i64>(long).fetch_one(&installation.owner).await?, 2);
    seat.until("the session tells until when", |engine, now| engine.offline_until(now).is_some()).await?;
    seat.until_online(false).await?;
    let refused = seat.try_ask(Command::Extend { ttl_ms: asked_ms }).await?.expect_err("nobody could extend it");
    assert_eq!(refused.code, "OFFLINE");
    Ok(())
}

/// While the workstation is cut off, both of its leases lapse; a colleague takes one of the partitions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_lapsed_is_lost_to_who_took_it_and_good_where_nobody_did() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated(6, 2).await?;
    let items = seat.deck().await?;
    let (taken, untaken): (Vec<_>, Vec<_>) = items.iter().cloned().partition(|item| item.partition.0 == "p00");
    network.cut();
    seat.approve(&[&taken[..2], &untaken[..2]].concat()).await?;
    seat.until_online(false).await?;
    owner::until_nobody_is_connected(&installation.owner).await?;
    installation.lapse().await?;

    let colleague = installation.reviewer("bob").await?;
    reject_one(&installation, &colleague, "p00").await?;

    network.pass();
    seat.until_online(true).await?;
    seat.until("all four are answered", |engine, now| {
        let counts = engine.counts(now);
        counts.committed == 2 && counts.refused == 2
    })
    .await?;
    seat.until("the lost partition left the deck", |engine, _| {
        engine.deck().all(|(slot, _)| slot.item.partition.0 == "p01")
    })
    .await?;
    assert_eq!(seat.deck().await?, untaken[2..]);
    let refused: Vec<_> = seat.outbox().await?.into_iter().filter_map(|entry| entry.answer).collect();
    assert!(refused.iter().all(|answer| answer.outcome == Outcome::LeaseSuperseded), "{refused:?}");
    let other = refused[0].other.as_ref().expect("the colleague decided the first one");
    assert_eq!((other.reviewer.as_str(), other.decision), (colleague.user.as_str(), Decision::Reject));
    assert!(refused[1].other.is_none(), "the second one is undecided");
    assert!(refused[0].outcome.explanation().contains("compare"));
    seat.leave().await?;
    let counts = desk.journal()?.counts()?;
    assert_eq!((counts.committed, counts.refused, counts.ready, counts.undecided), (2, 2, 0, 1));
    let stands = tally(&installation.owner).await?;
    assert_eq!((stands.sign_offs, stands.postings, stands.routings, stands.pending), (3, 2, 1, 3));
    Ok(())
}

/// The first thing on a new connection is to say which leases are still wanted; the same call is the heartbeat afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reconnecting_workstation_moves_the_end_of_its_leases_forward() -> anyhow::Result<()> {
    let (installation, network, desk, seat) = seated(4, 2).await?;
    assert_eq!(desk.settings.lease_timeout_ms, 30_000);
    network.cut();
    // A deck with room polls, and a poll that fails tells that the network is gone.
    seat.until_online(false).await?;
    owner::until_nobody_is_connected(&installation.owner).await?;
    // One lease is about to end, the other one has ended and was given back.
    let aged = "UPDATE countersign.partition SET lease_until = CASE partition_key
                    WHEN 'p00' THEN clock_timestamp() + interval '20 seconds' ELSE clock_timestamp() - interval '1 second' END";
    owner::run(&installation.owner, aged).await?;
    assert_eq!(owner::number(&installation.owner, "SELECT countersign.expire_leases()::bigint").await?, 1);
    network.pass();
    let renewed = "SELECT count(*) = 2 FROM countersign.partition
                   WHERE lease_until BETWEEN clock_timestamp() + interval '21 seconds' AND clock_timestamp() + interval '30 seconds'";
    owner::until(&installation.owner, "both leases have their whole length again", renewed).await?;
    let epochs = "SELECT count(*) FROM countersign.partition WHERE epoch = 1";
    assert_eq!(owner::number(&installation.owner, epochs).await?, 2, "a renewal is no new lease");
    seat.until("the countdown shows it", |engine, now| {
        ["p00", "p01"]
            .iter()
            .all(|partition| engine.lease_ends_in_ms(&PartitionKey((*partition).to_owned()), now) > 21_000)
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_swallows_everything_counts_as_offline_within_its_bound_and_heals() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 5, 1).await?;
    let network = owner::network(&installation).await?;
    let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
    let second = Duration::from_secs(1);
    desk.timing.acquire = second;
    desk.timing.connect = second;
    desk.timing.answer = second;
    let seat = desk.start()?;
    seat.until_deck(5).await?;
    network.black_hole();
    let began = Instant::now();
    seat.approve(&seat.deck().await?).await?;
    seat.until_online(false).await?;
    // A connection that rested is asked first whether it lives (3 s), then a new one is tried.
    let bound = Duration::from_secs(3) + 3 * second;
    let slack = Duration::from_secs(5);
    assert!(began.elapsed() < bound + slack, "{:?}", began.elapsed());
    let problem = seat.link().await?.problem.expect("the link is down");
    assert!(problem.message.contains("does not answer") && problem.message.contains("within 1s"), "{problem}");
    let counts = seat.counts().await?;
    assert_eq!((counts.ready + counts.sending, counts.committed), (5, 0), "{counts:?}");
    network.pass();
    seat.until_committed(5).await?;
    assert_eq!(tally(&installation.owner).await?, Tally::all_approved(5));
    Ok(())
}

/// A journal's decisions reach the installation they were made for, or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_of_another_installation_is_left_alone() -> anyhow::Result<()> {
    let (installation, network, mut desk, seat) = seated(4, 1).await?;
    let other = Installation::create().await?;
    owner::enqueue(&other, 4, 1).await?;
    sqlx::query("INSERT INTO countersign.reviewer (login, display_name, added_by) VALUES ($1, 'the same', 'test')")
        .bind(&desk.login.user)
        .execute(&other.owner)
        .await?;
    network.cut();
    seat.approve(&seat.deck().await?[..3]).await?;
    seat.leave().await?;
    let (home, login) = (desk.target.clone(), desk.login.clone());
    let before = desk.entries()?;

    desk.target = other.target(&login, None).await?;
    refuses_the_journal(&desk, &login).await?;
    assert_eq!(desk.entries()?, before);
    assert_eq!(tally(&other.owner).await?, Tally { pending: 4, ..Tally::default() });

    desk.target = home;
    network.pass();
    let seat = desk.start()?;
    seat.until_committed(3).await?;
    assert_eq!(tally(&installation.owner).await?, Tally { pending: 1, ..Tally::all_approved(3) });
    Ok(())
}

/// Nor do they go out in the name of a colleague who signs in at the same desk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_of_another_reviewer_is_left_alone() -> anyhow::Result<()> {
    let (installation, network, mut desk, seat) = seated(4, 1).await?;
    network.cut();
    seat.approve(&seat.deck().await?[..3]).await?;
    seat.leave().await?;
    let (home, login) = (desk.target.clone(), desk.login.clone());
    let before = desk.entries()?;

    desk.login = installation.reviewer("bob").await?;
    desk.target = installation.target(&desk.login, None).await?;
    let outcome = refuses_the_journal(&desk, &login).await;
    assert_eq!(desk.entries()?, before);
    assert_eq!(tally(&installation.owner).await?.sign_offs, 0);

    (desk.target, desk.login) = (home, login);
    network.pass();
    let seat = desk.start()?;
    seat.until_committed(3).await?;
    outcome
}

/// Starts the program, which must not connect, and says whose work the journal holds.
async fn refuses_the_journal(desk: &Desk, whose: &Login) -> anyhow::Result<()> {
    let seat = desk.start()?;
    seat.until("it is refused", |engine, now| engine.link(now).problem.is_some()).await?;
    let link = seat.link().await?;
    let problem = link.problem.context("seen just now")?;
    seat.ask(Command::RetryNow).await?;
    seat.leave().await?;
    ensure!(!link.online, "it went online: {problem}");
    ensure!(problem.code() == "OTHER_INSTALLATION", "{}: {problem}", problem.code());
    ensure!(
        problem.message.contains(&whose.user) && problem.message.contains("profile"),
        "it names what to do: {problem}"
    );
    Ok(())
}

/// A reviewer whose deck has all of `count` exceptions, behind a network that can fail.
async fn seated(count: u64, partitions: u64) -> anyhow::Result<(Installation, CuttingProxy, Desk, Seat)> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, count, partitions).await?;
    let network = owner::network(&installation).await?;
    let mut desk = Desk::of(&installation, "alice").await?.behind(&network);
    desk.settings.lease_timeout_ms = 30_000;
    // A full deck asks for nothing: what is cut is noticed when something is signed.
    desk.settings.queue_maxsize = u32::try_from(count)?.max(10);
    desk.settings.lease_prefetch = desk.settings.lease_prefetch.min(desk.settings.queue_maxsize);
    let seat = desk.start()?;
    seat.until_deck(usize::try_from(count)?).await?;
    Ok((installation, network, desk, seat))
}

/// A colleague leases the first partition and rejects its first exception.
async fn reject_one(installation: &Installation, colleague: &Login, partition: &str) -> anyhow::Result<()> {
    let (backlog, workstation) = installation.workstation(colleague).await?;
    let leased = lease(&backlog, workstation, 1).await?.items.remove(0);
    assert_eq!(leased.partition.0, partition);
    let answers = backlog.sign_off(workstation, &[decision(&leased, colleague, workstation, Decision::Reject)]).await?;
    assert_eq!(answers.answers[0].outcome, Outcome::Committed);
    Ok(())
}
