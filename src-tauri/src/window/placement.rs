//! Where the window was, so that it comes back there, and never where nobody can see it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use countersign_station::PreferencesFile;
use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _, Monitor, Window};
use tokio::sync::watch;

/// While somebody drags the window, it is written down at most this often.
const PAUSE: Duration = Duration::from_secs(1);
/// What of the title bar has to be on a screen for the window to be moved: width and height.
const HANDLE: (i64, i64) = (120, 24);
/// No screen is larger; a file that says so was not written by a window.
const LARGEST: u32 = 32_767;

/// Position and size in logical pixels. Without a size nothing is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Placement {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    maximized: bool,
}

/// How a window is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) size: (u32, u32),
    /// `None` leaves it to the desktop.
    pub(super) position: Option<(i32, i32)>,
    pub(super) maximized: bool,
}

/// A screen in logical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Screen {
    x: i64,
    y: i64,
    width: u32,
    height: u32,
}

impl Screen {
    pub(super) fn of(monitor: &Monitor) -> Self {
        let position = monitor.position().to_logical::<i32>(monitor.scale_factor());
        let size = monitor.size().to_logical::<u32>(monitor.scale_factor());
        Self { x: position.x.into(), y: position.y.into(), width: size.width, height: size.height }
    }
}

/// The file of where the window was.
pub(crate) struct Placements {
    file: PreferencesFile,
    last: watch::Sender<Placement>,
}

impl Placements {
    pub(crate) fn at(path: PathBuf) -> Self {
        let file = PreferencesFile::at(path);
        let last = match file.load(|placement: &Placement| placement.width.max(placement.height) <= LARGEST, Utc::now())
        {
            Ok((placement, _)) => placement,
            Err(problem) => {
                tracing::warn!(event = "placement_unreadable", "{problem}");
                Placement::default()
            }
        };
        Self { file, last: watch::Sender::new(last) }
    }

    /// How to open the window, if that is known.
    pub(super) fn opening(&self, screens: &[Screen]) -> Option<Opening> {
        fit(*self.last.borrow(), screens)
    }

    /// Takes down where the window is.
    pub(super) fn note(&self, window: &Window) {
        let Ok(next) = seen(window, *self.last.borrow()) else { return };
        self.last.send_if_modified(|last| std::mem::replace(last, next) != next);
    }

    /// Writes it down, now.
    pub(crate) fn save(&self) {
        let placement = *self.last.borrow();
        if placement == Placement::default() {
            return;
        }
        if let Err(problem) = self.file.save(&placement) {
            tracing::warn!(event = "placement_not_kept", "{problem}");
        }
    }
}

/// Writes down where the window is, as long as the application runs.
pub(crate) async fn follow(app: AppHandle) {
    let placements = Arc::clone(&app.state::<Arc<Placements>>());
    let mut changes = placements.last.subscribe();
    while changes.changed().await.is_ok() {
        tokio::time::sleep(PAUSE).await;
        changes.mark_unchanged();
        let placements = Arc::clone(&placements);
        // It can only fail by a panic, which is logged.
        let _ = tokio::task::spawn_blocking(move || placements.save()).await;
    }
}

/// A window that fills the screen keeps the place to which it goes back.
fn seen(window: &Window, last: Placement) -> tauri::Result<Placement> {
    if window.is_minimized()? || window.is_fullscreen()? {
        return Ok(last);
    }
    if window.is_maximized()? {
        return Ok(Placement { maximized: true, ..last });
    }
    let scale = window.scale_factor()?;
    let position = window.outer_position()?.to_logical::<i32>(scale);
    let size = window.inner_size()?.to_logical::<u32>(scale);
    Ok(Placement { x: position.x, y: position.y, width: size.width, height: size.height, maximized: false })
}

/// A window that no screen shows any more is left to the desktop; one that is larger than its screen becomes as large.
fn fit(placement: Placement, screens: &[Screen]) -> Option<Opening> {
    let Placement { x, y, width, height, maximized } = placement;
    if width == 0 || height == 0 {
        return maximized.then_some(Opening { size: (0, 0), position: None, maximized });
    }
    let on = screens.iter().find(|screen| shows_title(screen, placement));
    let screen = on.or(screens.first());
    let size = screen.map_or((width, height), |screen| (width.min(screen.width), height.min(screen.height)));
    Some(Opening { size, position: on.map(|_| (x, y)), maximized })
}

fn shows_title(screen: &Screen, placement: Placement) -> bool {
    let overlap =
        |from: i64, length: i64, low: i64, extent: u32| (from + length).min(low + i64::from(extent)) - from.max(low);
    let (x, y) = (i64::from(placement.x), i64::from(placement.y));
    let (wide, high) = HANDLE;
    overlap(x, i64::from(placement.width), screen.x, screen.width) >= wide
        && overlap(y, high, screen.y, screen.height) >= high
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAPTOP: Screen = Screen { x: 0, y: 0, width: 1_440, height: 900 };
    const BESIDE: Screen = Screen { x: 1_440, y: -200, width: 1_920, height: 1_080 };

    fn placed(x: i32, y: i32, width: u32, height: u32) -> Placement {
        Placement { x, y, width, height, maximized: false }
    }

    #[test]
    fn a_window_comes_back_where_it_can_be_seen_and_moved() {
        for (placement, screens, size, position) in [
            (placed(100, 50, 1_200, 800), &[LAPTOP][..], (1_200, 800), Some((100, 50))),
            (placed(1_600, -100, 1_200, 800), &[LAPTOP, BESIDE], (1_200, 800), Some((1_600, -100))),
            // The screen beside it was unplugged.
            (placed(1_600, -100, 1_200, 800), &[LAPTOP], (1_200, 800), None),
            // Only a sliver, or a title bar above the screen, could not be taken hold of.
            (placed(1_400, 50, 1_200, 800), &[LAPTOP], (1_200, 800), None),
            (placed(100, -30, 1_200, 800), &[LAPTOP], (1_200, 800), None),
            (placed(-1_000, 50, 1_200, 800), &[LAPTOP], (1_200, 800), Some((-1_000, 50))),
            (placed(0, 0, 3_000, 2_000), &[LAPTOP], (1_440, 900), Some((0, 0))),
            (placed(i32::MAX, i32::MIN, u32::MAX, u32::MAX), &[LAPTOP], (1_440, 900), None),
            (placed(100, 50, 1_200, 800), &[], (1_200, 800), None),
        ] {
            let opening = fit(placement, screens).expect("a size is known");
            assert_eq!((opening.size, opening.position), (size, position), "{placement:?} {screens:?}");
        }
        assert_eq!(fit(Placement::default(), &[LAPTOP]), None);
    }

    #[test]
    fn what_was_written_down_comes_back_and_what_no_window_wrote_does_not() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("window.json");
        let first = Placements::at(path.clone());
        assert_eq!(first.opening(&[LAPTOP]), None);
        first.save();
        assert!(!path.exists(), "nothing is known");
        first.last.send_replace(Placement { maximized: true, ..placed(10, 20, 1_100, 700) });
        first.save();
        let expected = Opening { size: (1_100, 700), position: Some((10, 20)), maximized: true };
        assert_eq!(Placements::at(path.clone()).opening(&[LAPTOP]), Some(expected));
        std::fs::write(&path, r#"{"width": 4000000, "height": 700}"#).expect("a writable directory");
        assert_eq!(Placements::at(path).opening(&[LAPTOP]), None);
    }
}
