//! The runtime that drives the engine over its ports.
//!
//! One task owns the [`Engine`](countersign_engine::Engine) and is the only one that steps it. Calls to the backlog, the scoring
//! pool and the journal's thread run beside it and come back as events. Whoever shows or commands the workstation holds a
//! [`StationHandle`].

mod actor;
mod config;
mod handle;
mod journal_thread;
mod password;
mod preferences;
mod profile;
mod records;
mod replace;
mod scoring;
mod vault;

pub use actor::{KeepEnrolment, Parts, start};
pub use config::{Change, ConfigError, Configured, SETTING_ENV_PREFIX, SettingsFile, Source, variable};
pub use handle::{Gone, StationHandle, Versions};
pub use password::{NotForgotten, PasswordError, Passwords};
pub use preferences::{PreferencesError, PreferencesFile, SetAside};
pub use profile::{ProfileError, Profiles};
pub use scoring::{Scorer, scorer};
pub use vault::{KeptIn, Sealing, Secret, Secrets, Vault, VaultError};
