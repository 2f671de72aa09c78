//! The operators' command line, as a process.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::{Duration, sleep, timeout};

use crate::DEADLINE;
use crate::child::peak_memory_kib;

/// Names the program, where it is not beside the tests.
const VARIABLE: &str = "COUNTERSIGN_ADMIN";
/// Between two looks at how much memory it has. The kernel remembers the peak, so that only the last moment can be missed.
const LOOK: Duration = Duration::from_millis(2);

/// The program and the database it works on.
#[derive(Debug, Clone)]
pub struct Admin {
    program: PathBuf,
    url: String,
}

/// What a run printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// The most memory it was seen with, in KiB.
    pub peak_kib: u64,
}

impl Admin {
    /// Finds the program, built beside the tests or named by `COUNTERSIGN_ADMIN`.
    pub fn at(url: String) -> anyhow::Result<Self> {
        let program = match std::env::var_os(VARIABLE) {
            Some(path) => PathBuf::from(path),
            None => beside_the_tests()?,
        };
        ensure!(
            program.is_file(),
            "{} is not there: `cargo build -p countersign-admin` builds it, or {VARIABLE} names it",
            program.display()
        );
        Ok(Self { program, url })
    }

    /// Runs it and waits.
    pub async fn run(&self, arguments: &[&str]) -> anyhow::Result<Ran> {
        self.run_with(arguments, &[], b"").await
    }

    /// Runs it with variables and something on its standard input.
    pub async fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)], input: &[u8]) -> anyhow::Result<Ran> {
        let mut process = Command::new(&self.program)
            .args(arguments)
            .env("DATABASE_URL", &self.url)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("start {}", self.program.display()))?;
        let id = process.id().context("it has ended already")?;
        let mut stdin = process.stdin.take().context("it has no standard input")?;
        let feed = async move {
            // A program that reads nothing may be gone before everything is written.
            let _ = stdin.write_all(input).await;
        };
        let watch = async {
            let mut peak_kib = 0;
            while let Some(now) = peak_memory_kib(id) {
                peak_kib = now;
                sleep(LOOK).await;
            }
            peak_kib
        };
        let work = async { tokio::join!(feed, watch, process.wait_with_output()) };
        let ((), peak_kib, output) =
            timeout(DEADLINE, work).await.with_context(|| format!("{arguments:?} did not end in time"))?;
        let Output { status, stdout, stderr } = output.context("wait for it")?;
        Ok(Ran {
            code: status.code().context("it was killed")?,
            stdout: String::from_utf8(stdout).context("it prints UTF-8")?,
            stderr: String::from_utf8(stderr).context("it complains in UTF-8")?,
            peak_kib,
        })
    }

    /// Runs something that has to go well and prints JSON.
    pub async fn json(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let ran = self.run(&[arguments, &["--json"]].concat()).await?;
        ensure!(ran.code == 0, "{arguments:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).with_context(|| format!("{arguments:?} prints JSON"))
    }

    /// Takes a file in.
    pub async fn enqueue(&self, file: &Path) -> anyhow::Result<Value> {
        self.json(&["enqueue", file.to_str().context("a path in UTF-8")?]).await
    }
}

fn beside_the_tests() -> anyhow::Result<PathBuf> {
    let tests = std::env::current_exe().context("find this program")?;
    let built = tests.ancestors().nth(2).context("tests are built into a directory of their own")?;
    Ok(built.join("countersign-admin"))
}
