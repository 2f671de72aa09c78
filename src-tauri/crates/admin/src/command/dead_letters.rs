//! The desk of dead letters, as arguments and calls.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::Utc;
use clap::{Args, Subcommand};
use countersign_admin::dead_letters::{self, Correction, Discarding, Filter, Progress, Sent, Supervisor, Which};
use countersign_admin::text::{shown, table};
use countersign_admin::{AdminError, Database, Needs};
use countersign_domain::dead_letter::Cause;
use countersign_domain::letter::Edit;
use countersign_engine::port::{LetterAnswer, LetterId};

use super::Output;
use super::values::reason;

/// Works at the desk as a supervisor. Ids are those of `list`. Ends with 1 if a letter stays that was meant not to, with 2 if the database
/// cannot be reached.
#[derive(Debug, Subcommand)]
pub(super) enum DeadLettersCommand {
    /// List what is not done yet by cause: how old, whose, and what the close lacks
    List {
        /// Only this cause, such as VENDOR; may be repeated
        #[arg(long, value_parser = clap::value_parser!(Cause))]
        cause: Vec<Cause>,
        /// Only this status: open, taken, discarding, replayed or discarded; may be repeated
        #[arg(long, value_parser = ["open", "taken", "discarding", "replayed", "discarded"])]
        status: Vec<String>,
        /// Only this ledger entity; may be repeated
        #[arg(long)]
        entity: Vec<String>,
        /// What is done too
        #[arg(long, conflicts_with = "status")]
        done: bool,
        /// How many, the latest first
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
        #[command(flatten)]
        output: Output,
    },
    /// Show one with the field at fault marked, its corrections as differences, and its history
    Show {
        /// The dead letter
        id: i64,
        #[command(flatten)]
        output: Output,
    },
    /// Take them to work on: nobody else corrects or sends them meanwhile
    Take {
        #[command(flatten)]
        ids: Ids,
    },
    /// Put them back for others, also somebody else's, or one that somebody wants to discard
    PutBack {
        #[command(flatten)]
        ids: Ids,
    },
    /// Correct one, in the editor that EDITOR names if nothing else is said; whoever corrects counts as a preparer and cannot sign it
    Fix {
        /// The dead letter
        id: i64,
        /// The whole new text
        #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "set_json", "unset"])]
        file: Option<PathBuf>,
        /// A new text for a field, such as `currency=EUR` or `payload.claim_period=2026-10`; may be repeated
        #[arg(long, value_name = "PATH=TEXT", value_parser = assignment)]
        set: Vec<(String, String)>,
        /// Anything else for a field, as JSON, such as `payload.agreement_version=3`; may be repeated
        #[arg(long, value_name = "PATH=JSON", value_parser = assignment)]
        set_json: Vec<(String, String)>,
        /// Take a field out; may be repeated
        #[arg(long, value_name = "PATH")]
        unset: Vec<String>,
    },
    /// Say what would become of them if they were sent in now; nothing changes
    Rehearse {
        #[command(flatten)]
        which: Selected,
        #[command(flatten)]
        output: Output,
    },
    /// Send them in again, as they were last corrected; interrupted, it goes on where it was when it is run again
    Replay {
        #[command(flatten)]
        which: Selected,
        #[command(flatten)]
        output: Output,
    },
    /// Ask for them to be discarded; another supervisor has to agree with `confirm-discard`
    Discard {
        #[command(flatten)]
        ids: Ids,
        /// Why, for the record
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Agree that they are discarded, after reading who asked for it and why
    ConfirmDiscard {
        /// The dead letters; all that somebody wants to discard, if none is named
        ids: Vec<i64>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Ids {
    /// The dead letters
    #[arg(required = true, value_name = "ID")]
    ids: Vec<i64>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Selected {
    /// The dead letters
    #[arg(value_name = "ID")]
    ids: Vec<i64>,
    /// Every open or taken one of this cause
    #[arg(long, value_parser = clap::value_parser!(Cause))]
    cause: Option<Cause>,
}

impl DeadLettersCommand {
    /// Whose command it is.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Self::List { .. } => Needs::Reader,
            _ => Needs::Supervisor,
        }
    }

    pub(super) async fn run(self, database: &Database) -> Result<String, AdminError> {
        let desk = Supervisor::at(database);
        match self {
            Self::List { cause, status, entity, done, limit, output } => {
                let statuses = status.iter().map(|status| status.to_uppercase()).collect();
                let filter = Filter { causes: cause, statuses, done, entities: entity, limit };
                let letters = dead_letters::list(database, &filter).await?;
                output.of(&letters, || dead_letters::describe(&letters, Utc::now()))
            }
            Self::Show { id, output } => {
                let one = dead_letters::show(&desk, LetterId(id)).await?;
                output.of(&one, || dead_letters::describe_one(&one, Utc::now()))
            }
            Self::Take { ids } => told(&desk.take(&ids.read(), false).await?),
            Self::PutBack { ids } => told(&desk.take(&ids.read(), true).await?),
            Self::Discard { ids, reason } => told(&desk.discard(&ids.read(), &reason).await?),
            Self::ConfirmDiscard { ids, yes } => confirm(&desk, &dead_letters::ids(&ids), yes).await,
            Self::Fix { id, file, set, set_json, unset } => {
                let how = correction(file, set, set_json, unset);
                let corrected = dead_letters::correct(&desk, LetterId(id), &how).await?;
                let text = dead_letters::describe_corrected(&corrected);
                ended(text, dead_letters::went_well(&corrected.answer))
            }
            Self::Rehearse { which, output } => {
                let sent = interruptible(dead_letters::rehearse(&desk, &which.read(), progress())).await?;
                sent_words(&sent, true, output)
            }
            Self::Replay { which, output } => {
                let sent = interruptible(dead_letters::replay(&desk, &which.read(), progress())).await?;
                sent_words(&sent, false, output)
            }
        }
    }
}

impl Ids {
    fn read(&self) -> Vec<LetterId> {
        let mut ids = dead_letters::ids(&self.ids);
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl Selected {
    fn read(&self) -> Which {
        self.cause.map_or_else(|| Which::These(dead_letters::ids(&self.ids)), Which::Of)
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.is_empty() => Ok((path.to_owned(), value.to_owned())),
        _ => Err("expected a field and its value, such as currency=EUR".to_owned()),
    }
}

fn correction(
    file: Option<PathBuf>,
    set: Vec<(String, String)>,
    set_json: Vec<(String, String)>,
    unset: Vec<String>,
) -> Correction {
    if let Some(file) = file {
        return Correction::File(file);
    }
    let edit = |text| move |(path, value)| Edit { path, value: Some(value), text };
    let texts = set.into_iter().map(edit(true));
    let others = set_json.into_iter().map(edit(false));
    let gone = unset.into_iter().map(|path| Edit { path, value: None, text: false });
    let edits: Vec<Edit> = texts.chain(others).chain(gone).collect();
    if edits.is_empty() { Correction::Editor } else { Correction::Fields(edits) }
}

/// The answers as a table; it fails if one of them is not what was asked for.
fn told(answers: &[LetterAnswer]) -> Result<String, AdminError> {
    ended(dead_letters::describe_answers(answers), answers.iter().all(dead_letters::went_well))
}

/// What is told stands, whether anybody reads it or not, and so does the exit code.
fn ended(text: String, well: bool) -> Result<String, AdminError> {
    if well {
        return Ok(text);
    }
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Err(AdminError::Request("not everything that was asked for was done".to_owned()))
}

fn sent_words(sent: &Sent, rehearsal: bool, output: Output) -> Result<String, AdminError> {
    let rows: Vec<_> = sent.answers.iter().map(dead_letters::Answer::from).collect();
    let words = || format!("{}{}", dead_letters::describe_answers(&sent.answers), sent.summary(rehearsal));
    ended(output.of(&rows, words)?, sent.passed() == sent.answers.len())
}

/// Ends at Ctrl+C. A call that is under way then takes place or not; what is done stays done either way.
async fn interruptible<T>(work: impl Future<Output = Result<T, AdminError>>) -> Result<T, AdminError> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(AdminError::Request(
            "interrupted; run it again to go on: what went in is not sent in twice".to_owned(),
        )),
    }
}

/// Says how far it is: once a second to somebody who watches, and always that it waits.
fn progress() -> impl FnMut(Progress) {
    let watched = io::stderr().is_terminal();
    let (mut last, mut waited) = (Instant::now(), false);
    move |Progress { answered, passed, waiting }| {
        if waiting && !waited {
            eprintln!("{answered} letters, {passed} go in; waiting, because so many are not sent in within a minute");
        } else if watched && last.elapsed() >= Duration::from_secs(1) {
            eprintln!("{answered} letters, {passed} go in");
            last = Instant::now();
        }
        waited = waiting;
    }
}

async fn confirm(desk: &Supervisor<'_>, ids: &[LetterId], yes: bool) -> Result<String, AdminError> {
    let asked = desk.discarding(ids).await?;
    if let Some(missing) = ids.iter().find(|id| asked.iter().all(|letter| letter.id != **id)) {
        return Err(AdminError::Request(format!("nobody wants to discard the dead letter {}", missing.0)));
    }
    if asked.is_empty() {
        return Ok("Nobody wants to discard a dead letter.\n".to_owned());
    }
    if !yes && !agreed(&asked)? {
        return Err(AdminError::Request("nothing was discarded".to_owned()));
    }
    told(&desk.confirm(&asked).await?)
}

/// Asks where somebody can answer; where nobody can, the answer has to come with the command.
fn agreed(asked: &[Discarding]) -> Result<bool, AdminError> {
    let head = ["id", "asked by", "reason"].map(str::to_owned).to_vec();
    let rows = asked.iter().map(|letter| vec![letter.id.0.to_string(), shown(&letter.by), shown(&letter.reason)]);
    let text = table(&std::iter::once(head).chain(rows).collect::<Vec<_>>());
    if !io::stdin().is_terminal() {
        return Err(AdminError::Request(format!(
            "nothing was discarded: nobody can be asked here, so that --yes is needed to agree to this: {}",
            text.trim_end().replace('\n', "; ")
        )));
    }
    let mut answer = String::new();
    eprint!("{text}Discard them? [y/N] ");
    io::stderr()
        .flush()
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|source| AdminError::Unreadable { origin: "the terminal".to_owned(), source })?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
