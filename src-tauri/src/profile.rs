//! What a profile may say, and where its journal is.

use std::path::{Path, PathBuf};

use countersign_backlog::connect::{is_loopback, is_socket_directory};
use countersign_backlog::{Target, Tls};
use countersign_wire::{CommandError, Profile, TlsMode};

use crate::args::short_hash;

/// The longest name of a profile, in characters.
const NAME_CHARS: usize = 80;
/// The longest host name there can be, in bytes.
const HOST_BYTES: usize = 253;
/// PostgreSQL cuts longer names of databases and logins without a word.
const IDENTIFIER_BYTES: usize = 63;
/// How much of a profile's name its directory shows.
const SLUG_CHARS: usize = 32;

/// Refuses a profile that could not be connected with, or not safely.
pub(crate) fn check(profile: &Profile) -> Result<(), CommandError> {
    text("name", &profile.name, NAME_CHARS * 4)?;
    if profile.name.chars().count() > NAME_CHARS {
        return Err(refused("name", &format!("expected at most {NAME_CHARS} characters")));
    }
    text("host", &profile.host, HOST_BYTES)?;
    if !is_socket_directory(&profile.host) && profile.host.contains([' ', '/', '@', ',']) {
        return Err(refused("host", "expected one name or address, or the absolute path of a socket's directory"));
    }
    if profile.port == 0 {
        return Err(refused("port", "expected 1 to 65535"));
    }
    text("database", &profile.database, IDENTIFIER_BYTES)?;
    text("user", &profile.user, IDENTIFIER_BYTES)?;
    let within_this_machine = is_socket_directory(&profile.host) || is_loopback(&profile.host);
    if profile.tls == TlsMode::Disable && !within_this_machine {
        return Err(refused(
            "TLS mode",
            "a connection without TLS is accepted to this machine only (a socket, localhost, 127.0.0.0/8, ::1); verify the certificate",
        ));
    }
    for (field, file) in [
        ("root certificate", &profile.root_certificate),
        ("client certificate", &profile.client_certificate),
        ("client key", &profile.client_key),
    ] {
        if let Some(file) = file {
            pem_file(field, file)?;
        }
    }
    // Who may read the key is looked at when it is used, by which time that may have changed.
    match (&profile.client_certificate, &profile.client_key) {
        (Some(_), None) => return Err(refused("client certificate", "its key is missing; name both or none")),
        (None, Some(_)) => return Err(refused("client key", "its certificate is missing; name both or none")),
        _ => {}
    }
    Ok(())
}

/// Where it leads to.
pub(crate) fn target(profile: &Profile) -> Target {
    Target {
        host: profile.host.clone(),
        port: profile.port,
        database: profile.database.clone(),
        user: profile.user.clone(),
        tls: match profile.tls {
            TlsMode::VerifyFull => Tls::VerifyFull,
            TlsMode::Disable => Tls::Disable,
        },
        root_certificate: profile.root_certificate.as_ref().map(PathBuf::from),
        client_certificate: profile.client_certificate.as_ref().map(PathBuf::from),
        client_key: profile.client_key.as_ref().map(PathBuf::from),
        application_name: format!("countersign {}", env!("CARGO_PKG_VERSION")),
    }
}

/// A profile has a journal of its own: what was decided for one database is never sent to another.
pub(crate) fn journal(data_dir: &Path, profile: &str) -> PathBuf {
    data_dir.join(slug(profile)).join("journal.db")
}

/// A directory's name: readable, and another one for each name, also where the file system ignores case.
pub(crate) fn slug(name: &str) -> String {
    let readable: String = name
        .chars()
        .take(SLUG_CHARS)
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    format!("{readable}-{}", short_hash(name))
}

fn pem_file(field: &str, file: &str) -> Result<(), CommandError> {
    text(field, file, 4_096)?;
    let path = Path::new(file);
    if !path.is_absolute() {
        return Err(refused(field, "expected the whole path of a PEM file, from the root on"));
    }
    if !path.is_file() {
        return Err(refused(field, &format!("there is no file {file}")));
    }
    Ok(())
}

