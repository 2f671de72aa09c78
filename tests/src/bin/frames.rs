//! How fast the deck scrolls in `WebKitGTK` without a GPU, beside a bare list of virtual rows; `docs/bench.md` says how to read it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Parser;
use countersign_tests::display::Display;
use countersign_tests::wait::until;
use serde_json::json;
use thirtyfour::prelude::*;
use tokio::process::{Child, Command};

/// Deck sizes that are compared.
const FEW: u32 = 100;
const MANY: u32 = 5_000;
/// Pixels that each frame scrolls by: most of the rows on screen are other ones after two of them.
const STEP_PX: u32 = 400;
/// Frames of one measurement, after the same number that is not counted.
const FRAMES: u32 = 300;
/// Measurements of each page, in turns; the median counts.
const ROUNDS: usize = 5;
/// Until a page is drawn, or a measurement is over, on a busy machine.
const WITHIN: Duration = Duration::from_mins(2);
const WINDOW: (u32, u32) = (1400, 880);
/// Comes with Debian's and Ubuntu's libwebkit2gtk-4.1-0.
const BROWSERS: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser"];

const SCROLL: &str = "
    const [step, frames, done] = arguments;
    const grid = document.querySelector('[data-testid=\"grid\"]');
    const took = [];
    let [direction, last] = [1, performance.now()];
    const frame = () => {
        const now = performance.now();
        took.push(Math.round(1000 * (now - last)));
        last = now;
        if (took.length === 2 * frames) return done(took.slice(frames));
        const end = grid.scrollHeight - grid.clientHeight;
        if (grid.scrollTop >= end) direction = -1;
        if (grid.scrollTop <= 0) direction = 1;
        grid.scrollTop += direction * step;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);";

/// From the key to the end of the first frame in which every row on screen is drawn as selected.
const SELECT: &str = "
    const [done] = arguments;
    const grid = document.querySelector('[data-testid=\"grid\"]');
    grid.scrollTop = 0;
    const key = (name, more) => grid.querySelector('[role=\"row\"][tabindex=\"0\"]').dispatchEvent(
        new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more }));
    key('Escape');
    requestAnimationFrame(() => requestAnimationFrame(() => {
        let frames = 0;
        const began = performance.now();
        key('a', { ctrlKey: true });
        const look = () => {
            frames += 1;
            const rows = [...grid.querySelectorAll('[data-id]')];
            if (rows.every((row) => row.getAttribute('aria-selected') === 'true')) {
                requestAnimationFrame(() => done([frames, Math.round(1000 * (performance.now() - began))]));
            } else {
                requestAnimationFrame(look);
            }
        };
        requestAnimationFrame(look);
    }));";

