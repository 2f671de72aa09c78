//! `cargo xtask demo`: installs and builds what it needs; the demo itself is a program of the testkit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::install::{self, Set};
use crate::{cargo, steps, ui};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Run the whole pipeline without a window; nothing of the window is compiled
    #[arg(long)]
    headless: bool,
    /// Write what happened to this file
    #[arg(long, value_name = "FILE", requires = "headless")]
    report: Option<PathBuf>,
    /// Exceptions to start with, one JSON object a line
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// How many workstations work at once
    #[arg(long, value_name = "N", requires = "headless")]
    workstations: Option<u32>,
    /// Repeats the same day
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let passed = passed_on(arguments)?;
    if arguments.headless {
        install::ensure(&[Set::Build, Set::Postgres])?;
        steps::command(
            "build the demo",
            cargo::cargo().args(["build", "--locked", "-p", "countersign-testkit", "--bin", "headless-demo"]),
        )?;
        return cargo::run_testkit(&[], "headless-demo", &passed);
    }
    let mut sets = vec![Set::Build, Set::Postgres, Set::Window, Set::Node];
    if !install::has_display() {
        sets.push(Set::Screen);
    }
    install::ensure(&sets)?;
    ui::build()?;
    let app = steps::step("build the application", || {
        cargo::build(&["--locked", "-p", "countersign", "--features", "custom-protocol"])?.program("countersign")
    })?;
    let mut all = vec!["--app".into(), app.into_os_string()];
    all.extend(passed);
    cargo::run_testkit(&[], "window-demo", &all)
}

/// Paths are the caller's, and the program runs at the top of the repository.
fn passed_on(arguments: &Arguments) -> anyhow::Result<Vec<OsString>> {
    let mut passed = Vec::new();
    for (name, path) in [("--report", &arguments.report), ("--input", &arguments.input)] {
        if let Some(path) = path {
            let path = std::path::absolute(path).with_context(|| format!("resolve {name} {}", path.display()))?;
            passed.extend([name.into(), path.into_os_string()]);
        }
    }
    let numbers = [("--workstations", arguments.workstations.map(u64::from)), ("--seed", arguments.seed)];
    for (name, number) in numbers {
        if let Some(number) = number {
            passed.extend([name.into(), number.to_string().into()]);
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_means_the_directory_of_the_caller() -> anyhow::Result<()> {
        let arguments = Arguments {
            headless: true,
            report: Some("out.json".into()),
            input: None,
            workstations: Some(3),
            seed: Some(7),
        };
        let expected = std::env::current_dir()?.join("out.json").into_os_string();
        let words = ["--report".into(), expected, "--workstations".into(), "3".into(), "--seed".into(), "7".into()];
        assert_eq!(passed_on(&arguments)?, words);
        Ok(())
    }
}
