//! The profiles: keeping them, changing the one in use, letting them go, and trying them out.

use std::sync::Arc;

use chrono::Utc;
use countersign_backlog::PgBacklog;
use countersign_backlog::inspect::{Desk, Finding, inspect};
use countersign_station::Passwords;
use countersign_wire::{CommandError, ConnectionTest, Profile};
use secrecy::SecretString;

use super::connecting::closing;
use super::{Station, Workstation};
use crate::profile;
use crate::views::{self, error};

impl Workstation {
    /// Keeps a profile, in place of the one of the same name. Where it is the one in use, and the login is still the same, the workstation
    /// connects anew.
    pub(crate) async fn save_profile(&self, profile: Profile) -> Result<(), CommandError> {
        profile::check(&profile)?;
        let _one = self.connecting.lock().await;
        let (file, name) = (self.profiles.clone(), profile.name.clone());
        let copy = profile.clone();
        let saved = tokio::task::spawn_blocking(move || file.save(copy, |other: &Profile| other.name == name))
            .await
            .map_err(|reason| error("UNEXPECTED", format!("The profile was not kept: {reason}.")))?
            .map_err(|reason| error("PROFILE_NOT_KEPT", format!("The profile was not kept: {reason}.")))?;
        let changed = {
            let mut current = self.current();
            current.profiles = saved;
            let before = current.profile.clone().filter(|used| used.name == profile.name);
            if current.running.is_none() || before.is_some() {
                current.profile = Some(profile.clone());
            }
            let anew = before.is_some_and(|before| connects_anew(&before, &profile));
            let running = current.running.as_ref().filter(|_| anew);
            running.map(|running| (running.station.clone(), running.password.clone()))
        };
        if let Some((station, password)) = changed {
            tracing::info!(event = "reconnecting", "the profile in use was changed");
            // A station that has ended is connected with the profile as it is when it begins anew.
            let _ = station.reconnect(Arc::new(PgBacklog::new(profile::target(&profile), password))).await;
        }
        self.changed();
        Ok(())
    }

    /// Forgets a profile and its password. Its journal is not touched: while there is one, the profile stays.
    pub(crate) async fn delete_profile(&self, name: &str) -> Result<(), CommandError> {
        self.wait_until_started().await;
        let _one = self.connecting.lock().await;
        if self.is_closing() {
            return Err(closing());
        }
        if !self.current().profiles.iter().any(|profile| profile.name == name) {
            return Err(error("NO_PROFILE", format!("There is no profile called {name}; nothing was changed.")));
        }
        if self.used(name).is_some() {
            return Err(error(
                "PROFILE_IN_USE",
                format!(
                    "{name} is in use on this computer. Sign out first; then choose “Remove everything”, which takes care of decisions \
                     that were not sent, and delete the profile after that. Nothing was changed."
                ),
            ));
        }
        if profile::journal(&self.places.data_dir, name).exists() {
            return Err(error(
                "PROFILE_HAS_JOURNAL",
                format!(
                    "The journal of {name} is still on this computer and may hold decisions that were not sent. Connect with this profile, \
                     sign out, and choose “Remove everything”; then delete it. Nothing was changed."
                ),
            ));
        }
        let (file, copy, use_keyring) = (self.profiles.clone(), name.to_owned(), self.places.keyring);
        let removed = tokio::task::spawn_blocking(move || {
            let kept = file.remove(|profile: &Profile| profile.name == copy)?;
            Ok((kept, use_keyring.then(|| Passwords.forget(&copy).err()).flatten()))
        });
        let not_deleted = |reason: String| error("PROFILE_NOT_KEPT", format!("The profile was not deleted: {reason}."));
        let removed = removed.await.map_err(|reason| not_deleted(reason.to_string()))?;
        let (kept, not_forgotten) =
            removed.map_err(|reason: countersign_station::ProfileError| not_deleted(reason.to_string()))?;
        {
            let mut current = self.current();
            current.profiles = kept;
            if current.profile.as_ref().is_some_and(|profile| profile.name == name) {
                current.profile = None;
                current.trouble = None;
            }
            current.leaving.take_if(|leaving| leaving.profile == name);
        }
        if let Some(problem) = not_forgotten {
            self.notice(views::sentence(&problem.to_string()));
        }
        tracing::info!(event = "profile_deleted", profile = name);
        self.changed();
        Ok(())
    }

    /// Tries a profile out. Nothing of it is kept; without a password, the one of the same profile is tried.
    pub(crate) async fn test_connection(
        &self,
        profile: &Profile,
        password: Option<SecretString>,
    ) -> Result<ConnectionTest, CommandError> {
        self.wait_until_started().await;
        profile::check(profile)?;
        let (station, known) = self.used(&profile.name).map_or((None, None), |(station, known)| (Some(station), known));
        let password = match password.or(known) {
            Some(password) => Some(password),
            None => self.search_password(profile).await.ok().flatten(),
        };
        let desk = match station {
            Some(station) => station
                .look(|engine, _| Desk { workstation: engine.workstation(), fingerprint: Some(engine.fingerprint()) })
                .await
                .ok(),
            None => None,
        };
        let findings = inspect(&profile::target(profile), password.as_ref(), desk.as_ref(), Utc::now).await;
        log(&findings);
        self.current().tested.clone_from(&findings);
        Ok(views::connection_test(findings))
    }

    /// The station that runs on a profile, and what it connects with.
    fn used(&self, name: &str) -> Option<(Station, Option<SecretString>)> {
        let current = self.current();
        let running = current
            .running
            .as_ref()
            .filter(|_| current.profile.as_ref().is_some_and(|profile| profile.name == name))?;
        Some((running.station.clone(), running.password.clone()))
    }
}

/// Whether a change of the profile in use is acted on at once. Another login has another password, which has to be asked for: the old one
/// would count as a wrong attempt.
fn connects_anew(before: &Profile, after: &Profile) -> bool {
    before != after && before.user == after.user
}

/// The outcomes alone: what was found names hosts and people.
fn log(findings: &[Finding]) {
    for finding in findings {
        let (step, outcome) = (views::step_name(finding.step), finding.outcome);
        tracing::info!(event = "connection_tested", step, ?outcome);
    }
}

#[cfg(test)]
mod tests {
    use countersign_wire::TlsMode;

    use super::*;

    #[test]
    fn a_changed_way_is_taken_at_once_and_a_changed_login_waits_for_its_password() {
        let before = Profile {
            name: "close".into(),
            host: "db.example.com".into(),
            port: 5432,
            database: "close".into(),
            user: "alice".into(),
            tls: TlsMode::VerifyFull,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
        };
        assert!(!connects_anew(&before, &before));
        assert!(connects_anew(&before, &Profile { port: 5433, ..before.clone() }));
        assert!(connects_anew(&before, &Profile { host: "db2.example.com".into(), ..before.clone() }));
        assert!(!connects_anew(&before, &Profile { user: "bob".into(), ..before.clone() }));
        assert!(!connects_anew(&before, &Profile { user: "bob".into(), port: 5433, ..before.clone() }));
    }
}
