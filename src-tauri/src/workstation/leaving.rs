//! Leaving a computer: signing out, taking unsent decisions along, and removing everything.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use countersign_domain::id::{Digest, WorkstationId};
use countersign_engine::Command;
use countersign_engine::port::{JournalError, JournalFault};
use countersign_journal::{Counts, SqliteJournal};
use countersign_station::{Passwords, Vault};
use countersign_wire::{CommandError, ExportView, LeavingReason, LeavingView, RemovedReply};
use uuid::Uuid;

use super::Workstation;
use super::connecting::closing;
use crate::profile;
use crate::views::{self, error};

/// A profile's journal and keys on this computer.
#[derive(Debug, Clone)]
struct Place {
    profile: String,
    journal: PathBuf,
    keyring: bool,
}

impl Workstation {
    /// Sends what can be sent, gives back what is undecided, and clears this computer of all but unsent decisions.
    pub(crate) async fn sign_out(&self) -> Result<(), CommandError> {
        self.wait_until_started().await;
        let _one = self.connecting.lock().await;
        if self.is_closing() {
            return Err(closing());
        }
        let station = self.station().await?;
        let online = station.look(|engine, now| engine.link(now).online).await.map_err(views::gone)?;
        let Some(name) = self.current().profile.as_ref().map(|profile| profile.name.clone()) else {
            return Err(error("NOT_CONNECTED", "No profile is in use."));
        };
        self.end(Command::SignOut, self.drain_patience()).await;
        self.heard.forget();
        let place = self.place(&name);
        let left = run(move || Ok((left_behind(&place), forget_password(&place)))).await;
        let (counts, forgotten) = left.unwrap_or_else(|problem| (Err(problem), None));
        let (unsent, about_the_journal) = match counts {
            Ok(counts) => (counts.ready + counts.dead, told(&counts)),
            Err(problem) => (0, problem.message),
        };
        let leases = if online {
            "What was leased went back to your colleagues."
        } else {
            "What was leased goes back to your colleagues when the leases lapse: the database could not be told."
        };
        let said = [Some(leases.to_owned()), Some(about_the_journal), forgotten];
        tracing::info!(event = "signed_out", profile = name, unsent);
        self.current().leaving = Some(LeavingView {
            reason: LeavingReason::SignedOut,
            profile: name,
            message: said.into_iter().flatten().collect::<Vec<_>>().join(" "),
            unsent: u32::try_from(unsent).unwrap_or(u32::MAX),
            export: None,
        });
        self.changed();
        Ok(())
    }

    /// Writes the decisions that are here and nowhere else into a file for the reviewer. The station is stopped: its journal has
    /// one owner.
    pub(crate) async fn export_outbox(&self, name: &str) -> Result<ExportView, CommandError> {
        self.wait_until_started().await;
        let _one = self.connecting.lock().await;
        self.leave(name).await?;
        let (place, directory) = (self.place(name), self.places.export_dir.clone());
        let export = run(move || {
            let journal = opened(&place)?.ok_or_else(|| gone_already(&place.profile))?;
            write_export(&directory, &place.profile, Utc::now(), &journal)
        })
        .await?;
        if let Some(leaving) = &mut self.current().leaving {
            leaving.unsent = export.count;
            leaving.export = Some(export.clone());
        }
        self.changed();
        Ok(export)
    }

    /// Destroys the journal, the keys and the password. The journal refuses while it holds decisions that no export was
    /// acknowledged of.
    pub(crate) async fn remove_everything(
        &self,
        name: &str,
        acknowledged: Option<Digest>,
    ) -> Result<RemovedReply, CommandError> {
        self.wait_until_started().await;
        let _one = self.connecting.lock().await;
        self.leave(name).await?;
        let place = self.place(name);
        let forgotten = run(move || remove(&place, acknowledged)).await?;
        tracing::info!(event = "removed", profile = name);
        let mut current = self.current();
        current.leaving = None;
        current.trouble = None;
        drop(current);
        self.changed();
        let removed = format!("The journal, the keys and the password of {name} were removed from this computer.");
        let kept = "The connection’s settings stay.".to_owned();
        let said = [Some(removed), forgotten, Some(kept)];
        Ok(RemovedReply { message: said.into_iter().flatten().collect::<Vec<_>>().join(" ") })
    }

