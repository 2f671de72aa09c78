//! A `PostgreSQL` cluster of one's own, in a directory that vanishes with it.
//!
//! Tests, the demo and the bench run against the real server, never against a stand-in. Every way in asks for a password
//! (SCRAM, also on the socket), because identity is what the schema builds on.
//!
//! The server hangs on a leash: a small supervisor watches a pipe that this process holds. When the pipe closes, be it by
//! `stop`, by drop or because this process was killed, the supervisor stops the server and removes its directory.

mod access;
mod binaries;
mod server;
mod url;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use sqlx::{Connection as _, PgConnection};
use tokio::time::Instant;
use uuid::Uuid;

pub use access::{Access, ServerTls};
pub use server::{ADMIN_URL_VARIABLE, TestDatabase, TestServer};

const SUPERVISOR: &str = include_str!("postgres/supervise.sh");

/// How long a server may take from `initdb` to its first answer.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// Between two attempts to connect to a server that is starting.
const READY_POLL: Duration = Duration::from_millis(50);
/// A free port can be taken by somebody else before the server binds it; then another one is tried.
const PORT_ATTEMPTS: u32 = 5;
/// How much of the log an error carries.
const LOG_TAIL_BYTES: usize = 4096;

/// What the cluster is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostgresOptions {
    /// `false`: commits survive a crash of the server's processes, not of the machine; the fastest, for tests.
    /// `true`: every commit is synced, with memory and checkpoints sized for a bench on a small machine.
    pub durable: bool,
}

/// A running private cluster. Dropping it stops the server at once and removes its directory.
#[derive(Debug)]
pub struct PrivatePostgres {
    directory: PathBuf,
    port: u16,
    password: String,
    supervisor: Child,
    leash: Option<ChildStdin>,
}

impl PrivatePostgres {
    /// Makes a cluster in a new directory and waits until it answers.
    pub async fn start(options: PostgresOptions) -> anyhow::Result<Self> {
        let binaries = binaries::find()?;
        for _ in 0..PORT_ATTEMPTS {
            let mut server = Self::launch(&binaries, options)?;
            if server.wait_until_ready().await? {
                return Ok(server);
            }
        }
        bail!("{PORT_ATTEMPTS} free ports were each taken by another program before PostgreSQL could bind them")
    }

    /// The TCP port on 127.0.0.1, and the number in the socket's file name.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The TCP address, as a proxy in front of the server wants it.
    pub fn addr(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The directory with the server's socket.
    pub fn socket_dir(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// The superuser's password; the superuser is `postgres`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Connects the superuser to a database over TCP.
    pub fn admin_url(&self, database: &str) -> String {
        self.url_for("postgres", &self.password, database)
    }

    /// Connects a user to a database over TCP.
    pub fn url_for(&self, user: &str, password: &str, database: &str) -> String {
        url::url(&self.addr().to_string(), user, password, database)
    }

    /// Makes an empty database.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<()> {
        server::create_database(&self.admin_url("postgres"), name, None).await
    }

    /// Makes a database with the schema and the rows of `template`, to which nobody may be connected.
    pub async fn create_database_from(&self, template: &str, name: &str) -> anyhow::Result<()> {
        server::create_database(&self.admin_url("postgres"), name, Some(template)).await
    }

    /// Disconnects everybody, shuts down in order and removes the directory.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        tokio::task::spawn_blocking(move || self.end("fast")).await.context("stop PostgreSQL")?
    }

    /// What the server has logged last.
    pub fn log_tail(&self) -> String {
        let log = std::fs::read(self.directory.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_TAIL_BYTES)..]).into_owned()
    }

    fn launch(binaries: &Path, options: PostgresOptions) -> anyhow::Result<Self> {
        let port = free_port()?;
        let password = Uuid::new_v4().simple().to_string();
        // Short, because the path of a socket may have 107 bytes.
        let name = format!("countersign-pg-{}", &Uuid::new_v4().simple().to_string()[..12]);
        let directory = std::env::temp_dir().join(name);
        let mut supervisor = Command::new("sh")
            .args(["-c", SUPERVISOR, "countersign-postgres"])
            .args([directory.as_os_str(), binaries.as_os_str(), configuration(&directory, port, options).as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of a Ctrl-C and of a test runner that ends the whole group: it has to clean up.
            .process_group(0)
            .spawn()
            .context("start the PostgreSQL supervisor (sh)")?;
        let mut leash = supervisor.stdin.take().context("the PostgreSQL supervisor has no standard input")?;
        writeln!(leash, "{password}").context("hand the password to the PostgreSQL supervisor")?;
        Ok(Self { directory, port, password, supervisor, leash: Some(leash) })
    }

    /// `false` when the port was taken meanwhile.
    async fn wait_until_ready(&mut self) -> anyhow::Result<bool> {
        let url = self.admin_url("postgres");
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let last = match tokio::time::timeout_at(deadline, PgConnection::connect(&url)).await {
                Ok(Ok(connection)) => {
                    connection.close().await.context("close the first connection to PostgreSQL")?;
                    return Ok(true);
                }
                Ok(Err(refused)) => refused.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            let exited = self.directory.join("exited").exists() || self.supervisor.try_wait()?.is_some();
            if exited && self.log_tail().contains("Address already in use") {
                return Ok(false);
            }
            if exited || Instant::now() >= deadline {
                let what = if exited { "ended while starting".to_owned() } else { format!("is not ready: {last}") };
                bail!("PostgreSQL in {} {what}\n{}", self.directory.display(), self.log_tail());
            }
            tokio::time::sleep(READY_POLL).await;
        }
    }

    /// Blocks until the server is gone; the supervisor bounds how long that takes.
    fn end(&mut self, how: &str) -> anyhow::Result<()> {
        let Some(mut leash) = self.leash.take() else { return Ok(()) };
        // A supervisor that is gone already cannot be told, and needs not.
        let told = writeln!(leash, "{how}");
        drop(leash);
        let status = self.supervisor.wait().context("wait for the PostgreSQL supervisor")?;
        told.context("tell the PostgreSQL supervisor to stop")?;
        if self.directory.exists() {
            bail!("the PostgreSQL supervisor ({status}) left {} behind", self.directory.display());
        }
        Ok(())
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        if let Err(error) = self.end("immediate") {
            tracing::warn!("{error:#}");
        }
    }
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port for PostgreSQL")?;
    Ok(listener.local_addr().context("read the free port")?.port())
}

fn configuration(directory: &Path, port: u16, options: PostgresOptions) -> String {
    let socket = directory.join("socket");
    let purpose = if options.durable {
        "fsync = on\nsynchronous_commit = on\nfull_page_writes = on\nshared_buffers = 512MB\nmax_wal_size = 4GB\n\
         checkpoint_timeout = 15min\neffective_cache_size = 4GB\nmaintenance_work_mem = 256MB"
    } else {
        "fsync = off\nsynchronous_commit = off\nfull_page_writes = off"
    };
    format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\nmax_connections = 100\n\
         password_encryption = 'scram-sha-256'\ntimezone = 'UTC'\nlog_timezone = 'UTC'\n{purpose}",
        socket.display()
    )
}

#[cfg(test)]
mod tests;
