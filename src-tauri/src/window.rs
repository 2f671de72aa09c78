//! The one window: how it is made, and how it goes.

pub(crate) mod placement;
mod web_process;

use std::sync::Arc;

use tauri::{AppHandle, Manager as _, Url, WebviewWindowBuilder, WindowEvent};

use crate::args::Places;
use crate::notifications::Desktop;
use crate::window::placement::{Placements, Screen};
use crate::workstation::{Closed, Workstation};

/// Its label in `tauri.conf.json`.
pub(crate) const LABEL: &str = "main";

/// Makes the window that `tauri.conf.json` describes.
pub(crate) fn open(app: &AppHandle, places: &Places) -> tauri::Result<()> {
    let config = app.config().app.windows.iter().find(|window| window.label == LABEL);
    let config = config.ok_or(tauri::Error::WindowNotFound)?;
    let screens: Vec<Screen> = app.available_monitors()?.iter().map(Screen::of).collect();
    let mut builder = WebviewWindowBuilder::from_config(app, config)?;
    if let Some(opening) = app.state::<Arc<Placements>>().opening(&screens) {
        if opening.size.0 > 0 {
            builder = builder.inner_size(f64::from(opening.size.0), f64::from(opening.size.1));
        }
        if let Some((x, y)) = opening.position {
            builder = builder.position(f64::from(x), f64::from(y));
        }
        builder = builder.maximized(opening.maximized);
    }
    let window = builder
        .data_directory(places.data_dir.join("webview"))
        // The window shows the application and nothing else, whatever a text in an exception may look like.
        .on_navigation(is_ours)
        .on_new_window(|_, _| tauri::webview::NewWindowResponse::Deny)
        .build()?;
    web_process::watch(&window)?;
    zoom(app, app.state::<Arc<Workstation>>().preferences().zoom_percent);
    Ok(())
}

/// Shows everything larger or smaller.
pub(crate) fn zoom(app: &AppHandle, percent: u32) {
    #[expect(clippy::float_arithmetic, reason = "a size on the screen, as the webview wants it")]
    let factor = f64::from(percent) / 100.0;
    let Some(window) = app.get_webview_window(LABEL) else { return };
    if let Err(reason) = window.set_zoom(factor) {
        tracing::warn!(event = "not_zoomed", "{reason}");
    }
}

fn is_ours(url: &Url) -> bool {
    url.scheme() == "tauri" || (url.scheme() == "http" && url.host_str() == Some("tauri.localhost"))
}

/// Raises the window: a second start, while this one runs.
pub(crate) fn raise(app: &AppHandle) {
    let Some(window) = app.get_webview_window(LABEL) else { return };
    for outcome in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(reason) = outcome {
            tracing::warn!(event = "not_raised", "the window could not be raised: {reason}");
        }
    }
}

/// A click on the close button begins the drain; the window goes when it is over. Where it is and who looks at it are taken down.
pub(crate) fn on_event(window: &tauri::Window, event: &WindowEvent) {
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            request_close(window.app_handle());
        }
        WindowEvent::Focused(focused) => window.state::<Arc<Desktop>>().focus(*focused),
        WindowEvent::Moved(_) | WindowEvent::Resized(_) => window.state::<Arc<Placements>>().note(window),
        _ => {}
    }
}

/// Drains and then ends the application. Asking twice is asking once.
pub(crate) fn request_close(app: &AppHandle) {
    let app = app.clone();
    let workstation = Arc::clone(&app.state::<Arc<Workstation>>());
    tauri::async_runtime::spawn(async move {
        if workstation.close().await == Closed::Done {
            app.state::<Arc<Placements>>().save();
            app.exit(0);
        }
    });
}

/// A signal to end begins the drain, and a second one ends the wait.
#[cfg(unix)]
pub(crate) async fn close_on_signals(app: AppHandle, workstation: Arc<Workstation>) {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    let [Ok(mut terminate), Ok(mut interrupt)] = signals else {
        tracing::warn!(event = "no_signals", "signals to end cannot be heard; they will end this program at once");
        return;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        if workstation.is_closing() {
            workstation.close_now().await;
        } else {
            request_close(&app);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_goes_nowhere_else() {
        for (url, ours) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("https://example.com/", false),
            ("http://localhost:5173/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,hello", false),
        ] {
            assert_eq!(is_ours(&url.parse().expect("a URL")), ours, "{url}");
        }
    }
}
