//! Granting and revoking roles, on record.

use secrecy::SecretString;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use super::{Role, check_name, provide_login, run_formatted};
use crate::text::shown;
use crate::{AdminError, Database};

/// What revoking a role came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revoked {
    /// Whether the login was a member.
    pub had: bool,
    /// Whether it still has the role: through another one, or because it is a superuser.
    pub still: bool,
}

/// Grants a role, in one transaction with its audit record; with a password, the login is made too. Whether it is new to the login.
///
/// Roles belong to the whole cluster, so that a login may have it from elsewhere: that somebody granted it here is recorded all the same.
/// It takes the owner of the database: to grant needs the right to, and to record it needs to be a member of `countersign_owner`.
pub async fn grant(
    database: &Database,
    login: &str,
    role: Role,
    new_password: Option<&SecretString>,
) -> Result<bool, AdminError> {
    check_name("login", login)?;
    let mut connection = database.connect().await?;
    let refused = database.refused("grant the role");
    let mut transaction = connection.begin().await.map_err(&refused)?;
    owner_only(database, &mut transaction).await?;
    let made = provide_login(database, &mut transaction, login, new_password, "role grant LOGIN ROLE").await?;
    let new = grantors(&mut transaction, login, role).await.map_err(&refused)?.is_empty();
    if new {
        run_formatted(&mut transaction, "GRANT %I TO %I", &[role.name(), login]).await.map_err(&refused)?;
    }
    let detail = json!({"login": login, "role": role.name(), "login_made": made, "new": new});
    record(&mut transaction, "ROLE_GRANTED", &detail).await.map_err(&refused)?;
    transaction.commit().await.map_err(&refused)?;
    Ok(new)
}

/// Takes a role away, whoever granted it, in one transaction with its audit record. It ends with the login's next call.
pub async fn revoke(database: &Database, login: &str, role: Role) -> Result<Revoked, AdminError> {
    let mut connection = database.connect().await?;
    let refused = database.refused("revoke the role");
    let mut transaction = connection.begin().await.map_err(&refused)?;
    owner_only(database, &mut transaction).await?;
    let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
        .bind(login)
        .fetch_one(&mut *transaction)
        .await
        .map_err(&refused)?;
    if !exists {
        return Err(AdminError::Request(format!("the server has no login {}", shown(login))));
    }
    let grantors = grantors(&mut transaction, login, role).await.map_err(&refused)?;
    for grantor in &grantors {
        match grantor {
            // A server that keeps grants apart by who made them takes back only those of the one who is named.
            Some(grantor) => {
                let names = [role.name(), login, grantor];
                run_formatted(&mut transaction, "REVOKE %I FROM %I GRANTED BY %I", &names).await
            }
            None => run_formatted(&mut transaction, "REVOKE %I FROM %I", &[role.name(), login]).await,
        }
        .map_err(&refused)?;
    }
    let still: bool = sqlx::query_scalar("SELECT pg_has_role($1::name, $2::name, 'MEMBER')")
        .bind(login)
        .bind(role.name())
        .fetch_one(&mut *transaction)
        .await
        .map_err(&refused)?;
    let had = !grantors.is_empty();
    if had {
        let detail = json!({"login": login, "role": role.name(), "still": still});
        record(&mut transaction, "ROLE_REVOKED", &detail).await.map_err(&refused)?;
    }
    transaction.commit().await.map_err(&refused)?;
    Ok(Revoked { had, still })
}

/// Who made a login a member; none, if it is not. A superuser counts as a member of everything and has to be granted a role all the
/// same to be listed. Older servers may have forgotten who it was.
async fn grantors(connection: &mut PgConnection, login: &str, role: Role) -> Result<Vec<Option<String>>, sqlx::Error> {
    const SQL: &str = "
        SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles l ON l.oid = m.member JOIN pg_roles r ON r.oid = m.roleid
        LEFT JOIN pg_roles g ON g.oid = m.grantor
        WHERE l.rolname = $1 AND r.rolname = $2";
    sqlx::query_scalar(SQL).bind(login).bind(role.name()).fetch_all(connection).await
}

async fn owner_only(database: &Database, connection: &mut PgConnection) -> Result<(), AdminError> {
    const SQL: &str = "SELECT pg_has_role(current_user, 'countersign_owner', 'MEMBER'), session_user::text";
    let (owner, me): (bool, String) =
        sqlx::query_as(SQL).fetch_one(connection).await.map_err(database.refused("look for the owner"))?;
    if owner {
        return Ok(());
    }
    Err(AdminError::Request(format!(
        "{} may grant and revoke no roles here: connect as the owner of the database, who ran `countersign-admin migrate`",
        shown(&me)
    )))
}

/// Appends to the installation's chain, as the owner of the schema for the rest of the transaction.
async fn record(connection: &mut PgConnection, event: &str, detail: &Value) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("SET LOCAL ROLE countersign_owner").execute(&mut *connection).await?;
    sqlx::query("SELECT countersign.audit_installation($1, NULL, NULL, NULL, $2::jsonb)")
        .bind(event)
        .bind(detail.to_string())
        .execute(connection)
        .await?;
    Ok(())
}
