//! Tells the window that something changed: at most ten times a second, the first and the last change always.

use std::sync::Arc;
use std::time::Duration;

use countersign_engine::Engine;
use countersign_station::Versions;
use countersign_wire::DrainView;
use tauri::{AppHandle, Emitter as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::views;
use crate::workstation::{Station, Workstation};

/// The name of the event.
const EVENT: &str = "changed";
/// The least time between two events.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the progress of closing is told, also when only time went by.
const DRAIN_REFRESH: Duration = Duration::from_millis(250);

/// Follows whatever station runs, as long as the application does.
pub(crate) async fn follow(app: AppHandle, workstation: Arc<Workstation>) {
    let mut own = workstation.own_changes();
    let mut drain = None;
    loop {
        let station = workstation.running().await;
        let mut versions = station.as_ref().map(Station::versions);
        let mut same_station = true;
        while same_station {
            let seen = versions.as_mut().map_or_else(Versions::default, |versions| *versions.borrow_and_update());
            if workstation.is_closing() {
                drain = progress(station.as_ref(), drain).await;
            }
            // Without a window there is nobody to be told.
            let _ = app.emit(EVENT, workstation.change(seen, drain.clone()));
            sleep(PAUSE).await;
            same_station = next_change(&mut own, &mut versions, workstation.is_closing()).await;
        }
    }
}

/// Waits for something to tell. `false` when it may be another station.
async fn next_change(
    own: &mut watch::Receiver<u32>,
    versions: &mut Option<watch::Receiver<Versions>>,
    closing: bool,
) -> bool {
    let station_changed = async {
        match versions.as_mut() {
            Some(versions) => versions.changed().await.is_ok(),
            None => std::future::pending().await,
        }
    };
    let change = async {
        tokio::select! {
            _ = own.changed() => Some(false),
            alive = station_changed => alive.then_some(true),
        }
    };
    let outcome = if closing { timeout(DRAIN_REFRESH, change).await.unwrap_or(Some(true)) } else { change.await };
    outcome.unwrap_or_else(|| {
        // The station has ended; what it was is told once more, and then only the shell's own changes.
        *versions = None;
        true
    })
}

/// How closing goes; a station that has ended is done.
async fn progress(station: Option<&Station>, last: Option<DrainView>) -> Option<DrainView> {
    let state = match station {
        Some(station) => station.look(Engine::drain).await.ok(),
        None => None,
    };
    match state {
        Some(state) => state.map(views::drain),
        None => last.map(|last| DrainView { done: true, ..last }),
    }
}
