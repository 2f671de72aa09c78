//! Who may sign.

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection, Row as _};

use crate::text::{shown, table};
use crate::{AdminError, Database};

/// PostgreSQL cuts longer names without a word.
const LOGIN_BYTES: usize = 63;

/// What adding did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The login is a reviewer now.
    New,
    /// It was disabled, and is a reviewer again.
    Again,
    /// It was one before.
    Already,
}

/// A reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reviewer {
    /// The database login.
    pub login: String,
    /// The name shown to colleagues.
    pub display_name: String,
    /// Whether they may sign.
    pub active: bool,
    /// Whether the login exists and has the rights of a reviewer.
    pub can_connect: bool,
    /// When they were added.
    pub added_at: DateTime<Utc>,
    /// By whom.
    pub added_by: String,
    /// When one of their workstations was seen last.
    pub last_seen: Option<DateTime<Utc>>,
}

impl FromRow<'_, PgRow> for Reviewer {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            login: row.try_get("login")?,
            display_name: row.try_get("display_name")?,
            active: row.try_get("active")?,
            can_connect: row.try_get("can_connect")?,
            added_at: row.try_get("added_at")?,
            added_by: row.try_get("added_by")?,
            last_seen: row.try_get("last_seen")?,
        })
    }
}

/// Makes a login a reviewer, in one transaction with its audit record. With a password, the login is created as well.
pub async fn add(
    database: &Database,
    login: &str,
    display_name: Option<&str>,
    new_password: Option<&SecretString>,
) -> Result<Added, AdminError> {
    check_name("login", login)?;
    let display_name = display_name.map(str::trim);
    if let Some(name) = display_name {
        check_name("name", name)?;
    }
    let mut connection = database.connect().await?;
    let refused = database.refused("add the reviewer");
    let mut transaction = connection.begin().await.map_err(&refused)?;
    let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
        .bind(login)
        .fetch_one(&mut *transaction)
        .await
        .map_err(&refused)?;
    match (exists, new_password) {
        (false, None) => {
            return Err(AdminError::Request(format!(
                "the server has no login {0}: let one be made (`countersign-admin reviewer add {0} --create-login`), or make it \
                 yourself (`createuser --login --pwprompt {0}`) and run this again",
                shown(login)
            )));
        }
        (true, Some(_)) => {
            return Err(AdminError::Request(format!(
                "the login {} exists already: leave out --create-login; its password stays as it is",
                shown(login)
            )));
        }
        (false, Some(password)) => create_login(&mut transaction, login, password).await.map_err(&refused)?,
        (true, None) => {}
    }
    run_formatted(&mut transaction, "GRANT countersign_reviewer TO %I", &[login]).await.map_err(&refused)?;
    let before: Option<(bool, String)> =
        sqlx::query_as("SELECT active, display_name FROM countersign.reviewer WHERE login = $1 FOR UPDATE")
            .bind(login)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(&refused)?;
    let name = display_name.or(before.as_ref().map(|(_, name)| name.as_str())).unwrap_or(login);
    if before.as_ref() != Some(&(true, name.to_owned())) {
        sqlx::query(
            "INSERT INTO countersign.reviewer (login, display_name, added_by) VALUES ($1, $2, session_user) \
             ON CONFLICT (login) DO UPDATE SET active = true, display_name = excluded.display_name",
        )
        .bind(login)
        .bind(name)
        .execute(&mut *transaction)
        .await
        .map_err(&refused)?;
        audit(&mut transaction, "REVIEWER_ADDED", &json!({"login": login, "display_name": name}))
            .await
            .map_err(&refused)?;
    }
    transaction.commit().await.map_err(&refused)?;
    Ok(match before {
        None => Added::New,
        Some((false, _)) => Added::Again,
        Some((true, _)) => Added::Already,
    })
}

