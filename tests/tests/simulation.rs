//! Whole days of workstations, from seeds: crashes, outages, lost answers, full disks, corrections from upstream.

use countersign_testkit::sim::{Day, run_day};

fn day(seed: u64) -> Day {
    Day { seed, workstations: 3, exceptions: 300, partitions: 24 }
}

/// A seed to replay, or how many seeds to try, comes from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

#[test]
fn no_day_loses_doubles_or_reorders_anything() {
    let seeds = match number("COUNTERSIGN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("COUNTERSIGN_SEEDS").unwrap_or(15),
    };
    let (mut duplicates, mut refused, mut crashes, mut signed) = (0, 0, 0, 0);
    for seed in seeds.clone() {
        let report =
            run_day(&day(seed)).unwrap_or_else(|broken| panic!("{broken}; replay with COUNTERSIGN_SEED={seed}"));
        duplicates += report.duplicates;
        refused += report.refused;
        crashes += report.crashes;
        signed += report.signed;
    }
    println!(
        "{} days: {signed} signed, {duplicates} duplicates absorbed, {refused} refused, {crashes} crashes",
        seeds.end - seeds.start
    );
    // Days on which nothing happens would prove nothing.
    if seeds.end - seeds.start > 10 {
        assert!(duplicates > 0 && refused > 0 && crashes > 0 && signed > 0);
    }
}

#[test]
fn the_same_seed_is_the_same_day() {
    assert_eq!(run_day(&day(7)), run_day(&day(7)));
}
