//! The audit stream proves what happened, and finds out whoever changes it, whatever they know.

#[path = "audit/anchors.rs"]
mod anchors;
#[path = "audit/believed.rs"]
mod believed;
#[path = "audit/day.rs"]
mod day;
#[path = "audit/export.rs"]
mod export;
#[path = "audit/forging.rs"]
mod forging;
#[path = "audit/tampering.rs"]
mod tampering;

use countersign_admin::Database;
use countersign_admin::audit::{Report, Verify, export_keys, rotate_key, verify};
use countersign_testkit::postgres::TestDatabase;

use day::Day;

/// Verifies as somebody who may read everything.
async fn verified(database: &TestDatabase, what: &Verify) -> anyhow::Result<Report> {
    Ok(verify(&Database::from_url(&database.admin_url())?, what).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_untouched_day_holds_by_the_exported_keys_and_by_the_auditors_rights_alone() -> anyhow::Result<()> {
    let day = Day::work().await?;
    let (user, password) = day.database().login("auditor").await?;
    let grant = format!("GRANT countersign_auditor TO {user}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(grant)).execute(&day.installation.owner).await?;
    let auditor = Database::from_url(&day.database().url_for(&user, &password))?;

    let report = verify(&auditor, &Verify::default()).await?;
    assert!(report.holds(), "{:#?}", report.first);
    let counts = &report.counts;
    assert_eq!(counts.seals, counts.records + counts.receipts);
    assert_eq!((counts.signatures, counts.unsigned), (counts.sign_offs, 0));
    assert!(counts.sign_offs >= 12 && counts.effects >= 8 && counts.receipts >= 8 && counts.chains == 6, "{counts:?}");
    let attempts = &report.attempts;
    assert_eq!((attempts.forged, attempts.turned_away, attempts.enrolment_refused), (1, 1, 1), "{attempts:?}");
    assert_eq!(attempts.first.iter().filter(|attempt| attempt.actor == day.bob.user).count(), 2, "{attempts:?}");

    let directory = tempfile::tempdir()?;
    let keys = directory.path().join("keys.json");
    assert!(export_keys(&auditor, &keys).await.is_err(), "an auditor reads no key");
    let owner = day.installation.for_admin()?;
    rotate_key(&owner).await?;
    assert_eq!(export_keys(&owner, &keys).await?, 3);
    let again = verify(&auditor, &Verify { keys: Some(keys), ..Verify::default() }).await?;
    assert!(again.holds() && again.counts.seals == counts.seals + 1, "{:#?}", again.first);

    // From the middle of the day on, each chain is taken up where it was.
    let middle =
        sqlx::query_scalar("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY at) FROM countersign.audit_event")
            .fetch_one(&day.installation.owner)
            .await?;
    let later = verify(&auditor, &Verify { from: Some(middle), ..Verify::default() }).await?;
    assert!(later.holds() && later.counts.records < again.counts.records, "{:#?}", later.first);
    assert!(later.describe(false).starts_with("What was looked at holds. It was not the whole stream."));
    let none = verify(&auditor, &Verify { from: Some(chrono::Utc::now()), ..Verify::default() }).await?;
    assert!(none.holds() && none.describe(false).contains("Not checked: any decision"), "{}", none.describe(false));

    // Who may read nothing learns that nothing was read.
    let (nobody, password) = day.database().login("nobody").await?;
    let nobody = Database::from_url(&day.database().url_for(&nobody, &password))?;
    let refused = verify(&nobody, &Verify::default()).await.expect_err("it is no auditor");
    assert_eq!(refused.exit_code(), 2, "{refused}");
    Ok(())
}
