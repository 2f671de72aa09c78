//! The application under a WebDriver.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use countersign_tests::display::Display;
use countersign_tests::wait::until;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tokio::process::{Child, Command};

use crate::home::Home;

/// Names the application; without it the one that `cargo build` makes is driven.
const APP: &str = "COUNTERSIGN_APP";
/// From starting the drivers to a session, on a busy machine.
const SESSION_WITHIN: Duration = Duration::from_mins(1);

/// Leasing pauses when less than half of a lease call fits into the deck, by default 25 of 100.
const ENOUGH: usize = 75;

/// A running application with the drivers before it.
pub(crate) struct App<'a> {
    window: WebDriver,
    _drivers: Drivers,
    binary: PathBuf,
    display: &'a Display,
    home: &'a Home,
}

impl<'a> App<'a> {
    pub(crate) async fn start(display: &'a Display, home: &'a Home) -> anyhow::Result<Self> {
        let binary = binary()?;
        let (port, native_port) = (free_port()?, free_port()?);
        let native = found("WebKitWebDriver").context("apt-get install webkit2gtk-driver")?;
        let drivers = Command::new("dbus-run-session")
            .args(["--", "tauri-driver", "--port", &port.to_string(), "--native-port", &native_port.to_string()])
            .arg("--native-driver")
            .arg(native)
            .env("DISPLAY", display.name())
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("WEBKIT_DISABLE_COMPOSITING_MODE", "1")
            // Exports go to where a reviewer finds them.
            .env("HOME", home.directory())
            .env("COUNTERSIGN_CONFIG_DIR", home.config_dir())
            .env("COUNTERSIGN_DATA_DIR", home.data_dir())
            // An empty one is none.
            .env("COUNTERSIGN_PASSWORD", home.password())
            .env("COUNTERSIGN_NO_KEYRING", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // A group of its own, so that it can be ended with everything that it has started.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context(
                "start dbus-run-session (apt-get install dbus-x11) and tauri-driver (cargo install tauri-driver)",
            )?;
        let drivers = Drivers(drivers);
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
        let window = session.with_context(|| format!("the application's log:\n{}", home.log()))?;
        Ok(Self { window, _drivers: drivers, binary, display, home })
    }

    /// Ends the drivers and what is left of the application.
    pub(crate) fn end(self) {
        // Asking an application that has closed to close would wait for a long time.
        let _ = self.window.leak();
    }

    /// What went wrong comes with the application's log and a picture of the window.
    pub(crate) async fn tell<T>(&self, story: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
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

    pub(crate) fn window(&self) -> &WebDriver {
        &self.window
    }

    /// The text of an element that is there.
    pub(crate) async fn text(&self, css: &str) -> anyhow::Result<String> {
        let found = self.ask("return document.querySelector(arguments[0])?.textContent ?? null", css).await?;
        let text = found.and_then(|found| found.as_str().map(str::to_owned));
        text.with_context(|| format!("there is no {css}"))
    }

    /// The whole numbers in these elements, together.
    pub(crate) async fn sum(&self, css: &str) -> anyhow::Result<usize> {
        let script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)";
        let texts: Vec<String> = serde_json::from_value(self.ask(script, css).await?.unwrap_or_default())?;
        let number = |text: &String| text.parse::<usize>().with_context(|| format!("`{text}` in {css} is no number"));
        texts.iter().map(number).sum()
    }

    /// How many of these elements there are.
    pub(crate) async fn count(&self, css: &str) -> anyhow::Result<u64> {
        let found = self.ask("return document.querySelectorAll(arguments[0]).length", css).await?;
        found.and_then(|found| found.as_u64()).context("the page counts nothing")
    }

    pub(crate) async fn is_there(&self, css: &str) -> anyhow::Result<bool> {
        let found = self.ask("return document.querySelector(arguments[0]) !== null || null", css).await?;
        Ok(found.is_some())
    }

    /// Waits until there is no such element.
    pub(crate) async fn without(&self, css: &str, within: Duration) -> anyhow::Result<()> {
        until(&format!("{css} to go"), within, async || {
            self.ask("return document.querySelector(arguments[0]) === null || null", css).await
        })
        .await
        .map(drop)
    }

    pub(crate) fn log(&self) -> String {
        self.home.log()
    }

    /// Waits for an element.
    pub(crate) async fn see(&self, css: &str, within: Duration) -> anyhow::Result<()> {
        until(css, within, async || self.ask("return document.querySelector(arguments[0]) !== null || null", css).await)
            .await
            .map(drop)
    }

    /// Waits for an element with a text in it.
    pub(crate) async fn see_text(&self, css: &str, text: &str, within: Duration) -> anyhow::Result<()> {
        until(&format!("{text:?} in {css}"), within, async || {
            let found = self.ask("return document.querySelector(arguments[0])?.textContent ?? null", css).await?;
            Ok(found.filter(|found| found.as_str().is_some_and(|found| found.contains(text))))
        })
        .await
        .map(drop)
    }

