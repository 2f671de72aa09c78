//! The story: workstations decide everything they may; halfway the network of one fails, it goes on, is killed, starts again without
//! a network, and is connected again.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use countersign_domain::id::WorkstationId;
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use uuid::Uuid;

use super::office::{Office, Reviewer};
use super::workstation::{Ask, Told};
use crate::enrolment::enrol;
use crate::proxy::CuttingProxy;

/// The longest a workstation may take to answer.
const PATIENCE: Duration = Duration::from_mins(2);
/// How many exceptions a reviewer signs with one confirmation.
const BATCH: usize = 25;

/// How the story goes.
#[derive(Debug, Clone)]
pub struct Story {
    /// Decides everything random.
    pub seed: u64,
    /// Where the journals are.
    pub directory: PathBuf,
}

struct Workstation {
    reviewer: Reviewer,
    journal: PathBuf,
    proxy: CuttingProxy,
    seed: u64,
    id: WorkstationId,
    database: &'static str,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// Runs it; returns the journals. `say` tells a person how it goes.
pub async fn run(office: &Office, story: &Story, say: impl Fn(&str)) -> anyhow::Result<Vec<PathBuf>> {
    let mut workstations = Vec::new();
    for (number, reviewer) in office.reviewers.iter().enumerate() {
        let mut workstation = Workstation {
            reviewer: reviewer.clone(),
            journal: story.directory.join(format!("{}.db", reviewer.login)),
            proxy: CuttingProxy::start(office.postgres.addr()).await?,
            seed: story.seed.wrapping_add(number as u64),
            id: WorkstationId(Uuid::from_u128(number as u128 + 1)),
            database: office.database(),
            running: None,
        };
        enrol(&office.owner, &workstation.reviewer.login, workstation.id).await?;
        workstation.start()?;
        workstation.ask(&Ask::Look).await?;
        workstations.push(workstation);
    }
    let half = i64::try_from(office.enqueued.enqueued / 2).unwrap_or(i64::MAX);
    let mut failed = false;
    loop {
        let mut signed = 0;
        for workstation in &mut workstations {
            signed += workstation.ask(&Ask::Sign(BATCH)).await?.signed;
        }
        if signed == 0 {
            // The decks are empty: leases are on their way.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if !failed && office.signed().await? >= half {
            failed = true;
            fail_and_recover(office, &mut workstations[0], &say).await?;
        }
        if office.done().await? {
            break;
        }
    }
    if !failed {
        fail_and_recover(office, &mut workstations[0], &say).await?;
    }
    say("Nothing is left that they may sign; closing the workstations.");
    for workstation in &mut workstations {
        workstation.drain().await?;
    }
    Ok(workstations.into_iter().map(|workstation| workstation.journal).collect())
}

async fn fail_and_recover(office: &Office, workstation: &mut Workstation, say: &impl Fn(&str)) -> anyhow::Result<()> {
    let who = workstation.reviewer.login.clone();
    workstation.fill(office, BATCH * 3).await?;
    // The answer to one batch is lost on the way: the database has it, the workstation cannot know.
    let before = workstation.signed_in(office).await?;
    workstation.proxy.swallow_replies();
    let told = workstation.ask(&Ask::Sign(BATCH)).await?;
    if told.signed > 0 {
        workstation.wait_for_more_than(office, before).await?;
    }
    workstation.proxy.cut();
    workstation.ask(&Ask::Lose).await?;
    let offline = workstation.ask(&Ask::Sign(BATCH)).await?;
    say(&format!(
        "The network of {who} fails: the answer to {} decisions is lost, and {} more are signed offline.",
        told.signed, offline.signed
    ));
    workstation.kill().await?;
    workstation.start()?;
    let told = workstation.ask(&Ask::Look).await?;
    let offline = workstation.ask(&Ask::Sign(BATCH)).await?;
    say(&format!(
        "{who}'s workstation is killed and starts again without a network: {} decisions wait and {} exceptions are in the deck; {} are signed.",
        told.unsent, told.deck, offline.signed
    ));
    workstation.proxy.pass();
    let told = workstation.ask(&Ask::Settle).await?;
    say(&format!("The network is back; {} decisions are left to send.", told.unsent));
    Ok(())
}

impl Workstation {
    fn start(&mut self) -> anyhow::Result<()> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("workstation")
            .args(["--journal".as_ref(), self.journal.as_os_str()])
            .args(["--address", &self.proxy.addr().to_string(), "--database", self.database])
            .args(["--user", &self.reviewer.login, "--seed", &self.seed.to_string()])
            .args(["--workstation", &self.id.0.to_string()])
            .env("COUNTERSIGN_PASSWORD", self.reviewer.password.expose_secret())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("start a workstation")?;
        let input = child.stdin.take().context("a workstation has an input")?;
        let output = BufReader::new(child.stdout.take().context("a workstation has an output")?).lines();
        self.running = Some(Running { child, input, output });
        Ok(())
    }

    async fn ask(&mut self, ask: &Ask) -> anyhow::Result<Told> {
        let running = self.running.as_mut().context("the workstation does not run")?;
        running.input.write_all(format!("{}\n", serde_json::to_string(ask)?).as_bytes()).await?;
        let line = timeout(PATIENCE, running.output.next_line())
            .await
            .with_context(|| format!("{} does not answer {ask:?}", self.reviewer.login))??;
        let line = line.with_context(|| format!("the workstation of {} ended at {ask:?}", self.reviewer.login))?;
        serde_json::from_str(&line).with_context(|| format!("not an answer: {line}"))
    }

    /// Waits until the deck holds so many, or there is no more to be had.
    async fn fill(&mut self, office: &Office, enough: usize) -> anyhow::Result<()> {
        let login = self.reviewer.login.clone();
        let filled = async {
            while self.ask(&Ask::Look).await?.deck < enough && office.claimable(&login).await? {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, filled).await.context("the deck does not fill")?
    }

    async fn signed_in(&self, office: &Office) -> anyhow::Result<i64> {
        let sql = "SELECT count(*) FROM countersign.sign_off WHERE reviewer = $1";
        Ok(sqlx::query_scalar(sql).bind(&self.reviewer.login).fetch_one(&office.owner).await?)
    }

    async fn wait_for_more_than(&self, office: &Office, before: i64) -> anyhow::Result<()> {
        let more = async {
            while self.signed_in(office).await? <= before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, more).await.with_context(|| format!("nothing of {} arrives", self.reviewer.login))?
    }

    /// Without warning.
    async fn kill(&mut self) -> anyhow::Result<()> {
        let mut running = self.running.take().context("the workstation does not run")?;
        running.child.kill().await.context("kill a workstation")
    }

    async fn drain(&mut self) -> anyhow::Result<()> {
        let mut running = self.running.take().context("the workstation does not run")?;
        running.input.write_all(format!("{}\n", serde_json::to_string(&Ask::Drain)?).as_bytes()).await?;
        let status = timeout(PATIENCE, running.child.wait())
            .await
            .with_context(|| format!("{} does not close", self.reviewer.login))??;
        anyhow::ensure!(status.success(), "the workstation of {} ended with {status}", self.reviewer.login);
        Ok(())
    }
}
