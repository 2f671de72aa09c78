//! The command line, and what each command calls.

mod dead_letters;
mod dispatch;
mod intake;
mod operators;
mod values;

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_admin::attach::{self, Attachment};
use countersign_admin::audit::{AuditCommand, ReceiptCommand};
use countersign_admin::status::Status;
use countersign_admin::text::{shown, shown_json};
use countersign_admin::{AdminError, Database, Needs, migrate, status};
use secrecy::SecretString;
use serde::Serialize;
use tokio::fs::File;
use tokio::io::{AsyncBufRead, BufReader};

/// Holds the password of a login that is created, where nobody can be asked.
const NEW_PASSWORD: &str = "COUNTERSIGN_NEW_PASSWORD";
const READ_BYTES: usize = 256 * 1024;

/// Operates a Countersign database: its schema, its reviewers, and what comes in.
#[derive(Debug, Parser)]
#[command(name = "countersign-admin", version)]
pub(crate) struct Arguments {
    /// The database, such as `postgres://owner@db.example.com/close` or `postgres:///close?host=/run/postgresql&user=owner`.
    /// Others on this machine see arguments: keep a password in the variable, or in a password file (PGPASSFILE)
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true, value_name = "URL")]
    database_url: Option<SecretString>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring the database to this release's schema
    Migrate,
    #[command(flatten)]
    Intake(intake::Intake),
    /// Take in pictures of receipts, JPEG or PNG of at most 4 MB, under the names of their files
    #[command(group = clap::ArgGroup::new("pictures").required(true).multiple(true).args(["files", "manifest"]))]
    Attach {
        /// The pictures
        files: Vec<PathBuf>,
        /// The page that the boxes of the OCR count in, such as 1276x1754; that of each picture, if it is left out
        #[arg(long, value_name = "WxH", value_parser = attach::read_page, requires = "files")]
        page_size: Option<(u32, u32)>,
        /// Pictures beside this list, tab-separated: name, width and height of the page
        #[arg(long, value_name = "FILE")]
        manifest: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Show how the close stands
    Status {
        /// Make the sums of the overview anew first; signing waits meanwhile
        #[arg(long)]
        recount: bool,
        #[command(flatten)]
        output: Output,
    },
    #[command(flatten)]
    Supervise(operators::Supervise),
    /// See what did not get in, correct it, and send it in again or discard it
    #[command(subcommand)]
    DeadLetters(dead_letters::DeadLettersCommand),
    /// Prove what happened
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Look at the receipts of sign-off calls
    #[command(subcommand)]
    Receipt(ReceiptCommand),
}

impl Command {
    /// Whose command it is.
    fn needs(&self) -> Needs {
        match self {
            Self::Migrate | Self::Audit(AuditCommand::ExportKeys { .. } | AuditCommand::RotateKey) => Needs::Owner,
            // They say it themselves.
            Self::Audit(_) | Self::Receipt(_) => Needs::Unsaid,
            Self::Intake(command) => command.needs(),
            Self::Attach { .. } => Needs::Producer,
            Self::Status { recount: true, .. } => Needs::Supervisor,
            Self::Status { .. } => Needs::Reader,
            Self::DeadLetters(command) => command.needs(),
            Self::Supervise(command) => command.needs(),
        }
    }
}

#[derive(Debug, Clone, Copy, Args)]
struct Output {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Output {
    fn of<T: Serialize + ?Sized>(self, value: &T, words: impl FnOnce() -> String) -> Result<String, AdminError> {
        if !self.json {
            return Ok(words());
        }
        let json = serde_json::to_string_pretty(value)
            .map_err(|error| AdminError::Request(format!("cannot print JSON: {error}")))?;
        Ok(shown_json(&json))
    }
}

/// Does what was asked for, and returns what is to be printed.
pub(crate) async fn run(arguments: Arguments) -> Result<String, AdminError> {
    use secrecy::ExposeSecret as _;
    let Some(url) = arguments.database_url else {
        return Err(AdminError::Url("none is given: use --database-url or the variable DATABASE_URL".to_owned()));
    };
    let database = Database::from_url(url.expose_secret())?.needing(arguments.command.needs());
    match arguments.command {
        Command::Audit(command) => command.run(&database).await,
        Command::Receipt(command) => command.run(&database).await,
        Command::Migrate => Ok(migrate::describe(&migrate::migrate(&database).await?)),
        Command::Intake(command) => intake::run(&database, command).await,
        Command::Attach { files, page_size, manifest, output } => {
            let mut pictures = match manifest {
                Some(path) => attach::manifest(&path).await?,
                None => Vec::new(),
            };
            pictures.extend(files.into_iter().map(|file| Attachment { file, page: page_size }));
            let report = attach::attach(&database, &pictures).await?;
            output.of(&report, || attach::describe(&report))
        }
        Command::Status { recount, output } => {
            let recounted = if recount { Some(status::recount(&database).await?) } else { None };
            let status = Status { recounted, ..status::status(&database).await? };
            output.of(&status, || status::describe(&status))
        }
        Command::Supervise(command) => dispatch::run(&database, command).await,
        Command::DeadLetters(command) => command.run(&database).await,
    }
}

async fn open(file: &OsStr, origin: &str) -> Result<Box<dyn AsyncBufRead + Unpin>, AdminError> {
    if file == "-" {
        return Ok(Box::new(BufReader::with_capacity(READ_BYTES, tokio::io::stdin())));
    }
    let unreadable = |source| AdminError::Unreadable { origin: shown(origin), source };
    let opened = File::open(file).await.map_err(unreadable)?;
    if opened.metadata().await.map_err(unreadable)?.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    Ok(Box::new(BufReader::with_capacity(READ_BYTES, opened)))
}

fn new_password(login: &str) -> Result<SecretString, AdminError> {
    let password = match env::var(NEW_PASSWORD) {
        Ok(password) => password,
        Err(env::VarError::NotPresent) => asked_password(login)?,
        Err(env::VarError::NotUnicode(_)) => return Err(AdminError::Request(format!("{NEW_PASSWORD} is not UTF-8"))),
    };
    if password.is_empty() {
        Err(AdminError::Request("the new password is empty".to_owned()))
    } else {
        Ok(password.into())
    }
}

fn asked_password(login: &str) -> Result<String, AdminError> {
    let ask = |prompt: String| {
        rpassword::prompt_password(prompt).map_err(|error| {
            AdminError::Request(format!(
                "cannot ask for the new password ({error}): set the variable {NEW_PASSWORD} instead"
            ))
        })
    };
    let password = ask(format!("Password of {}: ", shown(login)))?;
    if ask("Once more: ".to_owned())? == password {
        Ok(password)
    } else {
        Err(AdminError::Request("the two passwords differ: nothing was changed".to_owned()))
    }
}
