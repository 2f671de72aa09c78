//! A display of one's own, of the window's size.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// As in `tauri.conf.json`: the window fills the display.
const SIZE: &str = "1400x880x24";

pub(crate) struct Display {
    name: String,
    _server: Child,
}

impl Display {
    /// Starts an X server; it picks a number that is free and says which.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", SIZE, "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("start Xvfb (apt-get install xvfb)")?;
        let output = server.stdout.take().context("Xvfb has no standard output")?;
        let number = BufReader::new(output).lines().next_line().await.context("read the display's number")?;
        let number = number.context("Xvfb ended before it said which display it is")?;
        Ok(Self { name: format!(":{number}"), _server: server })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Takes a picture from X: without compositing, WebDriver's own never comes back.
    pub(crate) async fn picture(&self, file: &Path) -> anyhow::Result<()> {
        let status = Command::new("import")
            .args(["-display", &self.name, "-window", "root"])
            .arg(file)
            .status()
            .await
            .context("run import (apt-get install imagemagick)")?;
        ensure!(status.success(), "import could not take a picture: {status}");
        Ok(())
    }
}
