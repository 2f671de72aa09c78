//! Logins, and the roles that open something to them.

mod membership;

use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::database::lacks_right;
use crate::rows::{head, rows};
use crate::text::{hides, shown, table};
use crate::{AdminError, Database};

pub use membership::{Revoked, grant, revoke};

/// PostgreSQL cuts longer names without a word.
const LOGIN_BYTES: usize = 63;

/// A role that is granted by itself. (What makes a reviewer is more than a role.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Policy, periods, reviewers, workstations, partitions.
    Supervisor,
    /// Reads everything, changes nothing.
    Auditor,
    /// Brings exceptions in.
    Producer,
}

impl Role {
    /// What it is called in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supervisor => "countersign_supervisor",
            Self::Auditor => "countersign_auditor",
            Self::Producer => "countersign_producer",
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "supervisor" => Ok(Self::Supervisor),
            "auditor" => Ok(Self::Auditor),
            "producer" => Ok(Self::Producer),
            "reviewer" => {
                Err("`countersign-admin reviewer add` makes a reviewer, and `reviewer disable` ends that".to_owned())
            }
            other => Err(format!("expected supervisor, auditor or producer, not `{}`", shown(other))),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().trim_start_matches("countersign_"))
    }
}

/// A login to which something of Countersign is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The database login, or a role that others are members of.
    pub login: String,
    /// Whether one can connect with it.
    pub can_login: bool,
    /// Whether it may do anything at all on this server.
    pub superuser: bool,
    /// The roles it has, straight or through another one, without `countersign_` before them.
    pub roles: Vec<String>,
}

/// Everyone who has a role of Countersign, straight or through another role.
pub async fn list(database: &Database) -> Result<Vec<Holder>, AdminError> {
    let mut connection = database.connect().await?;
    rows(database, &mut connection, "list roles", HOLDERS, &[]).await
}

/// Roles belong to the whole cluster, and everybody may read who has which.
const HOLDERS: &str = "
    WITH RECURSIVE held AS (
        SELECT m.member, r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
        WHERE r.rolname IN ('countersign_owner', 'countersign_producer', 'countersign_reviewer', 'countersign_supervisor', 'countersign_auditor')
        UNION
        SELECT m.member, h.rolname FROM held h JOIN pg_auth_members m ON m.roleid = h.member
    )
    SELECT jsonb_build_object('login', l.rolname, 'can_login', l.rolcanlogin, 'superuser', l.rolsuper,
                              'roles', jsonb_agg(replace(h.rolname, 'countersign_', '') ORDER BY h.rolname))::text
    FROM held h JOIN pg_roles l ON l.oid = h.member GROUP BY l.rolname, l.rolcanlogin, l.rolsuper ORDER BY l.rolname";

/// The list as a table.
pub fn describe(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return "Nobody has a role of Countersign. Grant one: `countersign-admin role grant LOGIN supervisor`.\n"
            .to_owned();
    }
    let lines = holders.iter().map(|holder| {
        let kind = match (holder.superuser, holder.can_login) {
            (true, _) => "superuser",
            (false, true) => "login",
            (false, false) => "group",
        };
        vec![shown(&holder.login), kind.to_owned(), holder.roles.join(", ")]
    });
    table(&std::iter::once(head(["login", "kind", "roles"])).chain(lines).collect::<Vec<_>>())
}

/// Sees to it that the login is there: it exists, or a password came for it. Whether it was made.
pub(crate) async fn provide_login(
    database: &Database,
    connection: &mut PgConnection,
    login: &str,
    new_password: Option<&SecretString>,
    command: &str,
) -> Result<bool, AdminError> {
    let refused = database.refused("look for the login");
    let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
        .bind(login)
        .fetch_one(&mut *connection)
        .await
        .map_err(&refused)?;
    let login_shown = shown(login);
    match (exists, new_password) {
        (true, None) => Ok(false),
        (true, Some(_)) => Err(AdminError::Request(format!(
            "the login {login_shown} exists already: leave out --create-login; its password stays as it is"
        ))),
        (false, None) => Err(AdminError::Request(format!(
            "the server has no login {login_shown}: let one be made (`countersign-admin {} --create-login`), or make it yourself \
             (`createuser --login --pwprompt {login_shown}`) and run this again",
            command.replace("LOGIN", &login_shown)
        ))),
        (false, Some(password)) => match create_login(connection, login, password).await {
            Ok(()) => Ok(true),
            Err(error) if lacks_right(&error) => Err(AdminError::Request(format!(
                "to make the login {login_shown} takes the right to create roles: let somebody who has it run \
                 `createuser --login --pwprompt {login_shown}`, and run this again without --create-login"
            ))),
            Err(error) => Err(database.refused("create the login")(error)),
        },
    }
}

