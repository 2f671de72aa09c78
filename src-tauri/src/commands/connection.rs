//! Trying connections out, letting profiles go, and what is told to whoever helps.

use countersign_wire::{ConnectionTest, Profile, SessionView};
use secrecy::SecretString;

use super::{Answer, Here};

#[tauri::command]
pub(crate) async fn test_connection(
    here: Here<'_>,
    profile: Profile,
    password: Option<String>,
) -> Answer<ConnectionTest> {
    here.test_connection(&profile, password.map(SecretString::from)).await
}

#[tauri::command]
pub(crate) async fn delete_profile(here: Here<'_>, name: String) -> Answer<SessionView> {
    here.delete_profile(&name).await?;
    Ok(here.session().await)
}

#[tauri::command]
pub(crate) async fn diagnostics(here: Here<'_>) -> Answer<String> {
    Ok(here.diagnostics().await)
}
