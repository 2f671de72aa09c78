//! Where settings come from: `config.toml`, then the environment over it; and how a reviewer changes one of them.

mod changes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use countersign_domain::settings::{SettingError, Settings};
use thiserror::Error;
use toml_edit::DocumentMut;

use crate::replace;

pub use changes::Change;

/// `COUNTERSIGN_QUEUE_MAXSIZE` sets `queue_maxsize`, and so on for every setting.
pub const SETTING_ENV_PREFIX: &str = "COUNTERSIGN_";

/// The longest file of settings, in bytes: ten numbers, and room for what people write about them.
const FILE_BYTES: u64 = 1024 * 1024;
/// What error messages call the environment.
const ENVIRONMENT: &str = "the environment";

/// Settings that cannot be used or kept.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file was asked for and cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be written; it is as it was.
    #[error("{}: cannot be written: {source}", path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML, or has something else than plain settings in it.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// A setting that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The environment sets it, whatever the file says.
    #[error("{setting}: the variable {variable} sets it and goes over the file; change it there, or have it removed")]
    Fixed {
        /// Its name.
        setting: String,
        /// The variable.
        variable: String,
    },
}

/// Where a setting's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The file.
    File,
    /// The environment.
    Environment,
}

/// Settings as they were read, with where each comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    /// The settings.
    pub settings: Settings,
    file: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl Configured {
    /// Where a setting's value comes from.
    pub fn source(&self, name: &str) -> Source {
        if self.environment.contains_key(name) {
            Source::Environment
        } else if self.file.contains_key(name) {
            Source::File
        } else {
            Source::Default
        }
    }
}

/// The file of settings, and what the environment puts over it.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
    environment: BTreeMap<String, String>,
}

impl SettingsFile {
    /// Settings in this file. `environment` looks up a variable.
    pub fn at(path: impl Into<PathBuf>, environment: impl Fn(&str) -> Option<String>) -> Self {
        let environment = Settings::TABLE
            .iter()
            .filter_map(|(name, ..)| environment(&variable(name)).map(|value| ((*name).to_owned(), value)))
            .collect();
        Self { path: path.into(), environment }
    }

    /// Where changes are written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the settings. A file that does not exist is no settings, unless it was asked for by name (`required`).
    pub fn load(&self, required: bool) -> Result<Configured, ConfigError> {
        let text = self.text()?;
        if text.is_none() && required {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(ConfigError::Unreadable { path: self.path.clone(), source });
        }
        self.resolve(values(&self.path, &self.document(text.as_deref().unwrap_or_default())?)?)
    }

    /// Writes a setting, or takes it out of the file (`None`), if all of them together are good then. Comments and order stay. Says what
    /// was changed, or nothing if the file says so already. It takes effect when the settings are loaded the next time.
    ///
    /// `Ok` with a problem beside the change means that the list of changes could not be kept.
    pub fn change(
        &self,
        name: &str,
        value: Option<u32>,
        at: DateTime<Utc>,
    ) -> Result<Option<(Change, Option<ConfigError>)>, ConfigError> {
        if !Settings::TABLE.iter().any(|(known, ..)| *known == name) {
            return Err(
                SettingError::Unknown { setting: name.to_owned(), source_name: "the settings screen".into() }.into()
            );
        }
        if self.environment.contains_key(name) {
            return Err(ConfigError::Fixed { setting: name.to_owned(), variable: variable(name) });
        }
        let mut document = self.document(&self.text()?.unwrap_or_default())?;
        let from = document.get(name).and_then(toml_edit::Item::as_integer).and_then(|from| u32::try_from(from).ok());
        if from == value && document.contains_key(name) == value.is_some() {
            return Ok(None);
        }
        match value {
            Some(value) => set(&mut document, name, value),
            None => drop(document.remove(name)),
        }
        self.resolve(values(&self.path, &document)?)?;
        replace::replace(&self.path, document.to_string().as_bytes())
            .map_err(|source| ConfigError::Unwritable { path: self.path.clone(), source })?;
        let change = Change { setting: name.to_owned(), from, to: value, at };
        let not_listed = changes::add(&self.path, change.clone()).err();
        Ok(Some((change, not_listed)))
    }

    /// The latest changes, newest first.
    pub fn changes(&self) -> Result<Vec<Change>, ConfigError> {
        changes::list(&self.path)
    }

    fn text(&self) -> Result<Option<String>, ConfigError> {
        replace::read(&self.path, FILE_BYTES)
            .map_err(|source| ConfigError::Unreadable { path: self.path.clone(), source })
    }

    fn document(&self, text: &str) -> Result<DocumentMut, ConfigError> {
        text.parse().map_err(|error: toml_edit::TomlError| malformed(&self.path, error.to_string()))
    }

    fn resolve(&self, file: BTreeMap<String, String>) -> Result<Configured, ConfigError> {
        let name = self.path.display().to_string();
        let settings = Settings::resolve([(name.as_str(), &file), (ENVIRONMENT, &self.environment)])?;
        Ok(Configured { settings, file, environment: self.environment.clone() })
    }
}

/// The variable that sets a setting.
pub fn variable(setting: &str) -> String {
    format!("{SETTING_ENV_PREFIX}{}", setting.to_uppercase())
}

/// Puts a number where the old one stood, with the comment behind it.
fn set(document: &mut DocumentMut, name: &str, value: u32) {
    let mut next = toml_edit::Value::from(i64::from(value));
    if let Some(old) = document.get(name).and_then(toml_edit::Item::as_value) {
        *next.decor_mut() = old.decor().clone();
    }
    document[name] = toml_edit::Item::Value(next);
}

fn values(path: &Path, document: &DocumentMut) -> Result<BTreeMap<String, String>, ConfigError> {
    let value = |(name, item): (&str, &toml_edit::Item)| match item.as_integer() {
        Some(number) => Ok((name.to_owned(), number.to_string())),
        None => Err(malformed(path, format!("{name}: expected a whole number, found {}", item.type_name()))),
    };
    document.iter().map(value).collect()
}

fn malformed(path: &Path, message: String) -> ConfigError {
    ConfigError::Malformed { path: path.to_owned(), message }
}

#[cfg(test)]
mod tests;
