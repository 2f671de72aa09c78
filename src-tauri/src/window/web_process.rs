//! The process that draws the window may die, of memory or of a defect in it. Nothing is lost with it: the session is here, and the
//! window restores the rest of itself. So it is loaded anew; and when that does not help, a person is asked.

use std::collections::VecDeque;
use std::time::Duration;

use tauri::WebviewWindow;

/// How often the window is loaded anew by itself within [`WITHIN`].
const RELOADS: usize = 3;
const WITHIN: Duration = Duration::from_mins(1);

/// When the window was loaded anew, on a monotonic clock.
#[derive(Debug, Default)]
struct Reloads {
    at: VecDeque<Duration>,
}

impl Reloads {
    /// Whether it may be loaded anew by itself, and takes it down if so.
    fn allow(&mut self, now: Duration) -> bool {
        while self.at.front().is_some_and(|at| now.saturating_sub(*at) >= WITHIN) {
            self.at.pop_front();
        }
        let allowed = self.at.len() < RELOADS;
        if allowed {
            self.at.push_back(now);
        }
        allowed
    }
}

/// Watches the process that draws a window.
#[cfg(target_os = "linux")]
pub(super) fn watch(window: &WebviewWindow) -> tauri::Result<()> {
    use std::cell::RefCell;
    use std::time::Instant;

    use tauri::Manager as _;
    use webkit2gtk::WebViewExt as _;

    let (app, began) = (window.app_handle().clone(), Instant::now());
    let reloads = RefCell::new(Reloads::default());
    window.with_webview(move |webview| {
        webview.inner().connect_web_process_terminated(move |view, reason| {
            tracing::error!(event = "web_process_died", ?reason);
            if reloads.borrow_mut().allow(began.elapsed()) {
                view.reload();
                tracing::info!(event = "web_process_reloaded");
            } else {
                ask(&app, view);
            }
        });
    })
}

/// Elsewhere the webview comes back by itself, or the platform asks.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

/// Asks with the desktop's own means, which need no web process.
#[cfg(target_os = "linux")]
fn ask(app: &tauri::AppHandle, view: &webkit2gtk::WebView) {
    use gtk::prelude::*;
    use webkit2gtk::WebViewExt as _;

    tracing::error!(event = "web_process_given_up", "it died more than {RELOADS} times within {WITHIN:?}");
    let parent = view.toplevel().and_then(|window| window.downcast::<gtk::Window>().ok());
    let dialog = gtk::MessageDialog::new(
        parent.as_ref(),
        gtk::DialogFlags::MODAL,
        gtk::MessageType::Error,
        gtk::ButtonsType::None,
        "The process that draws this window has stopped several times.",
    );
    dialog.set_secondary_text(Some(
        "What you signed is on disk and goes on being sent. Load the window again; if this comes back, close Countersign, which sends \
         what it can and gives undecided exceptions back, and tell whoever looks after this computer.",
    ));
    dialog.add_button("Close Countersign", gtk::ResponseType::Close);
    dialog.add_button("Load Again", gtk::ResponseType::Accept);
    dialog.set_default_response(gtk::ResponseType::Accept);
    let (app, view) = (app.clone(), view.clone());
    let answered = std::cell::Cell::new(false);
    dialog.connect_response(move |dialog, response| {
        // Closing it is another answer.
        if answered.replace(true) {
            return;
        }
        dialog.close();
        if response == gtk::ResponseType::Close {
            super::request_close(&app);
        } else {
            view.reload();
            tracing::info!(event = "web_process_reloaded");
        }
    });
    dialog.show_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_loaded_anew_three_times_a_minute_and_no_more() {
        let mut reloads = Reloads::default();
        for (second, allowed) in
            [(0, true), (1, true), (2, true), (3, false), (59, false), (60, true), (60, false), (61, true)]
        {
            assert_eq!(reloads.allow(Duration::from_secs(second)), allowed, "{second}");
        }
    }
}
