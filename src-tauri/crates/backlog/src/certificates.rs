//! The files with which server and client prove who they are.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use secrecy::{ExposeSecret as _, SecretBox};
use sqlx::postgres::PgConnectOptions;

/// The most that a file of certificates may hold, in bytes.
const PEM_BYTES: u64 = 1024 * 1024;

/// Where they are. All are PEM files, and none is read before a connection is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certificates {
    /// Authorities that are trusted besides the system's, and their lists of revoked certificates.
    pub root: Option<PathBuf>,
    /// What the login is proved with; only together with `key`.
    pub client: Option<PathBuf>,
    /// The key of `client`, which nobody else may be able to read.
    pub key: Option<PathBuf>,
}

/// What the files held: read once, so that sqlx gets what the server was asked with.
pub(crate) struct Proofs {
    root: Vec<u8>,
    client: Option<(Vec<u8>, SecretBox<Vec<u8>>)>,
}

impl Proofs {
    /// Reads the files. Fails, and names the file, if one is missing, is none, or if a key lies open. sqlx would take a missing file
    /// for a lost connection, an empty one for none, and does not look at who may read a key.
    pub(crate) fn read(certificates: &Certificates) -> Result<Self, String> {
        let root = match &certificates.root {
            Some(path) => certificate("the root certificate", path)?,
            None => Vec::new(),
        };
        let client = match (&certificates.client, &certificates.key) {
            (None, None) => None,
            (Some(client), Some(path)) => Some((certificate("the client certificate", client)?, key(path)?)),
            (Some(_), None) => return Err("the client certificate has no key; name both or none".to_owned()),
            (None, Some(_)) => return Err("the client key has no certificate; name both or none".to_owned()),
        };
        Ok(Self { root, client })
    }

    /// Hands them to sqlx, also where there are none: otherwise it would take a root certificate from the surroundings.
    pub(crate) fn give_to(&self, options: PgConnectOptions) -> PgConnectOptions {
        let options = options.ssl_root_cert_from_pem(self.root.clone());
        match &self.client {
            Some((client, key)) => {
                options.ssl_client_cert_from_pem(client).ssl_client_key_from_pem(key.expose_secret())
            }
            None => options,
        }
    }

    /// The rules of TLS: the ones that sqlx makes of the same files, and no certificate that is on a list of revoked ones, which sqlx
    /// does not look at.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, rustls::Error> {
        let mut roots = RootCertStore::empty();
        // One that cannot be read is one that is not trusted, and then that is what is said of the server.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for authority in parsed::<CertificateDer<'_>>(&self.root)? {
            roots.add(authority)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // What is known to be revoked is refused; most authorities publish no list, so that not being listed anywhere is no fault.
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .with_crls(parsed(&self.root)?)
            .allow_unknown_revocation_status()
            .build()
            .map_err(|error| rustls::Error::General(format!("a list of revoked certificates: {error}")))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_webpki_verifier(verifier);
        match &self.client {
            Some((client, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key.expose_secret())
                    .map_err(|error| rustls::Error::General(format!("the client key: {error}")))?;
                config.with_client_auth_cert(parsed(client)?, key)
            }
            None => Ok(config.with_no_client_auth()),
        }
    }
}

fn parsed<T: PemObject>(pem: &[u8]) -> Result<Vec<T>, rustls::Error> {
    T::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| rustls::Error::General(format!("a certificate's file: {error}")))
}

fn certificate(what: &str, path: &Path) -> Result<Vec<u8>, String> {
    let (pem, _) = contents(path).map_err(|error| format!("{what} {} cannot be read: {error}", path.display()))?;
    match CertificateDer::pem_slice_iter(&pem).next() {
        Some(Ok(_)) => Ok(pem),
        Some(Err(error)) => Err(format!("{what} {} is damaged: {error}", path.display())),
        None => Err(format!("{what} {} holds no certificate in PEM", path.display())),
    }
}

fn key(path: &Path) -> Result<SecretBox<Vec<u8>>, String> {
    let (pem, metadata) =
        contents(path).map_err(|error| format!("the client key {} cannot be read: {error}", path.display()))?;
    let pem = SecretBox::new(Box::new(pem));
    if lies_open(&metadata) {
        return Err(format!("the client key {} can be read by others; run `chmod 600` on it", path.display()));
    }
    // The parser's error could quote the key.
    PrivateKeyDer::from_pem_slice(pem.expose_secret())
        .map_err(|_| format!("the client key {} holds no key in PEM without a password", path.display()))?;
    Ok(pem)
}

fn contents(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let file = File::open(path)?;
    // Of the file that is read, and not of one that has come in its place meanwhile.
    let metadata = file.metadata()?;
    let mut pem = Vec::new();
    file.take(PEM_BYTES + 1).read_to_end(&mut pem)?;
    if pem.len() as u64 > PEM_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it holds more than {PEM_BYTES} bytes")));
    }
    Ok((pem, metadata))
}

/// PostgreSQL's own rule: the owner only, but a key that the system's administrator owns may be lent to a group.
#[cfg(unix)]
fn lies_open(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    metadata.mode() & others != 0
}

/// Who may read a file is not told by its mode elsewhere.
#[cfg(not(unix))]
fn lies_open(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_none_is_named() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "nothing").expect("a writable file");
        let refused = |certificates: &Certificates| Proofs::read(certificates).err().unwrap_or_default();
        let root = |path: &Path| Certificates { root: Some(path.to_owned()), ..Certificates::default() };
        assert!(refused(&root(&empty)).contains("empty.pem holds no certificate in PEM"));
        assert!(refused(&root(Path::new("/nonexistent/ca.pem"))).contains("/nonexistent/ca.pem cannot be read"));
        let alone = Certificates { client: Some(empty.clone()), ..Certificates::default() };
        assert!(refused(&alone).contains("both or none"));
        let alone = Certificates { key: Some(empty), ..Certificates::default() };
        assert!(refused(&alone).contains("both or none"));
        assert_eq!(refused(&Certificates::default()), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_may_read_is_refused_and_never_quoted() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("key.pem");
        std::fs::write(&path, "-----BEGIN PRIVATE KEY-----\n?canary?\n-----END PRIVATE KEY-----\n")
            .expect("a writable file");
        for (mode, words) in
            [(0o644, "can be read by others"), (0o604, "can be read by others"), (0o600, "holds no key")]
        {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a file of one's own");
            let error = key(&path).err().unwrap_or_default();
            assert!(error.contains(words) && !error.contains("canary"), "{mode:o}: {error}");
        }
    }
}
