//! A connection is tried out before it is used: what is wrong is said at the step it is wrong at, and nothing is kept of it.

use chrono::{TimeDelta, Utc};
use countersign_backlog::inspect::{Desk, Finding, Outcome, Step, inspect};
use countersign_backlog::{Target, Tls};
use countersign_domain::id::WorkstationId;
use countersign_testkit::enrolment::{self, keys_of};
use countersign_testkit::installation::{Installation, Login};
use countersign_tests::owner;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use Outcome::{Failed, Passed, Skipped, Warned};

/// What a reviewer enters, and where they sit.
struct Trial {
    installation: Installation,
    login: Login,
    target: Target,
    desk: Option<Desk>,
}

impl Trial {
    async fn of(reviewer: &str) -> anyhow::Result<Self> {
        let installation = Installation::create().await?;
        let login = installation.reviewer(reviewer).await?;
        let target = installation.target(&login, None).await?;
        Ok(Self { installation, login, target, desk: None })
    }

    async fn enrolled(mut self) -> anyhow::Result<Self> {
        let workstation = WorkstationId(Uuid::new_v4());
        enrolment::enrol(&self.installation.owner, &self.login.user, workstation).await?;
        self.desk = Some(Desk { workstation, fingerprint: Some(keys_of(workstation).public().fingerprint()) });
        Ok(self)
    }

    async fn findings(&self) -> Vec<Finding> {
        inspect(&self.target, Some(&self.login.password), self.desk.as_ref(), Utc::now).await
    }

    async fn owner(&self, statements: &str) -> anyhow::Result<()> {
        let statements = statements.replace("{login}", &self.login.user);
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&self.installation.owner).await?;
        Ok(())
    }

    /// How much is written down about logins, workstations and their settings.
    async fn written(&self) -> anyhow::Result<i64> {
        let sql = "SELECT (SELECT count(*) FROM countersign.audit_event) + (SELECT count(*) FROM countersign.workstation)
                   + (SELECT count(*) FROM countersign.setting_version) + (SELECT count(*) FROM countersign.workstation_key)";
        owner::number(&self.installation.owner, sql).await
    }
}

fn outcomes(findings: &[Finding]) -> Vec<Outcome> {
    assert_eq!(findings.iter().map(|finding| finding.step).collect::<Vec<_>>(), Step::ALL);
    findings.iter().map(|finding| finding.outcome).collect()
}

fn at(findings: &[Finding], step: Step) -> &Finding {
    findings.iter().find(|finding| finding.step == step).expect("every step is there")
}

