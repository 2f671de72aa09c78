//! Asking a server how it would log somebody in, without answering.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The longest first message of a server, in bytes: a question, or an error with its text.
const MESSAGE_BYTES: usize = 64 * 1024;
/// A message's tag and length.
const HEADER_BYTES: usize = 5;

/// Goes as far as the server's question and hangs up. Fails if the question is one that would have a password sent readable, and
/// with whatever else keeps the server from asking.
///
/// With `tls`, nothing but the wish for TLS leaves before the server has proved who it is. Without it, `options` lead to this machine.
pub(crate) async fn ask(options: &PgConnectOptions, tls: Option<Arc<ClientConfig>>) -> Result<(), sqlx::Error> {
    if let Some(directory) = options.get_socket() {
        return ask_socket(directory, options).await;
    }
    let stream = TcpStream::connect((options.get_host(), options.get_port())).await?;
    match tls {
        Some(config) => question(encrypted(stream, options.get_host(), config).await?, options).await,
        None => question(stream, options).await,
    }
}

#[cfg(unix)]
async fn ask_socket(directory: &std::path::Path, options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let path = directory.join(format!(".s.PGSQL.{}", options.get_port()));
    question(tokio::net::UnixStream::connect(path).await?, options).await
}

#[cfg(not(unix))]
async fn ask_socket(_: &std::path::Path, _: &PgConnectOptions) -> Result<(), sqlx::Error> {
    Err(sqlx::Error::Io(std::io::ErrorKind::Unsupported.into()))
}

/// Speaks TLS with whoever proves to be the host.
pub(crate) async fn encrypted(
    mut stream: TcpStream,
    host: &str,
    config: Arc<ClientConfig>,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, sqlx::Error> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| sqlx::Error::Tls(error.into()))?;
    let mut wish = BytesMut::new();
    frontend::ssl_request(&mut wish);
    stream.write_all(&wish).await?;
    // One byte and no more, so that whatever was put behind it in the clear is read as TLS and fails.
    match stream.read_u8().await? {
        b'S' => Ok(TlsConnector::from(config).connect(name, stream).await?),
        b'N' => Err(sqlx::Error::Tls("the server offers no TLS".into())),
        other => Err(sqlx::Error::Protocol(format!("the server answered the wish for TLS with byte {other:#04x}"))),
    }
}

async fn question(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    options: &PgConnectOptions,
) -> Result<(), sqlx::Error> {
    let user = options.get_username();
    let mut start = BytesMut::new();
    let parameters = [
        ("user", user),
        ("database", options.get_database().unwrap_or(user)),
        ("application_name", options.get_application_name().unwrap_or_default()),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(parameters, &mut start)?;
    stream.write_all(&start).await?;
    stream.flush().await?;
    let verdict = judge(first_message(&mut stream).await?);
    // A server that does not hear the goodbye notices the closed connection.
    let mut goodbye = BytesMut::new();
    if verdict.is_ok() {
        frontend::terminate(&mut goodbye);
    }
    let _ = stream.write_all(&goodbye).await;
    let _ = stream.shutdown().await;
    verdict
}

async fn first_message(stream: &mut (impl AsyncRead + Unpin)) -> Result<Message, sqlx::Error> {
    let mut message = BytesMut::zeroed(HEADER_BYTES);
    stream.read_exact(&mut message).await?;
    // The length counts itself and not the tag.
    let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES {
        return Err(sqlx::Error::Protocol(format!("the server's first message has {length} bytes")));
    }
    message.resize(length.saturating_add(1).max(HEADER_BYTES), 0);
    stream.read_exact(&mut message[HEADER_BYTES..]).await?;
    let message = Message::parse(&mut message)?;
    message.ok_or_else(|| sqlx::Error::Protocol("the server's first message is cut short".to_owned()))
}

fn judge(message: Message) -> Result<(), sqlx::Error> {
    match message {
        // A certificate, the socket's owner or nothing at all was proof enough: no password is sent.
        Message::AuthenticationOk => Ok(()),
        Message::AuthenticationSasl(offer) => {
            let mechanisms: Vec<&str> = offer.mechanisms().collect()?;
            if mechanisms.iter().any(|mechanism| ["SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"].contains(mechanism)) {
                return Ok(());
            }
            Err(refused(&format!("to log in by {}", mechanisms.join(", "))))
        }
        Message::AuthenticationCleartextPassword => Err(refused("for the password in the clear")),
        Message::AuthenticationMd5Password(_) => Err(refused("for the password as MD5")),
        Message::AuthenticationGss => Err(refused("to log in by GSSAPI")),
        Message::AuthenticationSspi => Err(refused("to log in by SSPI")),
        Message::AuthenticationKerberosV5 => Err(refused("to log in by Kerberos")),
        Message::AuthenticationScmCredential => Err(refused("to log in by SCM credentials")),
        Message::ErrorResponse(body) => Err(answered(&body)?),
        _ => Err(sqlx::Error::Protocol("the server began with something else than a login".to_owned())),
    }
}

fn refused(asked: &str) -> sqlx::Error {
    let reason = format!(
        "the server asks {asked}; Countersign logs in by SCRAM-SHA-256 only. Ask the administrator of the database for \
         scram-sha-256 in pg_hba.conf"
    );
    sqlx::Error::Tls(reason.into())
}

/// An error that the server answered with, like the ones that sqlx reads.
#[derive(Debug)]
struct Answered {
    code: String,
    message: String,
}

fn answered(body: &ErrorResponseBody) -> Result<sqlx::Error, sqlx::Error> {
    let mut answered = Answered { code: String::new(), message: String::new() };
    let mut fields = body.fields();
    while let Some(field) = fields.next()? {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => answered.code = text(),
            b'M' => answered.message = text(),
            _ => {}
        }
    }
    Ok(sqlx::Error::Database(Box::new(answered)))
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Answered {}

impl DatabaseError for Answered {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.code))
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

#[cfg(test)]
mod tests;
