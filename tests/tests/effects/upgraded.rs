//! What the release before left: it knew no figures, posted whatever was approved and sent the rest back.

use anyhow::Context as _;
use countersign_admin::audit::{Verify, verify};
use countersign_backlog::migrate::MIGRATIONS;
use countersign_domain::id::{ContentHash, Digest, Epoch, ExceptionId, PartitionKey, Seq, WorkstationId};
use countersign_domain::sign_off::{Decision, Outcome, SignOff};
use countersign_domain::{figure, gate, hash};
use countersign_engine::port::LeasedItem;
use countersign_testkit::enrolment::{enrol, sealed};
use countersign_testkit::installation::{Installation, Login};
use countersign_testkit::postgres::TestDatabase;
use countersign_tests::calls::decision;
use secrecy::ExposeSecret as _;
use serde_json::json;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::office::{Office, Paper, supervisor};
use crate::paper::{Claim, effect, money, receipt, says};

/// The last migration of a release without figures.
const BEFORE: i32 = 18;

async fn release_before() -> anyhow::Result<TestDatabase> {
    let database = TestDatabase::create().await?;
    let mut owner = PgConnection::connect(&database.admin_url()).await?;
    let known = MIGRATIONS.iter().filter(|migration| migration.version <= BEFORE);
    for migration in known.clone() {
        let sql = AssertSqlSafe(migration.sql().to_owned());
        sqlx::raw_sql(sql).execute(&mut owner).await.with_context(|| migration.name)?;
    }
    sqlx::raw_sql(
        "CREATE TABLE countersign.schema_migration (version integer PRIMARY KEY, name text NOT NULL, sha256 bytea NOT NULL,
             applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), applied_by text NOT NULL DEFAULT session_user);
         CREATE FUNCTION countersign.schema_version() RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
         SET search_path = pg_catalog, pg_temp AS 'SELECT max(m.version) FROM countersign.schema_migration m';
         ALTER TABLE countersign.schema_migration OWNER TO countersign_owner;
         ALTER FUNCTION countersign.schema_version() OWNER TO countersign_owner",
    )
    .execute(&mut owner)
    .await?;
    for migration in known {
        sqlx::query("INSERT INTO countersign.schema_migration (version, name, sha256) VALUES ($1, $2, $3)")
            .bind(migration.version)
            .bind(migration.name)
            .bind(migration.sha256())
            .execute(&mut owner)
            .await?;
    }
    owner.close().await?;
    Ok(database)
}

/// Leases all there is, as a workstation of that release.
async fn lease_as_before(client: &mut PgConnection, desk: WorkstationId) -> anyhow::Result<Vec<LeasedItem>> {
    let sql = "SELECT partition_key, epoch, exception_id, seq, version, content_hash, body
               FROM countersign.lease($1, 50, 50, true, 60000, NULL, NULL, NULL) ORDER BY partition_key, seq";
    let rows = sqlx::query(sql).bind(desk.0).fetch_all(client).await?;
    let item = |row: &sqlx::postgres::PgRow| {
        let hash: Vec<u8> = row.try_get(5)?;
        Ok(LeasedItem {
            id: ExceptionId(row.try_get(2)?),
            partition: PartitionKey(row.try_get(0)?),
            epoch: Epoch(row.try_get(1)?),
            seq: Seq(row.try_get(3)?),
            version: u32::try_from(row.try_get::<i32, _>(4)?)?,
            content: ContentHash(Digest::from_bytes(&hash).context("32 bytes")?),
            body: row.try_get(6)?,
            signatures: 0,
            due_on: None,
        })
    };
    rows.iter().map(item).collect()
}

