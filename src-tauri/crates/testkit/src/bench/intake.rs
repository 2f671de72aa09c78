//! Taking arrivals in by the million, beside a bare COPY of the same bytes; and small work while a large claim's lines load.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Cursor, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use countersign_admin::claim_lines::{self, Format};
use countersign_admin::enqueue::enqueue_reader_with;
use countersign_engine::port::HeldCursor;
use serde::Serialize;

use super::server::{Copy, Server};
use super::sides::{Side, Which, approve};
use crate::generate::Arrival;

/// Arrivals in one partition.
const EACH: u64 = 100;
const COPY_BYTES: usize = 256 * 1024;
/// Items in one round of the small work.
const ROUND: u32 = 10;
const ITEMS: u32 = 100;

/// Arrivals taken in.
#[derive(Debug, Serialize)]
pub struct IntakeRow {
    /// How many.
    pub arrivals: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// How long the product took, in milliseconds.
    pub product_ms: u64,
    /// How long a COPY of the same lines into a plain table took.
    pub copy_ms: u64,
    /// How long a second run took, which changed nothing.
    pub again_ms: u64,
    /// Memory of this process when a tenth was in, and the most it ever had after that, in KiB.
    pub memory_kib: [u64; 2],
}

/// Small work beside a large load.
#[derive(Debug, Serialize)]
pub struct FlowRow {
    /// Lines of the claim that loaded meanwhile.
    pub lines: u64,
    /// Rounds of leasing and signing, without and with it.
    pub rounds: [usize; 2],
    /// The median round, in microseconds, without and with it.
    pub median_us: [u64; 2],
}

impl fmt::Display for IntakeRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arrivals, bytes, product_ms, copy_ms, again_ms, memory_kib: [tenth, peak] } = self;
        let rate = |ms: &u64| arrivals.saturating_mul(1000) / (*ms).max(1);
        writeln!(f, "\nenqueue: {arrivals} arrivals, {} MB", bytes / 1_000_000)?;
        writeln!(
            f,
            "  {}/s, a bare COPY {}/s: ratio 0.{:03}",
            rate(product_ms),
            rate(copy_ms),
            copy_ms.saturating_mul(1000) / (*product_ms).max(1)
        )?;
        writeln!(f, "  run again: {}/s, and nothing changed", rate(again_ms))?;
        writeln!(f, "  memory: {tenth} KiB when a tenth was in, at most {peak} KiB after that")
    }
}

impl fmt::Display for FlowRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [alone, beside] = self.median_us;
        writeln!(f, "\nflow: lease and sign {ROUND} while a claim of {} lines loads", self.lines)?;
        let hundredths = beside.saturating_mul(100) / alone.max(1);
        writeln!(
            f,
            "  p50 {alone} us alone, {beside} us beside it: ratio {}.{:02} ({} and {} rounds)",
            hundredths / 100,
            hundredths % 100,
            self.rounds[0],
            self.rounds[1]
        )
    }
}

pub(crate) async fn measure(server: &Server, arrivals: u64) -> anyhow::Result<IntakeRow> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("arrivals.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    for number in 0..arrivals {
        writeln!(file, "{}", Arrival::new(number, &format!("p-{:06}", number / EACH)).line())?;
    }
    file.flush()?;
    let bytes = std::fs::metadata(&path)?.len();
    server.template("intake", &[]).await?;
    let mut copy = server.copy("intake", 0).await?;
    let copy_ms = bare(&mut copy, &path).await?;
    super::progress("enqueue: copied");
    let began = Instant::now();
    let mut tenth = 0;
    let report = enqueue(&copy, &path, |lines| {
        if tenth == 0 && lines >= arrivals / 10 {
            tenth = memory("VmRSS").unwrap_or_default();
        }
    })
    .await?;
    let product_ms = millis(began.elapsed());
    let peak = memory("VmHWM").context("read the peak of memory")?;
    anyhow::ensure!(report.enqueued == arrivals, "{report:?}");
    let before = state(&mut copy).await?;
    super::progress("enqueue: taken in");
    let began = Instant::now();
    let again = enqueue(&copy, &path, |_| {}).await?;
    let again_ms = millis(began.elapsed());
    anyhow::ensure!(
        again.duplicates == arrivals && state(&mut copy).await? == before,
        "a second run changed something"
    );
    copy.remove().await?;
    Ok(IntakeRow { arrivals, bytes, product_ms, copy_ms, again_ms, memory_kib: [tenth, peak] })
}

