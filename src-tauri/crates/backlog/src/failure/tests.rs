use std::io;

use countersign_engine::port::{Failure, Problem};

use super::{Step, explain, failure_of, sqlstate};
use crate::connect::{Target, Tls};

fn target() -> Target {
    Target {
        host: "db.example.com".into(),
        port: 5432,
        database: "close".into(),
        user: "alice".into(),
        tls: Tls::VerifyFull,
        root_certificate: None,
        client_certificate: None,
        client_key: None,
        application_name: "countersign".into(),
    }
}

#[test]
fn every_sqlstate_has_its_failure() {
    use Failure::{Offline, Refused, Structural, Transient};
    let cases: &[(&[&str], Failure)] = &[
        (&["28P01", "28000"], Refused(Problem::BadPassword)),
        (&["3D000"], Refused(Problem::NoDatabase)),
        (&["3F000", "42883"], Refused(Problem::NoSchema)),
        (&["CS001", "42501"], Refused(Problem::NotAReviewer)),
        (&["CS002"], Refused(Problem::UnknownWorkstation)),
        (&["25006", "40001", "40P01", "55P03", "57014", "57P03"], Transient),
        (&["53000", "53100", "53200", "53300", "58000", "58030"], Transient),
        (&["08000", "08003", "08006", "08P01", "57P01", "57P02", "57P04", "57P05", "40003", "26000", "42P05"], Offline),
        (&["22023", "22P02", "23505", "42P01", "54000", "0A000", "P0001", "XX000", "CS999", "", "é"], Structural),
    ];
    for (codes, failure) in cases {
        for code in *codes {
            assert_eq!(sqlstate(Step::Call, code, "message"), *failure, "{code}");
        }
    }
}

#[test]
fn a_refused_right_means_the_schema_before_the_first_call_and_the_reviewer_after_it() {
    assert_eq!(sqlstate(Step::Connect, "42501", ""), Failure::Refused(Problem::NoSchema));
    assert_eq!(sqlstate(Step::Version, "42501", ""), Failure::Refused(Problem::NoSchema));
    assert_eq!(sqlstate(Step::Call, "42501", ""), Failure::Refused(Problem::NotAReviewer));
}

#[test]
fn a_statement_whose_plan_is_outdated_is_tried_again() {
    assert_eq!(sqlstate(Step::Call, "0A000", "cached plan must not change result type"), Failure::Transient);
}

#[test]
fn a_lost_connection_is_offline_and_a_bad_certificate_is_not() {
    for kind in [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::BrokenPipe,
        io::ErrorKind::UnexpectedEof,
        io::ErrorKind::NotFound,
        io::ErrorKind::InvalidData,
    ] {
        assert_eq!(failure_of(Step::Call, &sqlx::Error::Io(kind.into())), Failure::Offline, "{kind}");
    }
    for error in [
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer),
        rustls::Error::InvalidCertificate(rustls::CertificateError::Expired),
        rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired),
    ] {
        let error = sqlx::Error::Io(io::Error::new(io::ErrorKind::InvalidData, error));
        assert_eq!(failure_of(Step::Connect, &error), Failure::Refused(Problem::Tls), "{error}");
    }
    let broken = sqlx::Error::Io(io::Error::new(io::ErrorKind::InvalidData, rustls::Error::DecryptError));
    assert_eq!(failure_of(Step::Call, &broken), Failure::Offline);
    assert_eq!(
        failure_of(Step::Call, &sqlx::Error::Tls("server does not support TLS".into())),
        Failure::Refused(Problem::Tls)
    );
    assert_eq!(failure_of(Step::Call, &sqlx::Error::Protocol("unexpected".into())), Failure::Offline);
    assert_eq!(failure_of(Step::Call, &sqlx::Error::RowNotFound), Failure::Structural);
}

#[test]
fn a_message_names_the_place_and_the_cause() {
    let expired = rustls::Error::InvalidCertificate(rustls::CertificateError::Expired);
    let error = sqlx::Error::Io(io::Error::new(io::ErrorKind::InvalidData, expired));
    let explained = explain("lease", &target(), Step::Connect, &error);
    assert_eq!(explained.code(), "TLS");
    assert!(explained.message.contains("close at db.example.com:5432"), "{explained}");
    assert!(explained.message.contains("certificate has expired"), "{explained}");
    let error = sqlx::Error::Io(io::ErrorKind::ConnectionRefused.into());
    let explained = explain("lease", &target(), Step::Connect, &error);
    assert_eq!(explained.code(), "UNREACHABLE");
    assert!(explained.message.contains("connection refused"), "{explained}");
}
