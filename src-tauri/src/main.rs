//! The application. Everything is in the library, where it can be tested.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_app::main()
}
