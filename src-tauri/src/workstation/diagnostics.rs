//! What a reviewer sends to whoever helps: enough to see what is wrong, and nothing that is anybody's business.

use std::path::Path;

use countersign_wire::CommandError;

use super::Workstation;
use crate::views::{self, Diagnostics, Works};
use crate::{graphics, profile};

impl Workstation {
    /// Versions, settings and the state of everything, as text.
    pub(crate) async fn diagnostics(&self) -> String {
        let station = self.running().await;
        let works = match station {
            Some(station) => station.look(Works::of).await.ok(),
            None => None,
        };
        let (profile, trouble, notices, keys_in_file, tested, profiles) = {
            let current = self.current();
            let frame = self.frame(&current);
            (
                frame.profile,
                frame.trouble,
                frame.notices.len(),
                frame.keys_in_file,
                current.tested.clone(),
                frame.profiles.len(),
            )
        };
        let journal = match profile.as_ref().map(|used| profile::journal(&self.places.data_dir, &used.name)) {
            Some(path) => tokio::task::spawn_blocking(move || files(&path)).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let told = Diagnostics {
            app_version: env!("CARGO_PKG_VERSION").to_owned(),
            debug: cfg!(debug_assertions),
            webview: tauri::webview_version().unwrap_or_else(|_| "unknown".to_owned()),
            system: system(),
            graphics: graphics::mode().to_owned(),
            profile,
            profiles,
            trouble: trouble.map(|CommandError { code, .. }| code),
            notices,
            keys_in_file,
            keyring: self.places.keyring,
            works,
            journal,
            tested,
        };
        views::diagnostics(&told, &self.configured, self.preferences().zoom_percent)
    }
}

/// The journal and what lies beside it, with sizes in bytes; without the directory, which names the profile.
fn files(journal: &Path) -> Vec<(String, u64)> {
    let Some(directory) = journal.parent() else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<(String, u64)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let bytes = entry.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
            Some((entry.file_name().to_string_lossy().into_owned(), bytes))
        })
        // Ours are few; a directory that somebody uses for something else is not told of.
        .filter(|(name, _)| name.starts_with("journal.db") || name == "keys.json")
        .take(20)
        .collect();
    files.sort();
    files
}

/// The operating system, by its own name and its kernel's.
fn system() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).map(|name| name.trim_matches('"'));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let parts = [name.unwrap_or(std::env::consts::OS), kernel.trim(), std::env::consts::ARCH];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
