//! Who may sign, and how much.

mod list;

use secrecy::SecretString;
use sqlx::types::Decimal;
use sqlx::{Connection as _, PgConnection};

use crate::role::{check_name, grant_or_say, provide_login};
use crate::text::shown;
use crate::{AdminError, Database};

pub use list::{Limit, Reviewer, describe, list};

/// What registering did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The login is a reviewer now.
    New,
    /// It was disabled, and is a reviewer again.
    Again,
    /// It was one before; what it may sign was set.
    Changed,
    /// It was one before, and nothing was to be set.
    Already,
}

/// A reviewer was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// What that changed.
    pub added: Added,
    /// What somebody has to run who may grant roles, where the caller may not. Until then the login opens nothing.
    pub to_run: Option<String>,
}

/// What becomes of one of the lists that say what a reviewer may sign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// It stays as it is.
    #[default]
    Keep,
    /// There is no list: everything, of other names none.
    Any,
    /// Only these.
    Only(Vec<String>),
}

/// What to set of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rights {
    /// The name shown to colleagues; `None` keeps it.
    pub name: Option<String>,
    /// Under which other names upstream systems know them.
    pub also: Scope,
    /// The kinds they may sign.
    pub kinds: Scope,
    /// The tiers.
    pub tiers: Scope,
    /// The ledger entities.
    pub entities: Scope,
}

/// Makes a login a reviewer, or makes it one again. With a password, the login is created as well.
pub async fn add(
    database: &Database,
    login: &str,
    display_name: Option<&str>,
    new_password: Option<&SecretString>,
) -> Result<Registered, AdminError> {
    let rights = Rights { name: display_name.map(str::to_owned), ..Rights::default() };
    register(database, login, &rights, new_password).await
}

/// The same with what they may sign; all of it is one transaction with its audit record.
pub async fn register(
    database: &Database,
    login: &str,
    rights: &Rights,
    new_password: Option<&SecretString>,
) -> Result<Registered, AdminError> {
    check(login, rights)?;
    let mut connection = database.connect().await?;
    let refused = database.refused("add the reviewer");
    let mut transaction = connection.begin().await.map_err(&refused)?;
    let before = active(database, &mut transaction, login).await?;
    provide_login(database, &mut transaction, login, new_password, "reviewer add LOGIN").await?;
    let to_run = grant_or_say(database, &mut transaction, "countersign_reviewer", login).await?;
    let added = match before {
        None => Added::New,
        Some(false) => Added::Again,
        Some(true) if *rights == Rights::default() => Added::Already,
        Some(true) => Added::Changed,
    };
    if added != Added::Already {
        call(database, &mut transaction, login, rights).await?;
    }
    transaction.commit().await.map_err(&refused)?;
    Ok(Registered { added, to_run })
}

/// Sets what a reviewer may sign.
pub async fn set(database: &Database, login: &str, rights: &Rights) -> Result<(), AdminError> {
    check(login, rights)?;
    let mut connection = database.connect().await?;
    match active(database, &mut connection, login).await? {
        None => Err(no_reviewer(login)),
        Some(false) => Err(AdminError::Request(format!(
            "{0} is disabled: `countersign-admin reviewer add {0}` makes it a reviewer again",
            shown(login)
        ))),
        Some(true) => call(database, &mut connection, login, rights).await,
    }
}

/// Takes the rights of a reviewer away, and gives their leases back. What they signed stands. Whether they had any.
pub async fn disable(database: &Database, login: &str) -> Result<bool, AdminError> {
    let mut connection = database.connect().await?;
    if active(database, &mut connection, login).await?.is_none() {
        return Err(no_reviewer(login));
    }
    // The role stays: it belongs to the whole cluster, and without the row in the table it opens nothing.
    sqlx::query_scalar("SELECT countersign.reviewer_disable($1)")
        .bind(login)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("disable the reviewer"))
}

/// Sets the limits in one currency, or in `*`: each of the two counts where a currency has none of its own. `None` twice: there are
/// none any more.
pub async fn limit(
    database: &Database,
    login: &str,
    currency: &str,
    largest: Option<Decimal>,
    per_period: Option<Decimal>,
) -> Result<(), AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query("SELECT countersign.reviewer_limit_set($1, $2, $3, $4)")
        .bind(login)
        .bind(currency)
        .bind(largest)
        .bind(per_period)
        .execute(&mut connection)
        .await
        .map_err(database.refused("set the limit"))?;
    Ok(())
}

/// Says whether a reviewer may work at the desk of dead letters. Whether that changes anything.
pub async fn remediates(database: &Database, login: &str, on: bool) -> Result<bool, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_scalar("SELECT countersign.reviewer_remediates($1, $2)")
        .bind(login)
        .bind(on)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("open or close the desk of dead letters"))
}

/// What is kept is read in the statement that sets the rest, so that nothing comes between.
async fn call(
    database: &Database,
    connection: &mut PgConnection,
    login: &str,
    rights: &Rights,
) -> Result<(), AdminError> {
    let mut query = sqlx::query(
        "SELECT countersign.reviewer_set($1, $2, CASE WHEN $3 THEN r.also ELSE $4 END, CASE WHEN $5 THEN r.kinds ELSE $6 END, \
                CASE WHEN $7 THEN r.tiers ELSE $8 END, CASE WHEN $9 THEN r.ledger_entities ELSE $10 END) \
         FROM (SELECT) AS one LEFT JOIN countersign.reviewers r ON r.login = $1",
    )
    .bind(login)
    .bind(rights.name.as_deref());
    for scope in [&rights.also, &rights.kinds, &rights.tiers, &rights.entities] {
        let only = if let Scope::Only(names) = scope { Some(names.clone()) } else { None };
        query = query.bind(*scope == Scope::Keep).bind(only);
    }
    query.execute(connection).await.map_err(database.refused("set what the reviewer may sign"))?;
    Ok(())
}

async fn active(database: &Database, connection: &mut PgConnection, login: &str) -> Result<Option<bool>, AdminError> {
    sqlx::query_scalar("SELECT r.active FROM countersign.reviewers r WHERE r.login = $1")
        .bind(login)
        .fetch_optional(connection)
        .await
        .map_err(database.refused("look for the reviewer"))
}

fn check(login: &str, rights: &Rights) -> Result<(), AdminError> {
    check_name("login", login)?;
    if let Some(name) = &rights.name {
        check_name("name", name)?;
    }
    for (what, scope) in [("other name", &rights.also), ("ledger entity", &rights.entities)] {
        if let Scope::Only(names) = scope {
            names.iter().try_for_each(|name| check_name(what, name))?;
        }
    }
    Ok(())
}

fn no_reviewer(login: &str) -> AdminError {
    AdminError::Request(format!("{} is no reviewer; `countersign-admin reviewer list` shows who is", shown(login)))
}
