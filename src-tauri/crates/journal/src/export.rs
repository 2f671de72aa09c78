//! Leaving: what is unanswered is written out, and the journal is destroyed.

use std::fs;
use std::io::Write;
use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use countersign_domain::id::{
    BatchId, ContentHash, Digest, Epoch, ExceptionId, PartitionKey, Seq, SignOffKey, WorkstationId,
};
use countersign_domain::seal::Seal;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Entry, JournalError, JournalFault, Stage};
use rusqlite::Connection;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::error::Cause;
use crate::row::{self, ENTRY_COLUMNS};
use crate::upgrade::GONE;
use crate::{SqliteJournal, file};

/// What an export came to: its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExportDigest {
    /// How many decisions, one on each line before.
    pub count: u64,
    /// SHA-256 of these lines with their line feeds.
    pub sha256: Digest,
}

/// One line: everything that it takes to send the decision again, or to prove that it was made.
#[derive(Debug, Serialize)]
struct Line<'a> {
    key: SignOffKey,
    workstation: WorkstationId,
    reviewer: Option<&'a str>,
    batch: BatchId,
    ordinal: u64,
    exception: ExceptionId,
    idempotency_key: &'a str,
    partition: &'a PartitionKey,
    seq: Seq,
    version: u32,
    content: ContentHash,
    epoch: Epoch,
    decision: Decision,
    reason: Option<&'a str>,
    comment: Option<&'a str>,
    #[serde(serialize_with = "instant")]
    decided_at: DateTime<Utc>,
    policy_version: u32,
    seal: Option<Seal>,
    stage: Stage,
    problem: Option<&'a str>,
}

/// The time is part of what is signed, in whole microseconds: all of them are written.
fn instant<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

impl SqliteJournal {
    /// Writes every decision that is unanswered or was given up as a line of JSON, by ordinal, and a last line with their count and
    /// digest. The lines are not encrypted.
    pub fn export_outbox(&self, out: &mut impl Write) -> Result<ExportDigest, JournalError> {
        export(&self.connection, out).map_err(|cause| cause.during("export", &self.path))
    }

    /// Overwrites and deletes the journal's files; the empty lock file stays. While decisions are unanswered or given up, it takes the
    /// digest of an export of exactly these.
    pub fn destroy(self, acknowledged: Option<Digest>) -> Result<(), JournalError> {
        let path = self.path.clone();
        destroy(self, acknowledged).map_err(|cause| cause.during("destroy", &path))
    }
}

fn export(connection: &Connection, out: &mut impl Write) -> Result<ExportDigest, Cause> {
    let (workstation, reviewer): (WorkstationId, Option<String>) =
        connection.query_row("SELECT workstation, reviewer FROM identity", [], |row| {
            Ok((WorkstationId(row::parsed(row, 0)?), row.get(1)?))
        })?;
    let mut statement = connection
        .prepare(&format!("SELECT {ENTRY_COLUMNS} FROM outbox WHERE stage IN ('READY', 'DEAD') ORDER BY ordinal"))?;
    let (mut count, mut hasher) = (0, Sha256::new());
    for entry in statement.query_map([], row::entry)? {
        let mut line = to_line(&line(&entry?, workstation, reviewer.as_deref()))?;
        line.push(b'\n');
        out.write_all(&line).map_err(|error| not_written(&error))?;
        hasher.update(&line);
        count += 1;
    }
    let digest = ExportDigest { count, sha256: Digest(hasher.finalize().into()) };
    let mut last = to_line(&digest)?;
    last.push(b'\n');
    out.write_all(&last).and_then(|()| out.flush()).map_err(|error| not_written(&error))?;
    Ok(digest)
}

fn line<'a>(entry: &'a Entry, workstation: WorkstationId, reviewer: Option<&'a str>) -> Line<'a> {
    let Entry { ordinal, batch, sign_off, item, stage, problem, .. } = entry;
    Line {
        key: sign_off.key,
        workstation,
        reviewer,
        batch: *batch,
        ordinal: *ordinal,
        exception: sign_off.exception,
        idempotency_key: &item.key,
        partition: &item.partition,
        seq: item.seq,
        version: item.version,
        content: sign_off.content,
        epoch: sign_off.epoch,
        decision: sign_off.decision,
        reason: sign_off.reason.as_deref(),
        comment: sign_off.comment.as_deref(),
        decided_at: sign_off.decided_at,
        policy_version: sign_off.policy_version,
        seal: sign_off.seal,
        stage: *stage,
        problem: problem.as_deref(),
    }
}

fn to_line(value: &impl Serialize) -> Result<Vec<u8>, Cause> {
    serde_json::to_vec(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)).into())
}

fn not_written(error: &std::io::Error) -> Cause {
    let fault = crate::error::fault_of_io(error);
    Cause::Found(fault, format!("the export was not written whole ({error}): nothing was changed; write it elsewhere"))
}

fn destroy(journal: SqliteJournal, acknowledged: Option<Digest>) -> Result<(), Cause> {
    let present = export(&journal.connection, &mut std::io::sink())?;
    if present.count > 0 && acknowledged != Some(present.sha256) {
        return Err(Cause::Found(
            JournalFault::Io,
            format!(
                "{} unanswered decisions are in {}, and no export of exactly these was acknowledged: nothing was deleted; send them, or export them and try again",
                present.count,
                journal.path.display()
            ),
        ));
    }
    let SqliteJournal { connection, path, _lock } = journal;
    // The log goes into the file and away.
    connection.close().map_err(|(_, error)| error)?;
    shred_all(&path)
}

fn shred_all(path: &Path) -> Result<(), Cause> {
    let gone = file::beside(path, GONE);
    // Under another name first: cut short, half a journal would look like a damaged one. The next opening ends what was begun.
    fs::rename(path, &gone)?;
    file::sync_directory(path)?;
    for suffix in [GONE, "-wal", "-shm", ".new", ".new-wal", ".new-journal", crate::upgrade::PLAIN, ".probe"] {
        file::shred(&file::beside(path, suffix))?;
    }
    Ok(())
}
