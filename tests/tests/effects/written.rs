//! Effects that wait for their turn, and the one place that says what each kind's is.

use countersign_domain::kind::{Effect, Kind};
use countersign_domain::money::Currency;
use countersign_domain::sign_off::Outcome;
use countersign_domain::{figure, gate};
use countersign_tests::owner::{number, until};
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::office::{Office, Paper};
use crate::paper::{Claim, effect, money, receipt, says};

/// What is decided behind an undecided one takes effect later, with the figure that was signed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_decision_takes_effect_with_its_figure() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    office.take_in(&[Paper::new(1, "p", 100)]).await?;
    let read = json!("1O.00");
    office.take(&[Claim::new(2, "p").body(), receipt(3, "p", &read, "0.78"), Claim::new(4, "p").body()]).await?;
    let items = alice.lease().await?;
    let batch = [
        alice.approval(&items[1]),
        alice.approval_with(&items[2], Some(money("10.00", "EUR"))),
        alice.rejection(&items[3]),
    ];
    assert_eq!(alice.send(&batch).await?, [Outcome::Held; 3]);
    let written = "SELECT (SELECT count(*) FROM countersign.posting) + (SELECT count(*) FROM countersign.routing) + (SELECT count(*) FROM countersign.dispute)";
    assert_eq!(office.ask::<i64>(written).await?, 0);
    assert_eq!(alice.approve(&items[..1]).await?, [Outcome::Committed]);
    says(&effect(&office, &items[1]).await?, &json!({"amount": "21.60", "basis": "AGREEMENT", "agreement_version": 3}));
    says(
        &effect(&office, &items[2]).await?,
        &json!({"routed_to": "policy validation", "read_amount": "1O.00", "corrected_amount": "10.00", "corrected_currency": "EUR"}),
    );
    says(
        &effect(&office, &items[3]).await?,
        &json!({"claimed": "30.00", "by_agreement": "21.60", "reason": "WRONG_AMOUNT"}),
    );
    let order: bool = office
        .ask(
            "SELECT array_agg(f.effect_no ORDER BY e.seq) = array_agg(f.effect_no ORDER BY f.effect_no) FROM countersign.exception e
             JOIN (SELECT exception_id, effect_no FROM countersign.posting UNION ALL SELECT exception_id, effect_no FROM countersign.routing
                   UNION ALL SELECT exception_id, effect_no FROM countersign.dispute) AS f ON f.exception_id = e.id",
        )
        .await?;
    assert!(order, "effects follow the places of their exceptions");
    Ok(())
}

/// The database and the kinds' modules say the same of each kind and decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_and_the_modules_agree_on_what_each_kind_does() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let owner = &office.installation.owner;
    let bodies = [
        (Kind::ReconBreak, Paper::new(1, "p", 100).body()),
        (Kind::SalesClaim, Claim::new(2, "p").body()),
        (Kind::Receipt, receipt(3, "p", &json!("1.00"), "0.78")),
    ];
    assert_eq!(bodies.each_ref().map(|(kind, _)| *kind)[..], *Kind::ALL, "each kind is here");
    for (kind, body) in &bodies {
        let content = gate::read_body(body).expect("it passed");
        for decision in ["APPROVE", "REJECT"] {
            let said: (String, Option<String>) =
                sqlx::query_as("SELECT countersign.effect_of($1, $2, false), countersign.routed_to($1, $2, false)")
                    .bind(kind.as_str())
                    .bind(decision)
                    .fetch_one(owner)
                    .await?;
            let module = kind.module();
            let effect =
                if decision == "APPROVE" { module.approving(&content) } else { Some(module.rejecting(&content)) };
            match effect.expect("it can be approved") {
                Effect::Posting { .. } => assert_eq!(said.0, "POSTING", "{kind:?} {decision}"),
                Effect::Dispute { .. } => assert_eq!(said.0, "DISPUTE", "{kind:?} {decision}"),
                Effect::Routing { to } => assert_eq!(said, ("ROUTING".into(), Some(to.into())), "{kind:?} {decision}"),
            }
        }
        let rule: Option<String> =
            sqlx::query_scalar("SELECT countersign.figure_rule($1)").bind(kind.as_str()).fetch_one(owner).await?;
        let carries = figure::outlook(&content).figure.is_some();
        let expected = if carries { Some("ACCRUAL") } else { kind.module().may_be_corrected().then_some("CORRECTED") };
        assert_eq!(rule.as_deref(), expected, "{kind:?}");
    }
    let unknown = sqlx::query("SELECT countersign.effect_of('mystery', 'APPROVE', false)").execute(owner).await;
    assert!(unknown.expect_err("nobody knows it").to_string().contains("the kind mystery"));
    Ok(())
}

