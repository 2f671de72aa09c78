//! An auditor finds every figure and every effect that was changed.

use countersign_admin::Database;
use countersign_admin::audit::{Export, Format, Report, Stream, Verify, export, verify};
use countersign_domain::sign_off::Outcome;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::office::{Office, Paper};
use crate::paper::{Claim, money, receipt};

/// One of each decision on each kind, one for two people, and a reversal.
async fn day() -> anyhow::Result<Office> {
    let office = Office::open().await?;
    office.four_eyes(&[("JPY", "5000")]).await?;
    let (alice, bob) = (office.seat("alice").await?, office.seat("bob").await?);
    office.take(&[Claim::new(1, "p").body(), Claim::new(2, "p").body()]).await?;
    let unrated = Claim { rated: None, claimed: "12.34", variance: "12.34", ..Claim::new(3, "p") };
    office.take(&[unrated.body(), Paper::new(4, "p", 100).body(), Paper::new(5, "p", 200).body()]).await?;
    office.take(&(6..9).map(|number| receipt(number, "r", &json!("2b.42"), "0.78")).collect::<Vec<_>>()).await?;
    let items = alice.lease().await?;
    let batch = [
        alice.approval(&items[0]),
        alice.rejection(&items[1]),
        alice.approval(&items[2]),
        alice.approval(&items[3]),
        alice.rejection(&items[4]),
        alice.approval_with(&items[5], Some(money("24.62", "EUR"))),
        alice.rejection(&items[6]),
        alice.approval_with(&items[7], Some(money("6000", "JPY"))),
    ];
    let mut expected = [Outcome::Committed; 8];
    expected[7] = Outcome::AwaitingSecond;
    assert_eq!(alice.send(&batch).await?, expected);
    office.installation.lapse().await?;
    let left = bob.lease().await?;
    assert_eq!(bob.send(&[bob.approval_with(&left[0], Some(money("6000", "JPY")))]).await?, [Outcome::Committed]);
    office
        .take(&[Claim { reverses: Some(Claim::new(1, "p").key()), variance: "-8.40", ..Claim::new(9, "p") }.body()])
        .await?;
    let reversal = bob.lease().await?;
    assert_eq!(bob.approve(&reversal).await?, [Outcome::Committed]);
    Ok(office)
}

/// One row of a table, changed past its guard, and what is said of it.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn changes() -> Vec<(&'static str, String, &'static str)> {
    let of = |key: u64| {
        format!("(SELECT id FROM countersign.exception WHERE idempotency_key = '{}')", Claim::new(key, "p").key())
    };
    let receipt = "(SELECT min(exception_id) FROM countersign.routing WHERE corrected_currency = 'EUR')";
    vec![
        (
            "posting",
            format!("UPDATE countersign.posting SET amount = 21.61 WHERE exception_id = {}", of(1)),
            "was posted, and",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET rate = 0.018 WHERE exception_id = {}", of(1)),
            "another rate",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET agreement_version = 4 WHERE exception_id = {}", of(1)),
            "agreement",
        ),
        ("posting", format!("UPDATE countersign.posting SET claimed = 31 WHERE exception_id = {}", of(1)), "claim"),
        (
            "posting",
            format!("UPDATE countersign.posting SET basis = 'VARIANCE' WHERE exception_id = {}", of(3)),
            "says VARIANCE",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET basis = 'CLAIMED' WHERE exception_id = {}", of(1)),
            "by its content that is AGREEMENT",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET basis = 'AGREEMENT' WHERE exception_id = {}", of(3)),
            "by its content that is CLAIMED",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET units = NULL, rate = NULL WHERE exception_id = {}", of(1)),
            "by its content that is AGREEMENT",
        ),
        (
            "posting",
            format!("UPDATE countersign.posting SET amount = -8.40 WHERE exception_id = {}", of(9)),
            "was posted, and",
        ),
        (
            "dispute",
            format!("UPDATE countersign.dispute SET by_agreement = 30 WHERE exception_id = {}", of(2)),
            "other figures",
        ),
        (
            "dispute",
            format!("UPDATE countersign.dispute SET difference = 0 WHERE exception_id = {}", of(2)),
            "other figures",
        ),
        (
            "dispute",
            format!("UPDATE countersign.dispute SET reason = 'OTHER' WHERE exception_id = {}", of(2)),
            "another reason",
        ),
        ("dispute", format!("DELETE FROM countersign.dispute WHERE exception_id = {}", of(2)), "without an effect"),
        (
            "dispute",
            format!(
                "INSERT INTO countersign.dispute SELECT {}, 999, ledger_entity, currency, claimed, by_agreement, difference, agreement_ref, agreement_version, correlation_id, reason, opened_at FROM countersign.dispute",
                of(1)
            ),
            "2 effects",
        ),
        (
            "routing",
            format!("UPDATE countersign.routing SET corrected_amount = 26.42 WHERE exception_id = {receipt}"),
            "another amount than was approved",
        ),
        (
            "routing",
            "UPDATE countersign.routing SET corrected_amount = 26.42 WHERE exception_id = (SELECT max(exception_id) FROM countersign.routing WHERE routed_to = 'submitter')".to_owned(),
            "another amount than was approved",
        ),
        (
            "routing",
            format!("UPDATE countersign.routing SET read_amount = '26.42' WHERE exception_id = {receipt}"),
            "than was read",
        ),
        (
            "routing",
            format!("UPDATE countersign.routing SET routed_to = 'submitter' WHERE exception_id = {receipt}"),
            "goes to the policy validation",
        ),
        (
            "sign_off",
            format!("UPDATE countersign.sign_off SET figure_amount = 21.61 WHERE exception_id = {}", of(1)),
            "figure is not the one that was signed",
        ),
        (
            "sign_off",
            format!(
                "UPDATE countersign.sign_off SET figure_amount = NULL, figure_currency = NULL WHERE exception_id = {}",
                of(1)
            ),
            "figure is not the one that was signed",
        ),
        (
            "sign_off",
            format!("UPDATE countersign.sign_off SET amount = 8.40 WHERE exception_id = {}", of(1)),
            "nor that of its figure",
        ),
    ]
}

