//! The latest changes of settings made on this workstation, in a file beside the settings. (The database keeps every version that a
//! workstation ever connected with; this is for the reviewer who asks what they did.)

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{ConfigError, malformed};
use crate::replace;

/// How many changes are kept; the oldest gives way.
const KEPT: usize = 50;
/// The longest file of changes, in bytes.
const FILE_BYTES: u64 = 64 * 1024;

/// A change of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The setting.
    pub setting: String,
    /// What the file said; `None` if nothing.
    pub from: Option<u32>,
    /// What it says now; `None` if nothing.
    pub to: Option<u32>,
    /// When, on this workstation's clock.
    pub at: DateTime<Utc>,
}

pub(super) fn list(settings: &Path) -> Result<Vec<Change>, ConfigError> {
    let path = beside(settings);
    let text = replace::read(&path, FILE_BYTES)
        .map_err(|source| ConfigError::Unreadable { path: path.clone(), source })?
        .unwrap_or_default();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(&text).map_err(|error| malformed(&path, error.to_string()))
}

/// A list that does not read is set aside, and a new one begins.
pub(super) fn add(settings: &Path, change: Change) -> Result<(), ConfigError> {
    let path = beside(settings);
    let unwritable = |source| ConfigError::Unwritable { path: path.clone(), source };
    let mut changes = match list(settings) {
        Ok(changes) => changes,
        Err(ConfigError::Malformed { .. }) => {
            replace::set_aside(&path, change.at).map_err(unwritable)?;
            Vec::new()
        }
        Err(other) => return Err(other),
    };
    changes.insert(0, change);
    changes.truncate(KEPT);
    let text = serde_json::to_vec_pretty(&changes).map_err(|error| malformed(&path, error.to_string()))?;
    replace::replace(&path, &text).map_err(unwritable)
}

fn beside(settings: &Path) -> PathBuf {
    settings.with_extension("changes.json")
}
