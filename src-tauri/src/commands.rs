//! What the window may ask for. A command translates and calls; it decides nothing.

pub(crate) mod batches;
pub(crate) mod connection;
pub(crate) mod dead_letters;
pub(crate) mod files;
pub(crate) mod focus;
pub(crate) mod reading;
pub(crate) mod settings;

use std::sync::Arc;

use countersign_domain::id::{BatchId, Digest, ExceptionId, SignOffKey};
use countersign_engine::{Command, Reply};
use countersign_wire::{
    CommandError, CurrencyTotal, DecisionChoice, DeckView, DetailView, ExportView, Figure, HandOverReply, OutboxView,
    PreflightView, Profile, ReceiptRow, RemovedReply, SelectionTotals, SessionView, SignReceipt, SignRequest,
    TypedTotal, UndoReply,
};
use secrecy::SecretString;
use tauri::ipc::Response;
use tauri::{AppHandle, State};
use uuid::Uuid;

use crate::views::{self, error};
use crate::window;
use crate::workstation::Workstation;

/// The most exceptions one request may name: more than a deck can hold.
const IDS: usize = 20_000;

type Answer<T> = Result<T, CommandError>;
type Here<'a> = State<'a, Arc<Workstation>>;

#[tauri::command]
pub(crate) async fn session(here: Here<'_>) -> Answer<SessionView> {
    Ok(here.session().await)
}

#[tauri::command]
pub(crate) async fn save_profile(here: Here<'_>, profile: Profile) -> Answer<SessionView> {
    here.save_profile(profile).await?;
    Ok(here.session().await)
}

#[tauri::command]
pub(crate) async fn connect(
    here: Here<'_>,
    profile: String,
    password: Option<String>,
    remember: bool,
) -> Answer<SessionView> {
    here.connect(&profile, password.map(SecretString::from), remember).await?;
    Ok(here.session().await)
}

/// As bytes: it can be 5,000 rows, and the webview parses them faster than it takes them apart.
#[tauri::command]
pub(crate) async fn deck(here: Here<'_>) -> Answer<Response> {
    let (version, rows) = match here.running().await {
        Some(station) => {
            let look = station.look(|engine, now| (engine.versions().0, Some(views::rows(engine, now))));
            look.await.map_err(views::gone)?
        }
        None => (0, None),
    };
    let rows = rows.map(views::deck_rows).unwrap_or_default();
    let view = DeckView { version: here.base().wrapping_add(version), rows };
    serde_json::to_vec(&view)
        .map(Response::new)
        .map_err(|reason| error("UNEXPECTED", format!("The deck cannot be shown: {reason}.")))
}

#[tauri::command]
pub(crate) async fn detail(here: Here<'_>, id: String) -> Answer<DetailView> {
    let station = here.station().await?;
    let not_here = || error("NOT_IN_DECK", "This exception is not in the deck any more.");
    let id: ExceptionId = id.parse().map_err(|_| not_here())?;
    let row = station.look(move |engine, now| views::row(engine, now, id)).await.map_err(views::gone)?;
    let body = station.body(id).await.map_err(views::gone)?;
    let body = body.map_err(|problem| views::journal_error(&problem))?;
    let row = row.ok_or_else(not_here)?;
    let content = row.row.0.content;
    let previous = station.previous(id).await.map_err(views::gone)?;
    let previous = previous.map_err(|problem| views::journal_error(&problem))?;
    let view = views::detail(row, &body.ok_or_else(not_here)?, previous)?;
    here.opened().note(id, content);
    Ok(view)
}

#[tauri::command]
pub(crate) async fn totals(here: Here<'_>, ids: Vec<String>) -> Answer<SelectionTotals> {
    let (station, ids) = (here.station().await?, exceptions(&ids)?);
    let chosen = station.look(move |engine, _| views::choose(engine, &ids)).await.map_err(views::gone)?;
    views::totals(chosen)
}

#[tauri::command]
pub(crate) async fn preflight(
    here: Here<'_>,
    ids: Vec<String>,
    decision: DecisionChoice,
    figures: Vec<Figure>,
) -> Answer<PreflightView> {
    let (station, ids) = (here.station().await?, exceptions(&ids)?);
    // The answer is given at once, and again if something new is heard.
    station.command(Command::Refresh).await.map_err(views::gone)?.map_err(views::failure)?;
    let glance = station.look(move |engine, now| views::glance(engine, now, &ids)).await.map_err(views::gone)?;
    let opened = glance.as_ref().map_or(0, |glance| here.opened().count(&glance.contents()));
    views::preflight(glance, views::decision(decision), &views::figures_that_read(&figures), opened)
}

#[tauri::command]
pub(crate) async fn subtotals(here: Here<'_>, groups: Vec<Vec<String>>) -> Answer<Vec<Vec<CurrencyTotal>>> {
    let named: usize = groups.iter().map(|group| group.len() + 1).sum();
    if named > IDS {
        return Err(error(
            "TOO_MANY",
            format!("{named} exceptions and groups are to be added up; at most {IDS} can be."),
        ));
    }
    let station = here.station().await?;
    let groups = groups.iter().map(|group| exceptions(group)).collect::<Answer<Vec<_>>>()?;
    let amounts = station.look(move |engine, _| views::amounts(engine, &groups)).await.map_err(views::gone)?;
    views::subtotals(amounts)
}

