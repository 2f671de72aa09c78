//! Sign-offs that the database fails on purpose, and says how often.

use anyhow::Context as _;
use countersign_domain::id::ExceptionId;
use sqlx::PgPool;

use crate::owner;

/// A sequence counts, because a transaction that fails does not take its steps back.
const TRIGGER: &str = "
    CREATE TABLE public.fault (exception_id bigint PRIMARY KEY, sqlstate text NOT NULL);
    CREATE SEQUENCE public.faults;
    CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        v_sqlstate text;
    BEGIN
        SELECT f.sqlstate INTO v_sqlstate FROM public.fault f WHERE f.exception_id = NEW.exception_id;
        IF FOUND THEN
            PERFORM nextval('public.faults');
            RAISE EXCEPTION 'this sign-off was made to fail' USING ERRCODE = v_sqlstate;
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER fail BEFORE INSERT ON countersign.sign_off FOR EACH ROW EXECUTE FUNCTION public.fail();";

/// From now on sign-offs can be made to fail.
pub async fn arm(owner: &PgPool) -> anyhow::Result<()> {
    owner::run(owner, TRIGGER).await
}

/// Every sign-off of this exception fails with this SQLSTATE.
pub async fn on(owner: &PgPool, exception: ExceptionId, sqlstate: &str) -> anyhow::Result<()> {
    sqlx::query("INSERT INTO public.fault (exception_id, sqlstate) VALUES ($1, $2)")
        .bind(exception.0)
        .bind(sqlstate)
        .execute(owner)
        .await
        .context("make a sign-off fail")?;
    Ok(())
}

/// Nothing fails any more.
pub async fn off(owner: &PgPool) -> anyhow::Result<()> {
    owner::run(owner, "DELETE FROM public.fault").await
}

/// How often a sign-off was failed.
pub async fn count(owner: &PgPool) -> anyhow::Result<i64> {
    owner::number(owner, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.faults").await
}
