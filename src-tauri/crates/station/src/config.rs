//! Where settings come from: `config.toml`, then the environment over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countersign_domain::settings::{SettingError, Settings};
use thiserror::Error;

/// `COUNTERSIGN_QUEUE_MAXSIZE` sets `queue_maxsize`, and so on for every setting.
pub const SETTING_ENV_PREFIX: &str = "COUNTERSIGN_";

/// Settings that cannot be used.
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
}

/// Reads the settings. A file that does not exist is no settings, unless it was asked for by name (`required`).
/// `environment` looks up a variable.
pub fn load_settings(
    path: &Path,
    required: bool,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Settings, ConfigError> {
    let file = match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => BTreeMap::new(),
        Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
    };
    let environment: BTreeMap<String, String> = Settings::TABLE
        .iter()
        .filter_map(|(name, ..)| {
            environment(&format!("{SETTING_ENV_PREFIX}{}", name.to_uppercase()))
                .map(|value| ((*name).to_owned(), value))
        })
        .collect();
    let file_name = path.display().to_string();
    Ok(Settings::resolve([(file_name.as_str(), &file), ("the environment", &environment)])?)
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let malformed = |message: String| ConfigError::Malformed { path: path.to_owned(), message };
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| malformed(error.to_string()))?;
    table
        .into_iter()
        .map(|(name, value)| match value {
            toml::Value::Integer(number) => Ok((name, number.to_string())),
            other => Err(malformed(format!("{name}: expected a whole number, found {}", other.type_str()))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<Settings, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).expect("a writable directory");
        let look_up =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        load_settings(&path, true, look_up).map_err(|error| error.to_string())
    }

    #[test]
    fn the_environment_overrides_the_file_and_the_file_the_defaults() {
        let settings = load("queue_maxsize = 500\ncommit_batch = 10\n", &[("COUNTERSIGN_QUEUE_MAXSIZE", "600")])
            .expect("good settings");
        assert_eq!((settings.queue_maxsize, settings.commit_batch, settings.max_attempts), (600, 10, 3));
    }

    #[test]
    fn what_is_wrong_is_named_with_where_it_stands() {
        for (text, environment, words) in [
            ("queue_maxsize = 9", &[][..], &["config.toml", "queue_maxsize", "9", "10 to 5000"][..]),
            ("queue_maxsize = -1", &[], &["queue_maxsize", "-1"]),
            ("queue_maxsize = \"many\"", &[], &["queue_maxsize", "whole number", "string"]),
            ("queue_size = 10", &[], &["queue_size", "no such setting"]),
            ("queue_maxsize = ", &[], &["config.toml", "line 1"]),
            ("", &[("COUNTERSIGN_COMMIT_BATCH", "1001")], &["commit_batch", "1001", "environment", "1 to 1000"]),
        ] {
            let message = load(text, environment).expect_err(text);
            for word in words {
                assert!(message.contains(word), "{text}: {message}");
            }
        }
    }

    #[test]
    fn only_a_file_that_was_asked_for_has_to_exist() {
        let nowhere = Path::new("/nonexistent/config.toml");
        assert_eq!(load_settings(nowhere, false, |_| None).expect("the defaults"), Settings::default());
        assert!(load_settings(nowhere, true, |_| None).is_err());
    }
}
