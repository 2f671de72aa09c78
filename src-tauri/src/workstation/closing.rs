//! Closing: what is unsent is sent, what is undecided is given back, and what is left is on disk.

use std::time::Duration;

use countersign_engine::Command;
use tokio::time::timeout;

use super::{Running, Workstation};
use crate::profile;

/// How long a station may take beyond `drain_timeout_s`: its last writes, on a disk that hangs.
const GRACE: Duration = Duration::from_secs(10);
/// How long a station that gives way to another profile's may take; what is left is sent when its profile is used again.
const GIVE_WAY: Duration = Duration::from_secs(3);

/// What a request to close came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Everything is durable: the application can end.
    Done,
    /// Somebody else's request is being carried out already.
    UnderWay,
}

impl Workstation {
    /// Drains and returns once everything is durable.
    pub(crate) async fn close(&self) -> Closed {
        if self.closing.send_replace(true) {
            return Closed::UnderWay;
        }
        self.changed();
        let _one = self.connecting.lock().await;
        let patience = self.drain_patience();
        let running = self.take_task();
        if let Some((station, task)) = running {
            // A station that has ended has drained.
            let _ = station.command(Command::Drain).await;
            if timeout(patience, task).await.is_err() {
                tracing::error!(event = "drain_hangs", "the journal's last writes did not end within {patience:?}");
            }
            self.report().await;
        }
        Closed::Done
    }

    /// Ends the wait: what is unsent stays on disk and is sent the next time.
    pub(crate) async fn close_now(&self) {
        if let Some(station) = self.running().await {
            // A station that has ended needs not be told.
            let _ = station.command(Command::CloseNow).await;
        }
    }

    /// Ends the station that runs, so that another one can.
    pub(super) async fn stop(&self) {
        self.end(Command::Drain, GIVE_WAY).await;
    }

    /// Ends the station that runs by a command that drains it, and by another one when that takes too long.
    pub(super) async fn end(&self, command: Command, patience: Duration) {
        let Some((station, mut task)) = self.take_task() else { return };
        let versions = *station.versions().borrow();
        // As in `close`: a station that has ended needs not be told.
        let _ = station.command(command).await;
        if timeout(patience, &mut task).await.is_err() {
            let _ = station.command(Command::CloseNow).await;
            if timeout(GRACE, task).await.is_err() {
                tracing::error!(event = "drain_hangs", "the journal's last writes did not end within {GRACE:?}");
            }
        }
        let mut current = self.current();
        current.running = None;
        let highest = versions.deck.max(versions.outbox).max(versions.session);
        // A drain changes a few things more; what matters is that the next station's versions are others.
        current.base = current.base.wrapping_add(highest).wrapping_add(10_000);
    }

    /// The longest that a station which drains of itself may take.
    pub(super) fn drain_patience(&self) -> Duration {
        Duration::from_secs(self.settings.drain_timeout_s.into()) + GRACE
    }

    fn take_task(&self) -> Option<(super::Station, tokio::task::JoinHandle<()>)> {
        let mut current = self.current();
        let Running { station, task, .. } = current.running.as_mut()?;
        Some((station.clone(), task.take()?))
    }

    /// One line about what is on disk, for whoever looks into the log the next day.
    async fn report(&self) {
        let (profile, key) = {
            let current = self.current();
            let key = current.running.as_ref().map(|running| running.journal_key.clone());
            let (Some(profile), Some(key)) = (current.profile.clone(), key) else { return };
            (profile, key)
        };
        let path = profile::journal(&self.places.data_dir, &profile.name);
        let counted = tokio::task::spawn_blocking(move || {
            let unused = countersign_domain::id::WorkstationId(uuid::Uuid::nil());
            countersign_journal::SqliteJournal::open(&path, &key, unused)?.counts()
        });
        match counted.await {
            Ok(Ok(counts)) => tracing::info!(
                event = "closed",
                unsent = counts.ready,
                committed = counts.committed,
                refused = counts.refused,
                dead = counts.dead,
                undecided = counts.undecided,
                "closed"
            ),
            Ok(Err(problem)) => tracing::warn!(event = "closed", "the journal could not be counted: {problem}"),
            Err(reason) => tracing::warn!(event = "closed", "the journal could not be counted: {reason}"),
        }
    }
}
