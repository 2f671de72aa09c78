//! Random people under random rules, who lease and sign at once while rules, limits, periods and contents change under them. What
//! happened is then judged from the tables alone, by rules written down a second time.

#[path = "interleavings/check.rs"]
mod check;
#[path = "interleavings/deeds.rs"]
mod deeds;
#[path = "interleavings/facts.rs"]
mod facts;
#[path = "authority/office.rs"]
#[expect(dead_code, reason = "what another test needs of it")]
mod office;
#[path = "interleavings/world.rs"]
mod world;

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use tokio::task::{JoinSet, spawn_blocking};

/// How many worlds an ordinary run looks at.
const SEEDS: u64 = 20;
/// How many at once: making a database and removing it again is mostly waiting.
const AT_ONCE: usize = 4;

/// A seed to replay, or how many seeds to try, comes from the environment. A seed fixes what everybody does and tries; who comes
/// first is the machine's choice each time.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// What was answered in one world, unless a rule was broken in it.
async fn one(seed: u64) -> anyhow::Result<BTreeMap<String, u64>> {
    let world = world::run(seed).await?;
    let broken = check::check(&world).await?;
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    let outcomes = world.seen.clone();
    // The server removes a database once everybody who is logging in went on with it: they must not wait for this thread.
    spawn_blocking(move || drop(world)).await?;
    Ok(outcomes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_interleaving_breaks_a_rule() -> anyhow::Result<()> {
    let seeds = match number("COUNTERSIGN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("COUNTERSIGN_SEEDS").unwrap_or(SEEDS),
    };
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let (mut left, mut worlds) = (seeds.clone(), JoinSet::new());
    loop {
        for seed in left.by_ref().take(AT_ONCE - worlds.len()) {
            worlds
                .spawn(async move { one(seed).await.with_context(|| format!("replay with COUNTERSIGN_SEED={seed}")) });
        }
        let Some(done) = worlds.join_next().await else { break };
        for (outcome, count) in done?? {
            *outcomes.entry(outcome).or_default() += count;
        }
    }
    println!("{} worlds: {outcomes:?}", seeds.end - seeds.start);
    // Worlds in which nothing happens would prove nothing.
    if seeds.end - seeds.start >= SEEDS {
        for outcome in [
            "COMMITTED",
            "AWAITING_SECOND",
            "HELD",
            "PREPARER",
            "LEASE_SUPERSEDED",
            "ALREADY_DECIDED",
            "STALE_VERSION",
            "OVER_LIMIT",
            "PERIOD_CLOSED",
            "NOT_ELIGIBLE",
            "DUPLICATE",
            "CORRECTED",
            "REVERSED",
            "CLOSED",
        ] {
            assert!(outcomes.contains_key(outcome), "{outcome} never happened: {outcomes:?}");
        }
    }
    Ok(())
}