    /// Makes sure that a profile may be left, and that no station runs on it.
    async fn leave(&self, name: &str) -> Result<(), CommandError> {
        if self.is_closing() {
            return Err(closing());
        }
        let running = self.current().running.as_ref().map(|running| running.station.clone());
        if let Some(station) = running {
            let profile = name.to_owned();
            let leaving = station.look(move |engine, now| views::leaving(&profile, engine, now)).await;
            let in_use = self.current().profile.as_ref().is_some_and(|profile| profile.name == name);
            let leaving = leaving.map_err(views::gone)?.filter(|_| in_use).ok_or_else(|| not_left(name))?;
            self.current().leaving = Some(leaving);
            // There is nothing to wait for: a revoked workstation can send nothing.
            self.end(Command::CloseNow, Duration::ZERO).await;
            self.changed();
            return Ok(());
        }
        let left = self.current().leaving.as_ref().is_some_and(|leaving| leaving.profile == name);
        if left { Ok(()) } else { Err(not_left(name)) }
    }

    fn place(&self, name: &str) -> Place {
        let journal = profile::journal(&self.places.data_dir, name);
        Place { profile: name.to_owned(), journal, keyring: self.places.keyring }
    }
}

/// Runs what blocks.
async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|reason| Err(error("UNEXPECTED", format!("It was not carried out: {reason}."))))
}

fn vault(place: &Place) -> Vault {
    Vault::new(&place.profile, place.journal.parent().unwrap_or(Path::new(".")), place.keyring)
}

/// The journal of a profile, if there is one.
fn opened(place: &Place) -> Result<Option<SqliteJournal>, CommandError> {
    if !place.journal.exists() {
        return Ok(None);
    }
    let key =
        |message: String| views::journal_error(&JournalError { operation: "open", fault: JournalFault::Key, message });
    let kept = vault(place).find().map_err(|problem| key(problem.to_string()))?;
    let (secrets, _) = kept.ok_or_else(|| key("the key of the journal cannot be found: nothing was touched".into()))?;
    SqliteJournal::open(&place.journal, &secrets.journal_key, WorkstationId(Uuid::nil()))
        .map(Some)
        .map_err(|problem| views::journal_error(&problem))
}

fn left_behind(place: &Place) -> Result<Counts, CommandError> {
    let Some(journal) = opened(place)? else { return Ok(Counts::default()) };
    journal.counts().map_err(|problem| views::journal_error(&problem))
}

/// What of the journal was removed, and what was not.
fn told(counts: &Counts) -> String {
    let told = if counts.undecided + counts.committed + counts.refused + counts.dead_letters > 0 {
        "Its journal could not be cleared and still holds, encrypted, what was in it: sign in and out again, or remove everything."
    } else {
        "What was leased or answered was removed from this computer."
    };
    told.to_owned()
}

/// Says why the password was not forgotten, if it was not.
fn forget_password(place: &Place) -> Option<String> {
    if !place.keyring {
        return None;
    }
    Passwords.forget(&place.profile).err().map(|problem| views::sentence(&problem.to_string()))
}

fn remove(place: &Place, acknowledged: Option<Digest>) -> Result<Option<String>, CommandError> {
    if let Some(journal) = opened(place)? {
        journal.destroy(acknowledged).map_err(|problem| views::journal_error(&problem))?;
    }
    vault(place).forget().map_err(|problem| error("KEYS_NOT_REMOVED", views::sentence(&problem.to_string())))?;
    Ok(forget_password(place))
}

/// Writes an export under a name that says when it was made. What could not be written whole is not left behind.
fn write_export(
    directory: &Path,
    profile: &str,
    at: DateTime<Utc>,
    journal: &SqliteJournal,
) -> Result<ExportView, CommandError> {
    let path = directory.join(format!(
        "countersign-unsent-{}-{}.jsonl",
        profile::slug(profile),
        at.format("%Y%m%dT%H%M%S%3fZ")
    ));
    let failed = |reason: std::io::Error| {
        error("NOT_EXPORTED", format!("{} cannot be written ({reason}): nothing was changed.", path.display()))
    };
    let file = private(&path).map_err(failed)?;
    let mut out = BufWriter::new(&file);
    let written = journal.export_outbox(&mut out).map_err(|problem| views::journal_error(&problem));
    let synced = written.and_then(|digest| out.flush().and_then(|()| file.sync_all()).map(|()| digest).map_err(failed));
    drop(out);
    match synced {
        Ok(digest) => Ok(ExportView {
            path: path.display().to_string(),
            count: u32::try_from(digest.count).unwrap_or(u32::MAX),
            sha256: digest.sha256.to_string(),
        }),
        Err(problem) => {
            if let Err(reason) = std::fs::remove_file(&path) {
                tracing::warn!(event = "export_left", "half an export could not be removed: {reason}");
            }
            Err(problem)
        }
    }
}

/// A new file that nobody else can read.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn not_left(name: &str) -> CommandError {
    error("NOT_LEFT", format!("{name} is in use on this computer; sign out first. Nothing was changed."))
}

fn gone_already(name: &str) -> CommandError {
    error("NOT_FOUND", format!("There is no journal of {name} on this computer any more."))
}
