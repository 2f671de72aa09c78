//! `cargo xtask test`: everything that has to hold before a change goes in, the quick checks first.
//!
//! The tests come last and print last, so that the end of the output says how many ran.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

use anyhow::Context;

use crate::cargo::{self, Built};
use crate::install::{self, Set};
use crate::{codegen, steps, ui};

/// One choice of packages and features for every build, so that nothing is compiled twice. The application that the desktop
/// test drives has to carry the UI inside.
const EVERYTHING: [&str; 4] = ["--workspace", "--locked", "--features", "countersign/custom-protocol"];

/// Checks and tests everything.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    install::ensure(&[Set::Build, Set::Window, Set::Node, Set::Postgres, Set::Screen, Set::Tests, Set::Browser])?;
    steps::command("formatting (cargo fmt)", cargo::cargo().args(["fmt", "--all", "--check"]))?;
    ui::install()?;
    for script in ["check", "test", "build"] {
        ui::script(script)?;
    }
    let mut clippy = cargo::cargo();
    clippy.arg("clippy").args(EVERYTHING).args(["--all-targets", "--", "-D", "warnings"]);
    steps::command("lints (cargo clippy)", &mut clippy)?;
    let built = steps::step("build", || {
        let mut arguments = EVERYTHING.to_vec();
        arguments.push("--all-targets");
        cargo::build(&arguments)
    })?;
    steps::step("generated types are fresh", || {
        let mut exports = Command::new(built.tests("countersign_wire")?);
        codegen::check(exports.arg(codegen::EXPORTS).stdout(Stdio::null()))
    })?;
    ui::script("test:browser")?;
    steps::command("doc tests", cargo::cargo().args(["test", "--doc", "--quiet"]).args(EVERYTHING))?;
    let server = steps::step("start PostgreSQL", || Server::start(&built.program("private-postgres")?))?;
    let code = nextest(&built, &server);
    server.stop();
    code
}

fn nextest(built: &Built, server: &Server) -> anyhow::Result<ExitCode> {
    eprintln!("── tests (cargo nextest)");
    let types = codegen::scratch();
    let mut nextest = cargo::cargo();
    nextest.args(["nextest", "run"]).args(EVERYTHING);
    nextest.env("COUNTERSIGN_TEST_ADMIN_URL", &server.admin_url);
    nextest.env("COUNTERSIGN_APP", built.program("countersign")?);
    nextest.env("COUNTERSIGN_ADMIN", built.program("countersign-admin")?);
    // The tests that write types run here too; what they write was compared before.
    nextest.env("TS_RS_EXPORT_DIR", &types);
    let code = cargo::exit_code(&mut nextest);
    // Absent when no such test ran.
    let _ = std::fs::remove_dir_all(types);
    code
}

/// The database server of all tests of this run. It stops when its standard input ends, so also when this process is killed.
struct Server {
    process: Child,
    leash: ChildStdin,
    admin_url: String,
}

impl Server {
    fn start(program: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        let leash = process.stdin.take().context("private-postgres has no standard input")?;
        let output = process.stdout.take().context("private-postgres has no standard output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("read what private-postgres prints")?;
        let admin_url = text_of("admin_url", &line).context("private-postgres did not start, see above")?;
        Ok(Self { process, leash, admin_url })
    }

    /// Says nothing: the last line belongs to the tests.
    fn stop(mut self) {
        drop(self.leash);
        let _ = self.process.wait();
    }
}

/// A text of a line of JSON; a URL has nothing that would be escaped.
fn text_of(name: &str, line: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(text, _)| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_read_from_a_line_of_json() {
        let line = r#"{"admin_url":"postgres://postgres:x@127.0.0.1:1/postgres","port":1}"#;
        assert_eq!(text_of("admin_url", line).as_deref(), Some("postgres://postgres:x@127.0.0.1:1/postgres"));
        assert_eq!(text_of("admin_url", ""), None);
    }
}
