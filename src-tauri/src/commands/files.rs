//! Decks out, decisions back.

use chrono::Utc;
use countersign_paper::deck_csv::deck_csv;
use countersign_paper::deck_xlsx::deck_xlsx;
use countersign_paper::save;
use countersign_paper::table;
use countersign_wire::{CommandError, ImportView, SavedFile, SheetFormat};
use percent_encoding::percent_decode;
use tauri::ipc::{InvokeBody, Request};

use super::{Answer, Here, exceptions};
use crate::views::{self, error};
use crate::workstation::Workstation;

/// The header with the file's name.
const NAME: &str = "name";

#[tauri::command]
pub(crate) async fn export_deck(here: Here<'_>, ids: Vec<String>, format: SheetFormat) -> Answer<SavedFile> {
    let (station, ids) = (here.station().await?, exceptions(&ids)?);
    let rows = station.look(views::rows).await.map_err(views::gone)?;
    write(&here, move || {
        let (rows, policy) = views::sheet(rows);
        let rows = views::chosen(rows, &ids)?;
        let (extension, bytes) = match format {
            SheetFormat::Csv => ("csv", deck_csv(&rows).map_err(|problem| not_made(&problem))?),
            SheetFormat::Xlsx => {
                let reasons = policy.map(|policy| policy.reason_codes).unwrap_or_default();
                ("xlsx", deck_xlsx(&rows, &reasons, Utc::now()).map_err(|problem| not_made(&problem))?)
            }
        };
        Ok(("deck".to_owned(), extension, bytes))
    })
    .await
}

#[tauri::command]
pub(crate) async fn read_decisions(here: Here<'_>, request: Request<'_>) -> Answer<ImportView> {
    let (name, bytes) = (file_name(&request), body(&request)?);
    let station = here.station().await?;
    let rows = station.look(views::rows).await.map_err(views::gone)?;
    blocking(move || {
        let (deck, policy) = views::sheet(rows);
        let policy =
            policy.ok_or_else(|| error("NOT_CONNECTED", "Connect once before: the policy is not known yet."))?;
        let table = table::read(&bytes).map_err(|problem| error("UNREADABLE_FILE", problem.to_string()))?;
        views::import(&name, &table, &deck, &policy)
    })
    .await
}

/// Puts a file together and writes it, off the threads that answer the window. `make` says its name, extension and content.
pub(super) async fn write(
    here: &Workstation,
    make: impl FnOnce() -> Answer<(String, &'static str, Vec<u8>)> + Send + 'static,
) -> Answer<SavedFile> {
    let folder = here.paper_dir();
    blocking(move || {
        let (what, extension, bytes) = make()?;
        let stem = format!("{what} {}", Utc::now().format("%Y-%m-%d %H%M%S"));
        save::save(&folder, &stem, extension, &bytes).map(views::saved).map_err(|problem| views::not_saved(&problem))
    })
    .await
}

/// Something was not put together, and nothing was written.
pub(super) fn not_made(problem: &dyn std::error::Error) -> CommandError {
    let why = problem.source().map(|source| format!(": {source}")).unwrap_or_default();
    error("NOT_SAVED", views::sentence(&format!("{problem}{why}")))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|reason| error("UNEXPECTED", format!("The file could not be worked on: {reason}.")))?
}

fn file_name(request: &Request<'_>) -> String {
    let header =
        request.headers().get(NAME).map(|value| percent_decode(value.as_bytes()).decode_utf8_lossy().into_owned());
    header.filter(|name| !name.is_empty()).unwrap_or_else(|| "file".to_owned())
}

/// Raw bytes; where the webview cannot send them, a list of numbers.
fn body(request: &Request<'_>) -> Answer<Vec<u8>> {
    match request.body() {
        InvokeBody::Raw(bytes) => Ok(bytes.clone()),
        InvokeBody::Json(value) => serde_json::from_value(value.clone())
            .map_err(|_| error("UNREADABLE_FILE", "The file did not arrive whole; choose it again.")),
    }
}
