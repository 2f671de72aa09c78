//! Confirmations and their receipts.

use chrono::Utc;
use countersign_domain::id::BatchId;
use countersign_paper::receipt_csv::receipt_csv;
use countersign_paper::receipt_json::receipt_json;
use countersign_paper::receipt_pdf::receipt_pdf;
use countersign_paper::save::name_part;
use countersign_wire::{BatchRow, BatchView, ReceiptFormat, SavedFile};
use uuid::Uuid;

use super::files::{not_made, write};
use super::{Answer, Here, unreadable};
use crate::views;
use crate::workstation::Station;

/// How much of a confirmation's name tells it from others in the name of a file.
const BATCH_CHARS: usize = 8;

#[tauri::command]
pub(crate) async fn batches(here: Here<'_>) -> Answer<Vec<BatchRow>> {
    let batches = here.station().await?.batches().await.map_err(views::gone)?;
    Ok(batches.map_err(|problem| views::journal_error(&problem))?.iter().map(views::batch_row).collect())
}

#[tauri::command]
pub(crate) async fn batch(here: Here<'_>, batch: String) -> Answer<BatchView> {
    read(&here.station().await?, &batch).await
}

#[tauri::command]
pub(crate) async fn save_batch(here: Here<'_>, batch: String, format: ReceiptFormat) -> Answer<SavedFile> {
    let station = here.station().await?;
    let view = read(&station, &batch).await?;
    let reviewer = station.look(|engine, _| engine.reviewer().map(str::to_owned)).await.map_err(views::gone)?;
    let receipt = views::batch_receipt(view, reviewer.unwrap_or_default(), here.machine().to_owned(), Utc::now());
    write(&here, move || {
        let name = format!("receipt {}", name_part(&receipt.batch.chars().take(BATCH_CHARS).collect::<String>()));
        let (extension, bytes) = match format {
            ReceiptFormat::Pdf => ("pdf", receipt_pdf(&receipt).map_err(|problem| not_made(&problem))?),
            ReceiptFormat::Csv => ("csv", receipt_csv(&receipt).map_err(|problem| not_made(&problem))?),
            ReceiptFormat::Json => ("json", receipt_json(&receipt).map_err(|problem| not_made(&problem))?),
        };
        Ok((name, extension, bytes))
    })
    .await
}

async fn read(station: &Station, batch: &str) -> Answer<BatchView> {
    let id = BatchId(Uuid::parse_str(batch).map_err(|_| unreadable("confirmation", batch))?);
    let found = station.batch(id).await.map_err(views::gone)?;
    let (batch, entries) = found.map_err(|problem| views::journal_error(&problem))?.ok_or_else(views::no_batch)?;
    let pending = station.look(move |engine, now| views::pending(engine, now, id)).await.map_err(views::gone)?;
    views::batch(batch, &entries, pending)
}
