//! The keys of a workstation: in the desktop's keyring, or, where none answers, in a file that only this login can read.
//!
//! A journal cannot be read without its key, so no key is ever made in place of one that cannot be found, and a key leaves the file
//! only once the keyring has given it back.

mod file;
mod secrets;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use thiserror::Error;

use crate::password::{SERVICE, bounded};

pub use secrets::{Sealing, Secret, Secrets};

/// Where the keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptIn {
    /// In the desktop's keyring.
    Keyring,
    /// In this file: whoever can read it can read the journal.
    File(PathBuf),
}

/// Keys that cannot be found or kept. Nothing was made or overwritten.
#[derive(Debug, Error)]
pub enum VaultError {
    /// There is a journal and no key of it.
    #[error(
        "there is a journal in {}, but its key is not in the keyring of this login{} and there is no {}: nothing was touched; unlock the keyring that was in use when the journal was made, or restore the file from a backup, and try again",
        directory.display(),
        keyring.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default(),
        file.display()
    )]
    Missing {
        /// The journal's directory.
        directory: PathBuf,
        /// Why the keyring gave no answer, if it gave none.
        keyring: Option<String>,
        /// Where the keys would be without a keyring.
        file: PathBuf,
    },
    /// What was found holds no keys.
    #[error(
        "the keys in {place} do not read ({reason}): nothing was touched; restore them from a backup and try again, and keep what is there for support"
    )]
    Malformed {
        /// The file, or the keyring.
        place: String,
        /// What is wrong with it; it quotes nothing.
        reason: String,
    },
    /// The file cannot be read or written.
    #[error("{}: {source}: the keys were neither read nor kept; make the file and its directory readable and writable and try again", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The keyring, which has the keys, did not take the new ones.
    #[error("the keyring did not keep the keys ({0}): the old ones stand; unlock it and try again")]
    NotKept(String),
}

/// A place for secrets under a name; each call may ask the person and is bounded in time.
trait Keyring: Send + Sync {
    fn find(&self, entry: &str) -> Result<Option<Zeroizing<String>>, String>;
    fn set(&self, entry: &str, text: &Zeroizing<String>) -> Result<(), String>;
    fn delete(&self, entry: &str) -> Result<(), String>;
}

/// The keyring of the desktop.
struct Desktop;

impl Keyring for Desktop {
    fn find(&self, entry: &str) -> Result<Option<Zeroizing<String>>, String> {
        let entry = entry.to_owned();
        bounded(move || match open(&entry)?.get_password() {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error.to_string()),
        })
    }

    fn set(&self, entry: &str, text: &Zeroizing<String>) -> Result<(), String> {
        let (entry, text) = (entry.to_owned(), text.clone());
        bounded(move || open(&entry)?.set_password(&text).map_err(|error| error.to_string()))
    }

    fn delete(&self, entry: &str) -> Result<(), String> {
        let entry = entry.to_owned();
        bounded(move || match open(&entry)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error.to_string()),
        })
    }
}

fn open(entry: &str) -> Result<keyring::Entry, String> {
    keyring::Entry::new(SERVICE, entry).map_err(|error| error.to_string())
}

/// Where the keys of one profile are kept.
pub struct Vault {
    entry: String,
    directory: PathBuf,
    keyring: Option<Box<dyn Keyring>>,
}

impl Vault {
    /// The keys of a profile whose journal is in this directory. Without the keyring, as on a server, they are in a file there.
    pub fn new(profile: &str, directory: &Path, use_keyring: bool) -> Self {
        Self::with(profile, directory, use_keyring.then(|| Box::new(Desktop) as Box<dyn Keyring>))
    }

    fn with(profile: &str, directory: &Path, keyring: Option<Box<dyn Keyring>>) -> Self {
        // Passwords are under the bare name of their profile, which holds no line break.
        Self { entry: format!("{profile}\nkeys"), directory: directory.to_owned(), keyring }
    }

