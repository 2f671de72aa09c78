//! The application under a WebDriver.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use countersign_testkit::proxy::CuttingProxy;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tokio::process::{Child, Command};

use crate::backlog::Backlog;
use crate::display::Display;
use crate::wait::until;

/// Names the application; without it the one that `cargo build` makes is driven.
const APP: &str = "COUNTERSIGN_APP";
/// From starting the drivers to a session, on a busy machine.
const SESSION_WITHIN: Duration = Duration::from_secs(60);

/// Leasing pauses when less than half of a lease call fits into the deck, by default 25 of 100.
const ENOUGH: usize = 75;

/// The directories of one workstation; they outlive the application.
pub struct Home {
    directory: tempfile::TempDir,
    password: String,
}

impl Home {
    /// A workstation with one profile, which leads through the proxy.
    pub fn new(backlog: &Backlog, proxy: &CuttingProxy) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let (name, user, port) = (backlog.name(), &backlog.user, proxy.addr().port());
        let profile = format!(
            "[[profile]]\nname = \"Month-end close\"\nhost = \"127.0.0.1\"\nport = {port}\ndatabase = \"{name}\"\n\
             user = \"{user}\"\ntls = \"disable\"\n"
        );
        std::fs::create_dir(directory.path().join("config"))?;
        std::fs::write(directory.path().join("config").join("profiles.toml"), profile)?;
        Ok(Self { directory, password: backlog.password.clone() })
    }

    fn data_dir(&self) -> PathBuf {
        self.directory.path().join("data")
    }
}

/// A running application with the drivers before it.
pub struct App<'a> {
    window: WebDriver,
    drivers: Child,
    binary: PathBuf,
    display: &'a Display,
    home: &'a Home,
}

