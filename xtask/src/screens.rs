//! `cargo xtask screens`: the desktop test goes through every screen of the built window and takes their pictures.

use std::process::ExitCode;

use crate::install::{self, Set};
use crate::{cargo, steps, ui};

/// Where the pictures go.
const SCREENS: &str = "docs/screens";
/// The test that goes through the screens.
const TOUR: &str = "every_screen_fits_into_the_window";

/// Refreshes `docs/screens`.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    install::ensure(&[Set::Build, Set::Window, Set::Node, Set::Postgres, Set::Screen, Set::Tests])?;
    ui::build()?;
    let app = steps::step("build the application", || {
        cargo::build(&["--locked", "-p", "countersign", "--features", "custom-protocol"])?.program("countersign")
    })?;
    let mut tour = cargo::cargo();
    tour.args(["test", "--locked", "-p", "countersign-tests", "--test", "desktop", "--", TOUR, "--nocapture"]);
    tour.env("COUNTERSIGN_APP", app).env("COUNTERSIGN_SCREENSHOT_DIR", cargo::root().join(SCREENS));
    steps::command("take pictures", &mut tour)?;
    eprintln!("look at {SCREENS}");
    Ok(ExitCode::SUCCESS)
}
