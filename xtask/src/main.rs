//! The project's own commands. `cargo xtask` lists them.
//!
//! On a fresh machine this is the first thing that is compiled, so it stays small: it knows how to install what is missing and
//! which programs to call, and everything else is in those programs.

mod bench;
mod cargo;
mod codegen;
mod demo;
mod install;
mod machine;
mod package;
mod screens;
mod steps;
mod test;
mod tools;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Countersign's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show Countersign at work, in its window or without one
    Demo(demo::Arguments),
    /// Check and test everything; what CI runs
    Test,
    /// Measure throughput and latency against a private, durable database
    Bench(bench::Arguments),
    /// Write the UI's types and the schema of an arrival from the Rust ones
    Codegen,
    /// Take pictures of every screen for docs/screens
    Screens,
    /// Build the installable package
    Package,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test => test::run(),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Codegen => codegen::run(),
        Command::Screens => screens::run(),
        Command::Package => package::run(),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
