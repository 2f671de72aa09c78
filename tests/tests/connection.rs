//! Whatever is wrong with the connection is said in words that name what to do, and costs no decision.

#[path = "connection/trial.rs"]
mod trial;

use countersign_backlog::{Target, Tls};
use countersign_engine::Command;
use countersign_engine::port::{Failure, Problem, Stage};
use countersign_journal::Counts;
use countersign_testkit::enrolment;
use countersign_testkit::installation::Installation;
use countersign_tests::desk::Desk;
use countersign_tests::owner::{self, Tally, tally};
use sqlx::AssertSqlSafe;

/// What breaks, on which side.
#[derive(Clone, Copy)]
enum Fault {
    /// The profile is wrong; the right one mends it.
    Profile(fn(&mut Desk)),
    /// The database is, between these two statements. `{login}` stands for the reviewer's.
    Database { breaks: &'static str, mends: &'static str },
}

struct Case {
    what: &'static str,
    fault: Fault,
    failure: Failure,
    code: &'static str,
    /// What the message has to name: what happened, and what to do.
    words: &'static [&'static str],
}

const CASES: [Case; 11] = [
    Case {
        what: "the password is wrong",
        fault: Fault::Profile(|desk| desk.login.password = "wrong".to_owned().into()),
        failure: Failure::Refused(Problem::BadPassword),
        code: "BAD_PASSWORD",
        words: &["does not let alice", "28P01", "enter the password again"],
    },
    Case {
        what: "the login is unknown",
        fault: Fault::Profile(|desk| desk.target.user = "nobody".into()),
        failure: Failure::Refused(Problem::BadPassword),
        code: "BAD_PASSWORD",
        words: &["does not let nobody in", "Check the login"],
    },
    Case {
        what: "nobody listens",
        fault: Fault::Profile(|desk| desk.target.port = 1),
        failure: Failure::Offline,
        code: "UNREACHABLE",
        words: &["127.0.0.1:1 does not answer", "refused", "Nothing is lost; it is tried again by itself"],
    },
    Case {
        what: "the server cannot prove who it is",
        fault: Fault::Profile(|desk| desk.target.tls = Tls::VerifyFull),
        failure: Failure::Refused(Problem::Tls),
        code: "TLS",
        words: &["is not safe and was not made", "TLS"],
    },
    Case {
        what: "the database's name is wrong",
        fault: Fault::Profile(|desk| desk.target.database = "nowhere".into()),
        failure: Failure::Refused(Problem::NoDatabase),
        code: "NO_DATABASE",
        words: &["has no database nowhere", "Check the name"],
    },
    Case {
        what: "the server takes no writes",
        fault: Fault::Database {
            breaks: "ALTER ROLE {login} SET default_transaction_read_only = on",
            mends: "ALTER ROLE {login} RESET default_transaction_read_only",
        },
        failure: Failure::Transient,
        code: "TRY_AGAIN",
        words: &["read-only", "25006", "Enter the address of the primary server"],
    },
    Case {
        what: "the schema is older",
        fault: Fault::Database {
            breaks:
                "CREATE TABLE public.later AS SELECT * FROM countersign.schema_migration ORDER BY version DESC LIMIT 1;
                     DELETE FROM countersign.schema_migration WHERE version = (SELECT version FROM public.later)",
            mends: "INSERT INTO countersign.schema_migration SELECT * FROM public.later",
        },
        failure: Failure::Refused(Problem::SchemaOlder),
        code: "SCHEMA_OLDER",
        words: &["this release needs", "Ask an administrator to run `countersign-admin migrate`"],
    },
    Case {
        what: "the schema is newer",
        fault: Fault::Database {
            breaks: "INSERT INTO countersign.schema_migration (version, name, sha256) VALUES (999, 'later', '')",
            mends: "DELETE FROM countersign.schema_migration WHERE version = 999",
        },
        failure: Failure::Refused(Problem::SchemaNewer),
        code: "SCHEMA_NEWER",
        words: &["is at version 999", "Update Countersign on this workstation"],
    },
    Case {
        what: "the reviewer was disabled",
        fault: Fault::Database {
            breaks: "UPDATE countersign.reviewer SET active = false",
            mends: "UPDATE countersign.reviewer SET active = true",
        },
        failure: Failure::Refused(Problem::NotAReviewer),
        code: "NOT_A_REVIEWER",
        words: &["is no active reviewer", "Ask a supervisor to run `countersign-admin reviewer add alice"],
    },
    Case {
        what: "the login has no rights",
        fault: Fault::Database {
            breaks: "REVOKE countersign_reviewer FROM {login}",
            mends: "GRANT countersign_reviewer TO {login}",
        },
        failure: Failure::Refused(Problem::NoSchema),
        code: "NO_SCHEMA",
        words: &["has no Countersign that alice", "countersign-admin reviewer add alice"],
    },
    Case {
        what: "the database has no Countersign",
        fault: Fault::Database {
            breaks: "ALTER SCHEMA countersign RENAME TO elsewhere",
            mends: "ALTER SCHEMA elsewhere RENAME TO countersign",
        },
        failure: Failure::Refused(Problem::NoSchema),
        code: "NO_SCHEMA",
        words: &["has no Countersign", "`countersign-admin migrate`"],
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_says_what_to_do_and_the_decision_goes_out_when_it_is_mended() -> anyhow::Result<()> {
    for case in &CASES {
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 2, 1).await?;
        let mut desk = Desk::of(&installation, "alice").await?;
        desk.settings.undo_window_ms = 60_000;
        let seat = desk.start()?;
        seat.until_deck(2).await?;
        seat.approve(&seat.deck().await?[..1]).await?;
        seat.leave().await?;
        desk.settings.undo_window_ms = 0;
        let (unsent, right): (_, (Target, _)) = (desk.entries()?, (desk.target.clone(), desk.login.clone()));

        break_it(case, &installation, &mut desk).await?;
        let seat = desk.start()?;
        seat.until(case.what, |engine, now| engine.link(now).problem.is_some()).await?;
        let link = seat.link().await?;
        let problem = link.problem.expect("seen just now");
        assert_eq!((problem.failure, problem.code(), link.online), (case.failure, case.code, false), "{}", case.what);
        for word in case.words {
            assert!(problem.message.contains(word), "{}: `{word}` is not in: {problem}", case.what);
        }
        // A wrong password is not tried twice, or the server would lock the login; everything else is.
        assert_eq!(link.next_attempt_in_ms.is_none(), case.code == "BAD_PASSWORD", "{}", case.what);
        assert_eq!(seat.outbox().await?, unsent, "{}", case.what);
        assert_eq!(seat.deck().await?.len(), 1, "{}", case.what);

        (desk.target, desk.login) = right;
        match case.fault {
            Fault::Profile(_) => seat.handle.reconnect(desk.backlog()).await?,
            Fault::Database { mends, .. } => {
                owner_runs(&installation, &desk, mends).await?;
                seat.ask(Command::RetryNow).await?;
            }
        }
        seat.until_committed(1).await?;
        assert!(seat.link().await?.problem.is_none(), "{}", case.what);
        seat.leave().await?;
        assert_eq!(
            desk.journal()?.counts()?,
            Counts { committed: 1, undecided: 1, ..Counts::default() },
            "{}",
            case.what
        );
        assert_eq!(tally(&installation.owner).await?, Tally { pending: 1, ..Tally::all_approved(1) }, "{}", case.what);
    }
    Ok(())
}

/// The same faults of the database, but in the midst of work: the connection is up when the decision is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_that_comes_while_work_goes_on_leaves_the_decision_in_the_outbox() -> anyhow::Result<()> {
    // A session that is open keeps its settings, and asks for no version.
    let midst = ["NOT_A_REVIEWER", "NO_SCHEMA"];
    for case in CASES.iter().filter(|case| midst.contains(&case.code)) {
        let Fault::Database { breaks, mends } = case.fault else { continue };
        let installation = Installation::create().await?;
        owner::enqueue(&installation, 2, 1).await?;
        let desk = Desk::of(&installation, "alice").await?;
        let seat = desk.start()?;
        seat.until_deck(2).await?;
        owner_runs(&installation, &desk, breaks).await?;
        seat.approve(&seat.deck().await?[..1]).await?;
        seat.until(case.what, |engine, now| engine.link(now).problem.is_some()).await?;
        let problem = seat.link().await?.problem.expect("seen just now");
        assert!(matches!(problem.failure, Failure::Refused(_)), "{}: {problem}", case.what);
        let outbox = seat.outbox().await?;
        assert!(
            outbox.len() == 1 && outbox[0].stage == Stage::Ready && outbox[0].attempts == 0,
            "{}: {outbox:?}",
            case.what
        );
        owner_runs(&installation, &desk, mends).await?;
        seat.ask(Command::RetryNow).await?;
        seat.until_committed(1).await?;
        assert_eq!(tally(&installation.owner).await?, Tally { pending: 1, ..Tally::all_approved(1) }, "{}", case.what);
    }
    Ok(())
}

