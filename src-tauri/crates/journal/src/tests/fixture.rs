//! A journal in a directory of its own, and what goes into it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use countersign_domain::exception::{Kind, MatchDecision, RoutingTier};
use countersign_domain::figure::Outlook;
use countersign_domain::hash::{content_hash, sha256, sign_off_key};
use countersign_domain::id::{BatchId, Epoch, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::scoring::{Route, Suggestion};
use countersign_domain::seal::Seal;
use countersign_domain::sign_off::{Answer, Decision, Outcome, SignOff};
use countersign_engine::port::{DeckItem, Entry, Journal as _, LeaseRow, Restored, Settled, Stage, Step, What, Write};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;
use uuid::Uuid;

use crate::{JournalKey, SqliteJournal};

pub(crate) const WORKSTATION: WorkstationId = WorkstationId(Uuid::from_u128(7));

/// An answer that refuses.
pub(crate) const REFUSED: Outcome = Outcome::LeaseSuperseded;

/// A place for a journal that vanishes with the test.
pub(crate) struct Place {
    _directory: TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn place() -> Place {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("state/journal.sqlite");
    Place { _directory: directory, path }
}

impl Place {
    pub(crate) fn open(&self) -> SqliteJournal {
        SqliteJournal::open(&self.path, &secret(), WORKSTATION).expect("the journal opens")
    }
}

/// What every journal here is encrypted with.
pub(crate) fn secret() -> JournalKey {
    JournalKey::new(&[0x5a; JournalKey::BYTES])
}

/// Every file beside the journal but its lock, with its bytes.
pub(crate) fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let directory = path.parent().expect("a directory");
    fs::read_dir(directory)
        .expect("it reads")
        .map(|entry| entry.expect("it reads").path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "lock"))
        .map(|path| (path.file_name().expect("a name").display().to_string(), fs::read(&path).expect("it reads")))
        .collect()
}

/// A journal as the first release left it after a crash: not encrypted, with its log.
pub(crate) fn plaintext(path: &Path, writes: impl IntoIterator<Item = Write>) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("it is made");
    let mut connection = Connection::open(path).expect("it opens");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("a known option");
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).expect("it is set");
    crate::schema::create(&mut connection, WORKSTATION).expect("it is made");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("it is moved");
    for write in writes {
        crate::write::write(&mut connection, &write)
            .map_err(|cause| cause.during("write", path))
            .expect("it is written");
    }
    // As the first layout had it.
    connection
        .execute_batch(
            "DROP INDEX outbox_dismissed; DROP INDEX outbox_refused; ALTER TABLE outbox DROP COLUMN policy_version; ALTER TABLE outbox DROP COLUMN seal; \
             ALTER TABLE identity DROP COLUMN standing; ALTER TABLE identity DROP COLUMN focus; \
             DROP INDEX outbox_batch; DROP TABLE confirmation; DROP TABLE superseded; DROP TABLE previous; DROP TABLE ui_state; \
             ALTER TABLE outbox DROP COLUMN may_be_sent; ALTER TABLE outbox DROP COLUMN receipt; \
             ALTER TABLE outbox DROP COLUMN steps; ALTER TABLE outbox DROP COLUMN figure; \
             DROP TABLE given_up; DROP INDEX dead_letter_untold; ALTER TABLE dead_letter DROP COLUMN told; PRAGMA user_version = 1",
        )
        .expect("it is taken back");
}

pub(crate) fn time(offset_us: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_225_599_999_999).expect("in range") + TimeDelta::microseconds(offset_us)
}

pub(crate) fn money(amount: &str, currency: &str) -> Money {
    Money::parse(amount, currency.parse().expect("an active currency")).expect("a fitting amount")
}