    /// The keys, wherever they are; `fresh` makes them where there are none. With a journal that needs its key there must be some.
    pub fn open(&self, journal_exists: bool, fresh: impl FnOnce() -> Secrets) -> Result<(Secrets, KeptIn), VaultError> {
        let _one = self.lock()?;
        let (in_keyring, why) = self.look_into_keyring();
        if let Some(found) = self.found(in_keyring, why.is_none())? {
            return Ok(found);
        }
        if journal_exists {
            return Err(VaultError::Missing { directory: self.directory.clone(), keyring: why, file: self.file() });
        }
        let secrets = fresh();
        // A keyring that did not answer a moment ago is not asked again.
        let kept_in = if why.is_none() && self.put_in_keyring(&secrets).is_ok() {
            KeptIn::Keyring
        } else {
            self.put_in_file(&secrets)?
        };
        Ok((secrets, kept_in))
    }

    /// The keys, if there are any.
    pub fn find(&self) -> Result<Option<(Secrets, KeptIn)>, VaultError> {
        let _one = self.lock()?;
        let (in_keyring, why) = self.look_into_keyring();
        self.found(in_keyring, why.is_none())
    }

    /// Keeps changed keys in place of the ones that are there: durable when it returns, or the old ones stand.
    pub fn keep(&self, secrets: &Secrets) -> Result<KeptIn, VaultError> {
        let _one = self.lock()?;
        match self.put_in_keyring(secrets) {
            Ok(()) => {
                file::remove(&self.file())?;
                Ok(KeptIn::Keyring)
            }
            // Newer keys in a file, beside older ones in a keyring that answers the next time, would not be found.
            Err(reason) if self.keyring.is_some() && !self.file().exists() => Err(VaultError::NotKept(reason)),
            Err(_) => self.put_in_file(secrets),
        }
    }

    /// Deletes the keys everywhere: what they encrypt is lost with them.
    pub fn forget(&self) -> Result<(), VaultError> {
        let _one = self.lock()?;
        file::remove(&self.file())?;
        let keyring = self.keyring.as_ref().map_or(Ok(()), |keyring| keyring.delete(&self.entry));
        keyring.map_err(VaultError::NotKept)
    }

    /// What the keyring holds, or why it does not say.
    fn look_into_keyring(&self) -> (Option<Zeroizing<String>>, Option<String>) {
        let Some(keyring) = &self.keyring else { return (None, None) };
        match keyring.find(&self.entry) {
            Ok(found) => (found, None),
            Err(reason) => {
                tracing::info!(event = "keyring", "the keyring did not give the keys of this profile: {reason}");
                (None, Some(reason))
            }
        }
    }

    /// Keys that were found: the keyring's come first. A file's move into a keyring that has none, once it has given them back.
    fn found(
        &self,
        in_keyring: Option<Zeroizing<String>>,
        keyring_answers: bool,
    ) -> Result<Option<(Secrets, KeptIn)>, VaultError> {
        let path = self.file();
        if let Some(text) = in_keyring {
            return Ok(Some((read("the keyring", &text)?, KeptIn::Keyring)));
        }
        let Some(text) = file::read(&path)? else { return Ok(None) };
        let secrets = read(&path.display().to_string(), &text)?;
        if keyring_answers && self.put_in_keyring(&secrets).is_ok() {
            file::remove(&path)?;
            return Ok(Some((secrets, KeptIn::Keyring)));
        }
        Ok(Some((secrets, KeptIn::File(path))))
    }

    /// Kept is what can be read back.
    fn put_in_keyring(&self, secrets: &Secrets) -> Result<(), String> {
        let keyring = self.keyring.as_ref().ok_or("it is not used")?;
        let text = secrets.to_text();
        keyring.set(&self.entry, &text)?;
        match keyring.find(&self.entry)? {
            Some(back) if back == text => Ok(()),
            _ => Err("it did not give back what it took".to_owned()),
        }
    }

    fn put_in_file(&self, secrets: &Secrets) -> Result<KeptIn, VaultError> {
        let path = self.file();
        file::replace(&path, &secrets.to_text())?;
        Ok(KeptIn::File(path))
    }

    fn file(&self) -> PathBuf {
        self.directory.join("keys.json")
    }

    /// Two programs that start at once must not each make keys.
    fn lock(&self) -> Result<File, VaultError> {
        file::lock(&self.directory.join("keys.lock"))
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").field("entry", &self.entry).field("directory", &self.directory).finish_non_exhaustive()
    }
}

fn read(place: &str, text: &str) -> Result<Secrets, VaultError> {
    Secrets::from_text(text).map_err(|reason| VaultError::Malformed { place: place.to_owned(), reason })
}
