//! Settings and preferences.

use countersign_wire::{Preferences, SettingsView};
use tauri::AppHandle;

use super::{Answer, Here};
use crate::window;

#[tauri::command]
pub(crate) async fn settings(here: Here<'_>) -> Answer<SettingsView> {
    here.settings_view().await
}

#[tauri::command]
pub(crate) async fn change_setting(here: Here<'_>, name: String, value: Option<u32>) -> Answer<SettingsView> {
    here.change_setting(&name, value).await?;
    here.settings_view().await
}

#[tauri::command]
pub(crate) async fn preferences(here: Here<'_>) -> Answer<Preferences> {
    Ok(here.preferences())
}

#[tauri::command]
pub(crate) async fn save_preferences(app: AppHandle, here: Here<'_>, preferences: Preferences) -> Answer<()> {
    let zoom_percent = preferences.zoom_percent;
    here.save_preferences(preferences).await?;
    window::zoom(&app, zoom_percent);
    Ok(())
}
