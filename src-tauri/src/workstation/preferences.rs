//! Settings and preferences: what a reviewer may change, and where it is kept.

use chrono::Utc;
use countersign_wire::{CommandError, Preferences, SettingsView};
use tokio::sync::watch;

use super::Workstation;
use crate::views::{self, error};

/// The longest layout, in bytes.
const LAYOUT_BYTES: usize = 200_000;
/// How many keys may be other ones than the shipped ones.
const KEYS: usize = 200;
/// The longest name of an action, and of a key, in bytes.
const KEY_BYTES: usize = 100;
/// The sizes of everything, in percent.
const ZOOM_PERCENT: std::ops::RangeInclusive<u32> = 50..=300;

impl Workstation {
    /// Every setting, with the value in force and the one of the next start.
    pub(crate) async fn settings_view(&self) -> Result<SettingsView, CommandError> {
        let policy = match self.running().await {
            Some(station) => {
                let look = station.look(|engine, _| {
                    engine.standing().map(|standing| (standing.policy_version, standing.policy.lease.longest_ms))
                });
                look.await.map_err(views::gone)?
            }
            None => None,
        };
        let file = self.settings_file.clone();
        let (next, changes) = blocking(move || (file.load(false), file.changes())).await?;
        let changes = changes.unwrap_or_else(|problem| {
            // The list is for looking back; whoever changes something next sets a damaged one aside.
            tracing::warn!(event = "changes_unreadable", "{problem}");
            Vec::new()
        });
        Ok(views::settings(&self.settings_file, &self.configured, next.as_ref(), policy, changes))
    }

    /// Writes a setting for the next start, or takes it out of the file.
    pub(crate) async fn change_setting(&self, name: &str, value: Option<u32>) -> Result<(), CommandError> {
        let _one = self.changing.lock().await;
        let (file, setting) = (self.settings_file.clone(), name.to_owned());
        let changed = blocking(move || file.change(&setting, value, Utc::now())).await?;
        let changed = changed.map_err(|problem| views::config_error(&problem))?;
        let Some((change, not_listed)) = changed else { return Ok(()) };
        tracing::info!(event = "setting_changed", setting = change.setting, from = change.from, to = change.to);
        if let Some(problem) = not_listed {
            self.notice(format!("{name} was changed, but the list of changes was not kept: {problem}."));
        }
        Ok(())
    }

    /// Reads the preferences, before there is a window to show them in. What does not read keeps nobody from working.
    pub(crate) fn load_preferences(&self) {
        match self.preferences_file.load(|preferences| check(preferences).is_ok(), Utc::now()) {
            Ok((preferences, aside)) => {
                self.preferences.send_replace(preferences);
                if let Some(aside) = aside {
                    let what = match aside.fields.as_slice() {
                        [] => "Your preferences could not be read and are the shipped ones now".to_owned(),
                        fields => format!("Some of your preferences could not be read ({})", fields.join(", ")),
                    };
                    self.notice(format!("{what}; the file as it was is {}.", aside.kept_as.display()));
                }
            }
            Err(problem) => self.notice(format!("Your preferences could not be read: {problem}.")),
        }
    }

    pub(crate) fn preferences(&self) -> Preferences {
        self.preferences.borrow().clone()
    }

    /// Tells of every change of the preferences.
    pub(crate) fn preferences_changes(&self) -> watch::Receiver<Preferences> {
        self.preferences.subscribe()
    }

    pub(crate) async fn save_preferences(&self, preferences: Preferences) -> Result<(), CommandError> {
        check(&preferences)?;
        let _one = self.changing.lock().await;
        let (file, copy) = (self.preferences_file.clone(), preferences.clone());
        let saved = blocking(move || file.save(&copy)).await?;
        saved.map_err(|problem| error("PREFERENCES_NOT_KEPT", format!("The preferences were not kept: {problem}.")))?;
        self.preferences.send_replace(preferences);
        Ok(())
    }
}

/// Refuses what no window should have to show.
fn check(preferences: &Preferences) -> Result<(), CommandError> {
    let refused = |text: String| error("PREFERENCES_REFUSED", text);
    let Preferences { zoom_percent, layout, keymap, .. } = preferences;
    if !ZOOM_PERCENT.contains(zoom_percent) {
        let (least, most) = (ZOOM_PERCENT.start(), ZOOM_PERCENT.end());
        return Err(refused(format!("zoom_percent: {zoom_percent} is out of range; expected {least} to {most}.")));
    }
    if layout.len() > LAYOUT_BYTES {
        return Err(refused(format!(
            "layout: it has {} bytes; expected at most {LAYOUT_BYTES}. Remove saved views that you do not use.",
            layout.len()
        )));
    }
    if keymap.len() > KEYS {
        return Err(refused(format!("keymap: it names {} actions; expected at most {KEYS}.", keymap.len())));
    }
    if let Some((action, _)) = keymap.iter().find(|(action, key)| action.len().max(key.len()) > KEY_BYTES) {
        let shown: String = action.chars().take(KEY_BYTES).collect();
        return Err(refused(format!("keymap: `{shown}` or its key is longer than {KEY_BYTES} bytes.")));
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CommandError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|reason| error("UNEXPECTED", format!("It was not carried out: {reason}.")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn preferences_have_bounds_and_what_is_beyond_one_is_named() {
        assert_eq!(check(&Preferences::default()), Ok(()));
        let keys = |count: usize, long: usize| -> BTreeMap<String, String> {
            (0..count).map(|number| (format!("action{number:0long$}"), "K".to_owned())).collect()
        };
        let with = Preferences::default;
        for (preferences, words) in [
            (Preferences { zoom_percent: 49, ..with() }, ["zoom_percent", "50 to 300"]),
            (Preferences { zoom_percent: 301, ..with() }, ["zoom_percent", "301"]),
            (Preferences { layout: "x".repeat(200_001), ..with() }, ["layout", "200001"]),
            (Preferences { keymap: keys(201, 1), ..with() }, ["keymap", "201"]),
            (Preferences { keymap: keys(1, 200), ..with() }, ["keymap", "longer than 100"]),
        ] {
            let refused = check(&preferences).expect_err(words[0]);
            assert!(words.iter().all(|word| refused.message.contains(word)), "{}", refused.message);
        }
        let widest = Preferences { zoom_percent: 300, layout: "x".repeat(200_000), keymap: keys(200, 1), ..with() };
        assert_eq!(check(&widest), Ok(()));
    }
}
