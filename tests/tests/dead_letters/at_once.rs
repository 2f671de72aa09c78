//! Several at once, too many, and a process that is killed in the middle.

use countersign_engine::port::{Desk as _, LetterId};
use countersign_testkit::generate::Arrival;
use countersign_tests::owner;
use sqlx::PgPool;

use crate::life::EXCEPTIONS;
use crate::world::{Seat, World, good, key, line, mended, withdrawn};

/// A letter in the partition `p`, corrected and put back for anybody.
async fn corrected(world: &World, by: &Seat) -> anyhow::Result<LetterId> {
    world.send(&[line(&good(9, "p")), line(&withdrawn(1, "p"))]).await?;
    let id = by.letter(&key(1)).await?.id;
    by.take(id).await?;
    by.correct(id, 0, &mended(1, "p")).await?;
    by.put_back(id).await?;
    Ok(id)
}

/// Waits until so many replays wait for a lock.
async fn until_waiting(owner: &PgPool, calls: i64) -> anyhow::Result<()> {
    let sql = match calls {
        1 => {
            "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%letter_replay(%'"
        }
        _ => {
            "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%letter_replay(%'"
        }
    };
    owner::until(owner, "replays wait for a lock", sql).await
}

/// Keeps good arrivals as letters, as if their vendor had not been known then.
async fn keep(world: &World, bodies: &[String]) -> anyhow::Result<()> {
    sqlx::query(
        "SELECT countersign.dead_letter(array_agg(b.x), array_agg(sha256(b.x)), array_agg(length(b.x)::bigint), array_agg('a file'::text), array_agg(b.n),
            array_agg('POISON_MESSAGE'::text), array_agg('STRUCTURAL'::text), array_agg('payload.vendor'::text), array_agg('nobody knows the vendor'::text),
            array_agg(NULL::text), array_agg('VENDOR'::text))
         FROM (SELECT convert_to(i.x, 'UTF8'), i.n FROM unnest($1) WITH ORDINALITY AS i (x, n)) AS b (x, n)",
    )
    .bind(bodies)
    .execute(&world.installation.owner)
    .await?;
    Ok(())
}

