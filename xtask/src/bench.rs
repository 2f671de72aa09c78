//! `cargo xtask bench`: the measurements themselves are a program of the testkit.

use std::process::ExitCode;

use crate::cargo;
use crate::install::{self, Set};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A smaller load, for a first impression
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    install::ensure(&[Set::Build, Set::Postgres])?;
    let passed: &[std::ffi::OsString] = if arguments.quick { &["--quick".into()] } else { &[] };
    cargo::run_testkit(&["--release"], "bench", passed)
}
