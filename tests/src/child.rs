//! A workstation in a process of its own, which can be killed and measured.
//!
//! The process is the test's own program again, told to run one test: that one plays the workstation when it finds a desk in its
//! environment, and has nothing to do otherwise.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use countersign_backlog::{Target, Timing, Tls};
use countersign_domain::id::WorkstationId;
use countersign_domain::settings::Settings;
use countersign_testkit::installation::Login;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::DEADLINE;
use crate::desk::Desk;

const VARIABLE: &str = "COUNTERSIGN_TEST_DESK";

/// The process. It ends with this value.
pub struct Workstation {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Workstation {
    /// Starts `test` at this desk.
    pub fn start(desk: &Desk, test: &str) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe().context("find this program")?)
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, written(desk).to_string())
            // One heap for all threads: how many heaps glibc makes depends on which threads met at it, and is no measure of anything.
            .env("MALLOC_ARENA_MAX", "1")
            // It ends when this pipe does, should this process be killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("start a workstation")?;
        let stdout = process.stdout.take().context("the workstation has no standard output")?;
        Ok(Self { process, lines: BufReader::new(stdout).lines() })
    }

    /// Waits until it has said this.
    pub async fn said(&mut self, words: &str) -> anyhow::Result<()> {
        let mut heard = Vec::new();
        let said = async {
            while let Some(line) = self.lines.next_line().await.context("listen to the workstation")? {
                // The test harness does not end its own line before the test speaks.
                if line.ends_with(words) {
                    return anyhow::Ok(true);
                }
                heard.push(line);
            }
            Ok(false)
        };
        let found = timeout(DEADLINE, said).await.with_context(|| format!("it did not say {words:?} in time"))??;
        ensure!(found, "it ended and never said {words:?}, but {heard:?}");
        Ok(())
    }

    /// Whether it has just said something, without waiting for long.
    pub async fn speaks_within(&mut self, moment: std::time::Duration) -> bool {
        timeout(moment, self.lines.next_line()).await.is_ok()
    }

    /// Kills it, as the power button does to a program.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill().await.context("kill the workstation")
    }

    /// Its number among the processes.
    pub fn id(&self) -> anyhow::Result<u32> {
        self.process.id().context("the workstation has ended")
    }
}

/// The most memory a process has ever had, in KiB; `None` once it has ended.
pub fn peak_memory_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The desk this process is to work at, if it is one's workstation.
pub fn desk_from_environment() -> anyhow::Result<Option<Desk>> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(None) };
    let desk = read(&serde_json::from_str(&text).context("read the desk")?)?;
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        // Whoever started this process is gone.
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
    Ok(Some(desk))
}

/// Says something to whoever started this process.
pub fn say(words: &str) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{words}").and_then(|()| output.flush()).context("speak")
}

fn written(desk: &Desk) -> Value {
    json!({
        "directory": desk.directory, "host": desk.target.host, "port": desk.target.port, "database": desk.target.database,
        "user": desk.login.user, "password": desk.login.password.expose_secret(), "settings": desk.settings,
        "workstation": desk.workstation.0,
    })
}

fn read(value: &Value) -> anyhow::Result<Desk> {
    let text = |name: &str| value[name].as_str().map(str::to_owned).with_context(|| format!("{name} is missing"));
    let settings: Settings = serde_json::from_value(value["settings"].clone()).context("read the settings")?;
    let port = value["port"].as_u64().context("port is missing")?;
    Ok(Desk {
        directory: PathBuf::from(text("directory")?),
        workstation: WorkstationId(text("workstation")?.parse().context("read the workstation")?),
        login: Login { user: text("user")?, password: text("password")?.into() },
        target: Target {
            host: text("host")?,
            port: u16::try_from(port).context("read the port")?,
            database: text("database")?,
            user: text("user")?,
            tls: Tls::Disable,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
            application_name: "countersign".to_owned(),
        },
        timing: Timing::default(),
        settings,
        scorer: countersign_station::scorer(),
        _kept: None,
    })
}
