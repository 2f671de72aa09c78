//! Why the application does not start, for who started it from a menu and sees no standard error.

use std::io::IsTerminal as _;

use crate::PASSWORD_VARIABLE;

/// Shows the reason with the desktop's own means, and waits until it was read. Whoever has a terminal, or nobody in front of the screen,
/// gets the reason on standard error alone.
pub(crate) fn show(reason: &str) {
    if std::io::stderr().is_terminal() || std::env::var_os(PASSWORD_VARIABLE).is_some() {
        return;
    }
    dialog(reason);
}

#[cfg(target_os = "linux")]
fn dialog(reason: &str) {
    use gtk::prelude::*;

    // Without a display there is nobody to tell.
    if gtk::init().is_err() {
        return;
    }
    let dialog = gtk::MessageDialog::new(
        gtk::Window::NONE,
        gtk::DialogFlags::MODAL,
        gtk::MessageType::Error,
        gtk::ButtonsType::Close,
        "Countersign cannot start.",
    );
    dialog.set_title("Countersign");
    dialog.set_secondary_text(Some(reason));
    dialog.run();
}

#[cfg(not(target_os = "linux"))]
fn dialog(_: &str) {}
