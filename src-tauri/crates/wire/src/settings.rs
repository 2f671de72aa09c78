//! The settings of this workstation.

use serde::Serialize;
use ts_rs::TS;

/// Where a setting's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SettingSource {
    /// Nobody set it.
    Default,
    /// The settings file.
    File,
    /// An environment variable, which the file does not override.
    Environment,
    /// The policy bounds it lower than it was set.
    Policy,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SettingRow {
    /// Its name in the file, such as `queue_maxsize`.
    pub name: String,
    /// In the reviewer's words.
    pub label: String,
    /// What it does.
    pub explanation: String,
    /// The unit of the value: "exceptions", "ms", "s", "attempts", "workers".
    pub unit: String,
    /// In force.
    pub value: u32,
    /// What it is when nobody sets it.
    pub default: u32,
    /// The least it can be.
    pub least: u32,
    /// The most it can be.
    pub most: u32,
    /// Where the value comes from.
    pub source: SettingSource,
    /// The file, the variable, or the policy's version.
    pub origin: Option<String>,
    /// Why it cannot be changed here; absent when it can.
    pub fixed: Option<String>,
    /// What it will be at the next start; absent when that is the value in force.
    pub next_start: Option<u32>,
}

/// A change of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SettingChange {
    /// The setting.
    pub name: String,
    /// Before; absent: the default.
    pub from: Option<u32>,
    /// After; absent: the default.
    pub to: Option<u32>,
    /// When.
    pub at: String,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[ts(export)]
pub struct SettingsView {
    /// Where changes are written.
    pub file: String,
    /// Each setting once.
    pub rows: Vec<SettingRow>,
    /// The latest changes made on this workstation, newest first; at most 50.
    pub changes: Vec<SettingChange>,
}
