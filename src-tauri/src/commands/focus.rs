//! What fills the deck, and how long it stays.

use countersign_domain::id::BatchId;
use countersign_engine::port::UI_STATE_BYTES;
use countersign_engine::{Command, Reply};
use countersign_wire::{ExtendReply, Focus, FocusView, HistoryEvent, UndoReply};
use uuid::Uuid;

use super::{Answer, Here, ask, digest, unexpected, unreadable};
use crate::views::{self, error};

#[tauri::command]
pub(crate) async fn focus(here: Here<'_>) -> Answer<FocusView> {
    match here.running().await {
        Some(station) => station.look(views::focus).await.map_err(views::gone),
        None => Ok(views::no_focus()),
    }
}

#[tauri::command]
pub(crate) async fn set_focus(here: Here<'_>, focus: Option<Focus>, give_back: bool) -> Answer<FocusView> {
    let focus = focus.map(views::read_focus).transpose()?;
    ask(&here, Command::SetFocus { focus, give_back }).await?;
    here.station().await?.look(views::focus).await.map_err(views::gone)
}

#[tauri::command]
pub(crate) async fn extend_leases(here: Here<'_>, for_ms: u32) -> Answer<ExtendReply> {
    let reply = here.station().await?.command(Command::Extend { ttl_ms: for_ms }).await.map_err(views::gone)?;
    match reply.map_err(|failure| views::failure_of("renew", &failure))? {
        Reply::Extended { stand, lost, granted_ms, at } => Ok(views::extended(for_ms, stand, lost, granted_ms, at)),
        _ => Err(unexpected()),
    }
}

#[tauri::command]
pub(crate) async fn cancel_unsent(here: Here<'_>, batch: String) -> Answer<UndoReply> {
    let batch = Uuid::parse_str(&batch).map_err(|_| unreadable("batch", &batch))?;
    match ask(&here, Command::CancelUnsent(BatchId(batch))).await? {
        Reply::Undone { withdrawn, too_late } => {
            Ok(UndoReply { withdrawn: views::count(withdrawn), too_late: views::count(too_late) })
        }
        _ => Err(unexpected()),
    }
}

#[tauri::command]
pub(crate) async fn outbox_history(here: Here<'_>, key: String) -> Answer<Vec<HistoryEvent>> {
    let key = countersign_domain::id::SignOffKey(digest("decision", &key)?);
    let steps = here.station().await?.steps(key).await.map_err(views::gone)?;
    Ok(views::steps(steps.map_err(|problem| views::journal_error(&problem))?))
}

/// Without an open journal there is nothing that was kept.
#[tauri::command]
pub(crate) async fn ui_state(here: Here<'_>) -> Answer<Option<String>> {
    let Some(station) = here.running().await else { return Ok(None) };
    let state = station.ui_state().await.map_err(views::gone)?;
    state.map_err(|problem| views::journal_error(&problem))
}

/// Without an open journal, and while the reviewer is leaving this computer, nothing is kept.
#[tauri::command]
pub(crate) async fn keep_ui_state(here: Here<'_>, state: String) -> Answer<()> {
    if state.len() > UI_STATE_BYTES {
        let message =
            format!("The window wants to keep {} bytes of itself; at most {UI_STATE_BYTES} can be.", state.len());
        return Err(error("TOO_LONG", message));
    }
    let Some(station) = here.running().await else { return Ok(()) };
    station.keep_ui_state(state).await.unwrap_or(Ok(())).map_err(|problem| views::journal_error(&problem))
}
