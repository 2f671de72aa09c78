//! `cargo xtask package`: what is installed on a workstation.

use std::process::ExitCode;

use crate::install::{self, Set};
use crate::{cargo, steps, ui};

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    install::ensure(&[Set::Build, Set::Window, Set::Node, Set::TauriCli])?;
    ui::build()?;
    steps::command("package", cargo::cargo().args(["tauri", "build", "--bundles", "deb"]))?;
    Ok(ExitCode::SUCCESS)
}
