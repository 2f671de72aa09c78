//! Calls of cargo, from the top of the repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail};

use crate::steps;

/// The top of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the repository")
}

/// `cargo`, with what cargo has installed on the search path.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    let installed = installed_bin();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let entries = std::env::split_paths(&path).chain(std::iter::once(installed));
    if let Ok(path) = std::env::join_paths(entries) {
        command.env("PATH", path);
    }
    command
}

/// Where `cargo install` puts programs.
pub(crate) fn installed_bin() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|user| Path::new(&user).join(".cargo")));
    home.unwrap_or_else(|| PathBuf::from(".cargo")).join("bin")
}

/// What a build has made.
pub(crate) struct Built {
    /// cargo's messages, one JSON object a line.
    messages: String,
}

/// Builds, and remembers where the executables are.
pub(crate) fn build(arguments: &[&str]) -> anyhow::Result<Built> {
    let mut command = cargo();
    command.args(["build", "--message-format=json-render-diagnostics"]).args(arguments);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("start {}", steps::shown(&command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", steps::shown(&command), output.status);
    }
    Ok(Built { messages: String::from_utf8_lossy(&output.stdout).into_owned() })
}

impl Built {
    /// The program called `name`.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<PathBuf> {
        self.executable(name, false).with_context(|| format!("the build made no program called {name}"))
    }

    /// The unit tests of the target called `name`.
    pub(crate) fn tests(&self, name: &str) -> anyhow::Result<PathBuf> {
        self.executable(name, true).with_context(|| format!("the build made no tests of {name}"))
    }

    /// A few fields do not pay for a JSON parser here.
    fn executable(&self, name: &str, tests: bool) -> Option<PathBuf> {
        let name = format!("\"name\":\"{name}\"");
        let tests = format!("\"test\":{tests}");
        self.messages.lines().find_map(|line| {
            let (target, built) = line.split_once("\"profile\":{")?;
            let (profile, files) = built.split_once('}')?;
            let (_, path) = files.split_once("\"executable\":\"")?;
            let (path, _) = path.split_once('"')?;
            (target.contains(&name) && profile.contains(&tests)).then(|| PathBuf::from(path))
        })
    }
}

/// Runs a program of the testkit and hands on its exit code; what it prints is for the caller.
pub(crate) fn run_testkit(profile: &[&str], binary: &str, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    run_program("countersign-testkit", profile, binary, arguments)
}

/// Runs a program of a package and hands on its exit code; what it prints is for the caller.
pub(crate) fn run_program(
    package: &str,
    profile: &[&str],
    binary: &str,
    arguments: &[OsString],
) -> anyhow::Result<ExitCode> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked"]).args(profile).args(["-p", package, "--bin", binary, "--"]);
    exit_code(command.args(arguments))
}

/// Runs a program and hands on its exit code.
pub(crate) fn exit_code(command: &mut Command) -> anyhow::Result<ExitCode> {
    let status = command.status().with_context(|| format!("start {}", steps::shown(command)))?;
    // Ended by a signal, there is no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_and_its_tests_are_told_apart() {
        let built = Built {
            messages: r#"{"reason":"build-script-executed","package_id":"x"}
{"target":{"name":"app","test":true},"profile":{"opt_level":"0","test":true},"executable":"/t/deps/app-0a1b"}
{"target":{"name":"app_lib","test":true},"profile":{"opt_level":"0","test":false},"executable":null}
{"target":{"name":"app","test":true},"profile":{"opt_level":"0","test":false},"executable":"/t/app"}"#
                .to_owned(),
        };
        assert_eq!(built.program("app").ok(), Some(PathBuf::from("/t/app")));
        assert_eq!(built.tests("app").ok(), Some(PathBuf::from("/t/deps/app-0a1b")));
        assert!(built.program("app_lib").is_err());
    }
}
