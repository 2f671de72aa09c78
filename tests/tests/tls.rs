//! A server proves who it is before it hears who calls, and gets a password by SCRAM or not at all.

#[path = "tls/certificates.rs"]
mod certificates;
#[path = "tls/listener.rs"]
mod listener;

use std::path::Path;

use certificates::{Authority, write};
use chrono::{DateTime, Utc};
use countersign_admin::Database;
use countersign_backlog::inspect::{Outcome, inspect};
use countersign_backlog::{PgBacklog, Target, Tls};
use countersign_domain::id::WorkstationId;
use countersign_engine::port::{Backlog as _, BacklogError, Failure, Hello, Problem};
use countersign_testkit::postgres::{Access, PostgresOptions, PrivatePostgres};
use listener::{Behind, Listener};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;
use uuid::Uuid;

/// In clear text nowhere in what was recorded.
const PASSWORD: &str = "pw-canary";
/// The wish for TLS: 8 bytes long, 80877103.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const HOST: &str = "localhost";

/// A private server with Countersign and the reviewer alice.
struct Office {
    postgres: PrivatePostgres,
    directory: TempDir,
}

impl Office {
    async fn open() -> anyhow::Result<Self> {
        let postgres = PrivatePostgres::start(PostgresOptions::default()).await?;
        postgres.create_database("close").await?;
        let database = Database::from_url(&postgres.admin_url("close"))?;
        countersign_admin::migrate::migrate(&database).await?;
        let office = Self { postgres, directory: tempfile::tempdir()? };
        office.run(&format!("CREATE ROLE alice LOGIN PASSWORD '{PASSWORD}'")).await?;
        countersign_admin::reviewer::add(&database, "alice", None, None).await?;
        Ok(office)
    }

