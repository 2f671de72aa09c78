//! A workstation without a window, in a process of its own: it does what the lines on its standard input say.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use chrono::Utc;
use countersign_backlog::{PgBacklog, Target, Tls};
use countersign_domain::hash;
use countersign_domain::id::{BatchId, ExceptionId, WorkstationId};
use countersign_domain::money::Money;
use countersign_domain::scoring::Route;
use countersign_domain::settings::Settings;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{DeckItem, Stage};
use countersign_engine::{Command, Pending, Reply};
use countersign_journal::SqliteJournal;
use countersign_station::{Parts, StationHandle};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use uuid::Uuid;

use crate::enrolment::keys_of;

/// Where a workstation sits.
#[derive(Debug, Clone, clap::Args)]
pub struct Seat {
    /// The journal's file.
    #[arg(long)]
    pub journal: PathBuf,
    /// Where PostgreSQL answers.
    #[arg(long)]
    pub address: SocketAddr,
    /// The database.
    #[arg(long)]
    pub database: String,
    /// The reviewer.
    #[arg(long)]
    pub user: String,
    /// The workstation; its keys follow from it.
    #[arg(long)]
    pub workstation: Uuid,
    /// Decides what is rejected.
    #[arg(long)]
    pub seed: u64,
}

/// What a workstation is asked.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Sign up to this many of what is in the deck, groups whole.
    Sign(usize),
    /// Say how things are, once the database has been seen, or was found to be out of reach.
    Look,
    /// Wait until the loss of the connection is noticed.
    Lose,
    /// Wait until the connection is up, and everything that can be sent has been answered.
    Settle,
    /// Close.
    Drain,
}

/// How things are.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Told {
    /// Decisions signed by this request.
    pub signed: usize,
    /// Undecided exceptions.
    pub deck: usize,
    /// Unanswered decisions.
    pub unsent: usize,
    /// Whether the database answers.
    pub online: bool,
}

/// Works until it is told to drain. `password` comes from the environment, never from the arguments.
pub async fn work(seat: Seat, password: SecretString) -> anyhow::Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seat.seed);
    let target = Target {
        host: seat.address.ip().to_string(),
        port: seat.address.port(),
        database: seat.database.clone(),
        user: seat.user.clone(),
        tls: Tls::Disable,
        root_certificate: None,
        client_certificate: None,
        client_key: None,
        application_name: format!("countersign {}", seat.user),
    };
    let fresh = WorkstationId(seat.workstation);
    let journal = SqliteJournal::open(&seat.journal, &crate::journal_key(), fresh).context("open the journal")?;
    let (station, task) = countersign_station::start(Parts {
        settings: Settings { undo_window_ms: 0, ..Settings::default() },
        journal: Box::new(journal),
        backlog: Arc::new(PgBacklog::new(target, Some(password))),
        machine: seat.user.clone(),
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
        keys: keys_of(fresh),
        scorer: countersign_station::scorer(),
        keep_enrolment: Arc::new(|_| Err("the workstations of this run are enrolled before they start".to_owned())),
        seed: random.random(),
    })?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        // Whoever gave the orders has gone: what is signed is on disk, and nobody is left to wait for the rest.
        let Some(line) = lines.next_line().await? else { return Ok(()) };
        let ask: Ask = serde_json::from_str(&line).with_context(|| format!("not a request: {line}"))?;
        let signed = match &ask {
            Ask::Sign(most) => sign(&station, *most, &mut random).await?,
            Ask::Look => {
                station.wait_until(|engine, now| engine.link(now).online || engine.link(now).problem.is_some()).await?;
                0
            }
            Ask::Lose => {
                station.wait_until(|engine, now| !engine.link(now).online).await?;
                0
            }
            Ask::Settle => {
                let settled = |engine: &countersign_engine::Engine, now| {
                    engine.link(now).online && !engine.outbox().any(Pending::unanswered)
                };
                station.wait_until(settled).await?;
                0
            }
            Ask::Drain => {
                station.command(Command::Drain).await?.ok();
                break;
            }
        };
        let told = station
            .look(move |engine, now| Told {
                signed,
                deck: engine.deck().count(),
                unsent: engine.outbox().filter(|pending| pending.entry.stage == Stage::Ready).count(),
                online: engine.link(now).online,
            })
            .await?;
        println!("{}", serde_json::to_string(&told)?);
    }
    task.await.context("drain")?;
    Ok(())
}

