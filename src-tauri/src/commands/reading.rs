//! What is looked up in the shared database.

use std::sync::Arc;

use countersign_backlog::PgBacklog;
use countersign_domain::id::{ExceptionId, WorkstationId};
use countersign_engine::port::{BacklogError, Failure, Reading};
use countersign_wire::{BacklogView, CloseView, HistoryView, PictureView};

use super::{Answer, Here, unreadable};
use crate::views::{self, error};
use crate::workstation::Workstation;

/// Whom to ask, and as whom.
pub(super) struct Shared {
    pub(super) backlog: Arc<PgBacklog>,
    pub(super) workstation: WorkstationId,
    profile: String,
    pub(super) online: bool,
}

#[tauri::command]
pub(crate) async fn backlog(here: Here<'_>) -> Answer<BacklogView> {
    let shared = shared(&here).await?;
    if shared.online {
        match shared.backlog.overview(shared.workstation).await {
            Ok(overview) => {
                here.heard().keep_overview(&shared.profile, overview.clone());
                return views::backlog(overview, None);
            }
            Err(problem) => passes(&problem)?,
        }
    }
    let last = here.heard().overview(&shared.profile).ok_or_else(never_heard)?;
    views::backlog(last, Some(STALE))
}

#[tauri::command]
pub(crate) async fn close_overview(here: Here<'_>) -> Answer<CloseView> {
    let shared = shared(&here).await?;
    let standing = here.station().await?.look(|engine, _| engine.standing().cloned()).await.map_err(views::gone)?;
    let period = standing.as_ref().and_then(views::next_period);
    if shared.online {
        // The backlog's own `close` ends its connections.
        let since = views::midnight(chrono::Local::now());
        let told = async {
            let close = Reading::close(&*shared.backlog, shared.workstation, since).await?;
            Ok::<_, BacklogError>((close, shared.backlog.capture(shared.workstation).await?))
        };
        match told.await {
            Ok((close, capture)) => {
                here.heard().keep_close(&shared.profile, close.clone(), capture.clone());
                return Ok(views::close(close, capture, period, None));
            }
            Err(problem) => passes(&problem)?,
        }
    }
    let (last, capture) = here.heard().close(&shared.profile).ok_or_else(never_heard)?;
    Ok(views::close(last, capture, period, Some(STALE)))
}

#[tauri::command]
pub(crate) async fn history(here: Here<'_>, id: String) -> Answer<HistoryView> {
    let (shared, exception) = (shared(&here).await?, named(&id)?);
    if !shared.online {
        return Err(offline("The history"));
    }
    let history = shared.backlog.history(shared.workstation, exception).await;
    history.map(views::history).map_err(|problem| views::backlog_error(&problem))
}

#[tauri::command]
pub(crate) async fn picture(here: Here<'_>, id: String) -> Answer<Option<PictureView>> {
    let (shared, exception) = (shared(&here).await?, named(&id)?);
    if let Some(picture) = here.heard().picture(&shared.profile, exception) {
        return Ok(Some(views::picture(&picture)));
    }
    if !shared.online {
        return Err(offline("The picture"));
    }
    let picture = shared.backlog.picture(shared.workstation, exception).await;
    let Some(picture) = picture.map_err(|problem| views::backlog_error(&problem))? else { return Ok(None) };
    let view = views::picture(&picture);
    here.heard().keep_picture(&shared.profile, exception, picture);
    Ok(Some(view))
}

const STALE: &str = "The database cannot be reached: this is what was last heard of it.";

pub(super) async fn shared(here: &Workstation) -> Answer<Shared> {
    let station = here.station().await?;
    let backlog = station.backlog().await.map_err(views::gone)?;
    let look = station.look(|engine, now| (engine.workstation(), engine.link(now).online));
    let (workstation, online) = look.await.map_err(views::gone)?;
    Ok(Shared { backlog, workstation, profile: here.profile_name().unwrap_or_default(), online })
}

/// What the database cannot say now, it may have said before; what it refuses, it refuses.
fn passes(problem: &BacklogError) -> Answer<()> {
    match problem.failure {
        Failure::Offline | Failure::Transient => Ok(()),
        Failure::Structural | Failure::Refused(_) => Err(views::backlog_error(problem)),
    }
}

fn never_heard() -> countersign_wire::CommandError {
    error("OFFLINE", "The database cannot be reached, and this was not asked for since Countersign was started.")
}

pub(super) fn offline(what: &str) -> countersign_wire::CommandError {
    error("OFFLINE", format!("{what} is in the database, which cannot be reached now."))
}

fn named(id: &str) -> Answer<ExceptionId> {
    id.parse().map_err(|_| unreadable("exception", id))
}