#[tauri::command]
pub(crate) async fn sign(here: Here<'_>, request: SignRequest) -> Answer<SignReceipt> {
    let ids = exceptions(&request.ids)?;
    typed_totals(&here, ids.clone(), &request.typed_totals).await?;
    // Randomness belongs to the edge.
    let batch = BatchId(Uuid::new_v4());
    let command = Command::Sign {
        batch,
        ids,
        decision: views::decision(request.decision),
        reason: request.reason,
        comment: request.comment.filter(|comment| !comment.is_empty()),
        hash_total: digest("hash total", &request.hash_total)?,
        policy_version: request.policy_version,
        figures: views::figures(&request.figures)?,
    };
    let Reply::Signed { count } = ask(&here, command).await? else { return Err(unexpected()) };
    Ok(SignReceipt { batch: batch.0.to_string(), count: views::count(count), undo_ms: here.settings().undo_window_ms })
}

#[tauri::command]
pub(crate) async fn undo(here: Here<'_>, batch: String) -> Answer<UndoReply> {
    let batch = Uuid::parse_str(&batch).map_err(|_| unreadable("batch", &batch))?;
    match ask(&here, Command::Undo(BatchId(batch))).await? {
        Reply::Undone { withdrawn, too_late } => {
            Ok(UndoReply { withdrawn: views::count(withdrawn), too_late: views::count(too_late) })
        }
        _ => Err(unexpected()),
    }
}

#[tauri::command]
pub(crate) async fn release(here: Here<'_>, ids: Vec<String>) -> Answer<u32> {
    match ask(&here, Command::Release(exceptions(&ids)?)).await? {
        Reply::Released(count) => Ok(views::count(count)),
        _ => Err(unexpected()),
    }
}

#[tauri::command]
pub(crate) async fn hand_over(here: Here<'_>, ids: Vec<String>, to: String) -> Answer<HandOverReply> {
    let command = Command::HandOver { ids: exceptions(&ids)?, to: to.trim().to_owned() };
    let reply = here.station().await?.command(command).await.map_err(views::gone)?;
    match reply.map_err(|failure| views::failure_of("hand over", &failure))? {
        Reply::HandedOver(partitions) => Ok(views::handed_over(partitions, to.trim())),
        _ => Err(unexpected()),
    }
}

#[tauri::command]
pub(crate) async fn receipts(here: Here<'_>) -> Answer<Vec<ReceiptRow>> {
    here.station().await?.look(views::receipts).await.map_err(views::gone)
}

#[tauri::command]
pub(crate) async fn outbox(here: Here<'_>) -> Answer<OutboxView> {
    let mut view = here.station().await?.look(views::outbox).await.map_err(views::gone)?;
    view.version = here.base().wrapping_add(view.version);
    Ok(view)
}

#[tauri::command]
pub(crate) async fn retry_now(here: Here<'_>) -> Answer<()> {
    ask(&here, Command::RetryNow).await.map(drop)
}

#[tauri::command]
pub(crate) async fn retry_dead(here: Here<'_>, key: String) -> Answer<()> {
    let key = SignOffKey(digest("decision", &key)?);
    ask(&here, Command::RetryDead(key)).await.map(drop)
}

#[tauri::command]
pub(crate) async fn dismiss(here: Here<'_>, key: String) -> Answer<()> {
    let key = SignOffKey(digest("decision", &key)?);
    ask(&here, Command::Dismiss(key)).await.map(drop)
}

#[tauri::command]
pub(crate) async fn sign_out(here: Here<'_>) -> Answer<SessionView> {
    here.sign_out().await?;
    Ok(here.session().await)
}

/// Signing out goes on without waiting for what is unsent.
#[tauri::command]
pub(crate) async fn stop_waiting(here: Here<'_>) -> Answer<()> {
    here.close_now().await;
    Ok(())
}

#[tauri::command]
pub(crate) async fn export_outbox(here: Here<'_>, profile: String) -> Answer<ExportView> {
    here.export_outbox(&profile).await
}

#[tauri::command]
pub(crate) async fn remove_everything(
    here: Here<'_>,
    profile: String,
    acknowledged: Option<String>,
) -> Answer<RemovedReply> {
    let acknowledged = acknowledged.map(|text| digest("export", &text)).transpose()?;
    here.remove_everything(&profile, acknowledged).await
}

#[tauri::command]
pub(crate) async fn drain(app: AppHandle) -> Answer<()> {
    window::request_close(&app);
    Ok(())
}

#[tauri::command]
pub(crate) async fn close_now(app: AppHandle, here: Here<'_>) -> Answer<()> {
    window::request_close(&app);
    here.close_now().await;
    Ok(())
}

/// The hash total that is signed binds the contents these sums are of.
async fn typed_totals(here: &Workstation, ids: Vec<ExceptionId>, typed: &[TypedTotal]) -> Answer<()> {
    let station = here.station().await?;
    let look = station.look(move |engine, _| (views::choose(engine, &ids), engine.standing().cloned()));
    let (chosen, standing) = look.await.map_err(views::gone)?;
    // Without a standing the engine refuses to sign, and says why.
    standing.map_or(Ok(()), |standing| views::check_typed(&chosen, &standing, typed))
}

async fn ask(here: &Workstation, command: Command) -> Answer<Reply> {
    here.station().await?.command(command).await.map_err(views::gone)?.map_err(views::failure)
}

fn exceptions(ids: &[String]) -> Answer<Vec<ExceptionId>> {
    if ids.len() > IDS {
        return Err(error("TOO_MANY", format!("{} exceptions are selected; at most {IDS} can be.", ids.len())));
    }
    ids.iter().map(|id| id.parse().map_err(|_| unreadable("exception", id))).collect()
}

fn digest(what: &str, text: &str) -> Answer<Digest> {
    text.parse().map_err(|_| unreadable(what, text))
}

fn unreadable(what: &str, text: &str) -> CommandError {
    let shown: String = text.chars().take(80).collect();
    error("UNREADABLE", format!("`{shown}` names no {what}; nothing was done."))
}

fn unexpected() -> CommandError {
    error("UNEXPECTED", "The workstation answered something else than was asked; look at the outbox before you go on.")
}
