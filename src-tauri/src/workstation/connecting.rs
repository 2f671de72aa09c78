//! Opening a profile's journal, and connecting with its backlog.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::Utc;
use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_domain::seal::{Enrolment, Keys};
use countersign_engine::port::{Failure, Journal, JournalError, JournalFault, Problem};
use countersign_engine::{Engine, LinkState, Now};
use countersign_journal::SqliteJournal;
use countersign_station::{KeepEnrolment, KeptIn, Parts, Passwords, Sealing, Secret, Secrets, Vault};
use countersign_wire::{CommandError, Profile};
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Current, Running, Station, Workstation};
use crate::profile;
use crate::views::{self, error};

/// How long a person waits for an answer to "connect". The attempts go on behind it.
const CONNECT_WAIT: Duration = Duration::from_secs(15);
/// How long the first opening waits for the keyring. A locked one asks the person, and the journal should not wait for that.
const KEYRING_PATIENCE: Duration = Duration::from_secs(2);

impl Workstation {
    /// Opens the profile that was asked for, or the only one there is, so that its journal can be worked on at once.
    pub(crate) async fn start(self: &Arc<Self>) {
        if let Err(trouble) = self.open_first().await {
            tracing::warn!(event = "not_started", code = trouble.code, "{}", trouble.message);
            self.current().trouble = Some(trouble);
        }
        self.started.send_replace(true);
        self.changed();
    }

    async fn open_first(self: &Arc<Self>) -> Result<(), CommandError> {
        let _one = self.connecting.lock().await;
        let file = self.profiles.clone();
        let profiles: Vec<Profile> = tokio::task::spawn_blocking(move || file.load())
            .await
            .map_err(|reason| error("UNEXPECTED", format!("The profiles cannot be read: {reason}.")))?
            .map_err(|reason| error("PROFILES_UNREADABLE", format!("The profiles cannot be read: {reason}.")))?;
        self.current().profiles.clone_from(&profiles);
        let profile = match (&self.wanted, profiles.as_slice()) {
            (Some(name), _) => find(&profiles, name)?,
            (None, [only]) => only.clone(),
            (None, _) => return Ok(()),
        };
        self.current().profile = Some(profile.clone());
        let mut search = self.search_password(&profile);
        if let Ok(found) = timeout(KEYRING_PATIENCE, &mut search).await {
            return self.open(&profile, found.ok().flatten()).await;
        }
        self.open(&profile, None).await?;
        let workstation = Arc::clone(self);
        tokio::spawn(async move {
            if let Ok(Some(password)) = search.await {
                workstation.use_late_password(&profile, password).await;
            }
        });
        Ok(())
    }

    /// Connects with a profile's backlog, first opening its journal where another one or none is open. It waits until the
    /// database has answered, one way or the other.
    pub(crate) async fn connect(
        &self,
        name: &str,
        password: Option<SecretString>,
        remember: bool,
    ) -> Result<(), CommandError> {
        self.wait_until_started().await;
        let _one = self.connecting.lock().await;
        if self.is_closing() {
            return Err(closing());
        }
        let before = self.session().await.needs;
        self.current().asking = Some(before);
        let outcome = self.connect_now(name, password, remember).await;
        self.current().asking = None;
        self.changed();
        outcome
    }

    async fn connect_now(
        &self,
        name: &str,
        password: Option<SecretString>,
        remember: bool,
    ) -> Result<(), CommandError> {
        let profile = find(&self.current().profiles, name)?;
        profile::check(&profile)?;
        let (open, last_password) = {
            let current = self.current();
            let running = current.running.as_ref().filter(|_| current.profile.as_ref().is_some_and(|p| p.name == name));
            (running.map(|running| running.station.clone()), running.and_then(|running| running.password.clone()))
        };
        let typed = password.is_some();
        let password = match password.or(last_password) {
            Some(password) => Some(password),
            None => self.search_password(&profile).await.ok().flatten(),
        };
        let station = if let Some(station) = open {
            // An attempt that is under way would answer for the old password.
            self.attempt(&station).await.ok();
            let backlog = Arc::new(PgBacklog::new(profile::target(&profile), password.clone()));
            station.reconnect(backlog).await.map_err(views::gone)?;
            let mut current = self.current();
            if let Some(running) = &mut current.running {
                running.password.clone_from(&password);
            }
            current.profile = Some(profile.clone());
            station
        } else {
            self.stop().await;
            self.current().profile = Some(profile.clone());
            self.open(&profile, password.clone()).await?;
            self.station().await?
        };
        self.attempt(&station).await?;
        if let Some(password) = password.filter(|_| remember && typed) {
            self.remember(profile.name, password).await;
        }
        Ok(())
    }

