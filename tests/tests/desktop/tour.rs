//! Every screen of the window, one after the other. Pictures are taken when they are asked for.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use countersign_testkit::proxy::CuttingProxy;
use countersign_tests::display::Size;
use thirtyfour::prelude::*;

use crate::app::App;
use crate::backlog::Backlog;
use crate::keyboard::Keyboard;
use crate::{COMMITTED_WITHIN, Outcome, ROWS_WITHIN, SCREENSHOTS, SHOWN_WITHIN, SIGNED};

/// How the window looks during a tour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// `LIGHT` or `DARK`, as in the preferences.
    pub(crate) theme: &'static str,
    pub(crate) size: Size,
}

/// The first is what every run looks at, the others are for whoever asks for pictures.
pub(crate) const LOOKS: [Look; 4] = [
    Look { theme: "LIGHT", size: (1440, 900) },
    Look { theme: "DARK", size: (1440, 900) },
    Look { theme: "LIGHT", size: (1024, 700) },
    Look { theme: "DARK", size: (1024, 700) },
];

/// All of them, if somebody wants pictures.
pub(crate) fn looks() -> &'static [Look] {
    if std::env::var_os(SCREENSHOTS).is_some() { &LOOKS } else { &LOOKS[..1] }
}

struct Tour<'a> {
    app: &'a App<'a>,
    keys: Keyboard<'a>,
    look: Look,
    directory: Option<PathBuf>,
}

pub(crate) async fn tour(app: &App<'_>, backlog: &Backlog, proxy: &CuttingProxy, look: Look) -> Outcome {
    let directory = std::env::var_os(SCREENSHOTS).map(PathBuf::from);
    let tour = Tour { app, keys: Keyboard::new(app.window()), look, directory };
    tour.connect(backlog).await?;
    tour.review().await?;
    tour.detail().await?;
    tour.dialogs().await?;
    tour.sign(backlog).await?;
    tour.screens().await?;
    tour.settings().await?;
    tour.offline(proxy).await
}