/// Measures frame times of the deck beside those of a bare list.
#[derive(Debug, Parser)]
struct Arguments {
    /// The UI's directory, with a build for the browser in it.
    #[arg(long)]
    ui: PathBuf,
    /// Also write every frame's time to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Frame times in microseconds, one list for each round.
#[derive(Debug, Default, serde::Serialize)]
struct Times {
    few: Vec<Vec<u64>>,
    many: Vec<Vec<u64>>,
    bare: Vec<Vec<u64>>,
    /// Frames and microseconds until a selection of all rows was painted.
    select: Vec<(u64, u64)>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let display = Display::start(WINDOW).await?;
    let (site, driver) = (free_port()?, free_port()?);
    let _server = spawn(
        Command::new("npx")
            .args(["vite", "preview", "--mode", "browser", "--host", "127.0.0.1", "--strictPort", "--port"])
            .arg(site.to_string())
            .current_dir(&arguments.ui),
    )?;
    let _driver = spawn(
        Command::new("WebKitWebDriver")
            .arg(format!("--port={driver}"))
            .env("DISPLAY", display.name())
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            // As the application does it where there is no GPU.
            .env("WEBKIT_DISABLE_COMPOSITING_MODE", "1"),
    )?;
    until("the browser to listen", WITHIN, async || {
        for port in [site, driver] {
            tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        }
        Ok(Some(()))
    })
    .await?;
    let mut capabilities = thirtyfour::Capabilities::new();
    capabilities.set("webkitgtk:browserOptions", json!({"binary": browser()?, "args": ["--automation"]}))?;
    let window = WebDriver::new(&format!("http://127.0.0.1:{driver}"), capabilities).await.context("open a window")?;
    window.set_script_timeout(WITHIN).await?;
    window.set_window_rect(0, 0, WINDOW.0, WINDOW.1).await?;
    let times = measure(&window, site).await;
    window.quit().await?;
    let times = times?;
    write!(std::io::stdout(), "{}", table(&times)?).context("print the table")?;
    if let Some(path) = arguments.json {
        std::fs::write(&path, serde_json::to_vec(&times)?).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

async fn measure(window: &WebDriver, site: u16) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for round in 1..=ROUNDS {
        let _ = writeln!(std::io::stderr(), "frames: round {round} of {ROUNDS}");
        let page = |name: &str, deck: u32| format!("http://127.0.0.1:{site}/{name}?deck={deck}&bound={MANY}");
        times.few.push(scrolled(window, &page("index.html", FEW)).await?);
        times.many.push(scrolled(window, &page("index.html", MANY)).await?);
        let selected = window.execute_async(SELECT, Vec::new()).await?;
        times.select.push(serde_json::from_value(selected.json().clone())?);
        times.bare.push(scrolled(window, &page("bare-list.html", MANY)).await?);
    }
    Ok(times)
}

async fn scrolled(window: &WebDriver, page: &str) -> anyhow::Result<Vec<u64>> {
    window.goto(page).await?;
    until("rows", WITHIN, async || {
        let script = "return document.querySelector('[data-testid=\"grid\"]')?.scrollHeight > 1000 || null";
        Ok(Some(window.execute(script, Vec::new()).await?.json().clone()).filter(|found| !found.is_null()))
    })
    .await?;
    let took = window.execute_async(SCROLL, vec![json!(STEP_PX), json!(FRAMES)]).await?;
    Ok(serde_json::from_value(took.json().clone())?)
}

fn table(times: &Times) -> anyhow::Result<String> {
    let mut table = String::from("\nscrolling, 400 px a frame, WebKitGTK without a GPU\n");
    writeln!(table, "{:<24}{:>12}{:>12}", "", "p50 ms", "p99 ms")?;
    let rows = [("100 rows", &times.few), ("5,000 rows", &times.many), ("bare list, 5,000 rows", &times.bare)];
    for (name, rounds) in rows {
        writeln!(table, "{name:<24}{:>12}{:>12}", ms(quantile(rounds, 50)), ms(quantile(rounds, 99)))?;
    }
    let (few, many, bare) = (quantile(&times.few, 99), quantile(&times.many, 99), quantile(&times.bare, 99));
    writeln!(table, "p99 of 5,000 rows / 100 rows: {} (at most 1.10)", ratio(many, few))?;
    writeln!(table, "p99 of 5,000 rows / bare list: {} (at most 1.20)", ratio(many, bare))?;
    let mut select: Vec<(u64, u64)> = times.select.clone();
    select.sort_unstable();
    if let Some((frames, us)) = select.get(select.len() / 2) {
        writeln!(table, "selecting 5,000 is painted after {frames} frames, {} ms (at most 3 frames)", ms(*us))?;
    }
    Ok(table)
}

/// The median of the rounds' quantiles.
fn quantile(rounds: &[Vec<u64>], percent: usize) -> u64 {
    let of = |times: &Vec<u64>| {
        let mut times = times.clone();
        times.sort_unstable();
        times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0)
    };
    let mut all: Vec<u64> = rounds.iter().map(of).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

fn ms(us: u64) -> String {
    format!("{}.{}", us / 1_000, us % 1_000 / 100)
}

fn ratio(a: u64, b: u64) -> String {
    let hundredths = a * 100 / b.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn browser() -> anyhow::Result<&'static str> {
    match BROWSERS.iter().find(|path| Path::new(path).is_file()) {
        Some(path) => Ok(path),
        None => bail!("there is no MiniBrowser; it comes with libwebkit2gtk-4.1-0"),
    }
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?.local_addr()?.port())
}

/// A process with everything that it starts; it ends with this.
fn spawn(command: &mut Command) -> anyhow::Result<Group> {
    let name = command.as_std().get_program().to_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0).kill_on_drop(true).spawn();
    Ok(Group(child.with_context(|| format!("start {}", name.display()))?))
}

struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let Some(id) = self.0.id() else { return };
        // What has ended already cannot be told to.
        let _ = std::process::Command::new("kill").args(["-9", "--", &format!("-{id}")]).status();
    }
}