fn text(field: &str, value: &str, bytes: usize) -> Result<(), CommandError> {
    if value.trim().is_empty() {
        return Err(refused(field, "it is missing"));
    }
    if value.trim() != value {
        return Err(refused(field, "it begins or ends with a space"));
    }
    if value.len() > bytes {
        return Err(refused(field, &format!("expected at most {bytes} bytes, found {}", value.len())));
    }
    if value.chars().any(char::is_control) {
        return Err(refused(field, "it holds a control character"));
    }
    Ok(())
}

fn refused(field: &str, reason: &str) -> CommandError {
    CommandError { code: "PROFILE_REFUSED".into(), message: format!("The {field} cannot be used: {reason}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file there is: what is in it is looked at when it is used.
    fn here() -> Option<String> {
        let program = std::env::current_exe().expect("the test's own program");
        program.to_str().map(str::to_owned)
    }

    fn good() -> Profile {
        Profile {
            name: "Month-end close".into(),
            host: "ledger.example.com".into(),
            port: 5432,
            database: "close".into(),
            user: "alice".into(),
            tls: TlsMode::VerifyFull,
            root_certificate: None,
            client_certificate: None,
            client_key: None,
        }
    }

    #[test]
    fn what_cannot_be_connected_with_is_refused_in_words() {
        assert_eq!(check(&good()), Ok(()));
        assert_eq!(check(&Profile { client_certificate: here(), client_key: here(), ..good() }), Ok(()));
        let cases: [(Profile, &str); 16] = [
            (Profile { name: "  ".into(), ..good() }, "name"),
            (Profile { name: "n".repeat(81), ..good() }, "80 characters"),
            (Profile { host: String::new(), ..good() }, "host"),
            (Profile { host: "a,b".into(), ..good() }, "one name"),
            (Profile { host: "h\u{7}".into(), ..good() }, "control character"),
            (Profile { port: 0, ..good() }, "1 to 65535"),
            (Profile { database: "d".repeat(64), ..good() }, "63 bytes"),
            (Profile { user: " alice".into(), ..good() }, "space"),
            (Profile { user: "a\nb".into(), ..good() }, "control character"),
            (Profile { tls: TlsMode::Disable, ..good() }, "this machine only"),
            (Profile { root_certificate: Some("ca.pem".into()), ..good() }, "whole path"),
            (Profile { root_certificate: Some("/nonexistent/ca.pem".into()), ..good() }, "/nonexistent/ca.pem"),
            (Profile { client_certificate: Some("me.pem".into()), ..good() }, "client certificate"),
            (Profile { client_key: Some("/nonexistent/me.key".into()), ..good() }, "/nonexistent/me.key"),
            (Profile { client_certificate: here(), ..good() }, "its key is missing"),
            (Profile { client_key: here(), ..good() }, "its certificate is missing"),
        ];
        for (profile, words) in cases {
            let error = check(&profile).expect_err(words);
            assert!(error.message.contains(words), "{}", error.message);
        }
    }

    #[test]
    fn a_profile_of_an_older_release_is_read_and_checks_the_name_too() {
        let written = r#"{"name": "c", "host": "h", "port": 1, "database": "d", "user": "u", "tls": "verify-ca", "root_certificate": null}"#;
        let profile: Profile = serde_json::from_str(written).expect("a profile");
        assert_eq!((profile.tls, profile.client_certificate, profile.client_key), (TlsMode::VerifyFull, None, None));
    }

    #[test]
    fn within_this_machine_tls_may_be_off() {
        for host in ["localhost", "127.0.0.1", "::1", "/var/run/postgresql"] {
            assert_eq!(check(&Profile { host: host.into(), tls: TlsMode::Disable, ..good() }), Ok(()), "{host}");
        }
    }

    #[test]
    fn each_name_has_a_directory_of_its_own_that_any_file_system_can_hold() {
        let names = ["Close", "close", "close/2026", "close 2026", "../close", "決算", "締め", &"n".repeat(80)];
        let mut slugs: Vec<String> = names.iter().map(|name| slug(name).to_lowercase()).collect();
        for slug in &slugs {
            assert!(slug.len() <= 64 && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{slug}");
        }
        slugs.sort();
        slugs.dedup();
        assert_eq!(slugs.len(), names.len());
    }
}