impl Tour<'_> {
    async fn connect(&self, backlog: &Backlog) -> Outcome {
        self.app.see(r#"[data-testid="connect-form"] [data-testid="password"]"#, ROWS_WITHIN).await?;
        self.app.click("connect-edit").await?;
        self.app.see(r#"[data-testid="connect-tls"]"#, SHOWN_WITHIN).await?;
        self.app.fill("password", &backlog.password).await?;
        self.app.click("connect-test").await?;
        self.app.see(r#"[data-testid="connection-ENROLMENT"]:not([data-state="SKIPPED"])"#, COMMITTED_WITHIN).await?;
        let failed = r#"[data-testid="connection-lines"] [data-state="FAILED"]"#;
        self.app.without(failed, SHOWN_WITHIN).await.context("a good connection failed its test")?;
        self.picture("connection").await?;
        self.app.click("connect-submit").await?;
        self.app.see(r#"[data-testid="enrolment-fingerprint"]"#, ROWS_WITHIN).await?;
        self.picture("enrolment").await?;
        backlog.confirm().await?;
        self.app.see(r#"[data-testid="grid"] [role="row"][tabindex="0"]"#, ROWS_WITHIN).await
    }

    async fn review(&self) -> Outcome {
        self.app.select_with_the_keyboard(SIGNED, ROWS_WITHIN).await?;
        self.app.see(r#"[data-testid="detail"] table"#, SHOWN_WITHIN).await?;
        self.picture("review").await?;
        self.perform("Group by entity").await?;
        self.app.see(r#"[role="treegrid"] [aria-level="1"]"#, SHOWN_WITHIN).await?;
        self.picture("grouped").await?;
        self.perform("Do not group").await?;
        self.app.see(r#"[data-testid="grid"][role="grid"]"#, SHOWN_WITHIN).await
    }

    /// A receipt with what was read from it, and a claim with its calculation.
    async fn detail(&self) -> Outcome {
        for (filter, part) in [("toom", "scan"), ("manufacturer", "calculation")] {
            self.keys.press("/").await?;
            self.keys.write(filter).await?;
            self.keys.press(Key::Enter).await?;
            self.app.see(&format!(r#"[data-testid="detail"] [data-testid="{part}"]"#), SHOWN_WITHIN).await?;
            self.picture(part).await?;
            self.perform("Clear every filter").await?;
        }
        self.to_the_grid().await
    }

    async fn dialogs(&self) -> Outcome {
        self.keys.chord(Key::Control, "k").await?;
        self.leave("palette").await?;
        self.keys.press(Key::F1).await?;
        self.leave("shortcuts").await?;
        for (action, dialog) in [
            ("Choose columns", "columns-dialog"),
            ("Import decisions", "import-dialog"),
            ("Take work offline", "take-offline"),
        ] {
            self.perform(action).await?;
            self.leave(dialog).await?;
        }
        self.to_the_grid().await
    }

    async fn sign(&self, backlog: &Backlog) -> Outcome {
        self.keys.press("a").await?;
        self.app.see(r#"[data-testid="sign-confirm"]:not([disabled])"#, SHOWN_WITHIN).await?;
        self.app.see(r#"[data-testid="preflight-COMMITTED"]"#, SHOWN_WITHIN).await?;
        self.picture("sign-dialog").await?;
        self.keys.chord(Key::Control, Key::Enter).await?;
        self.app.see_text(r#"[data-testid="toast"]"#, "Signed", SHOWN_WITHIN).await?;
        countersign_tests::wait::until("the batch to be committed", COMMITTED_WITHIN, async || {
            Ok((!backlog.signed().await?.is_empty()).then_some(()))
        })
        .await
    }

    async fn screens(&self) -> Outcome {
        self.app.click("nav-backlog").await?;
        self.app.see(r#"[data-testid="backlog"] [data-testid^="backlog-"]"#, SHOWN_WITHIN).await?;
        self.picture("backlog").await?;
        self.app.click("nav-sync").await?;
        self.app.see(r#"[data-testid="outbox-counts"]"#, SHOWN_WITHIN).await?;
        self.picture("sync").await?;
        self.app.click("tab-confirmations").await?;
        self.app.click_first(r#"[data-testid^="open-receipt-"]"#, SHOWN_WITHIN).await?;
        self.app.see_text(r#"[data-testid="receipt-numbers"]"#, "1", COMMITTED_WITHIN).await?;
        self.picture("receipt").await?;
        self.app.click("save-receipt-pdf").await?;
        self.app.see_text(r#"[data-testid="receipt-saved"]"#, ".pdf", SHOWN_WITHIN).await?;
        self.app.click("receipt-close").await?;
        self.app.click("nav-letters").await?;
        self.app.see(r#"[data-testid="letter-detail"] [data-testid="letter-fault"]"#, SHOWN_WITHIN).await?;
        self.picture("dead-letters").await?;
        self.keys.press(Key::Enter).await?;
        self.app.see(r#"[data-testid="letter-editor"] :focus"#, SHOWN_WITHIN).await?;
        self.picture("correction").await?;
        self.keys.press(Key::Escape).await?;
        self.app.see(r#"[data-testid="letter-grid"] [role="row"]:focus"#, SHOWN_WITHIN).await?;
        self.keys.press("r").await?;
        self.app.see(r#"[data-testid="replay-sum"]"#, SHOWN_WITHIN).await?;
        self.leave("replay-dialog").await?;
        self.app.click("nav-close").await?;
        self.app.see(r#"[data-testid="close"] table"#, SHOWN_WITHIN).await?;
        self.picture("close").await
    }

    async fn settings(&self) -> Outcome {
        self.app.click("nav-settings").await?;
        for section in ["appearance", "keyboard", "workstation", "profiles"] {
            self.app.click(&format!("settings-{section}")).await?;
            self.app.see(&format!(r#"[data-testid="settings-{section}"]"#), SHOWN_WITHIN).await?;
            self.picture(&format!("settings-{section}")).await?;
        }
        Ok(())
    }

    async fn offline(&self, proxy: &CuttingProxy) -> Outcome {
        proxy.cut();
        // Nothing is called while nothing is to be done.
        self.app.click("nav-sync").await?;
        self.app.click("retry-now").await?;
        self.app.click("nav-review").await?;
        self.app.see(r#"[data-testid="link-pill"][data-online="false"]"#, COMMITTED_WITHIN).await?;
        self.app.see(r#"[data-testid^="row-"]"#, SHOWN_WITHIN).await?;
        self.picture("offline").await
    }

    /// Any action, by its name, from the palette.
    async fn perform(&self, action: &str) -> Outcome {
        self.keys.chord(Key::Control, "k").await?;
        self.app.see(r#"[data-testid="palette-input"]:focus"#, SHOWN_WITHIN).await?;
        self.keys.write(action).await?;
        self.app.see_text(r#"[data-testid="palette"] [aria-selected="true"]"#, action, SHOWN_WITHIN).await?;
        self.keys.press(Key::Enter).await?;
        self.app.without(r#"[data-testid="palette"]"#, SHOWN_WITHIN).await
    }

    /// Looks at a dialog and leaves it.
    async fn leave(&self, dialog: &str) -> Outcome {
        let css = format!(r#"[data-testid="{dialog}"]"#);
        self.app.see(&css, SHOWN_WITHIN).await?;
        self.picture(dialog).await?;
        self.keys.press(Key::Escape).await?;
        self.app.without(&css, SHOWN_WITHIN).await
    }

    async fn to_the_grid(&self) -> Outcome {
        self.app.see(r#"[data-testid="grid"] [role="row"][tabindex="0"]:focus"#, SHOWN_WITHIN).await
    }

    /// Nothing is wider than the window, and the picture is taken if somebody wants it.
    async fn picture(&self, name: &str) -> Outcome {
        let wide = self.app.overflow().await?;
        ensure!(wide == 0, "{name} is {wide} px wider than the window");
        let Some(directory) = &self.directory else { return Ok(()) };
        let Look { theme, size: (width, height) } = self.look;
        let file = format!("{name}-{}-{width}x{height}.png", theme.to_lowercase());
        self.app.picture(&directory.join(file)).await
    }
}
