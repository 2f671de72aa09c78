//! What TLS says of the other side, in words.

use chrono::DateTime;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError};

/// How many of a certificate's names are said.
const NAMES_SHOWN: usize = 5;

/// Says what is wrong with the server's certificate, or with ours.
pub(super) fn in_words(error: &rustls::Error) -> String {
    use AlertDescription as Alert;
    match error {
        rustls::Error::InvalidCertificate(verdict) => of_certificate(verdict),
        rustls::Error::AlertReceived(Alert::CertificateRequired) => {
            "the server asks for a client certificate; name one and its key in the profile".to_owned()
        }
        rustls::Error::AlertReceived(
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => format!("the server does not accept the client certificate ({error})"),
        _ => error.to_string(),
    }
}

fn of_certificate(verdict: &CertificateError) -> String {
    match verdict {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the server's certificate expired on {}", day(*not_after))
        }
        CertificateError::Expired => "the server's certificate has expired".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the server's certificate is valid from {} on, which is not yet, or this machine's clock is slow",
            day(*not_before)
        ),
        CertificateError::NotValidYet => {
            "the server's certificate is not valid yet, or this machine's clock is slow".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            format!("the server's certificate is for {}, not for {}", names(presented), expected.to_str())
        }
        CertificateError::NotValidForName => "the server's certificate is for another host".to_owned(),
        CertificateError::UnknownIssuer => {
            "the server's certificate is issued by an authority that is not trusted here; name its root certificate"
                .to_owned()
        }
        CertificateError::Revoked => "the server's certificate has been revoked".to_owned(),
        other => format!("the server's certificate does not count: {other}"),
    }
}

fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, 0)
        .map_or_else(|| "a day out of range".to_owned(), |time| time.format("%F").to_string())
}

/// They come as `DnsName("db.example.com")` and `IpAddress(10.0.0.1)`.
fn names(presented: &[String]) -> String {
    let mut names: Vec<&str> = presented
        .iter()
        .take(NAMES_SHOWN)
        .map(|name| {
            let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
            inner.trim_matches('"')
        })
        .collect();
    if presented.len() > NAMES_SHOWN {
        names.push("others");
    }
    if names.is_empty() { "no host".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn a_verdict_names_the_names_and_the_days() {
        let at = |days: u64| UnixTime::since_unix_epoch(Duration::from_hours(24 * days));
        let expected = ServerName::try_from("db.example.com").expect("a name");
        let cases = [
            (
                CertificateError::NotValidForNameContext {
                    expected: expected.clone(),
                    presented: vec!["DnsName(\"other.example.com\")".into(), "IpAddress(10.0.0.1)".into()],
                },
                "is for other.example.com, 10.0.0.1, not for db.example.com",
            ),
            (
                CertificateError::NotValidForNameContext { expected, presented: vec![] },
                "is for no host, not for db.example.com",
            ),
            (CertificateError::ExpiredContext { time: at(20_000), not_after: at(0) }, "expired on 1970-01-01"),
            (CertificateError::NotValidYetContext { time: at(0), not_before: at(1) }, "valid from 1970-01-02 on"),
            (CertificateError::UnknownIssuer, "an authority that is not trusted"),
            (CertificateError::Revoked, "revoked"),
        ];
        for (verdict, words) in cases {
            let said = in_words(&rustls::Error::InvalidCertificate(verdict));
            assert!(said.contains(words), "{said}");
        }
    }
}
