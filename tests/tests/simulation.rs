//! Whole days of workstations, from seeds: crashes, outages, lost answers, full disks, corrections from upstream.

#[path = "simulation/desk.rs"]
mod desk;
#[path = "simulation/pipeline.rs"]
mod pipeline;
#[path = "simulation/refusals.rs"]
mod refusals;
#[path = "simulation/steps.rs"]
mod steps;

use countersign_testkit::sim::{Day, DayReport, run_day};

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
    let mut all = DayReport::default();
    for seed in seeds.clone() {
        let report =
            run_day(&day(seed)).unwrap_or_else(|broken| panic!("{broken}; replay with COUNTERSIGN_SEED={seed}"));
        all.duplicates += report.duplicates;
        all.refused += report.refused;
        all.crashes += report.crashes;
        all.signed += report.signed;
        all.withdrawn += report.withdrawn;
        all.cancelled += report.cancelled;
        all.focused += report.focused;
        all.extended += report.extended;
        all.returned += report.returned;
        all.retried += report.retried;
        all.given_up += report.given_up;
        all.redelivered += report.redelivered;
    }
    println!("{} days: {all:?}", seeds.end - seeds.start);
    // Days on which nothing happens would prove nothing.
    if seeds.end - seeds.start > 10 {
        assert!(all.duplicates > 0 && all.refused > 0 && all.crashes > 0 && all.signed > 0, "{all:?}");
        assert!(all.withdrawn > all.cancelled && all.cancelled > 0 && all.focused > 0 && all.extended > 0, "{all:?}");
        assert!(all.returned > 0, "{all:?}");
        assert!(all.retried > all.given_up && all.given_up > 0 && all.redelivered > 0, "{all:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_day() {
    assert_eq!(run_day(&day(7)), run_day(&day(7)));
}