    /// Waits for an element and answers one of its attributes.
    pub(crate) async fn attribute(&self, css: &str, name: &str, within: Duration) -> anyhow::Result<String> {
        until(css, within, async || {
            let script = format!("return document.querySelector(arguments[0])?.getAttribute('{name}') ?? null");
            let found = self.ask(&script, css).await?;
            Ok(found.and_then(|found| found.as_str().map(str::to_owned)))
        })
        .await
    }

    pub(crate) async fn click(&self, test_id: &str) -> anyhow::Result<()> {
        self.window.find(By::Css(format!(r#"[data-testid="{test_id}"]"#))).await?.click().await?;
        Ok(())
    }

    /// Types into a field, in place of what is there, and ends with Enter.
    pub(crate) async fn enter(&self, test_id: &str, text: &str) -> anyhow::Result<()> {
        self.fill(test_id, text).await?;
        let field = self.window.find(By::Css(format!(r#"[data-testid="{test_id}"]"#))).await?;
        field.send_keys(Key::Enter + "").await?;
        Ok(())
    }

    /// Clicks the first element of this kind, once there is one.
    pub(crate) async fn click_first(&self, css: &str, within: Duration) -> anyhow::Result<()> {
        self.see(css, within).await?;
        self.window.find(By::Css(css)).await?.click().await?;
        Ok(())
    }

    /// By how many pixels the page is wider than the window.
    pub(crate) async fn overflow(&self) -> anyhow::Result<u64> {
        let script = "const page = document.scrollingElement; return Math.max(0, page.scrollWidth - page.clientWidth)";
        let wide = self.ask(script, "").await?;
        wide.and_then(|wide| wide.as_u64()).context("the page has no width")
    }

    /// Types into a field, in place of what is there.
    pub(crate) async fn fill(&self, test_id: &str, text: &str) -> anyhow::Result<()> {
        let field = self.window.find(By::Css(format!(r#"[data-testid="{test_id}"]"#))).await?;
        // As a person does it: WebDriver's own way to clear a field goes unnoticed by the page.
        field.send_keys(Key::Control + "a").await?;
        field.send_keys(text).await?;
        Ok(())
    }

    pub(crate) async fn press_button(&self, label: &str) -> anyhow::Result<()> {
        self.window.find(By::XPath(format!("//button[normalize-space()='{label}']"))).await?.click().await?;
        Ok(())
    }

    /// Waits for rows, selects some from the first one down, and answers which, by their identifiers.
    pub(crate) async fn select_with_the_keyboard(&self, count: usize, within: Duration) -> anyhow::Result<Vec<i64>> {
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
    pub(crate) async fn approve(&self) -> anyhow::Result<()> {
        let within = Duration::from_secs(20);
        self.see(r#"[data-testid="approve"]:not([disabled])"#, within).await?;
        self.window.action_chain().send_keys("a").perform().await?;
        self.see(r#"[data-testid="sign-confirm"]:not([disabled])"#, within).await?;
        self.see(r#"[data-testid="preflight-COMMITTED"]"#, within).await?;
        self.window.action_chain().key_down(Key::Control).send_keys(Key::Enter).key_up(Key::Control).perform().await?;
        Ok(())
    }

    /// Takes a picture once everything is painted.
    pub(crate) async fn picture(&self, file: &Path) -> anyhow::Result<()> {
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let two_frames =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.window.execute_async(two_frames, Vec::new()).await?;
        self.display.picture(file).await
    }

    /// Kills the application as a power cut would, and waits until it is gone.
    pub(crate) async fn kill(&self, within: Duration) -> anyhow::Result<()> {
        self.signal("-KILL").await?;
        self.gone(within).await
    }

    /// Asks the application to end, as the end of a desktop session does.
    pub(crate) async fn ask_to_end(&self) -> anyhow::Result<()> {
        self.signal("-TERM").await
    }

    async fn signal(&self, signal: &str) -> anyhow::Result<()> {
        let processes = self.processes()?;
        ensure!(!processes.is_empty(), "the application does not run");
        for process in processes {
            Command::new("kill").args([signal, &process.to_string()]).status().await.context("run kill")?;
        }
        Ok(())
    }

    /// Waits until the application has ended.
    pub(crate) async fn gone(&self, within: Duration) -> anyhow::Result<()> {
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

/// The drivers and everything that they have started: one group, which ends with this, also when a test panics.
struct Drivers(Child);

impl Drop for Drivers {
    fn drop(&mut self) {
        let Some(id) = self.0.id() else { return };
        // What has ended already cannot be told to.
        let _ = std::process::Command::new("kill").args(["-9", "--", &format!("-{id}")]).status();
    }
}