async fn enqueue(
    copy: &Copy<'_>,
    path: &Path,
    mut told: impl FnMut(u64),
) -> anyhow::Result<countersign_admin::enqueue::EnqueueReport> {
    let reader = tokio::io::BufReader::with_capacity(COPY_BYTES, tokio::fs::File::open(path).await?);
    Ok(enqueue_reader_with(&copy.for_admin()?, reader, "bench", |report, _| told(report.lines)).await?)
}

/// What a second run must leave as it is.
async fn state(copy: &mut Copy<'_>) -> anyhow::Result<(i64, i64, i64, i64)> {
    let sql = "SELECT (SELECT count(*) FROM countersign.exception), (SELECT count(*) FROM countersign.audit_event),
                      (SELECT sum(chain_seq)::bigint FROM countersign.partition), (SELECT sum(pending)::bigint FROM countersign.partition)";
    Ok(sqlx::query_as(sql).fetch_one(&mut copy.owner).await?)
}

/// The same lines, into a table without any rule.
async fn bare(copy: &mut Copy<'_>, path: &Path) -> anyhow::Result<u64> {
    sqlx::raw_sql("CREATE TABLE public.bare (line text NOT NULL)").execute(&mut copy.owner).await?;
    let began = Instant::now();
    let mut sink = copy.owner.copy_in_raw("COPY public.bare FROM STDIN").await?;
    let mut part = String::with_capacity(COPY_BYTES * 2);
    for line in BufReader::new(File::open(path)?).lines() {
        part.push_str(&line?.replace('\\', "\\\\"));
        part.push('\n');
        if part.len() >= COPY_BYTES {
            sink.send(std::mem::take(&mut part).into_bytes()).await?;
        }
    }
    sink.send(part.into_bytes()).await?;
    sink.finish().await?;
    let took = millis(began.elapsed());
    sqlx::raw_sql("DROP TABLE public.bare").execute(&mut copy.owner).await?;
    Ok(took)
}

pub(crate) async fn flow(server: &Server, template: &str, lines: u64, rounds: usize) -> anyhow::Result<FlowRow> {
    let mut copy = server.copy(template, 90).await?;
    let mut side = Side::connect(Which::Product, &copy, ITEMS).await?;
    let mut cursors = Vec::new();
    let mut alone = Vec::new();
    for _ in 0..rounds {
        alone.push(round(&mut side, &mut cursors).await?);
    }
    let database = copy.for_admin()?;
    let text: String = std::iter::once("item,units,tier_rate\n".to_owned())
        .chain((0..lines).map(|number| format!("item {number},2,0.0175\n")))
        .collect();
    let load = tokio::spawn(async move {
        claim_lines::load(&database, "large", Cursor::new(text), Format::Csv, "bench", |_| {}).await
    });
    let mut beside = Vec::new();
    while !load.is_finished() {
        beside.push(round(&mut side, &mut cursors).await?);
    }
    let loaded = load.await.context("wait for the load")??;
    anyhow::ensure!(loaded.lines == lines, "{loaded:?}");
    anyhow::ensure!(!beside.is_empty(), "nothing was signed while the lines loaded");
    side.close().await?;
    let counts = [alone.len(), beside.len()];
    let row = FlowRow { lines, rounds: counts, median_us: [median(alone), median(beside)] };
    sqlx::raw_sql("CHECKPOINT").execute(&mut copy.owner).await?;
    copy.remove().await?;
    Ok(row)
}

/// Leases a few and signs them.
async fn round(side: &mut Side, cursors: &mut Vec<HeldCursor>) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let (_, reply) = side.lease(ROUND, cursors.clone()).await?;
    side.sign_off(&approve(&reply.items)).await?;
    let took = began.elapsed();
    *cursors = reply
        .partitions
        .into_iter()
        .map(|leased| HeldCursor { partition: leased.partition, after: leased.after })
        .collect();
    Ok(took)
}

fn median(mut all: Vec<Duration>) -> u64 {
    all.sort_unstable();
    all.get(all.len() / 2).map_or(0, |took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// A line of what the kernel says of this process, in KiB.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