/// A database that was restored from before this workstation was first seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workstation_that_was_forgotten_introduces_itself_again() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 2, 1).await?;
    let seat = Desk::of(&installation, "alice").await?.start()?;
    seat.until_deck(2).await?;
    // As after a restore of the database from before the workstation was there: its key is gone too, and is confirmed anew.
    owner::run(&installation.owner, "DELETE FROM countersign.workstation_key; DELETE FROM countersign.workstation")
        .await?;
    seat.approve(&seat.deck().await?).await?;
    seat.until("its key is asked for", |engine, now| {
        engine.link(now).problem.is_some_and(|problem| problem.code() == "NOT_ENROLLED")
    })
    .await?;
    while enrolment::confirm_all(&installation.owner).await? == 0 {
        seat.ask(Command::RetryNow).await?;
    }
    seat.until_committed(2).await?;
    assert_eq!(owner::number(&installation.owner, "SELECT count(*) FROM countersign.workstation").await?, 1);
    Ok(())
}

async fn break_it(case: &Case, installation: &Installation, desk: &mut Desk) -> anyhow::Result<()> {
    match case.fault {
        Fault::Profile(change) => change(desk),
        Fault::Database { breaks, .. } => owner_runs(installation, desk, breaks).await?,
    }
    Ok(())
}

async fn owner_runs(installation: &Installation, desk: &Desk, statements: &'static str) -> anyhow::Result<()> {
    // A login that the kit made needs no quotes.
    let statements = statements.replace("{login}", &desk.login.user);
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&installation.owner).await?;
    Ok(())
}
