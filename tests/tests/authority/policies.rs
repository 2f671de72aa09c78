//! The policy in force decides, and a decision says which one it was made under.

use countersign_admin::policy;
use countersign_domain::policy::{Policy, ReasonCode};
use countersign_domain::sign_off::Outcome;
use countersign_engine::port::{Backlog as _, Failure, Problem};
use serde_json::{Value, json};

use crate::office::{Office, Paper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_version_in_force_at_commit_decides_and_the_receipt_says_how_many_were_under_another() -> anyhow::Result<()>
{
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 10_000), Paper::new(2, "q", 10_000)]).await?;
    let items = alice.lease().await?;
    let (early, mut late) = (alice.approval(&items[0]), alice.approval(&items[1]));
    let version = office.four_eyes(&[("USD", "100")]).await?;
    late.policy_version = version;
    let late = alice.resealed(&items[1], late);
    let (answers, receipt) = alice.answers(&[early, late]).await?;
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::AwaitingSecond), "{answers:?}");
    assert_eq!((receipt.policy_version, receipt.under_another_policy), (version, 1));
    let versions: String = office
        .ask("SELECT string_agg(policy_version || '/' || in_force, ' ' ORDER BY policy_version) FROM countersign.sign_off")
        .await?;
    assert_eq!(versions, format!("1/{version} {version}/{version}"));
    // The rule goes; who waits for a second approver waits on.
    office.four_eyes(&[]).await?;
    let bob = office.seat("bob").await?;
    office.installation.lapse().await?;
    let his = bob.lease().await?;
    assert_eq!(bob.approve(&his).await?, [Outcome::Committed; 2]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_gives_a_reason_of_the_policy_it_was_made_under() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100), Paper::new(2, "p", 100)]).await?;
    let items = alice.lease().await?;
    let with = |item: &countersign_engine::port::LeasedItem, reason: &str, version| {
        let mut decision = alice.rejection(item);
        decision.reason = Some(reason.to_owned());
        decision.policy_version = version;
        alice.resealed(item, decision)
    };
    let reasons = vec![ReasonCode { code: "NEW".into(), text: "A new one".into() }];
    let version = office.policy(&Policy { reason_codes: reasons, ..Policy::default() }).await?;
    for (reason, version, outcome) in [
        ("NO_SUCH", 1, Outcome::NotEligible),
        ("NEW", 1, Outcome::NotEligible),
        ("OTHER", version, Outcome::NotEligible),
        ("OTHER", 99, Outcome::NotEligible),
        ("OTHER", 1, Outcome::Committed),
    ] {
        assert_eq!(alice.send(&[with(&items[0], reason, version)]).await?, [outcome], "{reason} under {version}");
    }
    assert_eq!(alice.send(&[with(&items[1], "NEW", version)]).await?, [Outcome::Committed]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_comes_back_with_the_refusal() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    let corrected = Paper { revision: 2, ..Paper::new(1, "p", 250) };
    assert_eq!(office.send(std::slice::from_ref(&corrected)).await?, ["CORRECTED"]);
    let (answers, _) = alice.answers(&[alice.approval(&items[0])]).await?;
    assert_eq!(answers[0].outcome, Outcome::StaleVersion);
    let now = answers[0].now.as_ref().expect("the content as it is now");
    assert_eq!((now.version, now.body.as_str()), (2, corrected.body().as_str()));
    Ok(())
}