/// Signs what the suggestion says: what should be looked at by somebody senior, and one in ten of what should be reviewed, goes
/// back; the rest is approved.
async fn sign(station: &StationHandle<PgBacklog>, most: usize, random: &mut ChaCha8Rng) -> anyhow::Result<usize> {
    let deck: Vec<DeckItem> = station
        .look(|engine, _| engine.deck().filter(|(_, signing)| !signing).map(|(slot, _)| slot.item.clone()).collect())
        .await?;
    let refused = |engine: &countersign_engine::Engine, _| {
        let refused = engine.outbox().filter(|pending| pending.entry.stage == Stage::Refused);
        let back = refused.filter_map(|pending| engine.deck_item(pending.entry.item.id).map(|item| (pending, item)));
        let same = back.filter(|(pending, item)| item.content == pending.entry.sign_off.content);
        same.map(|(_, item)| item.partition.clone()).collect::<BTreeSet<_>>()
    };
    // It is not this reviewer's to sign: somebody else has it next.
    let refused = station.look(refused).await?;
    let (refused, deck): (Vec<DeckItem>, Vec<DeckItem>) =
        deck.into_iter().partition(|item| refused.contains(&item.partition));
    if !refused.is_empty() {
        let _released = station.command(Command::Release(refused.iter().map(|item| item.id).collect())).await?;
    }
    let mut chosen: Vec<&DeckItem> = Vec::new();
    let mut groups = BTreeSet::new();
    for item in &deck {
        let unit = (item.partition.clone(), item.group.clone());
        if chosen.len() < most || (item.group.is_some() && groups.contains(&unit)) {
            groups.insert(unit);
            chosen.push(item);
        }
    }
    let rejected: BTreeSet<ExceptionId> = chosen
        .iter()
        .filter(|item| item.group.is_none())
        .filter(|item| match item.suggestion.route {
            Route::Escalate => true,
            Route::RouteReview => random.random_range(0..10) == 0,
            Route::AutoApprove | Route::AutoResolve => false,
        })
        .map(|item| item.id)
        .collect();
    let mut signed = 0;
    for decision in [Decision::Approve, Decision::Reject] {
        let batch: Vec<&&DeckItem> =
            chosen.iter().filter(|item| rejected.contains(&item.id) == (decision == Decision::Reject)).collect();
        if batch.is_empty() {
            continue;
        }
        let policy_version =
            station.look(|engine, _| engine.standing().map_or(0, |standing| standing.policy_version)).await?;
        let command = Command::Sign {
            batch: BatchId(Uuid::from_u128(random.random())),
            ids: batch.iter().map(|item| item.id).collect(),
            decision,
            reason: (decision == Decision::Reject).then(|| "OTHER".to_owned()),
            comment: (decision == Decision::Reject).then(|| format!("decided {}", Utc::now().date_naive())),
            hash_total: hash::hash_total(batch.iter().map(|item| (item.key.as_str(), item.content))),
            policy_version,
            figures: if decision == Decision::Approve { entered(&batch) } else { BTreeMap::new() },
        };
        match station.command(command).await? {
            Ok(Reply::Signed { count }) => signed += count,
            Ok(_) => {}
            // The deck changed under the selection; the next request selects anew.
            Err(failure)
                if failure.code == "NOT_IN_DECK"
                    || failure.code == "SELECTION_CHANGED"
                    || failure.code == "SPLIT_GROUP"
                    || failure.code == "POLICY_CHANGED" => {}
            Err(failure) => anyhow::bail!("{}: {}", failure.code, failure.message),
        }
    }
    Ok(signed)
}

/// Where no amount could be read of a receipt, what it differs by was claimed: that is entered, the same by both of two people.
fn entered(batch: &[&&DeckItem]) -> BTreeMap<ExceptionId, Money> {
    let unread = batch.iter().filter(|item| item.outlook.asks_for_amount && !item.variance.amount.is_zero());
    unread.map(|item| (item.id, Money { amount: item.variance.amount.abs(), ..item.variance })).collect()
}
