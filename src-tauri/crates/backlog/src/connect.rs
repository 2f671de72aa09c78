//! How a connection is made: where to, how safe, and with which bounds.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::certificates::Certificates;

/// How the server proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tls {
    /// Its certificate is signed by a known authority and names the host.
    #[default]
    VerifyFull,
    /// It does not, and everything travels in the clear: only within this machine.
    Disable,
}

/// A database and who connects to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A name, an address, or the absolute directory of a local socket.
    pub host: String,
    /// The port; with a socket, the number in its file name.
    pub port: u16,
    /// The database.
    pub database: String,
    /// The login.
    pub user: String,
    /// How the server proves who it is. A local socket needs no proof.
    pub tls: Tls,
    /// A PEM file of certificate authorities that are trusted besides the system's, and of their lists of revoked certificates.
    pub root_certificate: Option<PathBuf>,
    /// A PEM file with the certificate that the login is proved with, and those between it and its authority.
    pub client_certificate: Option<PathBuf>,
    /// A PEM file with the certificate's key, which nobody else may be able to read.
    pub client_key: Option<PathBuf>,
    /// What the database's administrators see in their list of sessions.
    pub application_name: String,
}

impl Target {
    /// Whether it is reached over a local socket.
    pub fn is_socket(&self) -> bool {
        is_socket_directory(&self.host)
    }

    /// The files its proofs are read from.
    pub(crate) fn certificates(&self) -> Certificates {
        Certificates {
            root: self.root_certificate.clone(),
            client: self.client_certificate.clone(),
            key: self.client_key.clone(),
        }
    }

    /// The options of a connection, without its certificates, which have to be read first. Fails, and says why, if the connection
    /// would not be safe.
    pub(crate) fn options(&self, password: Option<&SecretString>, timing: &Timing) -> Result<PgConnectOptions, String> {
        let tls = ssl_mode(&self.host, self.tls)?;
        let options = PgConnectOptions::new_without_pgpass()
            .username(&self.user)
            // An empty one keeps PGPASSWORD out: a login comes from the profile, not from the surroundings.
            .password(password.map_or("", |password| password.expose_secret()))
            .database(&self.database)
            .ssl_mode(tls)
            .application_name(&self.application_name);
        Ok(bounded(at(options, &self.host, self.port), timing))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database {} at {}:{}", self.database, self.host, self.port)
    }
}

/// How long each step may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Waiting for one of the connections to be free.
    pub acquire: Duration,
    /// Looking the host up, connecting, TLS and logging in together.
    pub connect: Duration,
    /// Silence while an answer is awaited. It has to be longer than `statement`, or slow answers are never heard.
    pub answer: Duration,
    /// A statement, on the database's side.
    pub statement: Duration,
    /// Waiting for a lock, on the database's side.
    pub lock: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            acquire: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(45),
            statement: Duration::from_secs(30),
            lock: Duration::from_secs(10),
        }
    }
}

/// Whether a host is the directory of a local socket.
pub fn is_socket_directory(host: &str) -> bool {
    host.starts_with('/')
}

/// Whether a host is this machine by its name or address: what is sent there passes no network.
pub fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || without_brackets(host).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The mode for sqlx, whose own default would go on in the clear if the server has no TLS. Fails, and says why, if the connection
/// would be readable on the network.
pub fn ssl_mode(host: &str, tls: Tls) -> Result<PgSslMode, String> {
    match tls {
        _ if is_socket_directory(host) => Ok(PgSslMode::Disable),
        Tls::VerifyFull => Ok(PgSslMode::VerifyFull),
        Tls::Disable if is_loopback(host) => Ok(PgSslMode::Disable),
        Tls::Disable => Err(format!(
            "TLS is switched off, which is allowed for this machine only (a socket, localhost, 127.0.0.0/8, ::1), not for {host}; \
             use verify-full"
        )),
    }
}

/// Sets host and port; a socket's directory is told apart from a name, and an IPv6 address loses its brackets.
pub fn at(options: PgConnectOptions, host: &str, port: u16) -> PgConnectOptions {
    let options = options.port(port);
    if is_socket_directory(host) { options.socket(host) } else { options.host(without_brackets(host)) }
}

/// Sets the bounds that the server keeps. Its keepalives end sessions of workstations that vanished, so that their locks are
/// not held for hours. (On the client's side [`Timing::answer`] does the same.)
fn bounded(options: PgConnectOptions, timing: &Timing) -> PgConnectOptions {
    options.options([
        // The functions refuse any other, whatever the server or the login is set to.
        ("default_transaction_isolation", "read committed".to_owned()),
        ("statement_timeout", milliseconds(timing.statement)),
        ("lock_timeout", milliseconds(timing.lock)),
        ("idle_in_transaction_session_timeout", milliseconds(timing.statement)),
        ("tcp_keepalives_idle", "30".to_owned()),
        ("tcp_keepalives_interval", "10".to_owned()),
        ("tcp_keepalives_count", "3".to_owned()),
    ])
}

fn milliseconds(duration: Duration) -> String {
    // 0 would mean no bound at all.
    format!("{}ms", duration.as_millis().max(1))
}

/// A host without the brackets that an IPv6 address may be written in.
pub(crate) fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_may_be_reached_in_the_clear() {
        for (host, allowed) in [
            ("localhost", true),
            ("LOCALHOST", true),
            ("127.0.0.1", true),
            ("127.8.9.10", true),
            ("::1", true),
            ("[::1]", true),
            ("/var/run/postgresql", true),
            ("db.example.com", false),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("128.0.0.1", false),
            ("10.0.0.1", false),
            ("0.0.0.0", false),
            ("::", false),
            ("fe80::1", false),
            ("", false),
        ] {
            let mode = ssl_mode(host, Tls::Disable);
            assert_eq!(mode.is_ok(), allowed, "{host}");
            if let Err(reason) = mode {
                assert!(reason.contains(host) && reason.contains("verify-full"), "{reason}");
            }
        }
    }

    #[test]
    fn a_socket_never_speaks_tls_and_a_network_does_by_default() {
        assert!(matches!(ssl_mode("/tmp", Tls::VerifyFull), Ok(PgSslMode::Disable)));
        assert!(matches!(ssl_mode("db.example.com", Tls::default()), Ok(PgSslMode::VerifyFull)));
        assert!(matches!(ssl_mode("localhost", Tls::VerifyFull), Ok(PgSslMode::VerifyFull)));
    }

    #[test]
    fn the_password_is_in_no_text_about_the_connection() {
        let target = Target {
            host: "db.example.com".into(),
            port: 5432,
            database: "close".into(),
            user: "alice".into(),
            tls: Tls::VerifyFull,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
            application_name: "countersign".into(),
        };
        assert_eq!(target.to_string(), "the database close at db.example.com:5432");
        let options = target.options(Some(&SecretString::from("hunter2")), &Timing::default()).expect("TLS is on");
        assert_eq!(options.get_host(), "db.example.com");
        assert!(options.get_options().is_some_and(|options| options.contains("statement_timeout=30000ms")));
    }
}