impl<'a> App<'a> {
    pub async fn start(display: &'a Display, home: &'a Home) -> anyhow::Result<Self> {
        let binary = binary()?;
        let (port, native_port) = (free_port()?, free_port()?);
        let native = found("WebKitWebDriver").context("apt-get install webkit2gtk-driver")?;
        let mut drivers = Command::new("dbus-run-session")
            .args(["--", "tauri-driver", "--port", &port.to_string(), "--native-port", &native_port.to_string()])
            .arg("--native-driver")
            .arg(native)
            .env("DISPLAY", display.name())
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("WEBKIT_DISABLE_COMPOSITING_MODE", "1")
            .env("COUNTERSIGN_CONFIG_DIR", home.directory.path().join("config"))
            .env("COUNTERSIGN_DATA_DIR", home.data_dir())
            .env("COUNTERSIGN_PASSWORD", &home.password)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // A group of its own, so that it can be ended with everything that it has started.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context(
                "start dbus-run-session (apt-get install dbus-x11) and tauri-driver (cargo install tauri-driver)",
            )?;
        let mut capabilities = thirtyfour::Capabilities::new();
        capabilities.set("browserName", "wry")?;
        capabilities.set("tauri:options", json!({"application": binary, "args": []}))?;
        let url = format!("http://127.0.0.1:{port}");
        let listening = until("the drivers to listen", SESSION_WITHIN, async || {
            for port in [port, native_port] {
                tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            }
            Ok(Some(()))
        })
        .await;
        let session = match listening {
            Ok(()) => WebDriver::new(&url, capabilities).await.context("open the window"),
            Err(failure) => Err(failure),
        };
        match session {
            Ok(window) => Ok(Self { window, drivers, binary, display, home }),
            Err(failure) => {
                end_group(&mut drivers).await;
                Err(failure.context(format!("the application's log:\n{}", log(home))))
            }
        }
    }

    /// Ends the drivers and what is left of the application.
    pub async fn end(self) {
        let Self { window, mut drivers, .. } = self;
        // Asking an application that has closed to close would wait for a long time.
        let _ = window.leak();
        end_group(&mut drivers).await;
    }

    /// What went wrong comes with the application's log and a picture of the window.
    pub async fn tell<T>(&self, story: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let outcome = story.await;
        if outcome.is_ok() {
            return outcome;
        }
        let file = std::env::temp_dir().join(format!("countersign-desktop-{}.png", std::process::id()));
        let picture = match self.display.picture(&file).await {
            Ok(()) => format!("the window is shown in {}", file.display()),
            Err(reason) => format!("there is no picture: {reason:#}"),
        };
        outcome.with_context(|| format!("{picture}; the application's log:\n{}", self.log()))
    }

    pub fn log(&self) -> String {
        log(self.home)
    }

    /// Waits for an element.
    pub async fn see(&self, css: &str, within: Duration) -> anyhow::Result<()> {
        until(css, within, async || {
            Ok(self.ask("return document.querySelector(arguments[0]) !== null || null", css).await?)
        })
        .await
        .map(drop)
    }

    /// Waits for an element with a text in it.
    pub async fn see_text(&self, css: &str, text: &str, within: Duration) -> anyhow::Result<()> {
        until(&format!("{text:?} in {css}"), within, async || {
            let found = self.ask("return document.querySelector(arguments[0])?.textContent ?? null", css).await?;
            Ok(found.filter(|found| found.as_str().is_some_and(|found| found.contains(text))))
        })
        .await
        .map(drop)
    }

    pub async fn click(&self, test_id: &str) -> anyhow::Result<()> {
        self.window.find(By::Css(format!(r#"[data-testid="{test_id}"]"#))).await?.click().await?;
        Ok(())
    }

    pub async fn press_button(&self, label: &str) -> anyhow::Result<()> {
        self.window.find(By::XPath(format!("//button[normalize-space()='{label}']"))).await?.click().await?;
        Ok(())
    }

    /// Waits for rows, selects some from the first one down, and answers which, by their identifiers.
    pub async fn select_with_the_keyboard(&self, count: usize, within: Duration) -> anyhow::Result<Vec<i64>> {
        until("a full deck", within, async || {
            let script =
                "return document.querySelector(arguments[0])?.textContent.match(/^Deck (\\d+) of/)?.[1] ?? null";
            let deck = self.ask(script, r#"[data-testid="deck-pill"]"#).await?;
            let count = deck.and_then(|deck| deck.as_str().and_then(|count| count.parse().ok()));
            Ok(count.filter(|count: &usize| *count > ENOUGH))
        })
        .await?;
        let first = r#"[data-testid="grid"] [role="row"][tabindex="0"]"#;
        self.see(first, within).await?;
        self.ask("document.querySelector(arguments[0]).focus(); return true", first).await?;
        self.window.action_chain().send_keys(" ").perform().await?;
        let mut chain = self.window.action_chain().key_down(Key::Shift);
        for _ in 1..count {
            chain = chain.send_keys(Key::Down);
        }
        chain.key_up(Key::Shift).perform().await?;
        let selected = r#"[role="row"][aria-selected="true"]"#;
        let ids = until(&format!("{count} selected rows"), within, async || {
            let script = "return [...document.querySelectorAll(arguments[0])].map((row) => row.dataset.id)";
            let ids: Vec<String> = serde_json::from_value(self.ask(script, selected).await?.unwrap_or_default())?;
            Ok((ids.len() == count).then_some(ids))
        })
        .await?;
        let mut ids = ids.iter().map(|id| id.parse()).collect::<Result<Vec<i64>, _>>()?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Approves the selection: A, and Ctrl+Enter once the totals are there.
    pub async fn approve(&self) -> anyhow::Result<()> {
        let within = Duration::from_secs(20);
        self.see(r#"[data-testid="approve"]:not([disabled])"#, within).await?;
        self.window.action_chain().send_keys("a").perform().await?;
        self.see(r#"[data-testid="sign-confirm"]:not([disabled])"#, within).await?;
        self.window.action_chain().key_down(Key::Control).send_keys(Key::Enter).key_up(Key::Control).perform().await?;
        Ok(())
    }

    /// Takes a picture once everything is painted.
    pub async fn picture(&self, file: &Path) -> anyhow::Result<()> {
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let two_frames =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.window.execute_async(two_frames, Vec::new()).await?;
        self.display.picture(file).await
    }

    /// Kills the application as a power cut would, and waits until it is gone.
    pub async fn kill(&self, within: Duration) -> anyhow::Result<()> {
        let processes = self.processes()?;
        ensure!(!processes.is_empty(), "the application does not run");
        for process in processes {
            Command::new("kill").args(["-9", &process.to_string()]).status().await.context("run kill")?;
        }
        self.gone(within).await
    }

    /// Waits until the application has ended.
    pub async fn gone(&self, within: Duration) -> anyhow::Result<()> {
        until("the application to end", within, async || Ok(self.processes()?.is_empty().then_some(()))).await
    }

    /// The processes of this application, told from others by their data directory.
    fn processes(&self) -> anyhow::Result<Vec<u32>> {
        let mine = format!("COUNTERSIGN_DATA_DIR={}", self.home.data_dir().display());
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").context("list processes")? {
            let directory = entry?.path();
            let id: Option<u32> =
                directory.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            // A process that has ended meanwhile cannot be read, and is none of ours any more.
            let is_ours = std::fs::read_link(directory.join("exe")).is_ok_and(|program| program == self.binary)
                && std::fs::read(directory.join("environ"))
                    .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|pair| pair == mine.as_bytes()));
            found.extend(id.filter(|_| is_ours));
        }
        Ok(found)
    }

    async fn ask(&self, script: &str, argument: &str) -> anyhow::Result<Option<Value>> {
        let answer = self.window.execute(script, vec![json!(argument)]).await?;
        Ok(Some(answer.json().clone()).filter(|answer| !answer.is_null()))
    }
}

fn log(home: &Home) -> String {
    std::fs::read_to_string(home.data_dir().join("log").join("countersign.jsonl"))
        .unwrap_or_else(|reason| reason.to_string())
}

fn binary() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os(APP).map(PathBuf::from);
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/countersign");
    let binary = named.unwrap_or(built);
    let built = binary.canonicalize();
    built.with_context(|| {
        format!(
            "there is no {}: build it (`npm ci && npm run build` in ui, then `cargo build -p countersign`) or name one in {APP}",
            binary.display()
        )
    })
}

fn found(program: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file()) {
        Some(file) => Ok(file),
        None => bail!("there is no {program} on PATH"),
    }
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    Ok(listener.local_addr()?.port())
}

async fn end_group(leader: &mut Child) {
    let Some(id) = leader.id() else { return };
    // What has ended already cannot be told to.
    let _ = Command::new("kill").args(["-9", "--", &format!("-{id}")]).status().await;
    let _ = leader.wait().await;
}