    /// Waits until an attempt to connect has ended.
    async fn attempt(&self, station: &Station) -> Result<(), CommandError> {
        let mut stop = self.closing.subscribe();
        tokio::select! {
            ended = timeout(CONNECT_WAIT, station.wait_until(|engine, now| ended(&engine.link(now)))) => match ended {
                Ok(ended) => ended.map_err(views::gone)?,
                Err(_) => return Err(error(
                    "UNREACHABLE",
                    format!("The database did not answer within {} seconds. It is tried again by itself.", CONNECT_WAIT.as_secs()),
                )),
            },
            // The sender lives as long as `self`.
            _ = stop.wait_for(|closing| *closing) => return Err(closing()),
        }
        let link = station.look(|engine: &Engine, now: Now| engine.link(now)).await.map_err(views::gone)?;
        match link.problem {
            // What it waits for then, or what is left, is not about the connection.
            Some(problem) if matches!(problem.failure, Failure::Refused(Problem::NotEnrolled | Problem::Revoked)) => {
                Ok(())
            }
            Some(problem) if !link.online => Err(views::backlog_error(&problem)),
            _ => Ok(()),
        }
    }

    /// Opens a profile's journal and starts a station on it.
    async fn open(&self, profile: &Profile, password: Option<SecretString>) -> Result<(), CommandError> {
        profile::check(profile)?;
        let told = self.current().told_of_damage.take().is_some_and(|name| name == profile.name);
        let path = profile::journal(&self.places.data_dir, &profile.name);
        let backlog = Arc::new(PgBacklog::new(profile::target(profile), password.clone()));
        let (settings, machine) = (self.settings.clone(), self.machine.clone());
        let (name, use_keyring) = (profile.name.clone(), self.places.keyring);
        let opening = tokio::task::spawn_blocking(move || {
            let moved = told.then(|| SqliteJournal::set_aside(&path, Utc::now())).transpose()?;
            let opened = open_journal(&path, &name, use_keyring).and_then(|(journal, vault, secrets, kept_in)| {
                let journal_key = secrets.journal_key.clone();
                let in_file = Arc::new(AtomicBool::new(matches!(kept_in, KeptIn::File(_))));
                let (station, task) = countersign_station::start(Parts {
                    settings,
                    journal,
                    backlog,
                    machine,
                    app_version: env!("CARGO_PKG_VERSION").to_owned(),
                    keys: keys(&secrets),
                    scorer: countersign_station::scorer(),
                    keep_enrolment: keep_enrolment(vault, secrets, Arc::clone(&in_file)),
                    // Two workstations that lost the network together should not come back together.
                    seed: Uuid::new_v4().as_u64_pair().0,
                })?;
                Ok((Running { station, task: Some(task), journal_key, password, keys_in_file: in_file }, kept_in))
            });
            Ok((moved, opened))
        });
        let opened =
            opening.await.map_err(|reason| error("UNEXPECTED", format!("The journal was not opened: {reason}.")))?;
        let (moved, opened) = opened.map_err(|problem| self.not_opened(profile, &problem))?;
        if let Some(moved) = moved {
            self.notice(format!(
                "The damaged journal was moved to {}. Keep it for support, who may recover decisions from it; this one began empty.",
                moved.display()
            ));
        }
        let (running, kept_in) = opened.map_err(|problem| self.not_opened(profile, &problem))?;
        if let (KeptIn::File(file), true) = (&kept_in, self.places.keyring) {
            self.notice(format!(
                "The keys of this workstation are in a file, {}, because no keyring answered; who can read this file can read the journal. They move into the keyring when it answers at the next start.",
                file.display()
            ));
        }
        tracing::info!(event = "opened", profile = profile.name);
        let mut current = self.current();
        current.running = Some(running);
        current.trouble = None;
        current.leaving = None;
        drop(current);
        self.changed();
        Ok(())
    }

    /// Puts the trouble where the session shows it. What is done about a damaged journal is done only once the reviewer knows.
    fn not_opened(&self, profile: &Profile, problem: &JournalError) -> CommandError {
        let mut trouble = views::journal_error(problem);
        let mut current = self.current();
        if problem.fault == JournalFault::Corrupt {
            current.told_of_damage = Some(profile.name.clone());
            trouble.message.push_str(
                " If you connect again, Countersign moves the damaged file aside, deletes nothing, and begins an empty journal.",
            );
        }
        current.trouble = Some(trouble.clone());
        trouble
    }