/// A policy that no workstation could read is not put in force by a plain client either: the same documents are refused here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_takes_no_policy_that_the_command_line_would_not() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let good = serde_json::to_value(Policy::default())?;
    let with = |path: &str, value: Value| {
        let mut document = good.clone();
        *document.pointer_mut(path).expect("it is there") = value;
        document
    };
    let added = |path: &str, name: &str| {
        let mut document = good.clone();
        document.pointer_mut(path).and_then(Value::as_object_mut).expect("an object").insert(name.into(), json!(1));
        document
    };
    let mut documents = vec![
        json!([]),
        json!(null),
        added("", "more"),
        added("/scoring", "more"),
        added("/lease", "more"),
        added("/reason_codes/0", "more"),
        with("/four_eyes", json!({})),
        with("/four_eyes", json!([{"currency": "USD"}])),
        with("/four_eyes", json!([{"currency": "USD", "at_or_above": 5}])),
        with("/four_eyes", json!([{"currency": "usd", "at_or_above": "5"}])),
        with("/four_eyes", json!([{"currency": "USD", "at_or_above": "-5"}])),
        with("/four_eyes", json!([{"currency": "USD", "at_or_above": "5", "kind": "x"}])),
        with("/four_eyes", json!([{"currency": "USD", "at_or_above": "5", "more": 1}])),
        with("/scoring/tolerance", json!(5)),
        with("/scoring", json!({"escalate_above": "5"})),
        with("/reason_codes", json!([])),
        with("/reason_codes/0/code", json!(5)),
        with("/reason_codes/0/code", json!("OTHER")),
        with("/reason_codes/0/text", json!(5)),
        with("/reason_codes/0/text", json!("  ")),
        with("/attestation", json!(" ")),
        with("/lease/longest_ms", json!("30000")),
        with("/lease/longest_ms", json!(29_999)),
        with("/lease/longest_ms", json!(30_000.5)),
        with("/review", json!(null)),
        with("/review", json!([])),
        added("/review", "more"),
        with("/review/materiality", json!(null)),
        with("/review/materiality", json!([{"currency": "USD"}])),
        with("/review/materiality", json!([{"currency": "USD", "amount": 5}])),
        with("/review/materiality", json!([{"currency": "usd", "amount": "5"}])),
        with("/review/materiality", json!([{"currency": "USD", "amount": "5", "more": 1}])),
        with("/review/type_total_from", json!([{"currency": "*", "amount": "5"}, {"currency": "*", "amount": "6"}])),
        with("/review/type_total_from", json!([{"currency": "*", "amount": "-5"}])),
        with("/review/due_days", json!({"standard": 1, "priority": 1})),
        with("/review/due_days/standard", json!("1")),
        with("/review/due_days/standard", json!(-1)),
        with("/review/due_days/standard", json!(3_651)),
        with("/review/due_days/standard", json!(1.5)),
        added("/review/due_days", "more"),
        with("/review/limit_near_percent", json!(0)),
        with("/review/limit_near_percent", json!(101)),
        with("/review/limit_near_percent", json!("80")),
    ];
    // What both take.
    let fine =
        with("/four_eyes", json!([{"currency": "*", "kind": null, "tier": "priority", "at_or_above": "0.00000001"}]));
    let mut supervisor = office.supervisor.connect().await?;
    let mut set = async |document: &Value| {
        sqlx::query_scalar::<_, i32>("SELECT countersign.policy_set($1::jsonb, 'a test')")
            .bind(document.to_string())
            .fetch_one(&mut supervisor)
            .await
    };
    let mut earlier = good.clone();
    earlier.as_object_mut().expect("an object").remove("review");
    let some = with("/review", json!({"due_days": {"standard": 0, "priority": 0, "escalated": 3_650}}));
    for (document, version) in [(&fine, 2), (&earlier, 3), (&some, 4)] {
        assert!(policy::read(&document.to_string(), "a test").is_ok() && set(document).await? == version);
    }
    documents.dedup();
    let mut taken = Vec::new();
    for document in &documents {
        assert!(policy::read(&document.to_string(), "a test").is_err(), "{document}");
        if set(document).await.is_ok() {
            taken.push(document.to_string());
        }
    }
    assert_eq!(taken, Vec::<String>::new());
    Ok(())
}

/// A call that waits is judged when its turn comes: who lost the right meanwhile does not sign.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_under_way_is_refused_to_whom_it_was_taken_from_meanwhile() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let items = alice.lease().await?;
    // Connected before, because whoever waits for a partition waits a few seconds and no longer.
    let mut supervisor = office.supervisor.connect().await?;
    let held = countersign_tests::owner::hold(&office.installation.owner, "p").await?;
    let hers = alice.clone();
    let waiting = tokio::spawn(async move { hers.backlog.sign_off(hers.desk, &[hers.approval(&items[0])]).await });
    countersign_tests::owner::until_waiting(&office.installation.owner, 1).await?;
    let user = alice.user().to_owned();
    // It waits for the same partition, behind her call: what happened first is not known, but it is one of the two.
    let disabling = tokio::spawn(async move {
        let disable = "SELECT countersign.reviewer_disable($1)";
        sqlx::query_scalar::<_, bool>(disable).bind(user).fetch_one(&mut supervisor).await
    });
    let sql =
        "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    countersign_tests::owner::until(&office.installation.owner, "both wait", sql).await?;
    held.rollback().await?;
    assert!(disabling.await??);
    let signed = waiting.await?;
    let order: Vec<String> = sqlx::query_scalar(
        "SELECT event FROM countersign.audit_event WHERE event IN ('SIGNED', 'REVIEWER_DISABLED') ORDER BY at",
    )
    .fetch_all(&office.installation.owner)
    .await?;
    match signed {
        Ok(_) => assert_eq!(order, ["SIGNED", "REVIEWER_DISABLED"]),
        Err(error) => {
            assert_eq!(error.failure, Failure::Refused(Problem::NotAReviewer), "{error}");
            assert_eq!(order, ["REVIEWER_DISABLED"]);
        }
    }
    Ok(())
}
