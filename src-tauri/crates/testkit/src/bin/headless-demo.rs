//! The whole pipeline without a window, on real exceptions.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use countersign_testkit::demo::{self, Office, Seat, Story};
use secrecy::SecretString;

/// Workstations lease, score and sign everything they may; one loses its network and its process on the way
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Write what happened to this file
    #[arg(long)]
    report: Option<PathBuf>,
    /// Exceptions, one JSON object a line
    #[arg(long, default_value = "demo/exceptions.jsonl")]
    input: PathBuf,
    /// How many workstations work at once
    #[arg(long, default_value_t = 2)]
    workstations: usize,
    /// Repeats the same decisions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// One workstation, told what to do on its standard input
    #[command(hide = true)]
    Workstation(Seat),
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(Role::Workstation(seat)) = arguments.role {
        let password = std::env::var("COUNTERSIGN_PASSWORD").context("COUNTERSIGN_PASSWORD")?;
        demo::work(seat, SecretString::from(password)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let began = Instant::now();
    let directory = tempfile::tempdir().context("a temporary directory")?;
    println!("Starting PostgreSQL and taking in {} …", arguments.input.display());
    let office = Office::open(&arguments.input, arguments.workstations).await?;
    println!("{}", countersign_admin::enqueue::describe(&office.enqueued, &arguments.input.display().to_string()));
    let story = Story { seed: arguments.seed, directory: directory.path().to_owned() };
    let journals = tokio::select! {
        journals = demo::run(&office, &story, |line| println!("{line}")) => journals?,
        // Leaving this function stops the workstations and PostgreSQL and removes the directory.
        stopped = demo::asked_to_stop() => {
            stopped?;
            anyhow::bail!("stopped before the end");
        }
    };
    let counted = demo::count(&office.owner, &journals, &office.input).await?;
    let seconds = began.elapsed();
    office.owner.close().await;
    office.postgres.stop().await?;
    print!("{counted}");
    let mut report = serde_json::to_value(&counted)?;
    report["seconds"] = serde_json::from_str(&format!("{}.{:03}", seconds.as_secs(), seconds.subsec_millis()))?;
    if let Some(path) = arguments.report {
        std::fs::write(&path, format!("{report:#}\n")).with_context(|| format!("write {}", path.display()))?;
        println!("Written to {}.", path.display());
    }
    let broken =
        counted.lost > 0 || counted.duplicate_effects > 0 || counted.order_violations > 0 || counted.outbox_left > 0;
    let accounted = counted.dead_lettered + counted.released + counted.pending + counted.approved + counted.rejected;
    let unaccounted = counted.arrived != accounted;
    Ok(if broken || unaccounted { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
