//! What a reviewer prefers: a document that may be edited by hand, may come from another release, and must not keep anybody from working.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::replace;

/// The longest file of preferences, in bytes: the layout of the window, and room for its quotes.
const FILE_BYTES: u64 = 1024 * 1024;

/// Preferences that could not be read or kept.
#[derive(Debug, Error)]
pub enum PreferencesError {
    /// The file cannot be read.
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
}

/// What did not read, and where the file with it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The fields that did not read; none if nothing did.
    pub fields: Vec<String>,
    /// The file as it was.
    pub kept_as: PathBuf,
}

/// The file of preferences. `P` is what the window knows of them.
#[derive(Debug, Clone)]
pub struct PreferencesFile {
    path: PathBuf,
}

impl PreferencesFile {
    /// Preferences kept in this file; it need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where they are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads them. A field that does not read, or that makes of the whole something that is not `good`, is as if it were not set; the
    /// file it stood in is set aside then.
    pub fn load<P: Serialize + DeserializeOwned + Default>(
        &self,
        good: impl Fn(&P) -> bool,
        now: DateTime<Utc>,
    ) -> Result<(P, Option<SetAside>), PreferencesError> {
        let text = match replace::read(&self.path, FILE_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok((P::default(), None)),
            // Too long, or no text: it says nothing, but somebody may still want it.
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::FileTooLarge | std::io::ErrorKind::InvalidData) =>
            {
                String::new()
            }
            Err(source) => return Err(PreferencesError::Unreadable { path: self.path.clone(), source }),
        };
        let Ok(Value::Object(written)) = serde_json::from_str(&text) else {
            let kept_as = self.set_aside(now)?;
            return Ok((P::default(), Some(SetAside { fields: Vec::new(), kept_as })));
        };
        let (preferences, fields) = read(written, good);
        if fields.is_empty() {
            return Ok((preferences, None));
        }
        let kept_as = self.set_aside(now)?;
        self.save(&preferences)?;
        Ok((preferences, Some(SetAside { fields, kept_as })))
    }

    /// Keeps them. The file is replaced whole or not at all.
    pub fn save<P: Serialize>(&self, preferences: &P) -> Result<(), PreferencesError> {
        let failed = |source| PreferencesError::Unwritable { path: self.path.clone(), source };
        let text = serde_json::to_vec_pretty(preferences).map_err(|error| failed(error.into()))?;
        replace::replace(&self.path, &text).map_err(failed)
    }

    fn set_aside(&self, now: DateTime<Utc>) -> Result<PathBuf, PreferencesError> {
        replace::set_aside(&self.path, now)
            .map_err(|source| PreferencesError::Unwritable { path: self.path.clone(), source })
    }
}

/// Field by field, so that one that does not read costs no other one.
fn read<P: Serialize + DeserializeOwned + Default>(
    written: Map<String, Value>,
    good: impl Fn(&P) -> bool,
) -> (P, Vec<String>) {
    let mut read = P::default();
    let mut fields = Vec::new();
    for (name, value) in written {
        let Ok(Value::Object(mut tried)) = serde_json::to_value(&read) else { continue };
        tried.insert(name.clone(), value);
        match serde_json::from_value(Value::Object(tried)) {
            Ok(next) if good(&next) => read = next,
            _ => fields.push(name),
        }
    }
    (read, fields)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    struct Sample {
        theme: Theme,
        zoom: u32,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    enum Theme {
        Light,
        Dark,
    }

    impl Default for Sample {
        fn default() -> Self {
            Self { theme: Theme::Light, zoom: 100 }
        }
    }

    fn good(sample: &Sample) -> bool {
        (50..=300).contains(&sample.zoom)
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000, 0).expect("a time in range")
    }

    #[test]
    fn what_was_kept_comes_back_and_no_file_is_the_defaults() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = PreferencesFile::at(directory.path().join("preferences.json"));
        assert_eq!(file.load(good, now()).expect("no file"), (Sample::default(), None));
        let dark = Sample { theme: Theme::Dark, zoom: 150 };
        file.save(&dark).expect("a writable directory");
        assert_eq!(file.load(good, now()).expect("the file"), (dark, None));
    }

    #[test]
    fn what_does_not_read_is_set_aside_and_the_rest_counts() {
        for (written, expected, fields) in [
            (r#"{"theme": "Dark", "zoom": 150}"#, Sample { theme: Theme::Dark, zoom: 150 }, None),
            (r#"{"theme": "Dark"}"#, Sample { theme: Theme::Dark, zoom: 100 }, None),
            // A later release knows more.
            (r#"{"zoom": 150, "more": [1]}"#, Sample { zoom: 150, ..Sample::default() }, None),
            (r#"{"theme": "Sepia", "zoom": 150}"#, Sample { zoom: 150, ..Sample::default() }, Some(vec!["theme"])),
            (r#"{"theme": "Dark", "zoom": 9000}"#, Sample { theme: Theme::Dark, zoom: 100 }, Some(vec!["zoom"])),
            (r#"{"theme": 1, "zoom": "x"}"#, Sample::default(), Some(vec!["theme", "zoom"])),
            ("[]", Sample::default(), Some(vec![])),
            (r#"{"theme": "Da"#, Sample::default(), Some(vec![])),
            ("", Sample::default(), Some(vec![])),
        ] {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let path = directory.path().join("preferences.json");
            std::fs::write(&path, written).expect("a writable directory");
            let file = PreferencesFile::at(&path);
            let (read, aside) = file.load(good, now()).expect("a readable directory");
            assert_eq!(read, expected, "{written}");
            assert_eq!(
                aside.as_ref().map(|aside| aside.fields.clone()),
                fields.map(|f| f.into_iter().map(String::from).collect()),
                "{written}"
            );
            if let Some(aside) = aside {
                assert_eq!(std::fs::read_to_string(aside.kept_as).expect("the file as it was"), written);
                // Told once, and not at every start.
                assert_eq!(file.load(good, now()).expect("the next start"), (expected, None), "{written}");
            }
        }
    }

    #[test]
    fn a_file_that_is_no_text_or_far_too_long_is_set_aside() {
        for bytes in [vec![0xff, 0xfe, 0xfd], vec![b' '; 2 * 1024 * 1024]] {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let path = directory.path().join("preferences.json");
            std::fs::write(&path, &bytes).expect("a writable directory");
            let (read, aside) = PreferencesFile::at(&path).load(good, now()).expect("a readable directory");
            assert_eq!(read, Sample::default());
            assert_eq!(std::fs::read(aside.expect("it was set aside").kept_as).expect("the file"), bytes);
        }
    }
}
