//! The server a test runs against, and the database and logins that are the test's own.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, ensure};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::url::{url, with_database};
use super::{PostgresOptions, PrivatePostgres};

/// Names a running server by a superuser's URL. A test runner that starts a process for each test sets it once for all of them.
pub const ADMIN_URL_VARIABLE: &str = "COUNTERSIGN_TEST_ADMIN_URL";

/// How long dropping a test's database may hold up the test.
const DROP_WITHIN: Duration = Duration::from_secs(15);
/// `PostgreSQL` cuts longer names.
const NAME_BYTES: usize = 63;

/// The server that the tests of this process share.
#[derive(Debug)]
pub struct TestServer {
    admin_url: String,
    authority: String,
    /// Kept for its leash: the server ends with this process.
    _own: Option<PrivatePostgres>,
}

impl TestServer {
    /// The server that `COUNTERSIGN_TEST_ADMIN_URL` names, or a private one that ends with this process.
    pub async fn acquire() -> anyhow::Result<&'static Self> {
        static SERVER: OnceCell<TestServer> = OnceCell::const_new();
        SERVER
            .get_or_try_init(|| async {
                if let Ok(url) = std::env::var(ADMIN_URL_VARIABLE) {
                    return Self::at(url);
                }
                let own = PrivatePostgres::start(PostgresOptions::default()).await?;
                Ok(Self { admin_url: own.admin_url("postgres"), authority: own.addr().to_string(), _own: Some(own) })
            })
            .await
    }

    fn at(admin_url: String) -> anyhow::Result<Self> {
        let parsed: PgConnectOptions = admin_url.parse().with_context(|| format!("parse {ADMIN_URL_VARIABLE}"))?;
        ensure!(parsed.get_socket().is_none(), "{ADMIN_URL_VARIABLE} must name a TCP address");
        let authority = format!("{}:{}", parsed.get_host(), parsed.get_port());
        Ok(Self { admin_url, authority, _own: None })
    }

    /// Connects the superuser to a database.
    pub fn admin_url(&self, database: &str) -> String {
        with_database(&self.admin_url, database)
    }

    /// Connects a user to a database.
    pub fn url_for(&self, user: &str, password: &str, database: &str) -> String {
        url(&self.authority, user, password, database)
    }

    /// The server's TCP address, as a proxy in front of it wants it.
    pub async fn addr(&self) -> anyhow::Result<SocketAddr> {
        let mut found = tokio::net::lookup_host(&self.authority).await.context("look up the test server")?;
        found.next().with_context(|| format!("{} has no address", self.authority))
    }

    /// The server's port, which is the number in the socket's file name too.
    pub async fn port(&self) -> anyhow::Result<u16> {
        Ok(self.addr().await?.port())
    }

    /// The directory of the server's socket.
    pub async fn socket_dir(&self) -> anyhow::Result<PathBuf> {
        let mut connection = PgConnection::connect(&self.admin_url).await.context("connect to the test server")?;
        let directories: String = sqlx::query_scalar("SHOW unix_socket_directories")
            .fetch_one(&mut connection)
            .await
            .context("ask the test server for its socket")?;
        connection.close().await.context("disconnect from the test server")?;
        let first = directories.split(',').next().unwrap_or_default().trim();
        ensure!(!first.is_empty(), "the test server has no socket");
        Ok(PathBuf::from(first))
    }

    /// Makes `name` once for the whole server, as a template for `TestDatabase::create_from`.
    ///
    /// `prepare` gets a superuser's URL of the empty database and must have disconnected when it returns. Whoever comes
    /// meanwhile, from this process or another one, waits for it. A name should carry a hash of what goes in: it may outlive the run.
    pub async fn template<F, Fut>(&self, name: &str, prepare: F) -> anyhow::Result<()>
    where
        F: FnOnce(String) -> Fut,
        Fut: Future<Output = anyhow::Result<()>>,
    {
        let mut guard = PgConnection::connect(&self.admin_url).await.context("connect to the test server")?;
        sqlx::query("SELECT pg_advisory_lock(hashtextextended($1, 0))")
            .bind(name)
            .execute(&mut guard)
            .await
            .with_context(|| format!("wait for the template {name}"))?;
        let ready: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(name)
            .fetch_one(&mut guard)
            .await
            .with_context(|| format!("look for the template {name}"))?;
        if !ready {
            let unfinished = format!("{name}_unfinished");
            // Somebody may have been killed halfway.
            run(&mut guard, format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", identifier(&unfinished)?)).await?;
            run(&mut guard, format!("CREATE DATABASE {}", identifier(&unfinished)?)).await?;
            prepare(self.admin_url(&unfinished)).await.with_context(|| format!("prepare the template {name}"))?;
            run(&mut guard, format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", identifier(&unfinished)?)).await?;
            run(&mut guard, format!("ALTER DATABASE {} RENAME TO {}", identifier(&unfinished)?, identifier(name)?))
                .await?;
        }
        guard.close().await.context("disconnect from the test server")
    }
}

/// A database of one test. Dropping it disconnects whoever is left and removes it with its logins, as well as it can.
#[derive(Debug)]
pub struct TestDatabase {
    server: &'static TestServer,
    name: String,
    /// Roles belong to the whole server, so they have to be removed one by one.
    logins: Mutex<Vec<String>>,
    removed: bool,
}

impl TestDatabase {
    /// An empty database with a name of its own.
    pub async fn create() -> anyhow::Result<Self> {
        Self::make(None).await
    }

    /// A copy of a template, to which nobody may be connected.
    pub async fn create_from(template: &str) -> anyhow::Result<Self> {
        Self::make(Some(template)).await
    }

    async fn make(template: Option<&str>) -> anyhow::Result<Self> {
        let server = TestServer::acquire().await?;
        let name = format!("test_{}", Uuid::new_v4().simple());
        create_database(&server.admin_url, &name, template).await?;
        Ok(Self { server, name, logins: Mutex::new(Vec::new()), removed: false })
    }

    /// The server it is on.
    pub fn server(&self) -> &'static TestServer {
        self.server
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects the superuser.
    pub fn admin_url(&self) -> String {
        self.server.admin_url(&self.name)
    }

    /// Connects a user.
    pub fn url_for(&self, user: &str, password: &str) -> String {
        self.server.url_for(user, password, &self.name)
    }

    /// Connects a user through something that listens at `addr`, such as a `CuttingProxy`.
    pub fn url_through(&self, addr: SocketAddr, user: &str, password: &str) -> String {
        url(&addr.to_string(), user, password, &self.name)
    }

    /// Makes a login without any right, called `name_prefix` and something unique: `(user, password)`.
    pub async fn login(&self, name_prefix: &str) -> anyhow::Result<(String, String)> {
        let user = format!("{name_prefix}_{}", &Uuid::new_v4().simple().to_string()[..12]);
        let password = Uuid::new_v4().simple().to_string();
        let mut connection = PgConnection::connect(&self.admin_url()).await.context("connect to the test database")?;
        run(&mut connection, format!("CREATE ROLE {} LOGIN PASSWORD '{password}'", identifier(&user)?)).await?;
        self.logins.lock().expect("pushing a name cannot panic").push(user.clone());
        connection.close().await.context("disconnect from the test database")?;
        Ok((user, password))
    }

    /// Removes the database and its logins now, and says so when that fails.
    pub async fn close(mut self) -> anyhow::Result<()> {
        self.removed = true;
        self.remove().await
    }

    async fn remove(&self) -> anyhow::Result<()> {
        let logins = std::mem::take(&mut *self.logins.lock().expect("pushing a name cannot panic"));
        let mut connection =
            PgConnection::connect(&self.server.admin_url).await.context("connect to the test server")?;
        run(&mut connection, format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", identifier(&self.name)?)).await?;
        for login in logins {
            run(&mut connection, format!("DROP ROLE IF EXISTS {}", identifier(&login)?)).await?;
        }
        connection.close().await.context("disconnect from the test server")
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.removed {
            return;
        }
        // On a thread of its own: a runtime may not be blocked on from inside another one.
        let outcome = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                    runtime.block_on(async { tokio::time::timeout(DROP_WITHIN, self.remove()).await })?
                })
                .join()
        });
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("remove the test database {}: {error:#}", self.name),
            Err(_) => tracing::warn!("removing the test database {} panicked", self.name),
        }
    }
}

