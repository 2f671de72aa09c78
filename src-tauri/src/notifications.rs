//! What the desktop is told while the window has no focus: counts, and never whose or how much.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_engine::{Engine, Now};
use notify_rust::{Notification, NotificationHandle};
use tauri::{AppHandle, Manager as _};
use tokio::time::Instant;

use crate::workstation::Workstation;

/// How often is looked.
const LOOK: Duration = Duration::from_secs(5);
/// The least time between two notifications of one kind, and between any two.
const SAME_KIND: Duration = Duration::from_mins(5);
const ANY_KIND: Duration = Duration::from_secs(30);
/// Leases that cannot be renewed are told of so long before the first one lapses.
const LEASES_MS: u64 = 180_000;
/// An outage is told of when it lasts for so long.
const OFFLINE: Duration = Duration::from_mins(10);

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Leases,
    Attention,
    DeckFilled,
    Offline,
}

impl Kind {
    /// What matters most comes first: one at a time is told.
    const ALL: [Self; 4] = [Self::Leases, Self::Attention, Self::Offline, Self::DeckFilled];
}

/// How things are, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    online: bool,
    deck: usize,
    /// Refused or given up.
    attention: usize,
    unsent: usize,
    first_lease_ends_in_ms: Option<u64>,
}

impl Seen {
    fn of(engine: &Engine, now: Now) -> Self {
        let (counts, link) = (engine.counts(now), engine.link(now));
        Self {
            online: link.online,
            deck: engine.deck().count(),
            attention: counts.refused + counts.dead,
            unsent: counts.held + counts.ready + counts.sending,
            first_lease_ends_in_ms: engine.first_lease_ends_in_ms(now),
        }
    }
}

/// Decides what is told, and when. Somebody who looks at the window has seen it.
#[derive(Debug, Default)]
struct Telling {
    /// Told, or seen, and still so.
    known: HashSet<Kind>,
    last: HashMap<Kind, Duration>,
    any: Option<Duration>,
    attention_known: usize,
    /// The deck has been empty since somebody looked, after it was not.
    was_empty: bool,
    had_some: bool,
    offline_since: Option<Duration>,
}

impl Telling {
    /// What to tell now, at most one thing. `told_to` is whether the desktop is to be told; `looking` whether somebody sees the window.
    fn look(&mut self, seen: Seen, now: Duration, looking: bool, told_to: bool) -> Option<(Kind, String)> {
        self.had_some |= seen.deck > 0;
        self.was_empty |= self.had_some && seen.deck == 0;
        self.offline_since = if seen.online { None } else { self.offline_since.or(Some(now)) };
        self.attention_known = self.attention_known.min(seen.attention);
        if looking {
            self.attention_known = seen.attention;
            self.was_empty &= seen.deck == 0;
        }
        for kind in Kind::ALL {
            if self.text(kind, seen, now).is_none() {
                self.known.remove(&kind);
            } else if looking {
                self.known.insert(kind);
            }
        }
        if looking || !told_to || self.any.is_some_and(|at| now.saturating_sub(at) < ANY_KIND) {
            return None;
        }
        let kind = Kind::ALL.into_iter().find(|kind| {
            let recently = self.last.get(kind).is_some_and(|at| now.saturating_sub(*at) < SAME_KIND);
            !recently && !self.known.contains(kind) && self.text(*kind, seen, now).is_some()
        })?;
        let text = self.text(kind, seen, now)?;
        self.last.insert(kind, now);
        self.any = Some(now);
        match kind {
            // More of them is news again.
            Kind::Attention => self.attention_known = seen.attention,
            Kind::DeckFilled => self.was_empty = false,
            Kind::Leases | Kind::Offline => drop(self.known.insert(kind)),
        }
        Some((kind, text))
    }

