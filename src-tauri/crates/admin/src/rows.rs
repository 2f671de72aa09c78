//! Reading lists, and calling what supervisors may call.

use serde::de::DeserializeOwned;
use sqlx::PgConnection;

use crate::{AdminError, Database};

/// Reads rows that the database puts into words as JSON: one object a row, of columns of any number and type. Every argument goes
/// as text; the statement says what it is.
pub(crate) async fn rows<T: DeserializeOwned>(
    database: &Database,
    connection: &mut PgConnection,
    operation: &'static str,
    sql: &'static str,
    arguments: &[&str],
) -> Result<Vec<T>, AdminError> {
    let mut query = sqlx::query_scalar::<_, String>(sql);
    for argument in arguments {
        query = query.bind(*argument);
    }
    let texts = query.fetch_all(connection).await.map_err(database.refused(operation))?;
    let rows: Result<Vec<T>, serde_json::Error> = texts.iter().map(|text| serde_json::from_str(text)).collect();
    rows.map_err(|error| AdminError::Refused {
        operation,
        place: database.place().to_owned(),
        cause: format!("the answer came in a form this release does not know: {error}"),
    })
}

/// An instant as the tables show it.
pub(crate) fn instant(at: chrono::DateTime<chrono::Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// A table's head.
pub(crate) fn head<const COLUMNS: usize>(names: [&str; COLUMNS]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}
