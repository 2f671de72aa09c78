//! Installs what a command needs and says so first. What is there already is left alone.

use std::process::Command;

use anyhow::{Context, bail};

pub(crate) use crate::tools::Set;

use crate::tools::{self, NODE, OLDEST_NODE, OLDEST_POSTGRES, Probe, Source, Tool};
use crate::{cargo, machine, steps};

/// Makes sure that the tools of `sets` are there.
pub(crate) fn ensure(sets: &[Set]) -> anyhow::Result<()> {
    let missing = tools::missing(sets, machine::has);
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("missing on this machine:");
    for tool in &missing {
        eprintln!("   {}: {}", name(tool), tool.why);
    }
    let packages = tools::packages(&missing);
    if !packages.is_empty() {
        install_packages(&packages)?;
    }
    for (name, version) in tools::crates(&missing) {
        let mut install = cargo::cargo();
        install.args(["install", name, "--version", version, "--locked"]);
        steps::command(&format!("install {name} {version} with cargo"), &mut install)?;
    }
    if missing.iter().any(|tool| tool.source == Source::Npm) && !machine::has(Probe::Node) {
        install_node()?;
    }
    match tools::missing(sets, machine::has).first() {
        Some(tool) => bail!("{}: {}", name(tool), still_missing(tool.probe)),
        None => Ok(()),
    }
}

/// The npm registry has Node's own binaries as packages; one goes below `target`, where it is nobody else's Node.
fn install_node() -> anyhow::Result<()> {
    let Some(package) = machine::node_package() else { bail!("{}", still_missing(Probe::Node)) };
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"]).arg(machine::node_home());
    npm.arg(format!("{package}@{NODE}"));
    steps::command(&format!("install Node {NODE} for this checkout"), &mut npm)
}

/// Whether there is a display to show a window on.
pub(crate) fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    if !machine::program("apt-get") {
        bail!(
            "only Debian and Ubuntu are installed by this command; install what these packages hold and run it again: {}",
            packages.join(" ")
        );
    }
    if !machine::apt_has_lists() {
        update()?;
    }
    let mut install = apt_get()?;
    install.args(["install", "--yes"]).args(packages);
    let name = format!("install {} with apt-get", packages.join(" "));
    if steps::command(&name, &mut install).is_err() {
        // Lists that are older than the archive name files that are gone.
        update()?;
        steps::command(&name, &mut install)?;
    }
    Ok(())
}

fn update() -> anyhow::Result<()> {
    steps::command("apt-get update", apt_get()?.arg("update"))
}

fn apt_get() -> anyhow::Result<Command> {
    let settings = ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    // `env`, because sudo does not hand on variables.
    if machine::is_root() {
        let mut command = Command::new("env");
        command.args(settings);
        return Ok(command);
    }
    if machine::program("sudo") {
        let mut command = Command::new("sudo");
        command.arg("env").args(settings);
        return Ok(command);
    }
    Err(anyhow::Error::msg("run it once as root")).context("installing packages needs root, and there is no sudo")
}

fn name(tool: &Tool) -> String {
    match tool.source {
        Source::Apt(packages) => packages.join(" "),
        Source::Cargo(name, version) => format!("{name} {version}"),
        Source::Npm => format!("Node {}.{} or newer", OLDEST_NODE.0, OLDEST_NODE.1),
    }
}

fn still_missing(probe: Probe) -> String {
    match probe {
        Probe::Node => {
            let (major, minor) = OLDEST_NODE;
            let here = machine::node_version().unwrap_or_else(|| "none".to_owned());
            format!(
                "the UI needs Node {major}.{minor} or newer with npm; here is {here}, and this system's packages have nothing \
                 newer. Install it from https://nodejs.org/en/download and run this again"
            )
        }
        Probe::Postgres => {
            let here = machine::newest_postgres().map_or_else(|| "none".to_owned(), |major| major.to_string());
            format!(
                "PostgreSQL {OLDEST_POSTGRES} or newer is needed, here is {here}. \
                 https://www.postgresql.org/download has newer packages"
            )
        }
        Probe::Program(_) | Probe::Library(_) | Probe::Header(_) | Probe::Package(_) => {
            "it was installed and still cannot be found".to_owned()
        }
    }
}
