//! A workstation signs with a key that a supervisor confirmed, until it is revoked.

use std::sync::Arc;

use countersign_admin::{Database, workstation};
use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_domain::seal::PublicKey;
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Backlog as _, Failure, Hello, Problem};
use countersign_testkit::enrolment::keys_of;
use secrecy::ExposeSecret as _;
use uuid::Uuid;

use crate::office::{Office, Paper, Seat, grant};

fn hello(workstation: WorkstationId) -> Hello {
    Hello { workstation, name: "desk 7".into(), app_version: "0".into(), settings: "{}".into() }
}

/// Somebody whose workstation has asked for enrolment.
async fn newcomer(office: &Office, prefix: &str) -> anyhow::Result<(Seat, PublicKey)> {
    let login = office.installation.reviewer(prefix).await?;
    let desk = WorkstationId(Uuid::new_v4());
    let backlog =
        Arc::new(PgBacklog::new(office.installation.target(&login, None).await?, Some(login.password.clone())));
    let welcome = backlog.hello(&hello(desk)).await?;
    assert_eq!(welcome.enrolment, None);
    let key = keys_of(desk).public();
    backlog.enrol(desk, key).await?;
    Ok((Seat { login, backlog, desk }, key))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unconfirmed_workstation_does_nothing_and_the_right_fingerprint_confirms_it() -> anyhow::Result<()> {
    let office = Office::open().await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let bob = office.seat("bob").await?;
    let items = bob.lease().await?;
    let (alice, key) = newcomer(&office, "alice").await?;
    let not_enrolled = Failure::Refused(Problem::NotEnrolled);
    let leased = countersign_tests::calls::lease(&alice.backlog, alice.desk, 5).await.expect_err("not confirmed");
    assert!(leased.to_string().contains("not confirmed"), "{leased}");
    let signed = alice.backlog.sign_off(alice.desk, &[alice.approval(&items[0])]).await.expect_err("not confirmed");
    assert_eq!(signed.failure, not_enrolled, "{signed}");

    let find =
        |list: Vec<workstation::Workstation>| list.into_iter().find(|one| one.id == alice.desk.0).expect("listed");
    let listed = find(workstation::list(&office.supervisor).await?);
    assert_eq!(
        (listed.state, listed.fingerprint.as_deref()),
        (workstation::Enrolment::Waiting, Some(key.fingerprint().as_str()))
    );
    assert_eq!((listed.name.as_str(), listed.reviewer.as_str()), ("desk 7", alice.user()));
    let wrong =
        workstation::confirm(&office.supervisor, alice.desk.0, "0000-0000-0000-0000").await.expect_err("another key");
    assert!(wrong.exit_code() == 1 && wrong.to_string().contains("nothing was confirmed"), "{wrong}");
    assert_eq!(office.recorded("ENROLMENT_REFUSED").await?, 1);
    assert_eq!(alice.backlog.hello(&hello(alice.desk)).await?.enrolment.map(|state| state.confirmed), Some(false));

    assert_eq!(
        workstation::confirm(&office.supervisor, alice.desk.0, &key.fingerprint().to_uppercase()).await?,
        alice.user()
    );
    assert_eq!(alice.backlog.hello(&hello(alice.desk)).await?.enrolment.map(|state| state.confirmed), Some(true));
    assert!(workstation::confirm(&office.supervisor, alice.desk.0, &key.fingerprint()).await.is_err(), "once");
    assert_eq!(find(workstation::list(&office.supervisor).await?).state, workstation::Enrolment::Confirmed);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_confirms_their_own_workstation_under_any_name() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, key) = newcomer(&office, "alice").await?;
    let (second, _) = newcomer(&office, "smith").await?;
    for seat in [&alice, &second] {
        grant(&office.installation, "supervisor", seat.user()).await?;
    }
    let also = countersign_admin::reviewer::Scope::Only(vec![second.user().to_uppercase()]);
    let rights = countersign_admin::reviewer::Rights { also, ..Default::default() };
    countersign_admin::reviewer::set(&office.supervisor, alice.user(), &rights).await?;
    for seat in [&alice, &second] {
        let url = office.installation.database().url_for(seat.user(), seat.login.password.expose_secret());
        let oneself = Database::from_url(&url)?;
        let refused = workstation::confirm(&oneself, alice.desk.0, &key.fingerprint()).await.expect_err("it is theirs");
        assert!(
            refused.to_string().contains("CS005") && refused.to_string().contains("Another supervisor"),
            "{refused}"
        );
    }
    assert_eq!(office.recorded("WORKSTATION_ENROLLED").await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_workstation_is_turned_away_and_what_it_held_is_free() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    assert!(workstation::revoke(&office.supervisor, alice.desk.0, "it was stolen").await?);
    assert!(!workstation::revoke(&office.supervisor, alice.desk.0, "it was stolen").await?, "once");
    let refused = alice.backlog.sign_off(alice.desk, &[alice.approval(&items[0])]).await.expect_err("revoked");
    assert_eq!(refused.failure, Failure::Refused(Problem::UnknownWorkstation), "{refused}");
    assert_eq!(
        office.ask::<String>("SELECT outcome FROM countersign.audit_event WHERE event = 'TURNED_AWAY'").await?,
        "REVOKED"
    );
    let greeted = alice.backlog.hello(&hello(alice.desk)).await.expect_err("revoked");
    assert_eq!(greeted.failure, Failure::Refused(Problem::Revoked), "{greeted}");
    assert!(greeted.message.contains("it was stolen"), "{greeted}");
    let his = bob.lease().await?;
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed]);
    // Her other workstation is as good as before, and she can revoke it herself.
    let elsewhere = office.desk(&alice.login).await?;
    let url = office.installation.database().url_for(alice.user(), alice.login.password.expose_secret());
    assert!(workstation::revoke(&Database::from_url(&url)?, elsewhere.desk.0, "I leave").await?);
    let not_hers = workstation::revoke(&Database::from_url(&url)?, bob.desk.0, "spite").await.expect_err("it is his");
    assert!(not_hers.exit_code() == 1, "{not_hers}");
    assert!(bob.lease().await?.is_empty(), "and it works on");
    Ok(())
}