/// The minute that calls are counted in does not end in the next seconds.
async fn early_in_the_minute(world: &World) -> anyhow::Result<()> {
    let sql = "SELECT extract(second FROM clock_timestamp()) < 40";
    owner::until(&world.installation.owner, "the minute is young", sql).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_send_one_letter_in_at_once_have_one_effect_and_both_hear_what_it_became() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob) = (world.remediator("dora").await?, world.remediator("bob").await?);
    let id = corrected(&world, &dora).await?;
    let owner = &world.installation.owner;
    let held = owner::hold(owner, "p").await?;
    let both = async { tokio::join!(dora.replay(id), bob.replay(id)) };
    let free = async {
        until_waiting(owner, 2).await?;
        held.commit().await?;
        anyhow::Ok(())
    };
    let ((first, second), freed) = tokio::join!(both, free);
    freed?;
    let (first, second) = (first?, second?);
    assert_eq!((first.outcome.as_str(), second.outcome.as_str()), ("ENQUEUED", "ENQUEUED"));
    assert_eq!([&first, &second].iter().filter(|answer| answer.detail.is_some()).count(), 1, "one of them went second");
    assert_eq!(world.count(EXCEPTIONS).await?, 2);
    let once = "SELECT count(*) FROM countersign.dead_letter_event WHERE event = 'LETTER_REPLAYED'";
    assert_eq!(world.count(once).await?, 1);
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poison_arrival_and_whoever_works_on_it_hold_nobody_up() -> anyhow::Result<()> {
    let world = World::open().await?;
    let dora = world.remediator("dora").await?;
    let id = corrected(&world, &dora).await?;
    let owner = &world.installation.owner;
    let held = owner::hold(owner, "p").await?;
    let meanwhile = async {
        until_waiting(owner, 1).await?;
        // The same original comes again with neighbours, while its letter is locked by a replay that waits.
        let report = world.send(&[line(&withdrawn(1, "p")), line(&good(3, "q"))]).await?;
        assert_eq!((&report["enqueued"], &report["dead_letters_seen_before"]), (&1.into(), &1.into()), "{report}");
        held.commit().await?;
        anyhow::Ok(())
    };
    let (replayed, came) = tokio::join!(dora.replay(id), meanwhile);
    came?;
    assert_eq!(replayed?.outcome, "ENQUEUED");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_person_sends_in_so_many_a_minute_and_hears_how_long_to_wait() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob) = (world.remediator("dora").await?, world.remediator("bob").await?);
    keep(&world, &[Arrival::new(1, "p").body(), Arrival::new(2, "p").body()]).await?;
    let (first, second) = (dora.letter(&key(1)).await?.id, dora.letter(&key(2)).await?.id);
    early_in_the_minute(&world).await?;
    sqlx::query("INSERT INTO countersign.desk_use VALUES ($1, 'replay', date_trunc('minute', clock_timestamp()), 599)")
        .bind(&dora.login.user)
        .execute(&world.installation.owner)
        .await?;
    let answers = dora.backlog.replay(dora.desk, &[first, second]).await?;
    assert_eq!((answers[0].outcome.as_str(), answers[1].outcome.as_str()), ("ENQUEUED", "LATER"), "{answers:?}");
    let wait_s: u32 = answers[1].detail.as_deref().unwrap_or_default().parse()?;
    assert!((1..=60).contains(&wait_s), "{answers:?}");
    assert_eq!(dora.letter(&key(2)).await?.attempts, 1, "nothing happened to it");
    assert!(dora.rehearse(second).await?.passes(), "what is rehearsed is counted by itself");
    assert_eq!(bob.replay(second).await?.outcome, "ENQUEUED", "and each person by themselves");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_waits_for_the_next_minute_and_goes_on() -> anyhow::Result<()> {
    let world = World::open().await?;
    keep(&world, &[Arrival::new(1, "p").body()]).await?;
    early_in_the_minute(&world).await?;
    let owner = &world.installation.owner;
    owner::run(owner, "INSERT INTO countersign.desk_use VALUES (session_user, 'replay', date_trunc('minute', clock_timestamp()), 600)").await?;
    let next_minute = async {
        let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'countersign-admin'
                                    AND state = 'idle' AND query LIKE '%letter_replay(%')";
        owner::until(owner, "the command line waits", waits).await?;
        owner::run(owner, "UPDATE countersign.desk_use SET minute = minute - interval '1 minute'").await
    };
    let arguments = ["dead-letters", "replay", "--cause", "VENDOR"];
    let (ran, passed) = tokio::join!(world.admin.run(&arguments), next_minute);
    passed?;
    let ran = ran?;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("waiting") && ran.stdout.contains("1 of 1 went in"), "{ran:?}");
    world.holds().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_it_goes_on_where_it_was_when_it_is_run_again() -> anyhow::Result<()> {
    let world = World::open().await?;
    let owner = &world.installation.owner;
    world.send(&[line(&good(999, "held"))]).await?;
    let bodies = |numbers: std::ops::Range<u64>, partition: &str| {
        numbers.map(|number| Arrival::new(number, partition).body()).collect::<Vec<_>>()
    };
    keep(&world, &bodies(0..100, "free")).await?;
    keep(&world, &bodies(100..250, "held")).await?;
    let held = owner::hold(owner, "held").await?;
    let arguments = ["dead-letters", "replay", "--cause", "VENDOR"];
    {
        let killed = world.admin.run(&arguments);
        let middle = async {
            let done = "SELECT count(*) = 100 FROM countersign.dead_letter WHERE status = 'REPLAYED'";
            owner::until(owner, "the first hundred are in", done).await?;
            until_waiting(owner, 1).await
        };
        tokio::select! {
            ran = killed => unreachable!("it waits for the partition: {ran:?}"),
            reached = middle => reached?,
        }
        // What is dropped here is killed.
    }
    held.commit().await?;
    let gone = "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'countersign-admin'";
    owner::until(owner, "the killed one is gone", gone).await?;
    let ran = world.admin.run(&arguments).await?;
    assert!(ran.code == 0 && ran.stdout.contains(", 0 stay."), "{ran:?}");
    let left = ran.stdout.lines().filter(|line| line.contains("goes in as a new exception")).count();
    assert!((50..=150).contains(&left), "what was under way when it was killed may have taken place: {left}");
    let done = "SELECT count(*) FROM countersign.dead_letter WHERE status = 'REPLAYED' AND attempts = 2 AND outcome = 'ENQUEUED'";
    assert_eq!(world.count(done).await?, 250, "each once");
    assert_eq!(world.count(EXCEPTIONS).await?, 251);
    world.holds().await
}
