//! A workstation under test: a journal in a directory of its own, and the station that runs on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use countersign_backlog::{PgBacklog, Target, Timing};
use countersign_domain::hash;
use countersign_domain::id::{BatchId, WorkstationId};
use countersign_domain::settings::Settings;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{DeckItem, Entry};
use countersign_engine::{Command, CommandFailure, Counts, Engine, LinkState, Now, Reply};
use countersign_journal::SqliteJournal;
use countersign_station::{Parts, Scorer, StationHandle, scorer};
use countersign_testkit::enrolment::{enrol, keys_of};
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::journal_key;
use countersign_testkit::proxy::CuttingProxy;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use crate::DEADLINE;

/// Where a reviewer sits: the profile, the settings and the journal's place. It outlives the program that runs on it.
pub struct Desk {
    /// The journal's directory.
    pub directory: PathBuf,
    /// Who signs.
    pub login: Login,
    /// The journal's workstation, which is enrolled.
    pub workstation: WorkstationId,
    /// The way to the database.
    pub target: Target,
    /// The bounds on that way.
    pub timing: Timing,
    /// The settings of the next start. Decisions are sent at once, unless the test wants an undo window.
    pub settings: Settings,
    /// What scores, from the next start on.
    pub scorer: Scorer,
    pub(crate) _kept: Option<TempDir>,
}

impl Desk {
    /// A new reviewer with an empty journal.
    pub async fn of(installation: &Installation, reviewer: &str) -> anyhow::Result<Self> {
        let login = installation.reviewer(reviewer).await?;
        let target = installation.target(&login, None).await?;
        let kept = tempfile::tempdir().context("a directory for the journal")?;
        let settings = Settings { undo_window_ms: 0, ..Settings::default() };
        let directory = kept.path().to_owned();
        let workstation = WorkstationId(Uuid::new_v4());
        enrol(&installation.owner, &login.user, workstation).await?;
        Ok(Self {
            directory,
            login,
            workstation,
            target,
            timing: Timing::default(),
            settings,
            scorer: scorer(),
            _kept: Some(kept),
        })
    }

    /// The same desk, reached over a network that fails on command.
    #[must_use]
    pub fn behind(mut self, proxy: &CuttingProxy) -> Self {
        self.target.host = proxy.addr().ip().to_string();
        self.target.port = proxy.addr().port();
        self
    }

    /// The journal's file.
    pub fn journal_path(&self) -> PathBuf {
        self.directory.join("journal.sqlite")
    }

    /// Opens the journal, which no station may have open.
    pub fn journal(&self) -> anyhow::Result<SqliteJournal> {
        Ok(SqliteJournal::open(&self.journal_path(), &journal_key(), self.workstation)?)
    }

    /// Every decision in the journal, by ordinal.
    pub fn entries(&self) -> anyhow::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.journal()?.for_each_entry(|entry| entries.push(entry))?;
        Ok(entries)
    }

    /// A desk with a copy of this one's journal, which no station may have open.
    pub fn copy(&self) -> anyhow::Result<Self> {
        let kept = tempfile::tempdir().context("a directory for the copy")?;
        let copy = Self {
            directory: kept.path().to_owned(),
            login: self.login.clone(),
            workstation: self.workstation,
            target: self.target.clone(),
            timing: self.timing,
            settings: self.settings.clone(),
            scorer: self.scorer.clone(),
            _kept: Some(kept),
        };
        std::fs::copy(self.journal_path(), copy.journal_path()).context("copy the journal")?;
        ensure!(!log_of(&self.journal_path()).exists(), "the journal was closed well, so that it has no log");
        Ok(copy)
    }

    /// The way to the database as this desk has it now.
    pub fn backlog(&self) -> Arc<PgBacklog> {
        Arc::new(PgBacklog::with_timing(self.target.clone(), Some(self.login.password.clone()), self.timing))
    }

    /// Starts the program.
    pub fn start(&self) -> anyhow::Result<Seat> {
        let parts = Parts {
            settings: self.settings.clone(),
            journal: Box::new(self.journal()?),
            backlog: self.backlog(),
            machine: "desk".to_owned(),
            app_version: "0".to_owned(),
            keys: keys_of(self.workstation),
            scorer: self.scorer.clone(),
            // A new enrolment lasts as long as the program.
            keep_enrolment: Arc::new(|_| Ok(())),
            seed: 7,
        };
        let (handle, task) = countersign_station::start(parts)?;
        Ok(Seat { handle, task })
    }
}