pub(super) async fn create_database(admin_url: &str, name: &str, template: Option<&str>) -> anyhow::Result<()> {
    let mut connection = PgConnection::connect(admin_url).await.context("connect to PostgreSQL")?;
    let mut statement = format!("CREATE DATABASE {}", identifier(name)?);
    if let Some(template) = template {
        statement = format!("{statement} TEMPLATE {}", identifier(template)?);
    }
    run(&mut connection, statement).await?;
    connection.close().await.context("disconnect from PostgreSQL")
}

/// Only for statements whose names went through `identifier`: they cannot be sent as parameters.
async fn run(connection: &mut PgConnection, statement: String) -> anyhow::Result<()> {
    // A new password must not end up in an error.
    let shown = statement.split(" PASSWORD ").next().unwrap_or_default().to_owned();
    connection.execute(AssertSqlSafe(statement)).await.with_context(|| format!("run {shown}"))?;
    Ok(())
}

fn identifier(name: &str) -> anyhow::Result<String> {
    ensure!(
        !name.is_empty() && name.len() <= NAME_BYTES && !name.contains('\0'),
        "{name:?} is no name PostgreSQL keeps as it is: 1 to {NAME_BYTES} bytes"
    );
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_or_refused_but_never_cut() {
        assert_eq!(identifier("we\"ird").ok().as_deref(), Some("\"we\"\"ird\""));
        assert!(identifier("").is_err());
        assert!(identifier(&"x".repeat(64)).is_err());
    }
}
