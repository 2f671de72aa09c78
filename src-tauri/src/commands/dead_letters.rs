//! The desk of dead letters. All of it is in the shared database.

use chrono::Utc;
use countersign_domain::dead_letter::Cause;
use countersign_domain::id::WorkstationId;
use countersign_domain::letter::{self, CORRECTION_BYTES, Edit};
use countersign_engine::port::{Desk, LETTERS_A_CALL, LetterDetail, LetterFilter, LetterId};
use countersign_wire::{DeskView, LetterEdit, LetterFix, LetterQuery, LetterView, LettersReply};

use super::reading::{Shared, offline, shared};
use super::{Answer, Here, unreadable};
use crate::views::{self, Asked, Reader, error};
use crate::workstation::Workstation;

#[tauri::command]
pub(crate) async fn letters(here: Here<'_>, query: LetterQuery) -> Answer<DeskView> {
    let filter = LetterFilter { causes: causes(&query.causes)?, done: query.done };
    let (at, login) = at_the_desk(&here).await?;
    let causes = at.backlog.causes(at.workstation).await.map_err(|problem| views::backlog_error(&problem))?;
    let (letters, more) =
        at.backlog.letters(at.workstation, &filter).await.map_err(|problem| views::backlog_error(&problem))?;
    Ok(views::desk(causes, letters, more, Reader { login: &login, now: Utc::now() }))
}

#[tauri::command]
pub(crate) async fn letter(here: Here<'_>, id: String) -> Answer<LetterView> {
    let id = named(&id)?;
    let (at, login) = at_the_desk(&here).await?;
    let detail = found(&*at.backlog, at.workstation, id).await?;
    Ok(views::letter(detail, Reader { login: &login, now: Utc::now() }))
}

#[tauri::command]
pub(crate) async fn take_letters(here: Here<'_>, ids: Vec<String>, back: bool) -> Answer<LettersReply> {
    let (ids, (at, _)) = (some(&ids)?, at_the_desk(&here).await?);
    let answers =
        at.backlog.take(at.workstation, &ids, back).await.map_err(|problem| views::backlog_error(&problem))?;
    Ok(views::letters_reply(if back { Asked::PutBack } else { Asked::Take }, answers))
}

#[tauri::command]
pub(crate) async fn fix_letter(here: Here<'_>, fix: LetterFix) -> Answer<LetterView> {
    let id = named(&fix.id)?;
    let (at, login) = at_the_desk(&here).await?;
    correct(&*at.backlog, at.workstation, id, fix).await?;
    let detail = found(&*at.backlog, at.workstation, id).await?;
    Ok(views::letter(detail, Reader { login: &login, now: Utc::now() }))
}

#[tauri::command]
pub(crate) async fn rehearse_letters(here: Here<'_>, ids: Vec<String>) -> Answer<LettersReply> {
    let (ids, (at, _)) = (some(&ids)?, at_the_desk(&here).await?);
    let answers = at.backlog.rehearse(at.workstation, &ids).await.map_err(|problem| views::backlog_error(&problem))?;
    Ok(views::letters_reply(Asked::Rehearse, answers))
}

#[tauri::command]
pub(crate) async fn replay_letters(here: Here<'_>, ids: Vec<String>) -> Answer<LettersReply> {
    let (ids, (at, _)) = (some(&ids)?, at_the_desk(&here).await?);
    let answers = at.backlog.replay(at.workstation, &ids).await.map_err(|problem| views::backlog_error(&problem))?;
    Ok(views::letters_reply(Asked::Replay, answers))
}

#[tauri::command]
pub(crate) async fn discard_letters(here: Here<'_>, ids: Vec<String>, reason: String) -> Answer<LettersReply> {
    let (ids, (at, _)) = (some(&ids)?, at_the_desk(&here).await?);
    let answers = at
        .backlog
        .discard(at.workstation, &ids, reason.trim())
        .await
        .map_err(|problem| views::backlog_error(&problem))?;
    Ok(views::letters_reply(Asked::Discard, answers))
}

/// Makes the corrected text from what was corrected last, and keeps it.
async fn correct(at: &impl Desk, workstation: WorkstationId, id: LetterId, fix: LetterFix) -> Answer<()> {
    let body = match fix.body {
        Some(body) if body.len() > CORRECTION_BYTES => {
            let message = format!("The text has {} bytes; at most {CORRECTION_BYTES} are kept.", body.len());
            return Err(error("TOO_LONG", message));
        }
        Some(body) => body,
        None => edited(&found(at, workstation, id).await?, fix.revision, fix.edits)?,
    };
    let answer =
        at.correct(workstation, id, fix.revision, &body).await.map_err(|problem| views::backlog_error(&problem))?;
    views::not_corrected(&answer).map_or(Ok(()), Err)
}