/// Signs as a workstation of that release: without figures.
async fn sign_as_before(
    client: &mut PgConnection,
    who: &Login,
    desk: WorkstationId,
    decided: &[(&LeasedItem, Decision)],
) -> anyhow::Result<Vec<String>> {
    let mut outcomes = Vec::new();
    for (item, decided) in decided {
        let key = gate::read_body(&item.body).expect("it passed its gates").idempotency_key;
        let sign_off = sealed(SignOff { figure: None, ..decision(item, who, desk, *decided) }, &key, &who.user, desk);
        let seal = sign_off.seal.context("it is sealed")?;
        let sql = "SELECT outcome FROM countersign.sign_off($1, ARRAY[$2], ARRAY[$3], ARRAY[$4], ARRAY[$5], ARRAY[$6], ARRAY[$7], ARRAY[NULL::text],
                       ARRAY[$8], ARRAY[1], ARRAY[1], ARRAY[$9], ARRAY[$10]) WHERE outcome IS NOT NULL";
        let outcome = sqlx::query_scalar(sql)
            .bind(desk.0)
            .bind(&sign_off.key.0.0[..])
            .bind(item.id.0)
            .bind(&item.content.0.0[..])
            .bind(item.epoch.0)
            .bind(sign_off.decision.as_str())
            .bind(sign_off.reason.as_deref())
            .bind(sign_off.decided_at)
            .bind(&seal.signature[..])
            .bind(&seal.mac.0[..])
            .fetch_one(&mut *client)
            .await?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_decided_without_figures_takes_effect_as_it_was_shown_and_holds() -> anyhow::Result<()> {
    let installation = Installation::of(release_before().await?).await?;
    let owner = installation.owner.clone();
    let alice = installation.reviewer("alice").await?;
    let desk = WorkstationId(Uuid::new_v4());
    enrol(&owner, &alice.user, desk).await?;
    // In `p` everything waits for the first one; in `q` a claim is done; in `r` one was approved by the first of two.
    let first = |number| Paper::new(number, "p", 100).body();
    let read = json!("2b.42");
    let claim = |number, partition| Claim::new(number, partition).body();
    let behind = [first(1), claim(2, "p"), claim(3, "p"), receipt(4, "p", &read, "0.78")];
    // Of one the accrual has more digits than can be held; no gate of that release asked for them.
    let beyond = claim(8, "t").replace("0.0175", &format!("0.{}1", "0".repeat(27))).replace("1234", "0.5");
    let bodies: Vec<String> = behind.into_iter().chain([claim(5, "q"), claim(6, "r"), beyond]).collect();
    let sql = "SELECT outcome FROM countersign.enqueue($1)";
    let outcomes: Vec<String> = sqlx::query_scalar(sql).bind(&bodies).fetch_all(&owner).await?;
    assert_eq!(outcomes, ["ENQUEUED"; 7]);
    let mut client =
        PgConnection::connect(&installation.database().url_for(&alice.user, alice.password.expose_secret())).await?;
    let items = lease_as_before(&mut client, desk).await?;
    let (approve, reject) = (Decision::Approve, Decision::Reject);
    let decided = [(&items[1], approve), (&items[2], reject), (&items[3], approve), (&items[4], approve)];
    assert_eq!(sign_as_before(&mut client, &alice, desk, &decided).await?, ["HELD", "HELD", "HELD", "COMMITTED"]);
    let two = "SELECT countersign.policy_set(jsonb_set((countersign.policy()).document, '{four_eyes}',
                   '[{\"currency\": \"USD\", \"at_or_above\": \"8.40\"}]'), 'two')";
    sqlx::query(two).execute(&owner).await?;
    assert_eq!(sign_as_before(&mut client, &alice, desk, &[(&items[5], approve)]).await?, ["AWAITING_SECOND"]);
    client.close().await?;

    countersign_admin::migrate::migrate(&installation.for_admin()?).await?;
    installation.lapse().await?;
    let office = Office { supervisor: supervisor(&installation).await?, installation };
    let bob = office.seat("bob").await?;
    let left = bob.lease().await?;
    assert_eq!(left.len(), 3, "one in p, one in r, one in t");
    let (beyond, left) = (left[2].clone(), &left[..2]);
    let outlook = figure::outlook(&gate::read_body(&beyond.body).expect("it was taken in"));
    assert!(outlook.unapprovable && outlook.figure.is_none(), "{outlook:?}");
    for figure in [None, Some(money("0.00", "USD")), Some(money("8.40", "USD"))] {
        let answer = bob.send(&[bob.approval_with(&beyond, figure)]).await?;
        assert_eq!(answer, [Outcome::FigureDiffers], "{figure:?}");
    }
    assert_eq!(bob.send(&[bob.rejection(&beyond)]).await?, [Outcome::Committed]);
    // The accrual follows from the content, whatever the first approval said.
    assert_eq!(bob.approve(left).await?, [Outcome::Committed; 2]);
    says(&effect(&office, &items[1]).await?, &json!({"amount": "8.40", "basis": "VARIANCE", "units": null}));
    says(&effect(&office, &items[2]).await?, &json!({"claimed": "30.00", "by_agreement": "21.60"}));
    let routed = json!({"routed_to": "policy validation", "read_amount": "2b.42", "corrected_amount": null});
    says(&effect(&office, &items[3]).await?, &routed);
    says(&effect(&office, &items[4]).await?, &json!({"amount": "8.40", "basis": "VARIANCE"}));
    says(&effect(&office, &items[5]).await?, &json!({"amount": "21.60", "basis": "AGREEMENT"}));
    let report = verify(&office.installation.for_admin()?, &Verify::default()).await?;
    assert!(report.holds(), "{:#?}", report.first);
    assert_eq!((report.counts.effects, report.counts.unsigned), (7, 0));

    // A decision that the release before had not sent comes back, to be decided with its figure.
    office.take(&[Claim::new(7, "s").body()]).await?;
    let unsent = bob.lease().await?;
    assert_eq!(bob.send(&[bob.approval_with(&unsent[0], None)]).await?, [Outcome::FigureDiffers]);
    let key = gate::read_body(&unsent[0].body).expect("it passed").idempotency_key;
    let again = bob.approval(&unsent[0]);
    assert_eq!(again.key, hash::sign_off_key(&key, unsent[0].content, approve, bob.user()));
    assert_eq!(bob.send(&[again]).await?, [Outcome::AwaitingSecond], "21.60 are for two people");
    Ok(())
}