/// Both know the digits of every currency, and of each claim the same accrual.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_computes_what_the_workstations_compute() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let owner = &office.installation.owner;
    let codes = (b'A'..=b'Z').flat_map(|a| (b'A'..=b'Z').flat_map(move |b| (b'A'..=b'Z').map(move |c| [a, b, c])));
    let codes: Vec<String> = codes.map(|code| String::from_utf8_lossy(&code).into_owned()).collect();
    let digits: Vec<Option<i32>> = sqlx::query_scalar(
        "SELECT countersign.minor_units(c) FROM unnest($1::text[]) WITH ORDINALITY AS i (c, n) ORDER BY n",
    )
    .bind(&codes)
    .fetch_all(owner)
    .await?;
    for (code, digits) in codes.iter().zip(digits) {
        let known = code.parse::<Currency>().ok().map(|currency| i32::from(currency.minor_units()));
        assert_eq!(digits, known, "{code}");
    }

    let long = "9".repeat(28);
    let small = format!("0.{}1", "0".repeat(27));
    let lines = |lines: serde_json::Value| json!({"line_items": lines, "claimed_amount": "1.00"});
    let whole =
        |units: &str, rate: &str| json!({"qualifying_units": units, "tier_rate": rate, "claimed_amount": "1.00"});
    let line = |units: &str, rate: &str| json!({"units": units, "tier_rate": rate});
    let payloads = [
        whole("1234", "0.0175"),
        whole("-1234", "0.0175"),
        whole("0", &small),
        whole("1", &long),
        whole("10", &long),
        whole("2.5", &small),
        whole("0.1", &small),
        whole("1000000000000000", "1000000000000000"),
        whole("0.005", "1"),
        whole("-0.005", "1"),
        whole("00012.50", "2"),
        whole("1e3", "1"),
        whole(" 1", "1"),
        whole("+1", "1"),
        json!({"qualifying_units": null, "tier_rate": "2", "claimed_amount": "1.005"}),
        json!({"claimed_amount": "-0.004"}),
        json!({"claimed_amount": long}),
        json!({"claimed_amount": null}),
        json!({}),
        lines(json!([line("10", "0.333"), line("5", "0.1")])),
        lines(json!([line("10", "0.333"), {"units": "5"}])),
        lines(json!([line("10", "0.333"), "no line"])),
        lines(json!([])),
        lines(json!([line("1", &long), line("1", "1"), line("-1", "1")])),
        lines(json!([line("1", &long), line("-1", "1"), line("1", "1")])),
        lines(json!([line("1", "0.1"), line("1", &long)])),
        lines(json!([line("1", &small), line("10", "1000")])),
    ];
    let base: serde_json::Value = serde_json::from_str(&Claim::new(1, "p").body())?;
    let mut exact = 0;
    for currency in ["USD", "JPY", "BHD", "CLF"] {
        for payload in &payloads {
            let mut document = base.clone();
            document["currency"] = json!(currency);
            document["variance_amount"] = json!("0");
            document["payload"] = payload.clone();
            // The hash of a claim's content is the producer's own, and what was taken in is read without its gates.
            let body = document.to_string();
            let content = gate::read_body(&body).expect("it has the shape of an arrival");
            let here = countersign_domain::kind::sales_claim::accrual(&content).map(|accrual| accrual.amount.text());
            let sql = "SELECT countersign.accrual($1::jsonb)::text";
            let there: Option<String> = sqlx::query_scalar(AssertSqlSafe(sql)).bind(&body).fetch_one(owner).await?;
            assert_eq!(there, here, "{currency} {payload}");
            exact += usize::from(here.is_some());
        }
    }
    assert!(exact > 40, "most of them come to something: {exact}");
    let other: Option<String> = sqlx::query_scalar("SELECT countersign.accrual($1::jsonb)::text")
        .bind(Paper::new(1, "p", 100).body())
        .fetch_one(owner)
        .await?;
    assert_eq!(other, None, "other kinds have none");
    Ok(())
}

/// Signing what has no figure costs nothing of what a figure takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_of_what_has_a_figure_is_the_content_read_while_signing() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let owner = &office.installation.owner;
    let counted = format!("ALTER DATABASE {} SET track_functions = 'pl'", office.installation.database().name());
    sqlx::raw_sql(AssertSqlSafe(counted)).execute(owner).await?;
    let alice = office.seat("alice").await?;
    office.take(&[Paper::new(1, "p", 100).body(), Paper::new(2, "p", 100).body(), Claim::new(3, "p").body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items).await?, [Outcome::Committed; 3]);
    let calls = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_user_functions WHERE schemaname = 'countersign' AND funcname IN ('weigh', 'terms_of')";
    alice.backlog.close().await;
    // A function is listed before its calls are told.
    until(
        owner,
        "the server has counted",
        "SELECT coalesce(sum(calls), 0) > 0 FROM pg_stat_user_functions WHERE funcname = 'weigh'",
    )
    .await?;
    assert_eq!(number(owner, calls).await?, 2, "once for the claim, and its terms once");
    Ok(())
}
