//! What comes in: arrivals, the lines of large claims, vendors, and how well receipts are read.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use countersign_admin::claim_lines::{self, Format};
use countersign_admin::enqueue::{self, EnqueueReport, Mapping};
use countersign_admin::text::shown;
use countersign_admin::{AdminError, Database, Needs, capture, vendor};

use super::operators::Why;
use super::{Output, open};

/// The most bytes of a mapping file.
const MAPPING_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Subcommand)]
pub(super) enum Intake {
    /// Take in arrivals, one JSON document a line, or with a mapping the records of a delimited file; it fails if no line is taken in
    /// or known, and some are refused
    Enqueue(EnqueueArguments),
    /// Load the lines of a large claim, before the claim itself arrives; interrupted, it may be run again
    ClaimLines {
        /// The claim's idempotency key
        key: String,
        /// The lines, as .csv with the head `item,units,tier_rate[,amount]` or as .jsonl with these names; - for JSON lines on standard input
        file: OsString,
        #[command(flatten)]
        output: Output,
    },
    /// Show how well receipts are read, by the day they were submitted
    Capture {
        /// Fail if too many of any day's receipts drift
        #[arg(long)]
        alert: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Keep the register of vendors, whose claims are taken in
    #[command(subcommand)]
    Vendor(VendorCommand),
}

#[derive(Debug, Args)]
pub(super) struct EnqueueArguments {
    /// The file, or - for standard input
    file: OsString,
    /// How the columns of a delimited file make an arrival, in TOML or JSON
    #[arg(long, value_name = "FILE")]
    mapping: Option<OsString>,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
pub(super) enum VendorCommand {
    /// Register a vendor, or give it another name
    Add {
        /// The id that claims name it by
        id: String,
        /// Its name
        name: String,
    },
    /// List the register, by id
    List {
        /// Only what comes after this id
        #[arg(long, default_value = "", value_name = "ID")]
        after: String,
        /// How many
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Register every vendor of a CSV file with the head `vendor_id,name`
    Import {
        /// The file, or - for standard input
        file: OsString,
    },
    /// Take no more claims of a vendor in; what is there stays
    Disable {
        /// Its id
        id: String,
        #[command(flatten)]
        why: Why,
    },
}

impl Intake {
    /// Whose command it is.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Self::Enqueue(_) | Self::ClaimLines { .. } => Needs::Producer,
            Self::Capture { .. } | Self::Vendor(VendorCommand::List { .. }) => Needs::Reader,
            Self::Vendor(_) => Needs::Supervisor,
        }
    }
}

pub(super) async fn run(database: &Database, command: Intake) -> Result<String, AdminError> {
    match command {
        Intake::Enqueue(arguments) => enqueue(database, arguments).await,
        Intake::ClaimLines { key, file, output } => {
            let origin = named(&file);
            let csv = Path::new(&file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
            let format = if csv { Format::Csv } else { Format::JsonLines };
            let mut told = Told::new(None);
            let input = blocking(&file, &origin)?;
            let loaded = claim_lines::load(database, &key, input, format, &origin, |lines| told.tell(lines, 0)).await?;
            output.of(&loaded, || claim_lines::describe(&key, &loaded))
        }
        Intake::Capture { alert, output } => {
            let days = capture::days(database).await?;
            let text = output.of(&days, || capture::describe(&days))?;
            let over: Vec<String> = days.iter().filter(|day| day.alert).map(|day| day.day.to_string()).collect();
            if !alert || over.is_empty() {
                return Ok(text);
            }
            // The error and the exit code stand, whether anybody reads this or not.
            let _ = io::stdout().lock().write_all(text.as_bytes());
            Err(AdminError::Request(format!("too many receipts drift on {}", over.join(", "))))
        }
        Intake::Vendor(command) => vendors(database, command).await,
    }
}

async fn enqueue(database: &Database, arguments: EnqueueArguments) -> Result<String, AdminError> {
    let EnqueueArguments { file, mapping, output } = arguments;
    let origin = named(&file);
    let delimited = Path::new(&file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if delimited && mapping.is_none() {
        let why = "a delimited file is read with --mapping, which says what its columns are; nothing was taken in";
        return Err(AdminError::Request(format!("{}: {why}", shown(&origin))));
    }
    let mut told = Told::new(size(&file));
    let progress = |report: &EnqueueReport, bytes| told.tell(report.lines, bytes);
    let report = match mapping {
        None => enqueue::enqueue_reader_with(database, open(&file, &origin).await?, &origin, progress).await?,
        Some(path) => {
            let name = named(&path);
            let mut text = String::new();
            let mut mapping = blocking(&path, &name)?.take(MAPPING_BYTES);
            mapping
                .read_to_string(&mut text)
                .map_err(|source| AdminError::Unreadable { origin: shown(&name), source })?;
            let mapping = Mapping::read(&text, &name)?;
            enqueue::enqueue_records(database, blocking(&file, &origin)?, &mapping, &origin, progress).await?
        }
    };
    let text = output.of(&report, || enqueue::describe(&report, &origin))?;
    if !report.kept_out() {
        return Ok(text);
    }
    // The error and the exit code stand, whether anybody reads this or not.
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Err(AdminError::Request(format!("nothing of {} went in: every line was refused", shown(&origin))))
}

async fn vendors(database: &Database, command: VendorCommand) -> Result<String, AdminError> {
    match command {
        VendorCommand::Add { id, name } => {
            let registered = vendor::register(database, &[(id, name)]).await?;
            Ok(vendor::describe_registered(&registered))
        }
        VendorCommand::Import { file } => {
            let origin = named(&file);
            let registered = vendor::register(database, &vendor::read(blocking(&file, &origin)?, &origin)?).await?;
            Ok(vendor::describe_registered(&registered))
        }
        VendorCommand::List { after, limit, output } => {
            let vendors = vendor::list(database, &after, limit).await?;
            output.of(&vendors, || vendor::describe(&vendors))
        }
        VendorCommand::Disable { id, why } => {
            let active = vendor::disable(database, &id, &why.reason).await?;
            let id = shown(&id);
            Ok(if active {
                format!("No more claims of {id} are taken in.\n")
            } else {
                format!("{id} was disabled already.\n")
            })
        }
    }
}

fn named(file: &OsStr) -> String {
    if file == "-" { "standard input".into() } else { file.to_string_lossy().into_owned() }
}

fn size(file: &OsStr) -> Option<u64> {
    let data = std::fs::metadata(file).ok()?;
    data.is_file().then_some(data.len())
}

fn blocking(file: &OsStr, origin: &str) -> Result<Box<dyn Read + Send>, AdminError> {
    if file == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable = |source| AdminError::Unreadable { origin: shown(origin), source };
    let opened = File::open(file).map_err(unreadable)?;
    if opened.metadata().map_err(unreadable)?.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    Ok(Box::new(opened))
}

/// Says once a second how far it is, where somebody watches.
struct Told {
    watched: bool,
    began: Instant,
    last: Instant,
    size: Option<u64>,
}

impl Told {
    fn new(size: Option<u64>) -> Self {
        let now = Instant::now();
        Self { watched: io::stderr().is_terminal(), began: now, last: now, size }
    }

    fn tell(&mut self, lines: u64, bytes: u64) {
        if self.watched && self.last.elapsed() >= Duration::from_secs(1) {
            eprintln!("{}", progress(lines, bytes, self.size, self.began.elapsed()));
            self.last = Instant::now();
        }
    }
}

/// Lines, lines a second, and how long the rest will take where its size is known.
fn progress(lines: u64, bytes: u64, size: Option<u64>, elapsed: Duration) -> String {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let mut text = format!("{lines} lines, {} a second", lines.saturating_mul(1000) / millis);
    if let Some(left) = size.and_then(|size| size.checked_sub(bytes)).filter(|_| bytes > 0) {
        let seconds = u128::from(left) * u128::from(millis) / u128::from(bytes) / 1000;
        let _ = write!(text, ", about {}:{:02} left", seconds / 60, seconds % 60);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let told = progress(2_000, 1_000_000, Some(61_000_000), Duration::from_secs(2));
        assert_eq!(told, "2000 lines, 1000 a second, about 2:00 left");
        assert_eq!(progress(0, 0, None, Duration::ZERO), "0 lines, 0 a second");
    }
}
