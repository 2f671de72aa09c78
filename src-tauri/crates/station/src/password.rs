//! Passwords: in the desktop's keyring, or in memory for the session. Never in a file of ours.

use std::sync::mpsc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

/// The longest a call to the keyring may take: a locked one asks the person, who may not be there.
const KEYRING_WAIT: Duration = Duration::from_secs(10);
/// What entries of ours belong to.
pub(crate) const SERVICE: &str = "countersign";

/// The keyring did not do what was asked; the password is good for this session all the same.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the keyring did not keep the password ({0}); you will be asked again next time")]
pub struct PasswordError(String);

/// The keyring did not give the password up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the keyring did not forget the password ({0}); remove it there by hand")]
pub struct NotForgotten(String);

/// The passwords of this workstation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passwords;

impl Passwords {
    /// The password of a profile. `None` when there is none, or when there is no keyring to ask.
    pub fn find(self, profile: &str) -> Option<SecretString> {
        let entry = profile.to_owned();
        let found = bounded(move || entry_of(&entry)?.get_password().map_err(|error| error.to_string()));
        match found {
            Ok(password) => Some(SecretString::from(password)),
            Err(reason) => {
                tracing::info!(event = "keyring", "no password for this profile in the keyring: {reason}");
                None
            }
        }
    }

    /// Keeps a password in the keyring.
    pub fn keep(self, profile: &str, password: &SecretString) -> Result<(), PasswordError> {
        let (entry, password) = (profile.to_owned(), password.clone());
        bounded(move || entry_of(&entry)?.set_password(password.expose_secret()).map_err(|error| error.to_string()))
            .map_err(PasswordError)
    }

    /// Forgets the password of a profile; one that is not there is forgotten already.
    pub fn forget(self, profile: &str) -> Result<(), NotForgotten> {
        let entry = profile.to_owned();
        let forgotten = bounded(move || match entry_of(&entry)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error.to_string()),
        });
        forgotten.map_err(NotForgotten)
    }
}

fn entry_of(profile: &str) -> Result<keyring::Entry, String> {
    keyring::Entry::new(SERVICE, profile).map_err(|error| error.to_string())
}

/// Runs on a thread of its own and stops waiting after a while.
pub(crate) fn bounded<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name("keyring".into())
        .spawn(move || {
            // The caller may have stopped waiting.
            let _ = sender.send(work());
        })
        .map_err(|error| error.to_string())?;
    receiver.recv_timeout(KEYRING_WAIT).map_err(|_| "it did not answer in time".to_owned())?
}
