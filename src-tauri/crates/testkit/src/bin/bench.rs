//! Measures the database's protocol beside its roof; `docs/bench.md` says how to read the table.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use countersign_testkit::bench::{self, Load, Part};

/// Measures leasing and signing beside the same row writes by a bare SQL script.
#[derive(Debug, Parser)]
struct Arguments {
    /// A smaller load, for a first impression.
    #[arg(long)]
    quick: bool,
    /// Only this part; may be given more than once.
    #[arg(long, value_enum)]
    only: Vec<Only>,
    /// Also write every run's numbers to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Only {
    /// Lease, sign off and give back.
    Cycles,
    /// The sign-off transaction at different sizes.
    SignOffs,
    /// The claim from backlogs of different sizes.
    Claims,
    /// Verifying the audit stream.
    Audit,
    /// Taking arrivals in.
    Enqueue,
    /// Small work while a large claim loads.
    Flow,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let load = if arguments.quick { Load::QUICK } else { Load::FULL };
    let parts: Vec<Part> = if arguments.only.is_empty() {
        vec![Part::Cycles, Part::SignOffs, Part::Audit, Part::Claims, Part::Flow, Part::Enqueue]
    } else {
        arguments.only.iter().map(|only| part(*only)).collect()
    };
    let report = bench::run(&load, &parts).await?;
    write!(std::io::stdout(), "{report}").context("print the table")?;
    if let Some(path) = arguments.json {
        let json = serde_json::to_vec_pretty(&report).context("write the numbers as JSON")?;
        std::fs::write(&path, json).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn part(only: Only) -> Part {
    match only {
        Only::Cycles => Part::Cycles,
        Only::SignOffs => Part::SignOffs,
        Only::Claims => Part::Claims,
        Only::Audit => Part::Audit,
        Only::Enqueue => Part::Enqueue,
        Only::Flow => Part::Flow,
    }
}