/// SQLite's log beside a journal.
pub fn log_of(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// The running program, with a reviewer in front of it.
pub struct Seat {
    /// The door to it.
    pub handle: StationHandle<PgBacklog>,
    task: JoinHandle<()>,
}

impl Seat {
    /// Waits until the engine looks a certain way; `what` is said when it never does.
    pub async fn until(
        &self,
        what: &str,
        seen: impl FnMut(&Engine, Now) -> bool + Send + Clone + 'static,
    ) -> anyhow::Result<()> {
        match timeout(DEADLINE, self.handle.wait_until(seen)).await {
            Ok(seen) => seen.with_context(|| format!("waiting until {what}")),
            Err(_) => bail!("not within {DEADLINE:?}: {what}. Now: {}", self.describe().await?),
        }
    }

    /// Waits until so many undecided exceptions are here.
    pub async fn until_deck(&self, count: usize) -> anyhow::Result<()> {
        self.until(&format!("the deck has {count}"), move |engine, _| engine.deck().count() == count).await
    }

    /// Waits until so many decisions were accepted.
    pub async fn until_committed(&self, count: usize) -> anyhow::Result<()> {
        self.until(&format!("{count} are committed"), move |engine, now| engine.counts(now).committed == count).await
    }

    /// Waits until the database can be reached, or cannot.
    pub async fn until_online(&self, online: bool) -> anyhow::Result<()> {
        let what = if online { "the link is up" } else { "the link is down" };
        self.until(what, move |engine, now| engine.link(now).online == online).await
    }

    /// The undecided exceptions, in their order.
    pub async fn deck(&self) -> anyhow::Result<Vec<DeckItem>> {
        Ok(self.handle.look(|engine, _| engine.deck().map(|(slot, _)| slot.item.clone()).collect()).await?)
    }

    /// How many decisions are where.
    pub async fn counts(&self) -> anyhow::Result<Counts> {
        Ok(self.handle.look(Engine::counts).await?)
    }

    /// The connection as it is shown.
    pub async fn link(&self) -> anyhow::Result<LinkState> {
        Ok(self.handle.look(Engine::link).await?)
    }

    /// Decisions that are not done with.
    pub async fn outbox(&self) -> anyhow::Result<Vec<Entry>> {
        Ok(self.handle.look(|engine, _| engine.outbox().map(|pending| pending.entry.clone()).collect()).await?)
    }

    /// Asks for something that may be refused.
    pub async fn try_ask(&self, command: Command) -> anyhow::Result<Result<Reply, CommandFailure>> {
        let asked = format!("{command:?}");
        let shown: String = asked.chars().take(60).collect();
        Ok(timeout(DEADLINE, self.handle.command(command)).await.with_context(|| format!("no reply to {shown}"))??)
    }

    /// Asks for something that has to be done.
    pub async fn ask(&self, command: Command) -> anyhow::Result<Reply> {
        match self.try_ask(command).await? {
            Ok(reply) => Ok(reply),
            Err(failure) => bail!("{}: {}", failure.code, failure.message),
        }
    }

    /// Approves these with one confirmation, which is durable on return.
    pub async fn approve(&self, items: &[DeckItem]) -> anyhow::Result<BatchId> {
        self.decide(items, Decision::Approve).await
    }

    /// The same for any decision.
    pub async fn decide(&self, items: &[DeckItem], decision: Decision) -> anyhow::Result<BatchId> {
        let policy = |engine: &Engine, _| engine.standing().map_or(0, |standing| standing.policy_version);
        let (batch, command) = confirmation(items, decision, self.handle.look(policy).await?);
        let reply = self.ask(command).await?;
        ensure!(reply == Reply::Signed { count: items.len() }, "{} were to be signed: {reply:?}", items.len());
        Ok(batch)
    }

    /// Ends the program as a crash does: nothing is sent, nothing is given back. (What was asked of the disk before is done.)
    pub async fn leave(self) -> anyhow::Result<()> {
        let Self { handle, task } = self;
        drop(handle);
        timeout(DEADLINE, task).await.context("the station goes when nobody holds it")??;
        Ok(())
    }

    /// Waits until closing is over.
    pub async fn closed(self) -> anyhow::Result<()> {
        let Self { handle: _handle, task } = self;
        timeout(DEADLINE, task).await.context("the station ends by itself once it was asked to close")??;
        Ok(())
    }

    async fn describe(&self) -> anyhow::Result<String> {
        let look = |engine: &Engine, now| {
            format!(
                "{} in the deck, {:?}, {:?}, drain {:?}, warnings {:?}",
                engine.deck().count(),
                engine.counts(now),
                engine.link(now),
                engine.drain(now),
                engine.warnings()
            )
        };
        Ok(self.handle.look(look).await?)
    }
}

/// What a dialog sends when it is confirmed under a policy, and the batch's name.
pub fn confirmation(items: &[DeckItem], decision: Decision, policy_version: u32) -> (BatchId, Command) {
    let batch = BatchId(Uuid::new_v4());
    let command = Command::Sign {
        batch,
        ids: items.iter().map(|item| item.id).collect(),
        decision,
        reason: (decision == Decision::Reject).then(|| "WRONG_AMOUNT".to_owned()),
        comment: None,
        hash_total: hash::hash_total(items.iter().map(|item| (item.key.as_str(), item.content))),
        policy_version,
        figures: BTreeMap::new(),
    };
    (batch, command)
}
