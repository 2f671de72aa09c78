//! Bringing the schema up to date.

use std::fmt::Write as _;

use countersign_backlog::failure::{self, Step};
use countersign_backlog::migrate::{MigrateError, Report};
use countersign_engine::port::Failure;
use sqlx::Connection as _;

use crate::database::lacks_right;
use crate::{AdminError, Database};

/// Applies every migration that is missing, or none.
pub async fn migrate(database: &Database) -> Result<Report, AdminError> {
    let mut connection = database.connect().await?;
    let outcome = countersign_backlog::migrate::migrate(&mut connection).await;
    // The answer is there; how the goodbye goes changes nothing.
    let _ = connection.close().await;
    outcome.map_err(|source| match source {
        MigrateError::Database { operation, source } | MigrateError::Failed { name: operation, source }
            if failure::failure_of(Step::Version, &source) == Failure::Offline || lacks_right(&source) =>
        {
            database.error(operation, Step::Version, &source)
        }
        source => AdminError::Migrate { place: database.place().to_owned(), source },
    })
}

/// What a run did, in words.
pub fn describe(report: &Report) -> String {
    if report.applied.is_empty() {
        return format!("Already at version {}.\n", report.version);
    }
    let mut text = String::new();
    for migration in &report.applied {
        let _ = writeln!(text, "Applied {}.", migration.name);
    }
    text + &format!("Now at version {}.\n", report.version)
}
