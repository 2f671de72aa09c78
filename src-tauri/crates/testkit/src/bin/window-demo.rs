//! The window on real exceptions, with a PostgreSQL of its own.

use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use anyhow::Context as _;
use clap::Parser;
use countersign_testkit::demo::{self, Office};
use secrecy::ExposeSecret as _;
use tokio::process::Command;

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
    let mut app = command(&arguments.app)
        .args(["--config-dir".as_ref(), config.as_os_str(), "--data-dir".as_ref(), data.as_os_str()])
        .env("COUNTERSIGN_PASSWORD", reviewer.password.expose_secret())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("start {}", arguments.app.display()))?;
    let status = tokio::select! {
        status = app.wait() => status.context("wait for the window")?,
        stopped = demo::asked_to_stop() => {
            stopped?;
            // From a terminal the window got the same signal and drains; otherwise it ends here.
            let patience = std::time::Duration::from_secs(10);
            if let Ok(status) = tokio::time::timeout(patience, app.wait()).await {
                status.context("wait for the window")?
            } else {
                app.kill().await.context("end the window")?;
                app.wait().await.context("wait for the window")?
            }
        }
    };
    let journals: Vec<PathBuf> = journals(&data)?;
    let counted = demo::count(&office.owner, &journals, &office.input).await?;
    office.owner.close().await;
    office.postgres.stop().await?;
    print!("{counted}");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Without a display the window opens on a virtual one.
fn command(app: &std::path::Path) -> Command {
    if std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some() {
        return Command::new(app);
    }
    println!("There is no display here; the window opens on a virtual one (Xvfb).");
    let mut command = Command::new("xvfb-run");
    command.args(["--auto-servernum", "--server-args=-screen 0 1400x880x24"]).arg(app);
    command
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
