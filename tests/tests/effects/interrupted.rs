//! Posting that is interrupted at every boundary: both the effect and its mark, or neither.
//!
//! A trigger on every table counts the rows and the statements that write. It stops the transaction at the one whose turn it is, with an
//! error or by ending the server process, and the next attempt comes one further, until one goes through.

use countersign_domain::sign_off::Outcome;
use countersign_engine::port::LeasedItem;
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};

use crate::office::{Office, Paper, Seat};
use crate::paper::{Claim, money, receipt};

/// More boundaries than a call of this size has.
const BOUNDARIES: i64 = 500;

/// Counts in sequences, which no rollback takes back.
const STOP: &str = "
    CREATE SEQUENCE public.boundary;
    CREATE TABLE public.stop (at bigint NOT NULL, by_killing boolean NOT NULL);
    INSERT INTO public.stop VALUES (0, false);
    CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        v_stop public.stop;
    BEGIN
        SELECT * INTO STRICT v_stop FROM public.stop;
        IF nextval('public.boundary') = v_stop.at THEN
            IF v_stop.by_killing THEN
                PERFORM pg_terminate_backend(pg_backend_pid());
            END IF;
            RAISE EXCEPTION 'stopped at %', v_stop.at;
        END IF;
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END $$;
    DO $$
    DECLARE
        v_table regclass;
    BEGIN
        FOR v_table IN SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'countersign'::regnamespace AND c.relkind = 'r' LOOP
            EXECUTE format('CREATE TRIGGER stop_before BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION public.stop()', v_table);
            EXECUTE format('CREATE TRIGGER stop_after AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION public.stop()', v_table);
            EXECUTE format('CREATE TRIGGER stop_first BEFORE INSERT OR UPDATE OR DELETE ON %s EXECUTE FUNCTION public.stop()', v_table);
            EXECUTE format('CREATE TRIGGER stop_last AFTER INSERT OR UPDATE OR DELETE ON %s EXECUTE FUNCTION public.stop()', v_table);
        END LOOP;
    END $$";

/// How many exceptions are marked and have no effect, have one and are not marked, or have several; and how many have one.
async fn disagree(owner: &PgPool) -> anyhow::Result<(i64, i64)> {
    let sql = "SELECT count(*) FILTER (WHERE (e.state = 'RESOLVED') <> (n = 1) OR n > 1), count(*) FILTER (WHERE n = 1)
               FROM countersign.exception e
               CROSS JOIN LATERAL (SELECT (SELECT count(*) FROM countersign.posting x WHERE x.exception_id = e.id)
                   + (SELECT count(*) FROM countersign.routing x WHERE x.exception_id = e.id)
                   + (SELECT count(*) FROM countersign.dispute x WHERE x.exception_id = e.id) AS n) AS f";
    Ok(sqlx::query_as(sql).fetch_one(owner).await?)
}

/// One of each effect, in two partitions, with one that was held and is released by the call.
async fn prepare(office: &Office, alice: &Seat) -> anyhow::Result<Vec<LeasedItem>> {
    office.take(&[Paper::new(1, "p", 100).body(), Claim::new(2, "p").body(), Claim::new(3, "p").body()]).await?;
    office.take(&[receipt(4, "q", &json!("2b.42"), "0.78"), Paper::new(5, "q", 300).body()]).await?;
    let items = alice.lease().await?;
    assert_eq!(alice.approve(&items[1..2]).await?, [Outcome::Held]);
    Ok(items)
}

async fn stopped(by_killing: bool) -> anyhow::Result<i64> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let owner = &office.installation.owner;
    let items = prepare(&office, &alice).await?;
    let batch = [
        alice.approval(&items[0]),
        alice.rejection(&items[2]),
        alice.approval_with(&items[3], Some(money("24.62", "EUR"))),
        alice.rejection(&items[4]),
    ];
    sqlx::raw_sql(STOP).execute(owner).await?;
    let before = "SELECT count(*) FROM countersign.audit_event";
    let recorded: i64 = office.ask(before).await?;
    for at in 1..BOUNDARIES {
        let turn = format!(
            "UPDATE public.stop SET at = {at}, by_killing = {by_killing}; ALTER SEQUENCE public.boundary RESTART"
        );
        sqlx::raw_sql(AssertSqlSafe(turn)).execute(owner).await?;
        match alice.send(&batch).await {
            Ok(outcomes) => {
                assert_eq!(outcomes, [Outcome::Committed; 4], "after {at} boundaries");
                assert_eq!(disagree(owner).await?, (0, 5));
                let passed: i64 = office.ask("SELECT last_value FROM public.boundary").await?;
                assert!(passed < at, "the call went through before its turn came: {passed} of {at}");
                return Ok(passed);
            }
            Err(error) => {
                let told = error.to_string();
                assert!(by_killing || told.contains(&format!("stopped at {at}")), "{told}");
                assert_eq!(disagree(owner).await?, (0, 0), "stopped at {at}");
                assert_eq!(office.ask::<i64>(before).await?, recorded, "stopped at {at}");
            }
        }
    }
    anyhow::bail!("a call had {BOUNDARIES} boundaries")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_at_any_boundary_leaves_neither_effect_nor_mark() -> anyhow::Result<()> {
    let passed = stopped(false).await?;
    // Of five exceptions: two postings, two routings, a dispute, four sign-offs, five changed rows, and the records of each.
    assert!(passed > 40, "{passed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_process_leaves_neither_effect_nor_mark() -> anyhow::Result<()> {
    assert!(stopped(true).await? > 40);
    Ok(())
}
