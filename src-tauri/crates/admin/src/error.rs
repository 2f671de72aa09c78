//! What can go wrong for an operator.

use std::io;

use countersign_backlog::migrate::MigrateError;
use thiserror::Error;

/// A command that did not do its work.
#[derive(Debug, Error)]
pub enum AdminError {
    /// The database's URL cannot be used.
    #[error("the database's URL cannot be used: {0}")]
    Url(String),
    /// The database did not answer, or let nobody in.
    #[error("cannot reach {place}: {cause}")]
    Unreachable {
        /// Which database.
        place: String,
        /// Why.
        cause: String,
    },
    /// The input cannot be read.
    #[error("cannot read {origin}: {source}")]
    Unreadable {
        /// The input.
        origin: String,
        /// Why.
        source: io::Error,
    },
    /// The database answered, and refused.
    #[error("{operation}: {place} refused: {cause}")]
    Refused {
        /// What was being done.
        operation: &'static str,
        /// Which database.
        place: String,
        /// Why.
        cause: String,
    },
    /// Some of the input went in before something failed.
    #[error(
        "{source}. {origin} went in up to line {line}; run it again when that is mended, nothing is enqueued twice"
    )]
    Interrupted {
        /// The input.
        origin: String,
        /// Every line up to this one was taken in.
        line: u64,
        /// Why it ended there.
        source: Box<AdminError>,
    },
    /// The schema could not be brought up to date.
    #[error("cannot migrate {place}: {}", with_source(source))]
    Migrate {
        /// Which database.
        place: String,
        /// Why.
        source: MigrateError,
    },
    /// What was asked for does not make sense.
    #[error("{0}")]
    Request(String),
}

impl AdminError {
    /// 2 if the input cannot be read or the database cannot be reached: the call can be repeated as it is. 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Url(_) | Self::Unreachable { .. } | Self::Unreadable { .. } => 2,
            Self::Interrupted { source, .. } => source.exit_code(),
            Self::Refused { .. } | Self::Migrate { .. } | Self::Request(_) => 1,
        }
    }
}

fn with_source(error: &MigrateError) -> String {
    match error {
        MigrateError::Failed { source, .. } | MigrateError::Database { source, .. } => {
            format!("{error}: {}", countersign_backlog::failure::cause(source))
        }
        other => other.to_string(),
    }
}
