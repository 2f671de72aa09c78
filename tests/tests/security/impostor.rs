//! Nobody works in the name of another: not at another's workstation, with another's lease, key or seal.

use countersign_domain::sign_off::{Decision, Outcome, SignOff};
use countersign_engine::port::{Backlog as _, Held, Hello, LeaseRequest, LeasedItem, Problem};
use countersign_testkit::enrolment::{keys_of, sealed};
use countersign_testkit::generate::Arrival;
use countersign_testkit::installation::Installation;
use countersign_tests::calls::{decision, lease};
use countersign_tests::owner;
use secrecy::ExposeSecret as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::sqlstate;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_in_the_name_of_anothers_workstation_is_turned_away_and_recorded() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 3, 1).await?;
    let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
    let (hers, her_desk) = installation.workstation(&alice).await?;
    let (his, _) = installation.workstation(&bob).await?;
    let leased = lease(&hers, her_desk, 50).await?;
    let held = held(&leased.items);
    let greeting = Hello { workstation: her_desk, name: "x".into(), app_version: "0".into(), settings: "{}".into() };
    let request = LeaseRequest { want: 1, room: 1, empty: true, ttl_ms: 60_000, held: Vec::new(), focus: None };
    let in_his_name = decision(&leased.items[0], &bob, her_desk, Decision::Approve);
    let refusals = [
        ("hello", his.hello(&greeting).await.err()),
        ("enrol", his.enrol(her_desk, keys_of(her_desk).public()).await.err()),
        ("lease", his.lease(her_desk, &request).await.err()),
        ("renew", his.renew(her_desk, &held, 60_000).await.err()),
        ("release", his.release(her_desk, &held).await.err()),
        ("sign_off", his.sign_off(her_desk, std::slice::from_ref(&in_his_name)).await.err()),
    ];
    for (call, error) in &refusals {
        let error = error.as_ref().unwrap_or_else(|| panic!("{call} went through"));
        assert_eq!(error.code(), Problem::UnknownWorkstation.code(), "{call}: {error}");
    }
    // An answer without content, because this call has none when all goes well either.
    assert!(his.hand_over(her_desk, &held, &bob.user, 60_000).await?.is_empty());
    let mut client =
        PgConnection::connect(&installation.database().url_for(&bob.user, bob.password.expose_secret())).await?;
    let revoke = format!("SELECT countersign.workstation_revoke('{}', 'spite')", her_desk.0);
    sqlstate(&mut client, &revoke).await;
    let recorded = turned_away(&installation).await?;
    assert_eq!(
        recorded,
        ["hello", "enrol", "lease", "renew", "release", "sign_off", "hand_over", "workstation_revoke"]
    );
    let sql = "SELECT count(*) FROM countersign.audit_event WHERE event = 'TURNED_AWAY' AND outcome = 'NOT_THEIRS'
               AND actor LIKE 'bob%' AND detail ->> 'of' LIKE 'alice%'";
    assert_eq!(usize::try_from(owner::number(&installation.owner, sql).await?)?, recorded.len());
    // Nothing of hers changed.
    assert_eq!(hers.renew(her_desk, &held, 60_000).await?.len(), held.len());
    let in_her_name = decision(&leased.items[0], &alice, her_desk, Decision::Approve);
    assert_eq!(outcomes(&hers, her_desk, &[in_her_name]).await?, [Outcome::Committed]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_ones_own_workstation_anothers_lease_key_and_seal_are_of_no_use() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 6, 1).await?;
    let (alice, bob) = (installation.reviewer("alice").await?, installation.reviewer("bob").await?);
    let (hers, her_desk) = installation.workstation(&alice).await?;
    let (his, his_desk) = installation.workstation(&bob).await?;
    let leased = lease(&hers, her_desk, 50).await?;
    let held = held(&leased.items);
    assert!(his.renew(his_desk, &held, 60_000).await?.is_empty());
    his.release(his_desk, &held).await?;
    assert!(his.hand_over(his_desk, &held, &alice.user, 60_000).await?.is_empty());

    let items = &leased.items;
    let his_own = |item: &LeasedItem| decision(item, &bob, his_desk, Decision::Approve);
    // Her key in a decision that he seals; her decision, sealed by her, sent from his desk; her seal on his decision.
    let with_her_key =
        SignOff { key: decision(&items[1], &alice, her_desk, Decision::Approve).key, ..his_own(&items[1]) };
    let hers_replayed = decision(&items[2], &alice, her_desk, Decision::Approve);
    let with_her_seal = SignOff { seal: hers_replayed.seal, ..his_own(&items[2]) };
    let sealed_by_a_stranger = sealed(his_own(&items[3]), &Arrival::new(3, "p00").key(), &bob.user, her_desk);
    let unknown_enrolment = SignOff {
        seal: his_own(&items[4]).seal.map(|seal| countersign_domain::seal::Seal { enrolment: 2, ..seal }),
        ..his_own(&items[4])
    };
    let later = SignOff { policy_version: 7, ..his_own(&items[5]) };
    let batch = [
        his_own(&items[0]),
        with_her_key,
        hers_replayed,
        with_her_seal,
        sealed_by_a_stranger,
        unknown_enrolment,
        later,
    ];
    let expected = [
        Outcome::LeaseSuperseded,
        Outcome::KeyReused,
        Outcome::Forged,
        Outcome::Forged,
        Outcome::Forged,
        Outcome::Forged,
        Outcome::Forged,
    ];
    assert_eq!(outcomes(&his, his_desk, &batch).await?, expected);
    let sql = "SELECT string_agg(outcome, ' ' ORDER BY chain_seq) FROM countersign.audit_event WHERE event = 'SIGNED'";
    let recorded: String = sqlx::query_scalar(sql).fetch_one(&installation.owner).await?;
    assert_eq!(recorded, expected.map(Outcome::as_str).join(" "), "every refusal is on record");
    assert_eq!(hers.renew(her_desk, &held, 60_000).await?.len(), 1, "her lease is as it was");
    Ok(())
}