    fn text(&self, kind: Kind, seen: Seen, now: Duration) -> Option<String> {
        match kind {
            Kind::Leases => {
                let ends_in_ms = seen.first_lease_ends_in_ms.filter(|ends| *ends < LEASES_MS && !seen.online)?;
                let minutes = ends_in_ms.div_ceil(60_000);
                (seen.deck > 0).then(|| {
                    format!(
                        "Leases begin to lapse in {} and cannot be renewed without the network.",
                        plural(minutes, "minute")
                    )
                })
            }
            Kind::Attention => {
                let news = seen.attention.checked_sub(self.attention_known).filter(|news| *news > 0)?;
                let needs = if news == 1 { "needs" } else { "need" };
                Some(format!("{} {needs} your attention.", plural(news as u64, "decision")))
            }
            Kind::DeckFilled => (self.was_empty && seen.deck > 0)
                .then(|| format!("The deck has {} again.", plural(seen.deck as u64, "exception"))),
            Kind::Offline => {
                let since =
                    self.offline_since.map(|since| now.saturating_sub(since)).filter(|since| *since >= OFFLINE)?;
                let minutes = plural(since.as_secs() / 60, "minute");
                let waiting = match seen.unsent {
                    0 => String::new(),
                    unsent => format!(" {} on this computer and sent by themselves later.", waits(unsent)),
                };
                Some(format!("No connection to the database for {minutes}.{waiting}"))
            }
        }
    }
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn waits(unsent: usize) -> String {
    format!("{} {} kept", plural(unsent as u64, "decision"), if unsent == 1 { "is" } else { "are" })
}

/// The desktop that is told.
#[derive(Default)]
pub(crate) struct Desktop {
    /// The window has the focus.
    focused: AtomicBool,
    /// One notification is on its way; a daemon that hangs gets no second one.
    busy: AtomicBool,
    /// The daemon may take a notification back once nobody holds it.
    shown: Mutex<HashMap<Kind, NotificationHandle>>,
    /// That there is no daemon is said once.
    silent: AtomicBool,
}

impl Desktop {
    pub(crate) fn focus(&self, focused: bool) {
        self.focused.store(focused, Ordering::Relaxed);
    }

    fn tell(self: Arc<Self>, kind: Kind, text: String) {
        if self.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        tokio::task::spawn_blocking(move || {
            let shown = Notification::new()
                .appname("Countersign")
                .summary("Countersign")
                .body(&text)
                .icon("countersign")
                .show();
            match shown {
                Ok(handle) => {
                    tracing::info!(event = "notified", ?kind);
                    drop(self.shown.lock().unwrap_or_else(PoisonError::into_inner).insert(kind, handle));
                }
                // Not every desktop has one; the window says the same.
                Err(reason) if !self.silent.swap(true, Ordering::Relaxed) => {
                    tracing::info!(event = "not_notified", ?kind, "the desktop took no notification: {reason}");
                }
                Err(_) => {}
            }
            self.busy.store(false, Ordering::Release);
        });
    }
}

/// Looks after what is to be told, as long as the application runs.
pub(crate) async fn follow(app: AppHandle, workstation: Arc<Workstation>) {
    let desktop = Arc::clone(&app.state::<Arc<Desktop>>());
    let preferences = workstation.preferences_changes();
    let (began, mut telling) = (Instant::now(), Telling::default());
    let mut base = workstation.base();
    loop {
        tokio::time::sleep(LOOK).await;
        if workstation.is_closing() {
            return;
        }
        if base != workstation.base() {
            // Another profile's numbers are no news about this one's.
            base = workstation.base();
            telling = Telling::default();
        }
        let Some(station) = workstation.running().await else { continue };
        let Ok(seen) = station.look(Seen::of).await else { continue };
        let (looking, told_to) = (desktop.focused.load(Ordering::Relaxed), preferences.borrow().notifications);
        if let Some((kind, text)) = telling.look(seen, began.elapsed(), looking, told_to) {
            Arc::clone(&desktop).tell(kind, text);
        }
    }
}

#[cfg(test)]
mod tests;
