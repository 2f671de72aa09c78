//! Where the server's programs are. Distributions keep them off the search path.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The oldest major version the schema is written for.
const OLDEST_MAJOR: u32 = 15;

/// The directory with `initdb` and `postgres` of the newest usable version.
///
/// Looked for where `pg_config` points, where Debian installs, and on the search path.
pub(super) fn find() -> anyhow::Result<PathBuf> {
    let mut newest: Option<(u32, PathBuf)> = None;
    for directory in candidates() {
        // The first place wins among equals.
        if let Some(major) = major_of(&directory)
            && newest.as_ref().is_none_or(|(known, _)| major > *known)
        {
            newest = Some((major, directory));
        }
    }
    match newest {
        Some((major, directory)) if major >= OLDEST_MAJOR => Ok(directory),
        Some((major, directory)) => {
            bail!("PostgreSQL {major} in {} is too old, {OLDEST_MAJOR} or newer is needed", directory.display())
        }
        None => bail!("no PostgreSQL server found; install the package `postgresql`, {OLDEST_MAJOR} or newer"),
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut directories = Vec::new();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output()
        && output.status.success()
    {
        directories.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        directories.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    if let Some(path) = std::env::var_os("PATH") {
        directories.extend(std::env::split_paths(&path));
    }
    directories
}

/// The major version of a directory that holds both programs; `pg_config` alone comes with the client's headers.
fn major_of(directory: &Path) -> Option<u32> {
    if !directory.join("initdb").is_file() {
        return None;
    }
    let output = Command::new(directory.join("postgres")).arg("--version").output().ok()?;
    parse_major(&String::from_utf8_lossy(&output.stdout)).ok()
}

fn parse_major(version: &str) -> anyhow::Result<u32> {
    let number = version.split_whitespace().nth(2).with_context(|| format!("no version in {version:?}"))?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().with_context(|| format!("no major version in {version:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_the_server_prints() {
        for (printed, major) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 17beta1\n", Some(17)),
            ("postgres\n", None),
        ] {
            assert_eq!(parse_major(printed).ok(), major, "{printed:?}");
        }
    }
}