/// Tables, functions, types and operators of the session's own, under the names that the functions use, and a path that finds
/// them first: all that a login can put in the way, and it changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_day_goes_the_same_way_among_traps() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 3, 1).await?;
    let alice = installation.reviewer("alice").await?;
    let (_, desk) = installation.workstation(&alice).await?;
    let url = installation.database().url_for(&alice.user, alice.password.expose_secret());
    let mut client = PgConnection::connect(&url).await?;
    lay_traps(&mut client).await?;
    let call = format!("SELECT count(*) FROM countersign.lease('{}', 50, 50, true, 60000, NULL, NULL, NULL)", desk.0);
    let leased: i64 = sqlx::query_scalar(AssertSqlSafe(call)).fetch_one(&mut client).await?;
    assert_eq!(leased, 3);
    let sign = format!(
        "SELECT string_agg(outcome, ' ') FROM countersign.sign_off('{}', ARRAY[pg_catalog.sha256('')], ARRAY[1::bigint], ARRAY[pg_catalog.sha256('')],
             ARRAY[1::bigint], ARRAY['APPROVE'], ARRAY[NULL::text], ARRAY[NULL::text], ARRAY[pg_catalog.now()], ARRAY[1], ARRAY[1],
             ARRAY[pg_catalog.sha256('') || pg_catalog.sha256('')], ARRAY[pg_catalog.sha256('')],
             ARRAY[NULL::text], ARRAY[NULL::text]) WHERE outcome IS NOT NULL",
        desk.0
    );
    let answer: String = sqlx::query_scalar(AssertSqlSafe(sign)).fetch_one(&mut client).await?;
    assert_eq!(answer, "FORGED", "the seal is computed with the real functions");
    let trapped: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_temp.audit_event").fetch_one(&mut client).await?;
    assert_eq!(trapped, 0);
    let defects = countersign_tests::chain::audit(&installation.owner).await?.defects;
    assert_eq!(defects, Vec::<String>::new());
    Ok(())
}

/// Puts everything in the way that a session can make for itself.
pub(crate) async fn lay_traps(client: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::raw_sql(
        "CREATE TEMPORARY TABLE reviewer (login text, active boolean); CREATE TEMPORARY TABLE workstation (id uuid, reviewer text);
         CREATE TEMPORARY TABLE workstation_key (workstation uuid, enrolment integer, confirmed_at timestamptz);
         CREATE TEMPORARY TABLE partition (partition_key text); CREATE TEMPORARY TABLE exception (id bigint);
         CREATE TEMPORARY TABLE audit_event (partition_key text); CREATE TEMPORARY TABLE installation (id uuid);
         CREATE TEMPORARY TABLE policy_version (version integer); CREATE TEMPORARY TABLE pg_class (oid oid);
         CREATE DOMAIN pg_temp.bytea AS text; CREATE TYPE pg_temp.authority AS (login text);
         CREATE FUNCTION pg_temp.sha256(pg_catalog.bytea) RETURNS pg_catalog.bytea LANGUAGE sql AS 'SELECT ''\\x00''::pg_catalog.bytea';
         CREATE FUNCTION pg_temp.hmac(pg_catalog.bytea, pg_catalog.bytea, pg_catalog.bytea) RETURNS pg_catalog.bytea LANGUAGE sql AS 'SELECT $3';
         CREATE FUNCTION pg_temp.lower(text) RETURNS text LANGUAGE sql AS 'SELECT ''nobody''';
         CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''infinity''::timestamptz';
         CREATE FUNCTION pg_temp.always(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
         CREATE FUNCTION pg_temp.never(pg_catalog.bytea, pg_catalog.bytea) RETURNS boolean LANGUAGE sql AS 'SELECT false';
         CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.always);
         CREATE OPERATOR pg_temp.<> (LEFTARG = pg_catalog.bytea, RIGHTARG = pg_catalog.bytea, FUNCTION = pg_temp.never);
         INSERT INTO reviewer VALUES (session_user, true); SET search_path = pg_temp, countersign, pg_catalog;
         SET check_function_bodies = off; SET row_security = off; SET enable_indexscan = off; SET datestyle = 'SQL, DMY';
         SET timezone = 'Asia/Kolkata'; SET bytea_output = 'escape'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = -15;
         SET array_nulls = off; SET standard_conforming_strings = off; SET quote_all_identifiers = on",
    )
    .execute(client)
    .await?;
    Ok(())
}

/// Which calls were turned away, in their order.
pub(crate) async fn turned_away(installation: &Installation) -> anyhow::Result<Vec<String>> {
    let sql = "SELECT detail ->> 'call' FROM countersign.audit_event WHERE event = 'TURNED_AWAY' ORDER BY chain_seq";
    Ok(sqlx::query_scalar(sql).fetch_all(&installation.owner).await?)
}

fn held(items: &[LeasedItem]) -> Vec<Held> {
    let mut held: Vec<Held> =
        items.iter().map(|item| Held { partition: item.partition.clone(), epoch: item.epoch }).collect();
    held.dedup();
    held
}

async fn outcomes(
    backlog: &countersign_backlog::PgBacklog,
    desk: countersign_domain::id::WorkstationId,
    batch: &[SignOff],
) -> anyhow::Result<Vec<Outcome>> {
    Ok(backlog.sign_off(desk, batch).await?.answers.iter().map(|answer| answer.outcome).collect())
}