async fn verified(office: &Office) -> anyhow::Result<Report> {
    Ok(verify(&Database::from_url(&office.installation.database().admin_url())?, &Verify::default()).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_about_an_effect_or_a_figure_is_found() -> anyhow::Result<()> {
    let office = day().await?;
    let owner = &office.installation.owner;
    let report = verified(&office).await?;
    assert!(report.holds(), "{:#?}", report.first);
    assert_eq!((report.counts.effects, report.counts.sign_offs), (9, 10));
    for (table, sql, says) in changes() {
        let mut transaction = owner.begin().await?;
        let disable = format!("ALTER TABLE countersign.{table} DISABLE TRIGGER append_only");
        sqlx::raw_sql(AssertSqlSafe(disable)).execute(&mut *transaction).await?;
        let saved = format!("CREATE TABLE public.saved AS SELECT * FROM countersign.{table}");
        sqlx::raw_sql(AssertSqlSafe(saved)).execute(&mut *transaction).await?;
        let changed = sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(&mut *transaction).await?;
        assert_eq!(changed.rows_affected(), 1, "{sql}");
        transaction.commit().await?;
        let report = verified(&office).await?;
        let told: Vec<&str> = report.first.iter().map(|finding| finding.what.as_str()).collect();
        assert!(told.iter().any(|what| what.contains(says)), "{sql}: {told:#?}");
        let back = format!(
            "DELETE FROM countersign.{table}; INSERT INTO countersign.{table} SELECT * FROM public.saved; DROP TABLE public.saved;
             ALTER TABLE countersign.{table} ENABLE TRIGGER append_only"
        );
        sqlx::raw_sql(AssertSqlSafe(back)).execute(owner).await?;
    }
    assert!(verified(&office).await?.holds(), "the control: everything is back");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_has_the_figures_and_the_effects() -> anyhow::Result<()> {
    let office = day().await?;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("sign-offs.jsonl");
    let what = Export { format: Format::Jsonl, stream: Stream::SignOffs, period: None };
    assert_eq!(export(&office.installation.for_admin()?, &what, Some(&file)).await?, 10);
    let lines: Vec<Value> =
        std::fs::read_to_string(&file)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let of = |key: &str| lines.iter().find(|line| line["idempotency_key"] == key).expect("it is exported");
    let fields = |line: &Value| {
        ["figure", "figure_currency", "effect", "posted", "posted_basis", "routed_to", "disputed"]
            .map(|field| line[field].clone())
    };
    let (approved, rejected) = (Claim::new(1, "p").key(), Claim::new(2, "p").key());
    let none = Value::Null;
    assert_eq!(
        fields(of(&approved)),
        [
            json!("21.60"),
            json!("USD"),
            json!("POSTING"),
            json!("21.60"),
            json!("AGREEMENT"),
            none.clone(),
            none.clone()
        ]
    );
    assert_eq!(
        fields(of(&rejected)),
        [none.clone(), none.clone(), json!("DISPUTE"), none.clone(), none.clone(), none.clone(), json!("8.40")]
    );
    let corrected = lines.iter().filter(|line| line["figure"] == "6000").count();
    assert_eq!(corrected, 2, "both of two approvals");
    Ok(())
}
