//! The operator's connection.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fmt, io};

use countersign_backlog::certificates::Certificates;
use countersign_backlog::connect::{self, Tls};
use countersign_backlog::dial;
use countersign_backlog::failure::{self, Step};
use countersign_engine::port::{Failure, Problem};
use sqlx::PgConnection;
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgSslMode};
use tokio::time::timeout;
use url::Url;

use crate::AdminError;

/// Looking the host up, connecting, TLS and logging in together.
const CONNECT: Duration = Duration::from_secs(10);

/// Who may do what is to be done here: what an operator hears who may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Needs {
    /// It is not known, or said elsewhere.
    #[default]
    Unsaid,
    /// The owner of the database, who migrated it.
    Owner,
    /// A supervisor.
    Supervisor,
    /// A supervisor or an auditor.
    Reader,
    /// A producer.
    Producer,
}

impl Needs {
    fn hint(self) -> &'static str {
        match self {
            Self::Unsaid => "",
            Self::Owner => {
                ". It takes the owner of the database, who ran `countersign-admin migrate` and may create roles"
            }
            Self::Supervisor => {
                ". It takes the role countersign_supervisor (`countersign-admin role grant LOGIN supervisor`)"
            }
            Self::Reader => {
                ". It takes the role countersign_supervisor or countersign_auditor (`countersign-admin role grant`)"
            }
            Self::Producer => {
                ". It takes the role countersign_producer (`countersign-admin role grant LOGIN producer`)"
            }
        }
    }
}

/// A database, and who connects to it.
#[derive(Clone)]
pub struct Database {
    options: PgConnectOptions,
    certificates: Certificates,
    place: String,
    needs: Needs,
}

/// Without the options: they hold the password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Database {
    /// Reads a URL such as `postgres://owner@db.example.com/close`.
    ///
    /// Over a network the server has to prove who it is (`sslmode=verify-full`, also where the URL names no mode, or one that asks
    /// for less); within this machine TLS is used where the URL asks for it. `sslrootcert`, `sslcert` and `sslkey` name files, as
    /// do `PGSSLROOTCERT`, `PGSSLCERT` and `PGSSLKEY` where the URL does not.
    pub fn from_url(url: &str) -> Result<Self, AdminError> {
        // The parser's words, never the URL's: it holds a password.
        let scheme = Url::parse(url).map_err(|error| AdminError::Url(error.to_string()))?.scheme().to_owned();
        if !matches!(scheme.as_str(), "postgres" | "postgresql") {
            return Err(AdminError::Url("it is not PostgreSQL's: expected postgres://… or postgresql://…".to_owned()));
        }
        let options: PgConnectOptions =
            url.parse().map_err(|error: sqlx::Error| AdminError::Url(failure::cause(&error)))?;
        let host = match options.get_socket() {
            Some(directory) => directory.to_string_lossy().into_owned(),
            None => options.get_host().to_owned(),
        };
        let tls = match options.get_ssl_mode() {
            PgSslMode::Disable => Tls::Disable,
            PgSslMode::Allow | PgSslMode::Prefer if connect::is_loopback(&host) => Tls::Disable,
            PgSslMode::Allow | PgSslMode::Prefer | PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => {
                Tls::VerifyFull
            }
        };
        let mode = connect::ssl_mode(&host, tls).map_err(AdminError::Url)?;
        let port = options.get_port();
        let name = options.get_application_name().unwrap_or("countersign-admin").to_owned();
        let place =
            format!("the database {} at {host}:{port}", options.get_database().unwrap_or(options.get_username()));
        let options = connect::at(options, &host, port).ssl_mode(mode).application_name(&name).options([
            ("idle_in_transaction_session_timeout", "60s"),
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
        ]);
        Ok(Self { options, certificates: certificates(url)?, place, needs: Needs::Unsaid })
    }

    /// The same, for what only some may do.
    #[must_use]
    pub fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// The database and its address, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Connects.
    pub async fn connect(&self) -> Result<PgConnection, AdminError> {
        self.try_connect().await.map_err(|error| self.error("connecting", Step::Connect, &error))
    }

    pub(crate) async fn try_connect(&self) -> Result<PgConnection, sqlx::Error> {
        timeout(CONNECT, dial::connect(self.options.clone(), &self.certificates)).await.unwrap_or_else(|_| {
            Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {CONNECT:?}"))))
        })
    }

    /// What an error of a statement means for the operator.
    pub(crate) fn refused(&self, operation: &'static str) -> impl Fn(sqlx::Error) -> AdminError {
        move |error| self.error(operation, Step::Version, &error)
    }

    pub(crate) fn error(&self, operation: &'static str, step: Step, error: &sqlx::Error) -> AdminError {
        let place = self.place.clone();
        let mut cause = failure::cause(error);
        if let Some(hint) =
            error.as_database_error().and_then(|answer| answer.try_downcast_ref::<PgDatabaseError>()?.hint())
        {
            cause = format!("{cause}. {hint}");
        }
        match failure::failure_of(step, error) {
            Failure::Offline
            | Failure::Transient
            | Failure::Refused(Problem::Tls | Problem::BadPassword | Problem::NoDatabase) => {
                AdminError::Unreachable { place, cause }
            }
            _ if step != Step::Connect && lacks_right(error) => {
                let cause = cause + self.needs.hint();
                AdminError::Refused { operation, place, cause }
            }
            failure
                if step != Step::Connect && (failure == Failure::Refused(Problem::NoSchema) || lacks_table(error)) =>
            {
                let cause =
                    format!("{cause}. Run `countersign-admin migrate` first, and connect as the owner of the schema");
                AdminError::Refused { operation, place, cause }
            }
            _ => AdminError::Refused { operation, place, cause },
        }
    }
}