/// Fails at one step: everything before it passed, and nothing after it was tried.
fn assert_fails_at(findings: &[Finding], step: Step, words: &[&str], remedy: &[&str]) {
    let place = Step::ALL.iter().position(|each| *each == step).expect("a step");
    for (index, outcome) in outcomes(findings).into_iter().enumerate() {
        let expected = match index.cmp(&place) {
            std::cmp::Ordering::Less => Passed,
            std::cmp::Ordering::Equal => Failed,
            std::cmp::Ordering::Greater => Skipped,
        };
        assert_eq!(outcome, expected, "{:?}: {findings:#?}", Step::ALL[index]);
    }
    let finding = at(findings, step);
    for word in words {
        assert!(finding.message.contains(word), "`{word}` is not in: {}", finding.message);
    }
    let told = finding.remedy.as_deref().expect("what failed has a remedy");
    for word in remedy {
        assert!(told.contains(word), "`{word}` is not in: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_connection_passes_every_step_and_leaves_nothing_behind() -> anyhow::Result<()> {
    let trial = Trial::of("alice").await?.enrolled().await?;
    let before = trial.written().await?;
    let findings = trial.findings().await;
    assert_eq!(outcomes(&findings), [Passed; 8], "{findings:#?}");
    assert!(findings.iter().all(|finding| finding.remedy.is_none()));
    assert!(at(&findings, Step::Login).message.contains("PostgreSQL 1"), "{findings:#?}");
    assert!(at(&findings, Step::Name).message.contains("no name to look up"), "{findings:#?}");
    // As a new workstation, which a connection would have made known.
    let findings = inspect(&trial.target, Some(&trial.login.password), None, Utc::now).await;
    assert_eq!(outcomes(&findings)[..7], [Passed; 7], "{findings:#?}");
    let enrolment = at(&findings, Step::Enrolment);
    assert_eq!(enrolment.outcome, Warned);
    assert!(enrolment.remedy.as_deref().is_some_and(|remedy| remedy.contains("workstation confirm")), "{enrolment:?}");
    assert_eq!(trial.written().await?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_the_profile_is_said_at_its_step() -> anyhow::Result<()> {
    type Change = fn(&mut Trial);
    let cases: [(Change, Step, &[&str], &[&str]); 7] = [
        (
            |trial| trial.target.host = "db.countersign.invalid".into(),
            Step::Name,
            &["db.countersign.invalid"],
            &["Check the host’s name"],
        ),
        (|trial| trial.target.port = 1, Step::Port, &["127.0.0.1:1", "refused"], &["Check host and port"]),
        (|trial| trial.target.host = "/nonexistent".into(), Step::Port, &["/nonexistent"], &["Check host and port"]),
        (|trial| trial.target.tls = Tls::VerifyFull, Step::Tls, &["offers no TLS"], &["certificate"]),
        (
            |trial| trial.login.password = "pw-canary".to_owned().into(),
            Step::Login,
            &["28P01"],
            &["Check the login and enter the password again"],
        ),
        (|trial| trial.target.user = "nobody".into(), Step::Login, &["nobody is not let into"], &["Check the login"]),
        (|trial| trial.target.database = "nowhere".into(), Step::Login, &["nowhere", "3D000"], &["database’s name"]),
    ];
    for (change, step, words, remedy) in cases {
        let mut trial = Trial::of("alice").await?.enrolled().await?;
        change(&mut trial);
        let findings = trial.findings().await;
        assert_fails_at(&findings, step, words, remedy);
        assert!(!format!("{findings:?}").contains("pw-canary"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_the_database_is_said_at_its_step() -> anyhow::Result<()> {
    let older = "DELETE FROM countersign.schema_migration WHERE version = (SELECT max(version) FROM countersign.schema_migration)";
    let newer = "INSERT INTO countersign.schema_migration (version, name, sha256) VALUES (999, 'later', '')";
    let cases: [(&str, Step, &[&str], &[&str]); 8] = [
        (
            "ALTER ROLE {login} SET default_transaction_read_only = on",
            Step::Login,
            &["takes no writes"],
            &["primary server"],
        ),
        (
            "UPDATE countersign.reviewer SET active = false",
            Step::Role,
            &["is no active reviewer", "CS001"],
            &["reviewer add alice"],
        ),
        (
            "REVOKE countersign_reviewer FROM {login}",
            Step::Role,
            &["has no Countersign that alice"],
            &["reviewer add alice"],
        ),
        (
            "ALTER SCHEMA countersign RENAME TO elsewhere",
            Step::Role,
            &["has no Countersign"],
            &["countersign-admin migrate"],
        ),
        (older, Step::Schema, &["this release needs"], &["countersign-admin migrate"]),
        (newer, Step::Schema, &["is at version 999"], &["Update Countersign on this workstation"]),
        (
            "UPDATE countersign.workstation SET revoked_at = clock_timestamp(), revoked_by = session_user, revoked_because = 'left on a train'",
            Step::Enrolment,
            &["left on a train"],
            &["Ask a supervisor"],
        ),
        (
            "INSERT INTO countersign.reviewer (login, display_name, added_by) VALUES ('somebody else', 'Somebody Else', session_user);
             UPDATE countersign.workstation SET reviewer = 'somebody else'",
            Step::Enrolment,
            &["another login’s"],
            &["Choose the profile"],
        ),
    ];
    for (breaks, step, words, remedy) in cases {
        let trial = Trial::of("alice").await?.enrolled().await?;
        trial.owner(breaks).await?;
        assert_fails_at(&trial.findings().await, step, words, remedy);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_wrong_and_a_key_that_nobody_confirmed_are_told_and_stop_nobody() -> anyhow::Result<()> {
    let mut trial = Trial::of("alice").await?.enrolled().await?;
    let slow = || Utc::now() - TimeDelta::minutes(2);
    let findings = inspect(&trial.target, Some(&trial.login.password), trial.desk.as_ref(), slow).await;
    assert_eq!(outcomes(&findings), [Passed, Passed, Passed, Passed, Passed, Passed, Warned, Passed]);
    let clock = at(&findings, Step::Clock);
    assert!(clock.message.contains("behind the database’s") && clock.message.contains("s "), "{clock:?}");

    let theirs = trial.desk.as_mut().expect("it is enrolled");
    theirs.fingerprint = Some("0000-0000-0000-0000".to_owned());
    let findings = trial.findings().await;
    assert_eq!(outcomes(&findings)[7], Warned);
    assert!(at(&findings, Step::Enrolment).message.contains("another key"), "{findings:#?}");

    trial.owner("UPDATE countersign.workstation_key SET confirmed_at = NULL, confirmed_by = NULL").await?;
    let findings = trial.findings().await;
    assert_eq!(outcomes(&findings)[7], Warned);
    assert!(at(&findings, Step::Enrolment).message.contains("no supervisor has confirmed"), "{findings:#?}");
    Ok(())
}
