//! The command line of auditors.

use std::io::{self, Write as _};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use countersign_domain::id::Digest;
use countersign_domain::seal::PublicKey;
use serde::Serialize;

use super::{Export, Format, Stream, Verify};
use crate::text::{shown, shown_json};
use crate::{AdminError, Database, receipt};

/// What an auditor does.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Prove the whole stream: no gap, no edit, no cut end, every decision signed, every effect once
    Verify(VerifyArguments),
    /// Write the heads of all chains down outside the database
    Anchor {
        /// The file that a line is appended to
        file: PathBuf,
        /// The signing key, which is made if it is missing
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the sign-offs, or all records, for others to read
    Export {
        /// The form
        #[arg(long, value_enum)]
        format: Format,
        /// What
        #[arg(long, value_enum, default_value = "sign-offs")]
        stream: Stream,
        /// Only the sign-offs of this close period
        #[arg(long, value_name = "NAME")]
        period: Option<String>,
        /// A new file; the standard output, if it is left out
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write the keys of the seal into a new file, for `verify --keys`; as the owner
    ExportKeys {
        /// The file
        file: PathBuf,
    },
    /// Retire the key of the seal, and go on with a new one; as the owner
    RotateKey,
}

/// What is verified, and with what.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Only what is recorded at or after this instant, such as `2026-10-01T00:00:00Z`
    #[arg(long, value_name = "INSTANT")]
    from: Option<DateTime<Utc>>,
    /// The file of anchors
    #[arg(long, value_name = "FILE")]
    anchors: Option<PathBuf>,
    /// The public key that all anchors have to be signed with
    #[arg(long, value_name = "HEX", requires = "anchors")]
    anchor_key: Option<Digest>,
    /// The exported keys of the seal; without them the database is asked
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// List up to 100 findings, not only the first
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is done with receipts.
#[derive(Debug, Subcommand)]
pub enum ReceiptCommand {
    /// Show a receipt
    Show {
        /// Its number
        number: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count its decisions anew, from the audit records that it names
    Verify {
        /// Its number
        number: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl AuditCommand {
    /// Does it, and returns what is to be printed. What does not hold is printed, and is an error.
    pub async fn run(self, database: &Database) -> Result<String, AdminError> {
        match self {
            Self::Verify(VerifyArguments { from, anchors, anchor_key, keys, all, json }) => {
                let anchor_key = anchor_key.map(|key| PublicKey(key.0));
                let report = super::verify(database, &Verify { from, anchors, anchor_key, keys }).await?;
                let text = printed(json, &report, || report.describe(all))?;
                if report.holds() {
                    return Ok(text);
                }
                let what =
                    if report.findings == 1 { "1 finding".to_owned() } else { format!("{} findings", report.findings) };
                failed(&text, format!("the audit stream does not hold: {what}"))
            }
            Self::Anchor { file, key, json } => {
                let anchored = super::anchor(database, &file, &key).await?;
                printed(json, &anchored, || {
                    format!(
                        "Anchor {}: {} heads, {} records. Public key {}\nLast line {}\n",
                        anchored.anchor, anchored.heads, anchored.records, anchored.public_key, anchored.last_line
                    )
                })
            }
            Self::Export { format, stream, period, out } => {
                if period.is_some() && stream == Stream::Events {
                    return Err(AdminError::Request("records belong to no period: leave out --period".to_owned()));
                }
                let rows = super::export(database, &Export { format, stream, period }, out.as_deref()).await?;
                Ok(out.map_or_else(String::new, |out| format!("{rows} rows in {}.\n", shown(&out.to_string_lossy()))))
            }
            Self::ExportKeys { file } => {
                let keys = super::export_keys(database, &file).await?;
                Ok(format!(
                    "{keys} keys in {}. Whoever has it can seal: keep it where verifying is done.\n",
                    shown(&file.to_string_lossy())
                ))
            }
            Self::RotateKey => {
                let key = super::rotate_key(database).await?;
                Ok(format!("The seal is made with key {key} now.\n"))
            }
        }
    }
}

impl ReceiptCommand {
    /// Does it, and returns what is to be printed. A receipt that does not hold is an error.
    pub async fn run(self, database: &Database) -> Result<String, AdminError> {
        match self {
            Self::Show { number, json } => {
                let found = receipt::show(database, number).await?;
                printed(json, &found, || found.describe())
            }
            Self::Verify { number, json } => {
                let proof = receipt::verify(database, number).await?;
                let words = || {
                    if proof.wrong.is_empty() {
                        format!("Receipt {number} holds: it agrees with {} audit records.\n", proof.records)
                    } else {
                        format!("Receipt {number} DOES NOT HOLD: {}.\n", shown(&proof.wrong.join("; ")))
                    }
                };
                let text = printed(json, &proof, words)?;
                if proof.wrong.is_empty() {
                    Ok(text)
                } else {
                    failed(&text, format!("the receipt {number} does not hold"))
                }
            }
        }
    }
}

/// Prints what was found, beside the error that says that something was.
fn failed(text: &str, error: String) -> Result<String, AdminError> {
    // The error and the exit code stand, whether anybody reads this or not.
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Err(AdminError::Request(error))
}

fn printed<T: Serialize>(json: bool, value: &T, words: impl FnOnce() -> String) -> Result<String, AdminError> {
    if !json {
        return Ok(words());
    }
    let json = serde_json::to_string_pretty(value)
        .map_err(|error| AdminError::Request(format!("cannot print JSON: {error}")))?;
    Ok(shown_json(&json))
}
