//! Making a connection on which no password leaves unless it is safe.

use std::sync::Arc;

use rustls::ClientConfig;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{Connection as _, PgConnection};

use crate::certificates::{Certificates, Proofs};
use crate::probe;

/// Asks the server how it logs this user in, and logs in if the answer is one under which no password leaves readable.
///
/// sqlx would do as a server asks, and send the password in the clear or as MD5; it has no setting against that. So each connection
/// is preceded by another one that goes as far as the server's question and no further. What cannot be covered this way: a server
/// that asks for SCRAM the first time and for less the second. To do so it has to hold a certificate that passes for the host, or to
/// have taken the place of PostgreSQL's socket or port on this machine. Whatever else the first connection meets, no answer
/// included, is an error too, and there is no second one.
///
/// The caller bounds how long both may take together.
pub async fn connect(options: PgConnectOptions, certificates: &Certificates) -> Result<PgConnection, sqlx::Error> {
    let (options, tls) = if matches!(options.get_ssl_mode(), PgSslMode::Disable) {
        (options, None)
    } else {
        let (proofs, config) = read(certificates.clone()).await?;
        (proofs.give_to(options), Some(Arc::new(config)))
    };
    probe::ask(&options, tls).await?;
    PgConnection::connect_with(&options).await
}

/// On a thread of its own: the system's authorities are some hundred files.
pub(crate) async fn read(certificates: Certificates) -> Result<(Proofs, ClientConfig), sqlx::Error> {
    let read = tokio::task::spawn_blocking(move || {
        let proofs = Proofs::read(&certificates)?;
        let config = proofs.client_config().map_err(|error| error.to_string())?;
        Ok::<_, String>((proofs, config))
    });
    read.await.map_err(|_| sqlx::Error::WorkerCrashed)?.map_err(|reason| sqlx::Error::Tls(reason.into()))
}
