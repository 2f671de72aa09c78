//! What was signed is there after the process was killed.

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use countersign_engine::port::{Journal as _, Stage};

use super::fixture::*;
use crate::SqliteJournal;

const PATH: &str = "COUNTERSIGN_JOURNAL_TEST_PATH";
const BATCH: &str = "COUNTERSIGN_JOURNAL_TEST_BATCH";
/// The last decision that a process that is not killed would sign.
const LAST: i64 = 50_000;

/// A process that signs one batch after the other and says each time when it is durable.
struct Signer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Signer {
    fn start(path: &Path, batch: i64) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this test has a path"))
            .args(["--exact", "tests::durability::signs_until_it_is_killed", "--nocapture"])
            .env(PATH, path)
            .env(BATCH, batch.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        Self { process, lines }
    }

    /// Waits until it has said `count` times that a batch is durable; returns the last decision in it.
    fn signed(&mut self, count: usize) -> i64 {
        let mut told = self
            .lines
            .by_ref()
            .map(|line| line.expect("it reads"))
            .filter_map(|line| line.split_once("signed ").and_then(|(_, number)| number.parse().ok()));
        told.nth(count - 1).expect("it signs until it is killed")
    }

    /// SIGKILL; what it managed to say until then counts too.
    fn kill(mut self, mut last: i64) -> i64 {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        for line in self.lines.map_while(Result::ok) {
            last = line.strip_prefix("signed ").and_then(|number| number.parse().ok()).unwrap_or(last);
        }
        last
    }
}

/// No test of its own: the other process of the tests below.
#[test]
fn signs_until_it_is_killed() {
    let (Some(path), Ok(batch)) = (std::env::var_os(PATH).map(PathBuf::from), std::env::var(BATCH)) else { return };
    let batch: i64 = batch.parse().expect("a number");
    let mut journal = SqliteJournal::open(&path, &secret(), WORKSTATION).expect("it opens");
    let mut first = 1;
    while first < LAST {
        let last = first + batch - 1;
        journal.write(&signing(entries(first..=last))).expect("it is signed");
        println!("signed {last}");
        first = last + 1;
        if batch >= 5_000 {
            // Nothing more to do but to be killed; if the parent is gone, the pipe ends.
            std::io::stdin().read_to_end(&mut Vec::new()).expect("it reads");
            return;
        }
    }
}

#[test]
fn five_thousand_decisions_are_one_durable_write() {
    let place = place();
    let mut journal = place.open();
    let write = signing(entries(1..=5_000));
    let start = Instant::now();
    journal.write(&write).expect("it is signed");
    println!("5,000 decisions signed in {:?}", start.elapsed());
    assert_eq!(outbox(&mut journal).len(), 5_000);
}

#[test]
fn what_was_signed_survives_a_kill() {
    let place = place();
    let mut signer = Signer::start(&place.path, 5_000);
    let last = signer.signed(1);
    assert_eq!(signer.kill(last), 5_000);
    let restored = restored(&mut place.open());
    assert_eq!(restored.outbox, entries(1..=5_000));
    assert_eq!(restored.last_ordinal, 5_000);
}

#[test]
fn a_kill_at_any_moment_leaves_whole_batches_and_all_that_were_told() {
    for (told, batch) in [(1, 7), (2, 50), (3, 400), (11, 13), (40, 1), (5, 150)] {
        let place = place();
        let mut signer = Signer::start(&place.path, batch);
        let last = signer.signed(told);
        let last = signer.kill(last);
        let mut journal = place.open();
        let kept = restored(&mut journal).outbox;
        let count = i64::try_from(kept.len()).expect("few");
        assert!(count >= last && count % batch == 0, "{last} were told, {count} kept, in batches of {batch}");
        assert_eq!(kept, entries(1..=count));
        apply(&mut journal, [signing(entries(count + 1..=count + 1))]);
        assert!(outbox(&mut journal).iter().all(|(_, stage)| *stage == Stage::Ready));
    }
}
