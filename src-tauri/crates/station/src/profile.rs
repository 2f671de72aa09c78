//! The profiles of a workstation: where backlogs are, and as whom to sign in. Passwords are never among them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::replace;

/// The most profiles one workstation keeps.
const PROFILES: usize = 50;

/// Profiles that cannot be read or kept.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has another shape.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// A field cannot be.
    #[error("{field}: {message}")]
    Field {
        /// Which.
        field: &'static str,
        /// What is expected.
        message: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct File<P> {
    #[serde(default = "Vec::new")]
    profile: Vec<P>,
}

/// The file of profiles. `P` is the profile as the window knows it.
#[derive(Debug, Clone)]
pub struct Profiles {
    path: PathBuf,
}

impl Profiles {
    /// Profiles kept in this file; it need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where they are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of them.
    pub fn load<P: for<'de> Deserialize<'de>>(&self) -> Result<Vec<P>, ProfileError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(ProfileError::File { path: self.path.clone(), source }),
        };
        let file: File<P> = toml::from_str(&text)
            .map_err(|error| ProfileError::Malformed { path: self.path.clone(), message: error.to_string() })?;
        Ok(file.profile)
    }

    /// Keeps a profile, in place of the one of the same name. The file is replaced whole or not at all.
    pub fn save<P: Serialize + for<'de> Deserialize<'de>>(
        &self,
        profile: P,
        same: impl Fn(&P) -> bool,
    ) -> Result<Vec<P>, ProfileError> {
        let mut profiles: Vec<P> = self.load()?;
        match profiles.iter().position(same) {
            Some(place) => profiles[place] = profile,
            None if profiles.len() >= PROFILES => {
                return Err(ProfileError::Field {
                    field: "name",
                    message: format!("there are {PROFILES} profiles already; change one of them"),
                });
            }
            None => profiles.push(profile),
        }
        self.write(profiles)
    }

    /// Takes profiles out. Those that stay are written, whole or not at all, and returned.
    pub fn remove<P: Serialize + for<'de> Deserialize<'de>>(
        &self,
        which: impl Fn(&P) -> bool,
    ) -> Result<Vec<P>, ProfileError> {
        let mut profiles: Vec<P> = self.load()?;
        profiles.retain(|profile| !which(profile));
        self.write(profiles)
    }

    fn write<P: Serialize>(&self, profiles: Vec<P>) -> Result<Vec<P>, ProfileError> {
        let file = File { profile: profiles };
        let text = toml::to_string_pretty(&file)
            .map_err(|error| ProfileError::Malformed { path: self.path.clone(), message: error.to_string() })?;
        replace::replace(&self.path, text.as_bytes())
            .map_err(|source| ProfileError::File { path: self.path.clone(), source })?;
        Ok(file.profile)
    }
}
