//! A display of one's own.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Width and height in pixels.
pub type Size = (u32, u32);

/// A virtual screen, without a GPU; it ends with this.
pub struct Display {
    name: String,
    _server: Child,
}

impl Display {
    /// Starts an X server; it picks a number that is free and says which.
    pub async fn start((width, height): Size) -> anyhow::Result<Self> {
        let screen = format!("{width}x{height}x24");
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset"])
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

    /// What `DISPLAY` is set to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes a picture from X: without compositing, WebDriver's own never comes back.
    pub async fn picture(&self, file: &Path) -> anyhow::Result<()> {
        // With a palette it is a third as large.
        let mut indexed = std::ffi::OsString::from("PNG8:");
        indexed.push(file);
        let status = Command::new("import")
            .args(["-display", &self.name, "-window", "root", "+dither", "-colors", "192"])
            .arg(indexed)
            .status()
            .await
            .context("run import (apt-get install imagemagick)")?;
        ensure!(status.success(), "import could not take a picture: {status}");
        Ok(())
    }
}