/// The server gets a verifier and never the password, which would stand in its log.
async fn create_login(connection: &mut PgConnection, login: &str, password: &SecretString) -> Result<(), sqlx::Error> {
    let verifier = postgres_protocol::password::scram_sha_256(password.expose_secret().as_bytes());
    run_formatted(connection, "CREATE ROLE %I LOGIN PASSWORD %L", &[login, &verifier]).await
}

/// Makes a login a member, or says what somebody has to run who may. A member stays one without a word.
pub(crate) async fn grant_or_say(
    database: &Database,
    connection: &mut PgConnection,
    role: &str,
    login: &str,
) -> Result<Option<String>, AdminError> {
    let refused = database.refused("grant the role");
    let has: bool = sqlx::query_scalar("SELECT pg_has_role($1::name, $2::name, 'USAGE')")
        .bind(login)
        .bind(role)
        .fetch_one(&mut *connection)
        .await
        .map_err(&refused)?;
    if has {
        return Ok(None);
    }
    // An error would take the whole transaction with it.
    let mut attempt = connection.begin().await.map_err(&refused)?;
    match run_formatted(&mut attempt, "GRANT %I TO %I", &[role, login]).await {
        Ok(()) => attempt.commit().await.map(|()| None).map_err(&refused),
        Err(error) if lacks_right(&error) => {
            attempt.rollback().await.map_err(&refused)?;
            let statement = formatted(connection, "GRANT %I TO %I;", &[role, login]).await.map_err(&refused)?;
            Ok(Some(statement))
        }
        Err(error) => Err(refused(error)),
    }
}

/// Runs a statement that takes no parameters; the server itself quotes what goes in.
async fn run_formatted(connection: &mut PgConnection, format: &str, arguments: &[&str]) -> Result<(), sqlx::Error> {
    let statement = formatted(connection, format, arguments).await?;
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}

async fn formatted(connection: &mut PgConnection, format: &str, arguments: &[&str]) -> Result<String, sqlx::Error> {
    sqlx::query_scalar("SELECT format($1, VARIADIC $2::text[])")
        .bind(format)
        .bind(arguments)
        .fetch_one(connection)
        .await
}

/// Refuses what the server would cut, and what would not show: a name that looks like another is no name of its own.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), AdminError> {
    let wrong = if name.trim().is_empty() {
        "is empty".to_owned()
    } else if name.chars().any(hides) {
        "contains characters that do not show".to_owned()
    } else if name.trim() != name {
        "begins or ends with a blank".to_owned()
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
        for (name, words) in [
            (" a.s", "begins or ends with a blank"),
            ("a.s\u{a0}", "begins or ends with a blank"),
            ("a\u{ad}s", "do not show"),
            ("a\u{200b}s", "<U+200B>"),
        ] {
            let refused = check_name("other name", name).expect_err("not clean").to_string();
            assert!(refused.contains(words), "{name:?}: {refused}");
        }
        assert!(check_name("login", &"é".repeat(31)).is_ok());
        assert!(check_name("login", &"é".repeat(32)).is_err());
        assert!(check_name("name", &"é".repeat(100)).is_ok());
    }

    #[test]
    fn a_role_is_one_of_three() {
        for role in [Role::Supervisor, Role::Auditor, Role::Producer] {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert!("reviewer".parse::<Role>().is_err_and(|why| why.contains("reviewer add")));
        assert!("owner".parse::<Role>().is_err());
    }
}