    /// The keyring unlocked after the journal was opened.
    async fn use_late_password(&self, profile: &Profile, password: SecretString) {
        let _one = self.connecting.lock().await;
        let station = {
            let mut current = self.current();
            let Current { running, profile: used, .. } = &mut *current;
            let running =
                running.as_mut().filter(|running| running.password.is_none() && used.as_ref() == Some(profile));
            let Some(running) = running else { return };
            running.password = Some(password.clone());
            running.station.clone()
        };
        let backlog = Arc::new(PgBacklog::new(profile::target(profile), Some(password)));
        // A station that has ended needs no password.
        let _ = station.reconnect(backlog).await;
    }

    /// Looks for a password: the environment's, or the keyring's.
    pub(super) fn search_password(&self, profile: &Profile) -> JoinHandle<Option<SecretString>> {
        let (unattended, name, use_keyring) = (self.unattended.clone(), profile.name.clone(), self.places.keyring);
        tokio::task::spawn_blocking(move || {
            unattended.or_else(|| if use_keyring { Passwords.find(&name) } else { None })
        })
    }

    async fn remember(&self, name: String, password: SecretString) {
        if !self.places.keyring {
            return self.notice("The password was not kept: the keyring is not used here.".to_owned());
        }
        match tokio::task::spawn_blocking(move || Passwords.keep(&name, &password)).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => self.notice(views::sentence(&problem.to_string())),
            Err(reason) => self.notice(format!("The keyring did not keep the password ({reason}).")),
        }
    }
}

/// An attempt has ended when it went well, or when the next one is some time away or waits for the reviewer. While one is due or
/// under way, the engine counts nothing down.
fn ended(link: &LinkState) -> bool {
    link.online || (link.problem.is_some() && link.next_attempt_in_ms != Some(0))
}

/// The journal, its key, and where the keys are.
fn open_journal(
    path: &Path,
    profile: &str,
    use_keyring: bool,
) -> Result<(Box<dyn Journal>, Vault, Secrets, KeptIn), JournalError> {
    let vault = Vault::new(profile, path.parent().unwrap_or(Path::new(".")), use_keyring);
    // Keys and identity are made here: randomness belongs to the edge.
    let (secrets, kept_in) =
        vault.open(SqliteJournal::needs_key(path)?, || Secrets::random(&mut rand::rng())).map_err(|problem| {
            JournalError { operation: "open", fault: JournalFault::Key, message: problem.to_string() }
        })?;
    let journal = SqliteJournal::open(path, &secrets.journal_key, WorkstationId(Uuid::new_v4()))?;
    Ok((Box::new(journal), vault, secrets, kept_in))
}

/// What decisions are signed and sealed with.
fn keys(secrets: &Secrets) -> Keys {
    let enrolment = secrets.sealing.as_ref().map(|sealing| Enrolment {
        number: sealing.enrolment,
        secret: SecretBox::new(Box::new(*sealing.secret.expose())),
    });
    Keys::new(secrets.signing_seed.expose(), enrolment)
}

/// Puts what is agreed at an enrolment where the other keys are.
fn keep_enrolment(vault: Vault, secrets: Secrets, in_file: Arc<AtomicBool>) -> KeepEnrolment {
    Arc::new(move |enrolment| {
        let sealing = Sealing { enrolment: enrolment.number, secret: Secret::new(enrolment.secret.expose_secret()) };
        let secrets = Secrets { sealing: Some(sealing), ..secrets.clone() };
        let kept_in = vault.keep(&secrets).map_err(|problem| problem.to_string())?;
        in_file.store(matches!(kept_in, KeptIn::File(_)), Ordering::Relaxed);
        Ok(())
    })
}

fn find(profiles: &[Profile], name: &str) -> Result<Profile, CommandError> {
    profiles.iter().find(|profile| profile.name == name).cloned().ok_or_else(|| {
        let known: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        error("NO_PROFILE", format!("There is no profile called {name}; known here: {known}."))
    })
}

pub(super) fn closing() -> CommandError {
    error("CLOSING", "Countersign is closing.")
}

#[cfg(test)]
mod tests {
    use countersign_engine::port::{BacklogError, Failure, Problem};

    use super::*;

    #[test]
    fn an_attempt_has_ended_when_the_database_answered_or_the_next_one_is_away() {
        let problem = |failure| Some(BacklogError { operation: "connect", failure, message: String::new() });
        let offline = || problem(Failure::Offline);
        for (online, problem, next_attempt_in_ms, expected) in [
            (false, None, Some(0), false),
            (true, None, None, true),
            (false, offline(), Some(0), false),
            (false, offline(), Some(900), true),
            (false, problem(Failure::Refused(Problem::BadPassword)), None, true),
        ] {
            let link = LinkState { online, problem, next_attempt_in_ms, last_contact: None };
            assert_eq!(ended(&link), expected, "{link:?}");
        }
    }
}