/// The text with new values in some of its fields.
fn edited(detail: &LetterDetail, revision: u32, edits: Vec<LetterEdit>) -> Answer<String> {
    if detail.corrections.last().map_or(0, |last| last.revision) != revision {
        return Err(views::corrected_meanwhile());
    }
    let text = views::text_of(detail).ok_or_else(|| {
        let message = "Its text cannot be corrected here: it is no arrival, or too long to be shown in full.";
        error("NOT_EDITABLE", message)
    })?;
    let edits: Vec<Edit> =
        edits.into_iter().map(|LetterEdit { path, value, text }| Edit { path, value, text }).collect();
    letter::apply(&text, &edits).map_err(|reason| error("NOT_CORRECTED", views::sentence(&reason.to_string())))
}

async fn found(at: &impl Desk, workstation: WorkstationId, id: LetterId) -> Answer<LetterDetail> {
    let detail = at.letter(workstation, id).await.map_err(|problem| views::backlog_error(&problem))?;
    detail.ok_or_else(|| error("NOT_FOUND", "This letter is not at the desk any more."))
}

/// Whom to ask, and who asks.
async fn at_the_desk(here: &Workstation) -> Answer<(Shared, String)> {
    let shared = shared(here).await?;
    if !shared.online {
        return Err(offline("The desk of dead letters"));
    }
    let station = here.station().await?;
    let login = station.look(|engine, _| engine.reviewer().map(str::to_owned)).await.map_err(views::gone)?;
    Ok((shared, login.unwrap_or_default()))
}

fn named(id: &str) -> Answer<LetterId> {
    id.parse().map(LetterId).map_err(|_| unreadable("dead letter", id))
}

fn some(ids: &[String]) -> Answer<Vec<LetterId>> {
    if ids.len() > LETTERS_A_CALL {
        let message = format!("{} letters were named; at most {LETTERS_A_CALL} are taken in one call.", ids.len());
        return Err(error("TOO_MANY", message));
    }
    ids.iter().map(|id| named(id)).collect()
}

fn causes(names: &[String]) -> Answer<Vec<Cause>> {
    names.iter().map(|name| name.parse().map_err(|_| unreadable("cause", name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::letter_samples::detail;

    fn edit(path: &str, value: &str) -> LetterEdit {
        LetterEdit { path: path.into(), value: Some(value.into()), text: true }
    }

    #[test]
    fn a_correction_is_made_from_the_text_that_was_looked_at_and_from_no_other() {
        let came = br#"{"variance_amount": 1.005, "z": "a"}"#;
        let corrected = edited(&detail(came, &[]), 0, vec![edit("variance_amount", "1.01")]).expect("a good one");
        assert_eq!(corrected, r#"{"variance_amount": "1.01", "z": "a"}"#);
        let again = detail(came, &[&corrected]);
        let code = |revision| edited(&again, revision, vec![edit("z", "b")]).map_err(|error| error.code);
        assert_eq!(code(0), Err("REVISION_CONFLICT".to_owned()));
        assert_eq!(code(1).as_deref(), Ok(r#"{"variance_amount": "1.01", "z": "b"}"#));
    }

    #[test]
    fn what_cannot_be_corrected_says_why() {
        let mut long = detail(b"{\"a\":1}", &[]);
        long.original_size = 5_000_000;
        assert_eq!(edited(&long, 0, vec![edit("a", "2")]).expect_err("it is cut").code, "NOT_EDITABLE");
        let error = edited(&detail(b"{\"a\":1}", &[]), 0, vec![edit("b.c", "2")]).expect_err("there is no such place");
        assert_eq!((error.code.as_str(), error.message.contains("`b.c` is not there")), ("NOT_CORRECTED", true));
    }

    #[test]
    fn a_call_has_a_bound_and_takes_no_other_names() {
        let ids = |count: usize| (0..count).map(|id| id.to_string()).collect::<Vec<_>>();
        assert_eq!(some(&ids(LETTERS_A_CALL)).map(|ids| ids.len()), Ok(LETTERS_A_CALL));
        assert_eq!(some(&ids(LETTERS_A_CALL + 1)).expect_err("too many").code, "TOO_MANY");
        assert_eq!(some(&["x".to_owned()]).expect_err("no number").code, "UNREADABLE");
        assert_eq!(causes(&["VENDORS".to_owned()]).expect_err("no cause").code, "UNREADABLE");
    }
}
