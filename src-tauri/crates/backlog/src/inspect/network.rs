//! Finding the server, reaching it, and having it prove who it is.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use countersign_engine::port::{Failure, Problem};
use rustls::pki_types::CertificateDer;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::Instant;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{Bad, Good, failed, passed, warned};
use crate::connect::{Target, Tls, ssl_mode, without_brackets};
use crate::failure::{self, Step, cause};
use crate::{dial, probe};

/// How many of a name's addresses are told.
const TOLD: usize = 3;
/// A certificate that is good for less is told, so that somebody renews it in time.
const RENEW_DAYS: i64 = 30;

/// The addresses of the host; none for a socket.
pub(super) async fn name(target: &Target) -> Result<(Good, Vec<SocketAddr>), Bad> {
    let host = without_brackets(&target.host);
    if target.is_socket() {
        return Ok((passed("a socket on this machine: there is no name to look up"), Vec::new()));
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        let found = vec![SocketAddr::new(address, target.port)];
        return Ok((passed("an address: there is no name to look up"), found));
    }
    let unknown = |reason: String| {
        failed(
            format!("{host} is no name that can be found from here: {reason}"),
            "Check the host’s name, and that this computer is on the network (or VPN) that knows it.",
        )
    };
    let found = lookup_host((host, target.port)).await.map_err(|error| unknown(error.to_string()))?;
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() {
        return Err(unknown("it has no address".to_owned()));
    }
    let mut told: Vec<String> = found.iter().take(TOLD).map(|address| address.ip().to_string()).collect();
    if found.len() > TOLD {
        told.push("others".to_owned());
    }
    Ok((passed(format!("{host} is {}", told.join(", "))), found))
}

pub(super) async fn port(target: &Target, addresses: &[SocketAddr]) -> Result<(Good, ()), Bad> {
    let began = Instant::now();
    let reached = if target.is_socket() { socket(target).await } else { reach(addresses).await.map(drop) };
    match reached {
        Ok(()) => Ok((passed(format!("answers after {} ms", began.elapsed().as_millis())), ())),
        Err(error) => Err(failed(
            format!("nobody answers at {}:{}: {error}", target.host, target.port),
            "Check host and port; if they are right, PostgreSQL is not running there or a firewall is between.",
        )),
    }
}

pub(super) async fn tls(
    target: &Target,
    addresses: &[SocketAddr],
    clock: &impl Fn() -> DateTime<Utc>,
) -> Result<(Good, ()), Bad> {
    ssl_mode(&target.host, target.tls).map_err(|reason| failed(reason, "Set TLS to verify-full in the profile."))?;
    if target.is_socket() {
        return Ok((passed("not needed: a socket never leaves this machine"), ()));
    }
    if target.tls == Tls::Disable {
        return Ok((passed("switched off: what is sent never leaves this machine"), ()));
    }
    let (version, certificate) = handshake(target, addresses).await.map_err(|error| not_proved(target, &error))?;
    let Some(until) = certificate.as_ref().and_then(valid_until) else {
        return Ok((passed(format!("{version}; the certificate is good for {}", target.host)), ()));
    };
    let message = format!("{version}; the certificate is good for {} until {}", target.host, until.format("%F"));
    let days = (until - clock()).num_days();
    let good = if days < RENEW_DAYS {
        warned(message, format!("Tell whoever runs the database to renew the certificate: it has {days} days left."))
    } else {
        passed(message)
    };
    Ok((good, ()))
}

async fn handshake(
    target: &Target,
    addresses: &[SocketAddr],
) -> Result<(String, Option<CertificateDer<'static>>), sqlx::Error> {
    let (_, config) = dial::read(target.certificates()).await?;
    let stream = reach(addresses).await?;
    let stream = probe::encrypted(stream, without_brackets(&target.host), Arc::new(config)).await?;
    let (_, session) = stream.get_ref();
    let version =
        session.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS").replace("v1_", " 1.");
    let certificate =
        session.peer_certificates().and_then(|chain| chain.first()).map(|first| first.clone().into_owned());
    Ok((version, certificate))
}

fn not_proved(target: &Target, error: &sqlx::Error) -> Bad {
    let said = cause(error);
    let remedy = match failure::failure_of(Step::Connect, error) {
        Failure::Refused(Problem::Tls) => format!(
            "Ask whoever runs the database for a certificate that is good for {}, and name its authority in the profile where it is not a public one.",
            target.host
        ),
        _ => "Check host and port: what answers there may be no PostgreSQL. If it is, try again.".to_owned(),
    };
    failed(format!("the server did not prove who it is: {said}"), remedy)
}

fn valid_until(certificate: &CertificateDer<'_>) -> Option<DateTime<Utc>> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    DateTime::from_timestamp(certificate.validity().not_after.timestamp(), 0)
}

/// One of the addresses, in their order.
async fn reach(addresses: &[SocketAddr]) -> std::io::Result<TcpStream> {
    TcpStream::connect(addresses).await
}

#[cfg(unix)]
async fn socket(target: &Target) -> std::io::Result<()> {
    let path = std::path::Path::new(&target.host).join(format!(".s.PGSQL.{}", target.port));
    tokio::net::UnixStream::connect(path).await.map(drop)
}

#[cfg(not(unix))]
async fn socket(_: &Target) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
