//! The workstation as the window knows it: the settings, the profiles and, once a journal is open, the station that runs.

mod closing;
mod connecting;
mod diagnostics;
mod leaving;
mod preferences;
mod profiles;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_backlog::PgBacklog;
use countersign_backlog::inspect::Finding;
use countersign_domain::settings::Settings;
use countersign_journal::JournalKey;
use countersign_station::{Configured, PreferencesFile, Profiles, SettingsFile, StationHandle, Versions};
use countersign_wire::{Changed, CommandError, LeavingView, Needs, Preferences, Profile, SessionView};
use secrecy::SecretString;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::args::Places;
use crate::heard::Heard;
use crate::opened::Opened;
use crate::views::{self, Frame, error};

pub(crate) use closing::Closed;

/// A station over PostgreSQL.
pub(crate) type Station = StationHandle<PgBacklog>;

/// How many notices are kept; the oldest gives way.
const NOTICES: usize = 5;

/// What the application holds from its start to its end.
pub(crate) struct Workstation {
    /// In force until the end.
    settings: Settings,
    /// The same, with where each comes from.
    configured: Configured,
    settings_file: SettingsFile,
    places: Places,
    profiles: Profiles,
    preferences_file: PreferencesFile,
    preferences: watch::Sender<Preferences>,
    /// Settings and preferences are written one at a time.
    changing: tokio::sync::Mutex<()>,
    /// The profile named on the command line.
    wanted: Option<String>,
    /// The password of a start that nobody attends.
    unattended: Option<SecretString>,
    machine: String,
    /// Journals are opened, and connections made, one at a time.
    connecting: tokio::sync::Mutex<()>,
    current: Mutex<Current>,
    /// What was last heard of the backlog and the close.
    heard: Heard,
    /// The first opening is over, well or not.
    started: watch::Sender<bool>,
    /// Closing has begun.
    closing: watch::Sender<bool>,
    /// Counts changes that no station tells of.
    own_changes: watch::Sender<u32>,
    /// What was looked at in full.
    opened: Mutex<Opened>,
}

/// What changes while the application runs. It is locked for a moment at a time, never across a wait.
#[derive(Default)]
struct Current {
    running: Option<Running>,
    /// In use, or the one to complete.
    profile: Option<Profile>,
    profiles: Vec<Profile>,
    /// Why no journal is open.
    trouble: Option<CommandError>,
    /// The profile whose damaged journal the reviewer has been told of.
    told_of_damage: Option<String>,
    notices: Vec<String>,
    /// While a connection is being made: what was asked before.
    asking: Option<Needs>,
    /// What the latest connection test found.
    tested: Vec<Finding>,
    /// What is left of a profile whose station was stopped for good.
    leaving: Option<LeavingView>,
    /// Added to a station's versions, so that they grow from one station to the next.
    base: u32,
}

struct Running {
    station: Station,
    /// Ends when everything is durable; taken by whoever stops the station.
    task: Option<JoinHandle<()>>,
    /// What its journal is encrypted with.
    journal_key: JournalKey,
    /// What it connects with.
    password: Option<SecretString>,
    /// Its keys are in a file; at an enrolment they may move.
    keys_in_file: Arc<AtomicBool>,
}