/// The content of exception `n`, as long as real ones are.
pub(crate) fn body(n: i64) -> String {
    format!(r#"{{"idempotency_key":"key-{n}","note":"Größe \u202e {}"}}"#, "x".repeat(600))
}

/// Exception `n`, in the partition of its tens.
pub(crate) fn item(n: i64) -> DeckItem {
    DeckItem {
        id: ExceptionId(n),
        key: format!("key-{n}"),
        partition: partition(n / 10),
        epoch: Epoch(3),
        seq: Seq(n % 10 + 1),
        version: 1,
        content: content_hash(&body(n)),
        group: (n % 2 == 0).then(|| "group".to_owned()),
        kind: Kind::ReconBreak,
        entity: "DE01".to_owned(),
        counterparty: "Müller & Söhne".to_owned(),
        variance: money("-1234.50", "EUR"),
        submitted_at: time(n),
        business_date: time(n).date_naive(),
        prepared_by: vec!["prep-01".to_owned()],
        signatures: 0,
        reverses: None,
        due_on: None,
        match_decision: MatchDecision::Partial,
        tier: RoutingTier::Priority,
        trace_id: Uuid::from_u128(99),
        source_hash: sha256(b"source").to_string(),
        suggestion: Suggestion {
            route: Route::RouteReview,
            reasons: vec!["It came late.".to_owned()],
            policy_version: 2,
        },
        outlook: Outlook::default(),
        note: None,
    }
}

pub(crate) fn partition(n: i64) -> PartitionKey {
    PartitionKey(format!("partition-{n}"))
}

pub(crate) fn lease(n: i64) -> LeaseRow {
    LeaseRow { partition: partition(n), epoch: Epoch(3), until: time(900_000_001), after: Seq(10), more: n % 2 == 0 }
}

/// The approval of exception `n`, as the `n`th decision.
pub(crate) fn entry(n: i64) -> Entry {
    let item = item(n);
    Entry {
        ordinal: u64::try_from(n).expect("not negative"),
        batch: BatchId(Uuid::from_u128(5)),
        sign_off: SignOff {
            key: sign_off_key(&item.key, item.content, Decision::Approve, "alice"),
            exception: item.id,
            content: item.content,
            epoch: item.epoch,
            decision: Decision::Approve,
            reason: None,
            comment: Some("naïve\ncomment".to_owned()),
            decided_at: time(n),
            policy_version: 3,
            figure: (n % 5 == 0).then(|| money("21.60", "USD")),
            seal: Some(Seal { enrolment: 1, signature: [7; 64], mac: sha256(b"seal") }),
        },
        item,
        stage: Stage::Ready,
        attempts: 0,
        answer: None,
        problem: None,
        offline: n % 2 == 1,
        settled_at: None,
        may_be_sent: n % 2 == 0,
        receipt: None,
        steps: vec![Step { at: time(n), what: What::Signed { offline: n % 2 == 1 } }],
    }
}

/// What every confirmation here attests.
pub(crate) const ATTESTATION: &str = "I have looked at all of it.";

pub(crate) fn signing(entries: Vec<Entry>) -> Write {
    Write::Signed { entries, attestation: ATTESTATION.to_owned() }
}

pub(crate) fn entries(range: std::ops::RangeInclusive<i64>) -> Vec<Entry> {
    range.map(entry).collect()
}

pub(crate) fn key(n: i64) -> SignOffKey {
    entry(n).sign_off.key
}

/// Leases of partitions 0 to 2 and exceptions 1 to 29 in them.
pub(crate) fn leased() -> Write {
    Write::Leased { leases: (0..3).map(lease).collect(), items: (1..30).map(|n| (item(n), body(n))).collect() }
}

pub(crate) fn answered(n: i64, stage: Stage, outcome: Option<Outcome>) -> Settled {
    Settled {
        key: key(n),
        stage,
        attempts: 2,
        answer: outcome.map(Answer::plain),
        problem: (stage == Stage::Dead).then(|| "five transient errors".to_owned()),
        at: time(1_000_000 + n),
        receipt: outcome.map(|_| 70 + n % 2),
        steps: entry(n).steps,
        returned: None,
    }
}

pub(crate) fn settle(numbers: std::ops::RangeInclusive<i64>, stage: Stage, outcome: Outcome) -> Write {
    Write::Settled(numbers.map(|n| answered(n, stage, Some(outcome))).collect())
}

/// Applies every change.
pub(crate) fn apply(journal: &mut SqliteJournal, writes: impl IntoIterator<Item = Write>) {
    for write in writes {
        journal.write(&write).expect("the change is durable");
    }
}

pub(crate) fn restored(journal: &mut SqliteJournal) -> Restored {
    journal.restore().expect("the journal reads")
}

/// The exceptions in the deck, in its order.
pub(crate) fn deck(journal: &mut SqliteJournal) -> Vec<i64> {
    restored(journal).deck.iter().map(|item| item.id.0).collect()
}

/// The ordinals in the outbox and their stages, in its order.
pub(crate) fn outbox(journal: &mut SqliteJournal) -> Vec<(u64, Stage)> {
    restored(journal).outbox.iter().map(|entry| (entry.ordinal, entry.stage)).collect()
}
