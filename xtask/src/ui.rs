//! The UI's own tool chain.

use std::fs;
use std::process::Command;

use anyhow::Context;

use crate::{cargo, machine, steps};

/// `npm ci`, unless the lock file is the one that the installed packages came from.
pub(crate) fn install() -> anyhow::Result<()> {
    let ui = cargo::root().join("ui");
    let lock = fs::read(ui.join("package-lock.json")).context("read ui/package-lock.json")?;
    let stamp = ui.join("node_modules/.countersign-lock");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    steps::command("UI: install packages", npm().args(["ci", "--no-audit", "--no-fund"]))?;
    // Written last: an interrupted `npm ci` starts over.
    fs::write(&stamp, lock).with_context(|| format!("write {}", stamp.display()))
}

/// Builds `ui/dist`, which the application's binary carries inside.
pub(crate) fn build() -> anyhow::Result<()> {
    install()?;
    script("build")
}

/// Runs one of the scripts in `ui/package.json`.
pub(crate) fn script(name: &str) -> anyhow::Result<()> {
    steps::command(&format!("UI: {name}"), npm().args(["run", "--silent", name]))
}

fn npm() -> Command {
    let mut command = Command::new("npm");
    command.current_dir(cargo::root().join("ui"));
    if let Some(own) = machine::own_node() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let entries = std::iter::once(own).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(entries) {
            command.env("PATH", path);
        }
    }
    command
}
