//! Authorities and the certificates that they sign.

use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use countersign_testkit::postgres::ServerTls;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa, KeyIdMethod,
    KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

/// The number of every certificate that is going to be revoked.
const REVOKED: &[u8] = &[66];

/// A certificate and its key, in PEM.
pub(crate) struct Signed {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Signed {
    /// As a server's proof.
    pub(crate) fn of_server(&self, clients: Option<&Authority>) -> ServerTls {
        ServerTls {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            client_authority: clients.map(|authority| authority.0.pem()),
        }
    }
}

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let mut params = named(name, &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// What a profile names.
    pub(crate) fn file(&self, directory: &Path, name: &str) -> anyhow::Result<PathBuf> {
        write(directory, name, &self.0.pem(), 0o644)
    }

    /// The same with a list of revoked certificates behind it.
    pub(crate) fn file_with_revoked(&self, directory: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from_slice(REVOKED),
            revocation_time: date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 1, 1),
            next_update: date_time_ymd(2099, 1, 1),
            crl_number: SerialNumber::from_slice(&[1]),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        write(directory, name, &format!("{}{}", self.0.pem(), list.signed_by(&self.0)?.pem()?), 0o644)
    }

    /// For a server or a login.
    pub(crate) fn sign(&self, name: &str, hosts: &[&str]) -> anyhow::Result<Signed> {
        self.signed(&named(name, hosts)?)
    }

    pub(crate) fn sign_expired(&self, hosts: &[&str]) -> anyhow::Result<Signed> {
        let mut params = named("server", hosts)?;
        params.not_after = date_time_ymd(2020, 2, 29);
        self.signed(&params)
    }

    pub(crate) fn sign_revoked(&self, hosts: &[&str]) -> anyhow::Result<Signed> {
        let mut params = named("server", hosts)?;
        params.serial_number = Some(SerialNumber::from_slice(REVOKED));
        self.signed(&params)
    }

    fn signed(&self, params: &CertificateParams) -> anyhow::Result<Signed> {
        let key = KeyPair::generate()?;
        Ok(Signed { certificate: params.signed_by(&key, &self.0)?.pem(), key: key.serialize_pem() })
    }
}

fn named(name: &str, hosts: &[&str]) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>())?;
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

/// A file that is as readable as told, whatever the surroundings allow.
pub(crate) fn write(directory: &Path, name: &str, text: &str, mode: u32) -> anyhow::Result<PathBuf> {
    let path = directory.join(name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(path)
}