/// What is being signed while its workstation is revoked is signed before that, or turned away after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_under_way_is_signed_before_its_workstation_is_revoked_or_turned_away_after() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "q", 100)]).await?;
    let items = alice.lease().await?;
    // Connected before, because whoever waits for a partition waits a few seconds and no longer.
    let mut supervisor = office.supervisor.connect().await?;
    let held = countersign_tests::owner::hold(&office.installation.owner, &items[0].partition.0).await?;
    let (hers, first) = (alice.clone(), items[0].clone());
    let waiting = tokio::spawn(async move { hers.backlog.sign_off(hers.desk, &[hers.approval(&first)]).await });
    countersign_tests::owner::until_waiting(&office.installation.owner, 1).await?;
    let desk = alice.desk.0;
    let revoking = tokio::spawn(async move {
        let revoke = "SELECT countersign.workstation_revoke($1, 'it was stolen')";
        sqlx::query_scalar::<_, bool>(revoke).bind(desk).fetch_one(&mut supervisor).await
    });
    let sql =
        "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    countersign_tests::owner::until(&office.installation.owner, "both wait", sql).await?;
    held.rollback().await?;
    assert!(revoking.await??);
    let signed = waiting.await?;
    let late = alice.backlog.sign_off(alice.desk, &[alice.approval(&items[1])]).await.expect_err("revoked");
    assert_eq!(late.failure, Failure::Refused(Problem::UnknownWorkstation), "{late}");
    let order: Vec<String> = sqlx::query_scalar(
        "SELECT event FROM countersign.audit_event WHERE event IN ('SIGNED', 'WORKSTATION_REVOKED') ORDER BY at",
    )
    .fetch_all(&office.installation.owner)
    .await?;
    match signed {
        Ok(_) => assert_eq!(order, ["SIGNED", "WORKSTATION_REVOKED"]),
        Err(_) => assert_eq!(order, ["WORKSTATION_REVOKED"]),
    }
    Ok(())
}
