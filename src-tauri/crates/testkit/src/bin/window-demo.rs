//! The window on real exceptions, with a PostgreSQL of its own.

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use countersign_testkit::demo::{self, Office};
use countersign_testkit::enrolment;
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// The longest the window may take to close: its own bound, and a little.
const CLOSING: Duration = Duration::from_secs(45);

/// Opens the window, leasing; when it closes, says what happened
#[derive(Debug, Parser)]
struct Arguments {
    /// The built application
    #[arg(long)]
    app: PathBuf,
    /// Exceptions, one JSON object a line
    #[arg(long, default_value = "demo/exceptions.jsonl")]
    input: PathBuf,
    /// Nothing here is random; taken so that both demos have the same arguments
    #[arg(long, default_value_t = 1, hide = true)]
    seed: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let directory = tempfile::tempdir().context("a temporary directory")?;
    println!("Starting PostgreSQL and taking in {} …", arguments.input.display());
    let office = Office::open(&arguments.input, 1).await?;
    println!("{}", countersign_admin::enqueue::describe(&office.enqueued, &arguments.input.display().to_string()));
    let reviewer = &office.reviewers[0];
    let (config, data) = (directory.path().join("config"), directory.path().join("data"));
    std::fs::create_dir_all(&config).context("make the configuration directory")?;
    let profile = format!(
        "[[profile]]\nname = \"demo\"\nhost = \"{}\"\nport = {}\ndatabase = \"{}\"\nuser = \"{}\"\ntls = \"disable\"\n",
        office.postgres.addr().ip(),
        office.postgres.port(),
        office.database(),
        reviewer.login
    );
    std::fs::write(config.join("profiles.toml"), profile).context("write the profile")?;
    println!("Opening the window as {}. Close it to end the demo.", reviewer.login);
    let screen = Screen::where_needed().await?;
    let mut app = Command::new(&arguments.app);
    if let Some(screen) = &screen {
        app.env("DISPLAY", &screen.name);
    }
    let mut app = app
        .args(["--config-dir".as_ref(), config.as_os_str(), "--data-dir".as_ref(), data.as_os_str()])
        .env("COUNTERSIGN_PASSWORD", reviewer.password.expose_secret())
        // Its keys go with the directory, and can be read to count.
        .env("COUNTERSIGN_NO_KEYRING", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("start {}", arguments.app.display()))?;
    let owner = office.owner.clone();
    // The supervisor who confirms the new workstation.
    let supervisor = tokio::spawn(async move {
        while !matches!(enrolment::confirm_all(&owner).await, Ok(1..) | Err(_)) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    let status = tokio::select! {
        status = app.wait() => status.context("wait for the window")?,
        stopped = demo::asked_to_stop() => {
            stopped?;
            end(&mut app).await?
        }
    };
    supervisor.abort();
    let journals: Vec<PathBuf> = journals(&data)?;
    let counted = demo::count(&office.owner, &journals, &office.input).await?;
    office.owner.close().await;
    office.postgres.stop().await?;
    print!("{counted}");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks the window to close, which drains it, and ends it when it does not.
async fn end(app: &mut Child) -> anyhow::Result<ExitStatus> {
    if let Some(id) = app.id() {
        Command::new("kill").args(["-TERM", &id.to_string()]).status().await.context("ask the window to close")?;
    }
    if let Ok(status) = tokio::time::timeout(CLOSING, app.wait()).await {
        return status.context("wait for the window");
    }
    app.kill().await.context("end the window")?;
    app.wait().await.context("wait for the window")
}

/// A virtual display, which ends with this.
struct Screen {
    name: String,
    _server: Child,
}

impl Screen {
    /// A virtual display where there is no other.
    async fn where_needed() -> anyhow::Result<Option<Self>> {
        let there = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if there("DISPLAY") || there("WAYLAND_DISPLAY") {
            return Ok(None);
        }
        println!("There is no display here; the window opens on a virtual one (Xvfb).");
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1400x880x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("start Xvfb")?;
        let output = server.stdout.take().context("Xvfb has an output")?;
        let number = BufReader::new(output).lines().next_line().await?.context("Xvfb did not start")?;
        Ok(Some(Self { name: format!(":{}", number.trim()), _server: server }))
    }
}

fn journals(data: &std::path::Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(data).context("look for journals")? {
        let journal = entry?.path().join("journal.db");
        if journal.exists() {
            found.push(journal);
        }
    }
    Ok(found)
}
