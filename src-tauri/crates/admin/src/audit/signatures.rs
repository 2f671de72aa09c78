//! Signatures take most of the time, and are checked on all processors while the rows come in.

use std::collections::VecDeque;
use std::thread::available_parallelism;

use countersign_domain::seal::PublicKey;
use tokio::task::{JoinHandle, spawn_blocking};

use super::finding::Finding;
use super::verify::State;

/// How many are checked in one go.
const BATCH: usize = 256;

/// A signature to check, and what it means if it does not hold.
pub(crate) struct Job {
    pub(crate) place: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) signature: [u8; 64],
    pub(crate) key: PublicKey,
    pub(crate) finding: Finding,
}

type Failed = Vec<(u64, Finding)>;

/// What is under way: a bounded number of batches.
#[derive(Default)]
pub(crate) struct Signatures {
    batch: Vec<Job>,
    running: VecDeque<JoinHandle<(u64, Failed)>>,
}

impl Signatures {
    pub(crate) async fn check(&mut self, job: Job, state: &mut State) {
        self.batch.push(job);
        if self.batch.len() >= BATCH {
            self.start();
            let most = available_parallelism().map_or(2, usize::from) * 2;
            while self.running.len() > most {
                self.take(state).await;
            }
        }
    }

    /// Waits for all of them.
    pub(crate) async fn finish(&mut self, state: &mut State) {
        self.start();
        while !self.running.is_empty() {
            self.take(state).await;
        }
    }

    fn start(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.running.push_back(spawn_blocking(move || {
            let mut good = 0;
            let mut failed = Vec::new();
            for job in batch {
                if job.key.verifies(&job.bytes, &job.signature) {
                    good += 1;
                } else {
                    failed.push((job.place, job.finding));
                }
            }
            (good, failed)
        }));
    }

    async fn take(&mut self, state: &mut State) {
        let Some(running) = self.running.pop_front() else { return };
        match running.await {
            Ok((good, failed)) => {
                state.counts.signatures += good;
                for (place, finding) in failed {
                    state.findings.add_at(place, finding);
                }
            }
            Err(error) => state.findings.add(Finding::new(
                format!("signatures could not be checked: {error}"),
                "Nothing is known about these signatures: run it again",
            )),
        }
    }
}