    async fn run(&self, statement: &str) -> anyhow::Result<()> {
        let mut admin = PgConnection::connect(&self.postgres.admin_url("close")).await?;
        admin.execute(AssertSqlSafe(statement.to_owned())).await?;
        Ok(admin.close().await?)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    async fn admit(&self, rule: &str, tls: Option<countersign_testkit::postgres::ServerTls>) -> anyhow::Result<()> {
        self.postgres.admit(&Access { rules: vec![rule.to_owned()], tls }).await
    }
}

fn target(port: u16) -> Target {
    Target {
        host: HOST.to_owned(),
        port,
        database: "close".to_owned(),
        user: "alice".to_owned(),
        tls: Tls::VerifyFull,
        root_certificate: None,
        client_certificate: None,
        client_key: None,
        application_name: "countersign".to_owned(),
    }
}

async fn hello(target: &Target, password: Option<&str>) -> Result<String, BacklogError> {
    let backlog = PgBacklog::new(target.clone(), password.map(Into::into));
    let workstation = WorkstationId(Uuid::new_v4());
    let hello = Hello { workstation, name: "desk".to_owned(), app_version: "0".to_owned(), settings: "{}".to_owned() };
    let welcome = backlog.hello(&hello).await;
    backlog.close().await;
    Ok(welcome?.reviewer)
}

/// Connects, which has to fail as unsafe, and says why.
async fn refusal(target: &Target) -> String {
    let error = hello(target, Some(PASSWORD)).await.expect_err("a connection that is not safe");
    assert_eq!((error.failure, error.code()), (Failure::Refused(Problem::Tls), "TLS"), "{error}");
    assert!(error.message.contains("is not safe and was not made") && !error.message.contains(PASSWORD), "{error}");
    error.message
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Whether it is a wish for TLS and a handshake that came to nothing.
fn is_broken_handshake(sent: &[u8]) -> bool {
    let Some(mut rest) = sent.strip_prefix(&SSL_REQUEST) else { return false };
    let mut records = 0;
    while let [kind, _, _, high, low, tail @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        // 20 to 22 are the handshake and alerts. In TLS 1.3 an alert comes as data: two bytes, one for the kind, 16 for the seal.
        if !matches!((kind, length), (20..=22, _) | (23, 19)) || tail.len() < length {
            return false;
        }
        rest = &tail[length..];
        records += 1;
    }
    rest.is_empty() && records > 0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_tls_hears_the_wish_for_it_and_nothing_else() -> anyhow::Result<()> {
    let listener = Listener::start(Behind::Script(vec![b"N".to_vec(); 8])).await?;
    let reason = refusal(&target(listener.addr.port())).await;
    assert!(reason.contains("the server offers no TLS"), "{reason}");
    assert_eq!(listener.heard(), [SSL_REQUEST]);

    let url = format!("postgres://alice:{PASSWORD}@{HOST}:{}/close?sslmode=require", listener.addr.port());
    let error = Database::from_url(&url)?.connect().await.expect_err("no TLS").to_string();
    assert!(error.contains("the server offers no TLS") && !error.contains(PASSWORD), "{error}");
    assert_eq!(listener.heard(), [SSL_REQUEST, SSL_REQUEST]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_prove_who_it_is_hears_no_name_and_no_password() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (ours, theirs) = (Authority::new("our authority")?, Authority::new("their authority")?);
    let root = Some(ours.file_with_revoked(office.path(), "ca.pem")?);
    let rule = "hostssl all all all scram-sha-256";
    for (server, words) in [
        (
            ours.sign("server", &["other.example.com"])?,
            "the server's certificate is for other.example.com, not for localhost",
        ),
        (theirs.sign("server", &[HOST])?, "issued by an authority that is not trusted"),
        (ours.sign_expired(&[HOST])?, "the server's certificate expired on 2020-02-29"),
        (ours.sign_revoked(&[HOST])?, "has been revoked"),
    ] {
        office.admit(rule, Some(server.of_server(None))).await?;
        let listener = Listener::start(Behind::Server(office.postgres.addr())).await?;
        let wrong = Target { root_certificate: root.clone(), ..target(listener.addr.port()) };
        let reason = refusal(&wrong).await;
        assert!(reason.contains(words), "{words}: {reason}");
        let heard = listener.heard();
        assert!(heard.len() == 1 && is_broken_handshake(&heard[0]), "{words}: {heard:?}");
        assert!(!holds(&heard[0], "alice") && !holds(&heard[0], PASSWORD), "{words}");
    }

    office.admit(rule, Some(ours.sign("server", &[HOST])?.of_server(None))).await?;
    let listener = Listener::start(Behind::Server(office.postgres.addr())).await?;
    let right = Target { root_certificate: root, ..target(listener.addr.port()) };
    assert_eq!(hello(&right, Some(PASSWORD)).await?, "alice");
    let untrusted = Target { root_certificate: None, ..right.clone() };
    assert!(refusal(&untrusted).await.contains("an authority that is not trusted"));
    let heard = listener.heard();
    assert!(heard.iter().all(|sent| sent.starts_with(&SSL_REQUEST) && !holds(sent, "alice") && !holds(sent, PASSWORD)));
    office.postgres.stop().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_goes_by_scram_or_not_at_all() -> anyhow::Result<()> {
    let office = Office::open().await?;
    // With an MD5 verifier the rule md5 means MD5; with the other one it means SCRAM.
    office.run("SET password_encryption = md5; CREATE ROLE old LOGIN PASSWORD 'pw-canary'").await?;
    let authority = Authority::new("our authority")?;
    let server = authority.sign("server", &[HOST])?;
    let root_certificate = Some(authority.file(office.path(), "ca.pem")?);
    for (method, words) in [("password", "in the clear"), ("md5", "as MD5")] {
        let tls = Some(server.of_server(None));
        office.admit(&format!("local all all {method}\nhost all all all {method}"), tls).await?;
        let listener = Listener::start(Behind::Server(office.postgres.addr())).await?;
        let over_tls = Target {
            user: "old".to_owned(),
            root_certificate: root_certificate.clone(),
            ..target(listener.addr.port())
        };
        let loopback = Target { host: "127.0.0.1".to_owned(), tls: Tls::Disable, ..over_tls.clone() };
        let host = office.postgres.socket_dir().display().to_string();
        let socket = Target { host, port: office.postgres.port(), ..over_tls.clone() };
        for target in [&over_tls, &loopback, &socket] {
            let reason = refusal(target).await;
            assert!(reason.contains(words) && reason.contains("SCRAM-SHA-256 only"), "{method}: {reason}");
        }
        let heard = listener.heard();
        assert_eq!(heard.len(), 2, "each hung up at the question, and came no second time");
        // Over TLS it cannot be looked into; in the clear it is the login's name and nothing behind it.
        let length = u32::from_be_bytes([heard[1][0], heard[1][1], heard[1][2], heard[1][3]]);
        assert!(holds(&heard[1], "old") && heard[1].len() == usize::try_from(length)?, "{:?}", heard[1]);

        let url = format!("postgres://old:{PASSWORD}@127.0.0.1:{}/close", listener.addr.port());
        let error = Database::from_url(&url)?.connect().await.expect_err("no SCRAM").to_string();
        assert!(error.contains(words) && !error.contains(PASSWORD), "{error}");
    }

    office.admit("local all all scram-sha-256\nhost all all all scram-sha-256", Some(server.of_server(None))).await?;
    let over_tls = Target { root_certificate, ..target(office.postgres.port()) };
    let loopback = Target { tls: Tls::Disable, ..over_tls.clone() };
    let socket = Target { host: office.postgres.socket_dir().display().to_string(), ..over_tls.clone() };
    for target in [&over_tls, &loopback, &socket] {
        assert_eq!(hello(target, Some(PASSWORD)).await?, "alice");
        let error = hello(target, Some("wrong")).await.expect_err("another password");
        assert_eq!(error.failure, Failure::Refused(Problem::BadPassword), "{error}");
    }
    office.postgres.stop().await
}

/// Were any trouble with the question passed over, whoever can cut the first connection could ask for anything on the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_up_at_the_question_is_not_logged_in_to() -> anyhow::Result<()> {
    let cleartext = [&b"R"[..], &8_u32.to_be_bytes(), &3_u32.to_be_bytes()].concat();
    let listener = Listener::start(Behind::Script(vec![Vec::new(), cleartext])).await?;
    let target = Target { tls: Tls::Disable, ..target(listener.addr.port()) };
    let error = hello(&target, Some(PASSWORD)).await.expect_err("nobody to talk to");
    assert_eq!(error.failure, Failure::Offline, "{error}");
    assert_eq!(listener.heard().len(), 1, "{error}");
    assert!(refusal(&target).await.contains("in the clear"));
    assert!(!listener.heard().iter().any(|sent| holds(sent, PASSWORD)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_is_proved_by_a_certificate_where_the_server_asks_for_one() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (ours, theirs) = (Authority::new("our authority")?, Authority::new("their authority")?);
    let server = ours.sign("server", &[HOST])?.of_server(Some(&ours));
    let root = ours.file(office.path(), "ca.pem")?;
    let with = |name: &str, signed: &certificates::Signed, mode: u32| -> anyhow::Result<Target> {
        Ok(Target {
            root_certificate: Some(root.clone()),
            client_certificate: Some(write(office.path(), &format!("{name}.pem"), &signed.certificate, 0o644)?),
            client_key: Some(write(office.path(), &format!("{name}.key"), &signed.key, mode)?),
            ..target(office.postgres.port())
        })
    };
    let alice = with("alice", &ours.sign("alice", &[])?, 0o600)?;
    let bob = with("bob", &ours.sign("bob", &[])?, 0o600)?;
    let stranger = with("stranger", &theirs.sign("alice", &[])?, 0o600)?;
    let open = with("open", &ours.sign("alice", &[])?, 0o644)?;
    let none = Target { client_certificate: None, client_key: None, ..alice.clone() };

    for (rule, password) in [
        ("hostssl all all all cert", None),
        ("hostssl all all all scram-sha-256 clientcert=verify-full", Some(PASSWORD)),
    ] {
        office.admit(rule, Some(server.clone())).await?;
        assert_eq!(hello(&alice, password).await?, "alice", "{rule}");
        for (target, words) in [(&none, "client certificate"), (&bob, "alice")] {
            let error = hello(target, password).await.expect_err("another login's certificate, or none");
            assert_eq!(error.failure, Failure::Refused(Problem::BadPassword), "{rule}: {error}");
            assert!(error.message.contains(words), "{rule}: {error}");
        }
        let reason = refusal(&stranger).await;
        assert!(reason.contains("does not accept the client certificate"), "{rule}: {reason}");
        let reason = refusal(&open).await;
        assert!(reason.contains("open.key can be read by others"), "{rule}: {reason}");
        let reason = refusal(&Target { client_key: None, ..alice.clone() }).await;
        assert!(reason.contains("both or none"), "{rule}: {reason}");
    }

    let file =
        |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let url = format!(
        "postgres://alice:{PASSWORD}@{HOST}:{}/close?sslmode=verify-full&sslrootcert={}&sslcert={}&sslkey={}",
        office.postgres.port(),
        root.display(),
        file(&alice.client_certificate),
        file(&alice.client_key),
    );
    Database::from_url(&url)?.connect().await?.close().await?;
    office.postgres.stop().await
}

/// What a reviewer is told before they rely on a connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trying_a_connection_out_tells_how_the_server_proved_itself_and_until_when_it_can() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (ours, theirs) = (Authority::new("our authority")?, Authority::new("their authority")?);
    let root_certificate = Some(ours.file(office.path(), "ca.pem")?);
    let target = Target { root_certificate, ..target(office.postgres.port()) };
    let rule = "hostssl all all all scram-sha-256";
    let password = PASSWORD.into();
    let tls = async |target: &Target, clock: fn() -> DateTime<Utc>| {
        let findings = inspect(target, Some(&password), None, clock).await;
        assert!(!format!("{findings:?}").contains(PASSWORD), "{findings:?}");
        findings
    };

    for (server, words) in [
        (ours.sign("server", &["other.example.com"])?, "is for other.example.com, not for localhost"),
        (theirs.sign("server", &[HOST])?, "an authority that is not trusted"),
        (ours.sign_expired(&[HOST])?, "expired on 2020-02-29"),
    ] {
        office.admit(rule, Some(server.of_server(None))).await?;
        let findings = tls(&target, Utc::now).await;
        let [name, port, proof, login, ..] = findings.as_slice() else { anyhow::bail!("{findings:?}") };
        assert_eq!((name.outcome, port.outcome), (Outcome::Passed, Outcome::Passed), "{findings:?}");
        assert_eq!((proof.outcome, login.outcome), (Outcome::Failed, Outcome::Skipped), "{findings:?}");
        assert!(proof.message.contains(words), "{words}: {}", proof.message);
        assert!(proof.remedy.as_deref().is_some_and(|remedy| remedy.contains("certificate")), "{proof:?}");
    }

    office.admit(rule, Some(ours.sign("server", &[HOST])?.of_server(None))).await?;
    let findings = tls(&target, Utc::now).await;
    assert_eq!(findings[2].outcome, Outcome::Passed, "{findings:?}");
    assert!(findings[2].message.contains("TLS 1.3") && findings[2].message.contains(" until "), "{findings:?}");
    assert_eq!(findings[3].outcome, Outcome::Passed, "{findings:?}");
    // The certificates here are good until 4096; twenty days before that somebody has to hear of it.
    let at_the_end = || DateTime::from_timestamp(67_088_390_400, 0).expect("a time in range");
    let findings = tls(&target, at_the_end).await;
    assert_eq!(findings[2].outcome, Outcome::Warned, "{findings:?}");
    assert!(findings[2].remedy.as_deref().is_some_and(|remedy| remedy.contains("renew")), "{findings:?}");

    office.run("SET password_encryption = md5; CREATE ROLE old LOGIN PASSWORD 'pw-canary'").await?;
    office.admit("host all all all md5", Some(ours.sign("server", &[HOST])?.of_server(None))).await?;
    let old = Target { user: "old".to_owned(), ..target };
    let findings = tls(&old, Utc::now).await;
    assert_eq!((findings[2].outcome, findings[3].outcome), (Outcome::Passed, Outcome::Failed), "{findings:?}");
    assert!(findings[3].message.contains("as MD5"), "{findings:?}");
    office.postgres.stop().await
}
