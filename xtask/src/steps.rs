//! A run as a list of named steps, each with how long it took. The first failure ends it.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};

/// Runs a program as a step.
pub(crate) fn command(name: &str, command: &mut Command) -> anyhow::Result<()> {
    step(name, || succeed(command))
}

/// Runs anything as a step.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    eprintln!("── {name}");
    let started = Instant::now();
    let done = work().with_context(|| format!("step failed: {name}"))?;
    eprintln!("   {:.1} s", started.elapsed().as_secs_f32());
    Ok(done)
}

/// Runs a program and turns its failure into an error.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// A command line as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