/// The files that the URL names, or the surroundings: sqlx reads them too, but does not say what it read.
fn certificates(url: &str) -> Result<Certificates, AdminError> {
    let url = Url::parse(url).map_err(|error| AdminError::Url(error.to_string()))?;
    let file = |names: &[&str], variable: &str| {
        let named = url.query_pairs().filter(|(name, _)| names.contains(&&**name)).last();
        let named = named.map(|(_, path)| path.into_owned()).or_else(|| env::var(variable).ok());
        match named {
            // It could be the key itself, so that it is not repeated.
            Some(text) if text.trim_start().starts_with("-----BEGIN") => {
                Err(AdminError::Url(format!("{} names a file, and does not hold what is in it", names[0])))
            }
            other => Ok(other.filter(|path| !path.is_empty()).map(PathBuf::from)),
        }
    };
    Ok(Certificates {
        root: file(&["sslrootcert", "ssl-root-cert", "ssl-ca"], "PGSSLROOTCERT")?,
        client: file(&["sslcert", "ssl-cert"], "PGSSLCERT")?,
        key: file(&["sslkey", "ssl-key"], "PGSSLKEY")?,
    })
}

fn lacks_table(error: &sqlx::Error) -> bool {
    has_code(error, "42P01")
}

pub(crate) fn lacks_right(error: &sqlx::Error) -> bool {
    has_code(error, "42501")
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_never_crossed_in_the_clear() {
        for (url, expected) in [
            ("postgres://o:secret@db.example.com/close", Some(PgSslMode::VerifyFull)),
            ("postgres://o:secret@db.example.com/close?sslmode=prefer", Some(PgSslMode::VerifyFull)),
            ("postgres://o:secret@db.example.com/close?sslmode=require", Some(PgSslMode::VerifyFull)),
            ("postgres://o:secret@db.example.com/close?sslmode=verify-ca", Some(PgSslMode::VerifyFull)),
            ("postgres://o:secret@db.example.com/close?sslmode=disable", None),
            ("postgres://o:secret@localhost/close", Some(PgSslMode::Disable)),
            ("postgres://o:secret@[::1]:5499/close", Some(PgSslMode::Disable)),
            ("postgres://o:secret@127.0.0.1/close?sslmode=require", Some(PgSslMode::VerifyFull)),
            ("postgres:///close?host=/tmp&user=o&password=secret", Some(PgSslMode::Disable)),
        ] {
            let database = Database::from_url(url);
            let shown = database.as_ref().map_or_else(ToString::to_string, |database| database.place().to_owned());
            assert!(!shown.contains("secret") && !format!("{database:?}").contains("secret"), "{shown}");
            let mode = database.ok().map(|database| format!("{:?}", database.options.get_ssl_mode()));
            assert_eq!(mode, expected.map(|mode| format!("{mode:?}")), "{url}");
        }
    }

    #[test]
    fn the_certificates_of_a_url_are_files() {
        let url = "postgres://o@db/close?sslcert=/etc/o%20o.pem&sslkey=/etc/o.key&sslrootcert=/etc/ca.pem";
        let named = certificates(url).expect("files");
        let file = |path: &str| Some(PathBuf::from(path));
        let all = (file("/etc/ca.pem"), file("/etc/o o.pem"), file("/etc/o.key"));
        assert_eq!((named.root, named.client, named.key), all);
        let error =
            certificates("postgres://o@db/close?sslkey=-----BEGIN%20PRIVATE%20KEY-----secret").expect_err("no file");
        assert!(error.to_string().contains("sslkey") && !error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn a_url_that_is_none_is_refused_without_being_repeated() {
        for url in [
            "",
            "secret",
            "postgres://o:secret@db:x/close",
            "postgres://o:secret@db/close?sslmode=maybe",
            "mysql://o:secret@db/close",
            "o:secret@db/close",
        ] {
            let error = Database::from_url(url).expect_err("no URL");
            assert!(!error.to_string().contains("secret"), "{error}");
            assert_eq!(error.exit_code(), 2);
            assert_eq!(url.contains("postgres") || !url.contains('@'), !error.to_string().contains("not PostgreSQL's"));
        }
        assert!(Database::from_url("postgresql://o@localhost/close").is_ok());
    }
}