impl Workstation {
    pub(crate) fn new(
        (settings_file, configured): (SettingsFile, Configured),
        places: Places,
        wanted: Option<String>,
        unattended: Option<SecretString>,
    ) -> Self {
        Self {
            profiles: Profiles::at(places.config_dir.join("profiles.toml")),
            preferences_file: PreferencesFile::at(places.config_dir.join("preferences.json")),
            preferences: watch::Sender::new(Preferences::default()),
            changing: tokio::sync::Mutex::default(),
            settings: configured.settings.clone(),
            configured,
            settings_file,
            places,
            wanted,
            unattended,
            machine: machine_name(),
            connecting: tokio::sync::Mutex::default(),
            current: Mutex::default(),
            heard: Heard::default(),
            started: watch::Sender::new(false),
            closing: watch::Sender::new(false),
            own_changes: watch::Sender::new(0),
            opened: Mutex::default(),
        }
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was last heard of the backlog and the close.
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// The name of the profile in use.
    pub(crate) fn profile_name(&self) -> Option<String> {
        self.current().profile.as_ref().map(|profile| profile.name.clone())
    }

    /// The session, once the first opening is over: before, nothing true could be said.
    pub(crate) async fn session(&self) -> SessionView {
        self.wait_until_started().await;
        let (frame, station) = {
            let current = self.current();
            (self.frame(&current), current.running.as_ref().map(|running| running.station.clone()))
        };
        if let Some(station) = station {
            let copy = frame.clone();
            if let Ok(view) = station.look(move |engine, now| views::session(copy, Some((engine, now)))).await {
                return view;
            }
        }
        views::session(frame, None)
    }

    /// The station that runs, once the first opening is over.
    pub(crate) async fn station(&self) -> Result<Station, CommandError> {
        self.running().await.ok_or_else(|| error("NOT_CONNECTED", "No journal is open: connect first."))
    }

    /// The station that runs, if one does, once the first opening is over.
    pub(crate) async fn running(&self) -> Option<Station> {
        self.wait_until_started().await;
        self.current().running.as_ref().map(|running| running.station.clone())
    }

    /// This machine's name.
    pub(crate) fn machine(&self) -> &str {
        &self.machine
    }

    /// Where files for the reviewer go.
    pub(crate) fn paper_dir(&self) -> PathBuf {
        self.places.export_dir.join("Countersign")
    }

    /// What was looked at in full. It is locked for a moment at a time.
    pub(crate) fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to add to a station's versions before the window sees them.
    pub(crate) fn base(&self) -> u32 {
        self.current().base
    }

    /// Tells of changes that no station tells of: another station, a notice, closing.
    pub(crate) fn own_changes(&self) -> watch::Receiver<u32> {
        self.own_changes.subscribe()
    }

    /// Whether closing has begun.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// What an event says. `drain` is said while closing only: a station that gives way to another drains too.
    pub(crate) fn change(&self, versions: Versions, drain: Option<countersign_wire::DrainView>) -> Changed {
        let base = self.base();
        Changed {
            deck: base.wrapping_add(versions.deck),
            outbox: base.wrapping_add(versions.outbox),
            session: base.wrapping_add(versions.session).wrapping_add(*self.own_changes.borrow()),
            drain: drain.filter(|_| self.is_closing()),
        }
    }

    fn frame(&self, current: &Current) -> Frame {
        Frame {
            asking: current.asking,
            profile: current.profile.clone(),
            profiles: current.profiles.clone(),
            workstation: self.machine.clone(),
            settings: self.settings.clone(),
            trouble: current.trouble.clone(),
            notices: current.notices.clone(),
            keys_in_file: current.running.as_ref().is_some_and(|running| running.keys_in_file.load(Ordering::Relaxed)),
            leaving: current.leaving.clone(),
        }
    }

    async fn wait_until_started(&self) {
        let mut started = self.started.subscribe();
        // The sender lives as long as `self`.
        let _ = started.wait_for(|started| *started).await;
    }

    fn notice(&self, text: String) {
        tracing::warn!(event = "notice", "{text}");
        let mut current = self.current();
        if current.notices.len() >= NOTICES {
            current.notices.remove(0);
        }
        current.notices.push(text);
        drop(current);
        self.changed();
    }

    fn changed(&self) {
        self.own_changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        // Whoever panicked while holding it left no half-made change: each is one assignment.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name under which the database lists this machine.
fn machine_name() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = kernel.or_else(|| std::env::var("COMPUTERNAME").ok()).or_else(|| std::env::var("HOSTNAME").ok());
    let name: String = named.unwrap_or_default().trim().chars().filter(|c| !c.is_control()).take(100).collect();
    if name.is_empty() { "workstation".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
