//! `countersign-admin`, the operators' command line.

mod command;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use countersign_admin::text::shown;

use command::Arguments;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match command::run(Arguments::parse()).await {
        Ok(text) => print(&text),
        Err(error) => {
            complain(&shown(&error.to_string()));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints; a reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write the output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Says what is wrong, if anybody still listens: the exit code says it too.
fn complain(words: &str) {
    let _ = writeln!(io::stderr(), "countersign-admin: {words}");
}
