//! The log: JSON lines in a file that does not grow without end, or on standard error.
//!
//! Only Countersign's own events and others' warnings are written. More of what libraries have to say, a keyring's messages among
//! it, could hold a password, so that there is no switch for it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// When a file is this long, in bytes, it becomes the previous one; there is one of each.
const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Starts the log.
pub(crate) fn start(data_dir: &Path, to_stderr: bool) -> Result<(), String> {
    let filter = Targets::new().with_default(LevelFilter::WARN).with_target("countersign", LevelFilter::INFO);
    let registry = tracing_subscriber::registry();
    if to_stderr {
        registry.with(fmt::layer().json().with_writer(io::stderr).with_filter(filter)).init();
    } else {
        let file = BoundedFile::open(data_dir.join("log").join("countersign.jsonl"), FILE_BYTES)
            .map_err(|error| format!("{}: the log cannot be written: {error}", data_dir.join("log").display()))?;
        registry.with(fmt::layer().json().with_writer(Mutex::new(file)).with_filter(filter)).init();
    }
    // In the log, because a window has no terminal on which a panic could be read; and not by the usual hook too, which says it all.
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let said = panic.payload_as_str().map_or("no message", without_values);
        // Functions and lines only, where RUST_BACKTRACE asks for them.
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            tracing::error!(event = "panic", place, %trace, "{said}");
        } else {
            tracing::error!(event = "panic", place, "{said}");
        }
    }));
    Ok(())
}

/// The words of a panic up to the first value: what follows a colon or stands in quotes may be an exception's content or a password.
/// The place says the rest.
fn without_values(said: &str) -> &str {
    said.split([':', '`', '\'', '"', '\n']).next().unwrap_or_default().trim_end()
}

/// A file and the one before it, each of a bounded size.
#[derive(Debug)]
struct BoundedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    limit: u64,
}

impl BoundedFile {
    fn open(path: PathBuf, limit: u64) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let file = append_to(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes, limit })
    }
}

impl Write for BoundedFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.bytes >= self.limit {
            fs::rename(&self.path, self.path.with_extension("1.jsonl"))?;
            self.file = append_to(&self.path)?;
            self.bytes = 0;
        }
        let written = self.file.write(line)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Nobody else may read it.
fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_logged_without_the_values_it_quotes() {
        for panics in [
            || std::hint::black_box(Err::<(), _>("canary")).expect("a good body"),
            || assert_eq!("canary", "other", "bodies differ: {}", "canary"),
            || drop(std::hint::black_box("é canary")[1..].to_owned()),
        ] {
            let payload = std::panic::catch_unwind(panics).expect_err("a panic");
            let said = payload.downcast_ref::<String>().map_or("", String::as_str);
            let kept = without_values(said);
            assert!(said.contains("canary") && !kept.contains("canary") && !kept.is_empty(), "{said} -> {kept}");
        }
        assert_eq!(without_values("the journal keeps its lock"), "the journal keeps its lock");
    }

    #[test]
    fn a_full_file_becomes_the_previous_one_and_there_are_never_more_than_two() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("log").join("countersign.jsonl");
        let mut file = BoundedFile::open(path.clone(), 10).expect("a writable directory");
        for line in ["first line\n", "second line\n", "third line\n"] {
            file.write_all(line.as_bytes()).expect("a writable file");
        }
        let read = |path: PathBuf| fs::read_to_string(path).expect("a file that was written");
        assert_eq!(read(path.clone()), "third line\n");
        assert_eq!(read(path.with_extension("1.jsonl")), "second line\n");
        assert_eq!(fs::read_dir(directory.path().join("log")).expect("the directory").count(), 2);
        // Another start goes on where this one ended.
        BoundedFile::open(path.clone(), 100).expect("the file").write_all(b"fourth\n").expect("a writable file");
        assert_eq!(read(path), "third line\nfourth\n");
    }
}
