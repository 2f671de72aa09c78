//! `cargo xtask bench`: the measurements themselves are programs of the testkit and the tests.

use std::process::ExitCode;

use crate::install::{self, Set};
use crate::{cargo, ui};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A smaller load on the database, for a first impression
    #[arg(long)]
    quick: bool,
    /// Only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Leasing, signing and claiming
    Database,
    /// Frame times of the window
    Frames,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let wants = |part| arguments.only.is_none_or(|only| only == part);
    let mut code = ExitCode::SUCCESS;
    if wants(Part::Database) {
        install::ensure(&[Set::Build, Set::Postgres])?;
        let passed: &[std::ffi::OsString] = if arguments.quick { &["--quick".into()] } else { &[] };
        code = cargo::run_program("countersign-testkit", &["--release"], "bench", passed)?;
    }
    if wants(Part::Frames) && code == ExitCode::SUCCESS {
        install::ensure(&[Set::Build, Set::Window, Set::Node, Set::Screen, Set::Tests])?;
        ui::install()?;
        ui::script("build:browser")?;
        let ui = cargo::root().join("ui").into_os_string();
        code = cargo::run_program("countersign-tests", &[], "frames", &["--ui".into(), ui])?;
    }
    Ok(code)
}
