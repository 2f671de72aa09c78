//! What is generated from the Rust types: the UI's types, and the JSON Schema of an arrival.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail, ensure};

use crate::install::{self, Set};
use crate::{cargo, steps};

/// Where the UI expects them.
const GENERATED: &str = "ui/src/generated";
/// Types are written by tests with this name, one for each.
pub(crate) const EXPORTS: &str = "export_bindings";
/// The schema is written, or compared, by a test of its own.
const SCHEMA_TEST: &str = "schema::the_document_is_what_the_types_say";
const WRITE_SCHEMA: &str = "COUNTERSIGN_WRITE_SCHEMA";

/// Rewrites `ui/src/generated`, where types that no longer exist go, and `docs/arrival.schema.json`.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    install::ensure(&[Set::Build])?;
    let mut command = cargo::cargo();
    command.args(["test", "--quiet", "--locked", "-p", "countersign-wire", "--lib", EXPORTS]);
    let fresh = exported(&mut command)?;
    let directory = cargo::root().join(GENERATED);
    fs::create_dir_all(&directory).with_context(|| format!("make {GENERATED}"))?;
    let changes = differences(&read(&directory)?, &fresh);
    for name in &changes {
        let path = directory.join(name);
        match fresh.get(name) {
            Some(text) => fs::write(&path, text).with_context(|| format!("write {}", path.display()))?,
            None => fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?,
        }
        eprintln!("   {GENERATED}/{name}");
    }
    eprintln!("{} types, {} changed", fresh.len(), changes.len());
    let mut schema = cargo::cargo();
    schema.args(["test", "--quiet", "--locked", "-p", "countersign-domain", "--lib", "--", "--exact", SCHEMA_TEST]);
    // With the variable the test writes; without it, in every other run, it compares.
    steps::succeed(schema.env(WRITE_SCHEMA, "1"))?;
    Ok(ExitCode::SUCCESS)
}

/// Fails when `ui/src/generated` is not what the Rust types say. `tests` runs those that write them.
pub(crate) fn check(tests: &mut Command) -> anyhow::Result<()> {
    let fresh = exported(tests)?;
    let stale = differences(&read(&cargo::root().join(GENERATED))?, &fresh);
    if !stale.is_empty() {
        bail!("{GENERATED} is stale, run `cargo xtask codegen`: {}", stale.join(", "));
    }
    Ok(())
}

/// A directory for generated types that nobody keeps.
pub(crate) fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("countersign-types-{}", std::process::id()))
}

fn exported(tests: &mut Command) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let directory = scratch();
    let outcome = steps::succeed(tests.env("TS_RS_EXPORT_DIR", &directory)).and_then(|()| read(&directory));
    // It may never have been made.
    let _ = fs::remove_dir_all(&directory);
    let types = outcome?;
    ensure!(!types.is_empty(), "no test called {EXPORTS} wrote a type");
    Ok(types)
}

fn read(directory: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).with_context(|| format!("list {}", directory.display()))? {
        let path = entry.with_context(|| format!("list {}", directory.display()))?.path();
        let Some(name) = path.file_name().filter(|_| path.is_file()) else { continue };
        let text = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        files.insert(name.to_string_lossy().into_owned(), text);
    }
    Ok(files)
}

/// Files that only one side has, or that differ.
fn differences(present: &BTreeMap<String, Vec<u8>>, fresh: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut names: Vec<String> =
        present.keys().chain(fresh.keys()).filter(|name| present.get(*name) != fresh.get(*name)).cloned().collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_a_changed_and_a_vanished_type_are_differences() {
        let files = |list: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let present = files(&[("Gone.ts", "a"), ("Old.ts", "a"), ("Same.ts", "a")]);
        let fresh = files(&[("New.ts", "a"), ("Old.ts", "b"), ("Same.ts", "a")]);
        assert_eq!(differences(&present, &fresh), ["Gone.ts", "New.ts", "Old.ts"]);
        assert!(differences(&fresh, &fresh).is_empty());
    }
}
