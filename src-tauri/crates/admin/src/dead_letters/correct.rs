//! Correcting a letter.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use countersign_domain::letter::{self, Edit};
use countersign_engine::port::{LetterAnswer, LetterDetail, LetterId, LetterStatus};
use tokio::process::Command;

use super::Supervisor;
use crate::AdminError;
use crate::text::shown;

/// The most bytes of a file with a correction; the database takes no more either.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How a letter is corrected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Correction {
    /// By what a file holds.
    File(PathBuf),
    /// Field by field.
    Fields(Vec<Edit>),
    /// In an editor.
    Editor,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrected {
    /// What the database says.
    pub answer: LetterAnswer,
    /// What differs from before.
    pub changes: Vec<countersign_domain::difference::Change>,
    /// What would become of it if it were sent in now; nothing where it was not corrected.
    pub rehearsed: Option<LetterAnswer>,
}

/// Takes a letter if nobody has, corrects it, and says what would become of it now. One that was taken for it is put back if nothing was
/// corrected.
pub async fn correct(desk: &Supervisor<'_>, id: LetterId, how: &Correction) -> Result<Corrected, AdminError> {
    let open = desk.letters().one(id).await?.is_some_and(|detail| detail.letter.status == LetterStatus::Open);
    let taken = desk.take(&[id], false).await?;
    if let Some(answer) = taken.into_iter().find(|answer| answer.outcome != "TAKEN") {
        return Ok(Corrected { answer, changes: Vec::new(), rehearsed: None });
    }
    let corrected = correct_taken(desk, id, how).await;
    if corrected.as_ref().is_ok_and(|corrected| corrected.answer.outcome == "KEPT") {
        let rehearsed = desk.letters().rehearse(&[id]).await?.into_iter().next();
        return corrected.map(|corrected| Corrected { rehearsed, ..corrected });
    }
    if open {
        let back = desk.take(&[id], true).await;
        // Why nothing was corrected is the first thing to know.
        if corrected.is_ok() {
            back?;
        }
    }
    corrected
}

async fn correct_taken(desk: &Supervisor<'_>, id: LetterId, how: &Correction) -> Result<Corrected, AdminError> {
    let detail = desk.letters().one(id).await?.ok_or_else(|| unknown(id))?;
    let before = text(&detail);
    let after = match how {
        Correction::File(path) => read(path)?,
        Correction::Fields(edits) => {
            let whole = whole(&detail)?;
            letter::apply(&whole, edits).map_err(|error| {
                let way = if is_object(&whole) { String::new() } else { format!(". {}", from_its_file(&detail)) };
                AdminError::Request(format!("{}{way}", shown(&error.to_string())))
            })?
        }
        Correction::Editor => edited(&letter::indented(&whole(&detail)?)).await?,
    };
    let answer = desk.letters().correct(id, detail.letter.corrections, &after).await?;
    let kept = answer.outcome == "KEPT";
    let changes = if kept { letter::changes(&before, &after) } else { Vec::new() };
    Ok(Corrected { answer, changes, rehearsed: None })
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

/// The way for a text without fields, such as a line of a CSV file.
fn from_its_file(detail: &LetterDetail) -> String {
    let line = detail.letter.line.map(|line| format!(", line {line}")).unwrap_or_default();
    format!(
        "Correct {}{line} where it came from and send that in again, as it was sent in: it goes in by itself. Then discard this letter",
        shown(&detail.letter.origin)
    )
}

pub(super) fn unknown(id: LetterId) -> AdminError {
    AdminError::Request(format!("there is no dead letter {}: `countersign-admin dead-letters list` shows them", id.0))
}

/// The text as it was last corrected; bytes that are none are spelled out.
fn text(detail: &LetterDetail) -> String {
    detail.corrections.last().map_or_else(|| letter::shown(&detail.original), |last| last.body.clone())
}

/// The same, where it can be corrected in part.
fn whole(detail: &LetterDetail) -> Result<String, AdminError> {
    if let Some(last) = detail.corrections.last() {
        return Ok(last.body.clone());
    }
    if detail.original_size > detail.original.len() as u64 {
        let reason = format!("it has {} bytes, which are corrected as a whole: use --file", detail.original_size);
        return Err(AdminError::Request(reason));
    }
    String::from_utf8(detail.original.clone())
        .map_err(|_| AdminError::Request("it is not UTF-8, and is corrected as a whole: use --file".to_owned()))
}

fn read(path: &Path) -> Result<String, AdminError> {
    let unreadable = |source| AdminError::Unreadable { origin: shown(&path.to_string_lossy()), source };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > FILE_BYTES {
        return Err(AdminError::Request(format!("the correction has {size} bytes, at most {FILE_BYTES} are kept")));
    }
    let text = String::from_utf8(fs::read(path).map_err(unreadable)?)
        .map_err(|_| unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8")))?;
    // What ends a file is no part of an arrival.
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Has a text edited with the program that `VISUAL` or `EDITOR` names. It lies in a file that only this user reads, and that is gone
/// afterwards.
pub async fn edited(text: &str) -> Result<String, AdminError> {
    let failed = |source| AdminError::Unreadable { origin: "the file that is edited".to_owned(), source };
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let Some(editor) = editor else {
        let words = "no editor is named: set the variable EDITOR, or use --file or --set";
        return Err(AdminError::Request(words.to_owned()));
    };
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let directory = tempfile::tempdir().map_err(failed)?;
    let file = directory.path().join("dead-letter.json");
    fs::write(&file, text).map_err(failed)?;
    let status = Command::new(program).args(words).arg(&file).status().await;
    let status = status.map_err(|error| AdminError::Request(format!("cannot start {}: {error}", shown(&editor))))?;
    if !status.success() {
        return Err(AdminError::Request(format!("{} ended with {status}: nothing was changed", shown(&editor))));
    }
    let after = read(&file)?;
    if after == text {
        return Err(AdminError::Request("nothing was changed in the editor".to_owned()));
    }
    Ok(after)
}