/// Takes the rights of a reviewer away, in one transaction with its audit record. What they signed stands. Whether they had any.
pub async fn disable(database: &Database, login: &str) -> Result<bool, AdminError> {
    let mut connection = database.connect().await?;
    let refused = database.refused("disable the reviewer");
    let mut transaction = connection.begin().await.map_err(&refused)?;
    let active: Option<bool> =
        sqlx::query_scalar("SELECT active FROM countersign.reviewer WHERE login = $1 FOR UPDATE")
            .bind(login)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(&refused)?;
    let Some(active) = active else {
        let login = shown(login);
        return Err(AdminError::Request(format!(
            "{login} is no reviewer; `countersign-admin reviewer list` shows who is"
        )));
    };
    // The role stays: it belongs to the whole cluster, and without the row here it opens nothing.
    if active {
        sqlx::query("UPDATE countersign.reviewer SET active = false WHERE login = $1")
            .bind(login)
            .execute(&mut *transaction)
            .await
            .map_err(&refused)?;
        // Colleagues can go on with what they held.
        sqlx::query(
            "WITH held AS MATERIALIZED (SELECT partition_key FROM countersign.partition \
                                        WHERE holder_reviewer = $1 AND lease_until IS NOT NULL ORDER BY partition_key FOR NO KEY UPDATE) \
             SELECT countersign.free_partitions(array_agg(partition_key), 'RELEASED') FROM held HAVING count(*) > 0",
        )
        .bind(login)
        .execute(&mut *transaction)
        .await
        .map_err(&refused)?;
        audit(&mut transaction, "REVIEWER_DISABLED", &json!({"login": login})).await.map_err(&refused)?;
    }
    transaction.commit().await.map_err(&refused)?;
    Ok(active)
}

/// Every reviewer, also those who are disabled.
pub async fn list(database: &Database) -> Result<Vec<Reviewer>, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_as(
        "SELECT r.login, r.display_name, r.active, r.added_at, r.added_by, \
                EXISTS (SELECT FROM pg_roles p WHERE p.rolname = r.login AND p.rolcanlogin \
                        AND pg_has_role(p.oid, 'countersign_reviewer', 'USAGE')) AS can_connect, \
                (SELECT max(w.last_seen) FROM countersign.workstation w WHERE w.reviewer = r.login) AS last_seen \
         FROM countersign.reviewer r ORDER BY r.login",
    )
    .fetch_all(&mut connection)
    .await
    .map_err(database.refused("list reviewers"))
}

/// The list as a table.
pub fn describe(reviewers: &[Reviewer]) -> String {
    if reviewers.is_empty() {
        return "No reviewers. Add one: `countersign-admin reviewer add LOGIN`.\n".to_owned();
    }
    let head = ["login", "name", "state", "added", "by", "last seen"].map(str::to_owned).to_vec();
    let rows = reviewers.iter().map(|reviewer| {
        let state = match (reviewer.active, reviewer.can_connect) {
            (true, true) => "active",
            (true, false) => "active, but the login is missing or lacks its rights",
            (false, _) => "disabled",
        };
        vec![
            shown(&reviewer.login),
            shown(&reviewer.display_name),
            state.to_owned(),
            reviewer.added_at.format("%Y-%m-%d").to_string(),
            shown(&reviewer.added_by),
            reviewer.last_seen.map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d %H:%M:%SZ").to_string()),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// The server gets a verifier and never the password, which would stand in its log.
async fn create_login(connection: &mut PgConnection, login: &str, password: &SecretString) -> Result<(), sqlx::Error> {
    let verifier = postgres_protocol::password::scram_sha_256(password.expose_secret().as_bytes());
    run_formatted(connection, "CREATE ROLE %I LOGIN PASSWORD %L", &[login, &verifier]).await
}

/// Runs a statement that takes no parameters; the server itself quotes what goes in.
async fn run_formatted(connection: &mut PgConnection, format: &str, arguments: &[&str]) -> Result<(), sqlx::Error> {
    let statement: String = sqlx::query_scalar("SELECT format($1, VARIADIC $2::text[])")
        .bind(format)
        .bind(arguments)
        .fetch_one(&mut *connection)
        .await?;
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}

async fn audit(connection: &mut PgConnection, event: &str, detail: &serde_json::Value) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT countersign.audit_installation($1, NULL, NULL, NULL, $2::jsonb)")
        .bind(event)
        .bind(detail.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

fn check_name(what: &str, name: &str) -> Result<(), AdminError> {
    let wrong = if name.trim().is_empty() {
        "is empty".to_owned()
    } else if name.chars().any(char::is_control) {
        "contains control characters".to_owned()
    } else if what == "login" && name.len() > LOGIN_BYTES {
        format!("is longer than {LOGIN_BYTES} bytes")
    } else {
        return Ok(());
    };
    Err(AdminError::Request(format!("the {what} `{}` {wrong}", shown(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_a_name_that_the_server_keeps_whole() {
        for (login, good) in [("alice", true), ("O'Neil \"x\"", true), ("", false), ("  ", false), ("a\nb", false)] {
            assert_eq!(check_name("login", login).is_ok(), good, "{login:?}");
        }
        assert!(check_name("login", &"é".repeat(31)).is_ok());
        assert!(check_name("login", &"é".repeat(32)).is_err());
        assert!(check_name("name", &"é".repeat(100)).is_ok());
    }
}
