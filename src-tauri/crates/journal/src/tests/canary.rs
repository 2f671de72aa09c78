//! Nothing that a reviewer reads or writes is on the disk for others to read, whatever happens.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use countersign_domain::focus::Focus;
use countersign_engine::port::{DeckItem, Entry, Journal as _, LocalDeadLetter, Stage, Write};
use uuid::Uuid;

use super::fixture::*;
use crate::SqliteJournal;

const PATH: &str = "COUNTERSIGN_JOURNAL_CANARY_PATH";
/// In everything that is written, beside other text.
const CANARY: &str = "canary-Größe-4711";
const GROUP: i64 = 5_000;

fn sung(text: &str) -> String {
    format!("{text} {CANARY} {text}")
}

fn canary_body(n: i64) -> String {
    format!(r#"{{"n":{n},"memo":"{}"}}"#, CANARY.repeat(20))
}

fn canary_item(n: i64) -> DeckItem {
    let mut item = item(n);
    item.key = sung(&item.key);
    item.group = Some(sung("group"));
    item.entity = sung("entity");
    item.counterparty = sung("counterparty");
    item.source_hash = sung("source");
    item.suggestion.reasons = vec![sung("reason")];
    item.note = Some(sung("note"));
    item.content = countersign_domain::hash::content_hash(&canary_body(n));
    item
}

fn canary_entry(n: i64) -> Entry {
    let mut entry = entry(n);
    entry.item = canary_item(n);
    entry.sign_off.content = entry.item.content;
    entry.sign_off.reason = Some(sung("reason"));
    entry.sign_off.comment = Some(sung("comment"));
    entry
}

/// A day: each step is one change.
fn day() -> Vec<Write> {
    let items = (1..=GROUP + 200).map(|n| (canary_item(n), canary_body(n))).collect();
    let refused = |n| {
        let mut settled = answered(n, Stage::Refused, Some(REFUSED));
        settled.problem = Some(sung("problem"));
        settled
    };
    // Another version of what is there: the one before is kept.
    let changed = |n| {
        let body = format!("{} again", canary_body(n));
        let mut item = canary_item(n);
        (item.version, item.content) = (2, countersign_domain::hash::content_hash(&body));
        (item, body)
    };
    let focus = Focus { counterparties: vec![sung("counterparty")], ..Focus::default() };
    let letter = LocalDeadLetter {
        id: countersign_domain::id::ExceptionId(GROUP + 150),
        version: 1,
        body: canary_body(GROUP + 150),
        reason: sung("poison"),
        attempts: 3,
        at: time(0),
    };
    vec![
        Write::Bind { installation: Uuid::from_u128(1), reviewer: sung("reviewer") },
        Write::Leased { leases: (0..=GROUP / 10).map(lease).collect(), items },
        Write::Signed { entries: (1..=GROUP).map(canary_entry).collect(), attestation: sung("attestation") },
        signing((GROUP + 1..=GROUP + 100).map(canary_entry).collect()),
        Write::Withdrawn((GROUP + 50..=GROUP + 100).map(key).collect()),
        Write::Settled((1..=2_000).map(refused).collect()),
        Write::Dismissed((1..=1_000).map(key).collect()),
        Write::Leased { leases: Vec::new(), items: (GROUP + 160..=GROUP + 190).map(changed).collect() },
        Write::Focus(Some(focus)),
        Write::UiState(sung("half a comment")),
        Write::DeadLettered(vec![letter]),
        Write::Dropped((0..100).map(partition).collect()),
        Write::Cleared,
        signing((GROUP + 101..=GROUP + 120).map(canary_entry).collect()),
    ]
}

/// No test of its own: the process that is killed below. It makes one change after the other, each when it is told to.
#[test]
fn works_through_a_day_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else { return };
    let mut journal = SqliteJournal::open(&path, &secret(), WORKSTATION).expect("it opens");
    for (n, write) in day().iter().enumerate() {
        journal.write(write).expect("it is durable");
        journal.restore().expect("it reads");
        println!("did {n}");
        std::io::stdin().read_exact(&mut [0]).expect("the parent says when");
    }
}

/// Looks for the canary in a file's bytes, as UTF-8 and as both kinds of UTF-16.
fn assert_silent(path: &Path, when: &str) {
    let Ok(bytes) = fs::read(path) else { return };
    let wide = |order: fn(u16) -> [u8; 2]| CANARY.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    for canary in [CANARY.as_bytes().to_vec(), wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        // By its first byte, with the standard library's own search: one of ours would be slow without optimisation.
        let mut rest = bytes.as_slice();
        while rest.skip_until(canary[0]).expect("it is in memory") > 0 {
            assert!(!rest.starts_with(&canary[1..]), "{} after {when}", path.display());
        }
    }
}

fn assert_silent_directory(directory: &Path, when: &str) {
    for entry in fs::read_dir(directory).expect("it reads") {
        let path = entry.expect("it reads").path();
        // Of a process's open files, only those are not in their directories that were deleted.
        let elsewhere = fs::read_link(&path).is_ok_and(|target| !target.to_string_lossy().ends_with("(deleted)"));
        if path.is_file() && !elsewhere {
            assert_silent(&path, when);
        }
    }
}

#[test]
fn nothing_that_was_written_can_be_read_without_the_key() {
    let steps = day().len();
    // After the big group, in the middle of the day, and at its end.
    for killed_after in [2, 10, steps - 1] {
        let place = place();
        let directory = place.path.parent().expect("a directory").to_owned();
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let mut child = Command::new(std::env::current_exe().expect("this test has a path"))
            .args(["--exact", "tests::canary::works_through_a_day_until_it_is_killed", "--nocapture"])
            .env(PATH, &place.path)
            .envs(["TMPDIR", "SQLITE_TMPDIR", "TMP", "TEMP"].map(|name| (name, temporary.path())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        for step in 0..=killed_after {
            let told =
                lines.by_ref().map(|line| line.expect("it reads")).find(|line| line.contains(&format!("did {step}")));
            assert!(told.is_some(), "it works until it is killed");
            // Files that were deleted but are still open are on the disk, too.
            #[cfg(target_os = "linux")]
            assert_silent_directory(Path::new(&format!("/proc/{}/fd", child.id())), &format!("step {step}"));
            assert_silent_directory(&directory, &format!("step {step}"));
            assert_silent_directory(temporary.path(), &format!("step {step}"));
            if step < killed_after {
                std::io::Write::write_all(child.stdin.as_mut().expect("it is piped"), b"\n").expect("it listens");
            }
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_silent_directory(&directory, "the kill");
        assert_silent_directory(temporary.path(), "the kill");
        let mut journal = place.open();
        assert!(outbox(&mut journal).len() >= 20, "it holds what was signed");
        assert_silent_directory(&directory, "the next opening");
        drop(journal);
        assert_silent_directory(&directory, "closing");
    }
}

#[test]
fn the_canary_is_found_where_nothing_is_encrypted() {
    let place = place();
    plaintext(&place.path, day().into_iter().take(2));
    let found = std::panic::catch_unwind(|| {
        assert_silent_directory(place.path.parent().expect("a directory"), "the control");
    });
    found.expect_err("it is there to find");
}
