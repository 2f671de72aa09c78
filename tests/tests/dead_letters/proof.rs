//! Whoever changes what was done at the desk is found out.

use countersign_admin::Database;
use countersign_admin::audit::{Verify, verify};
use countersign_testkit::postgres::TestDatabase;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::world::{World, key, line, mended, withdrawn};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_past_the_functions_is_found() -> anyhow::Result<()> {
    let world = World::open().await?;
    let (dora, bob) = (world.remediator("dora").await?, world.remediator("bob").await?);
    let (_, tom) = world.supervisor("tom").await?;
    let lines: Vec<Vec<u8>> = (1..=3).map(|number| line(&withdrawn(number, "p"))).collect();
    world.send(&lines).await?;
    let first = dora.letter(&key(1)).await?.id;
    dora.take(first).await?;
    dora.correct(first, 0, &mended(1, "p")).await?;
    dora.replay(first).await?;
    let second = bob.letter(&key(2)).await?.id;
    bob.discard(second, "a test file").await?;
    tom.run(&["dead-letters", "confirm-discard", &second.0.to_string(), "--yes"]).await?;
    world.holds().await?;
    // Nobody may be connected to what is copied.
    for seat in [&dora, &bob] {
        seat.backlog.close().await;
    }
    world.installation.owner.close().await;
    let (one, two) = (first.0, second.0);
    let dora = &dora.login.user;
    for (what, change) in [
        ("a status", format!("UPDATE countersign.dead_letter SET status = 'OPEN' WHERE id = {one}")),
        ("an owner", format!("UPDATE countersign.dead_letter SET owner = 'eve' WHERE id = {one}")),
        ("what it became", format!("UPDATE countersign.dead_letter SET exception_id = 77 WHERE id = {one}")),
        ("an original", format!("UPDATE countersign.dead_letter SET original = 'x' WHERE id = {one}")),
        ("a reason", format!("UPDATE countersign.dead_letter SET discard_reason = 'x' WHERE id = {two}")),
        ("a letter removed", format!("DELETE FROM countersign.dead_letter WHERE id = {two}")),
        ("a step removed", format!("DELETE FROM countersign.dead_letter_event WHERE dead_letter = {one} AND no = 2")),
        (
            "the last step removed",
            format!("DELETE FROM countersign.dead_letter_event WHERE dead_letter = {two} AND no = 3"),
        ),
        (
            "who asked",
            format!("UPDATE countersign.dead_letter_event SET actor = 'eve' WHERE dead_letter = {two} AND no = 2"),
        ),
        (
            "a first reason",
            format!("UPDATE countersign.dead_letter_event SET reason = 'x' WHERE dead_letter = {one} AND no = 1"),
        ),
        ("a correction", format!("UPDATE countersign.dead_letter_revision SET body = 'x' WHERE dead_letter = {one}")),
        (
            "a correction and its hash",
            format!(
                "UPDATE countersign.dead_letter_revision SET body = 'x', body_hash = sha256('x') WHERE dead_letter = {one}"
            ),
        ),
        (
            "who corrected",
            format!("UPDATE countersign.dead_letter_revision SET made_by = 'eve' WHERE dead_letter = {one}"),
        ),
        ("a correction removed", format!("DELETE FROM countersign.dead_letter_revision WHERE dead_letter = {one}")),
        ("the corrector may sign", format!("UPDATE countersign.exception SET barred = array_remove(barred, '{dora}')")),
        ("a reviewer's right", format!("UPDATE countersign.reviewer SET remediates = false WHERE login = '{dora}'")),
    ] {
        let copy = TestDatabase::create_from(world.installation.database().name()).await?;
        let mut connection = PgConnection::connect(&copy.admin_url()).await?;
        // Only a superuser can do it, and nothing less than that is proved against.
        let sql = format!("SET session_replication_role = replica; {change}");
        let changed = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?.rows_affected();
        connection.close().await?;
        let report = verify(&Database::from_url(&copy.admin_url())?, &Verify::default()).await?;
        assert!(changed > 0 && !report.holds(), "{what} went unnoticed");
        copy.close().await?;
    }
    Ok(())
}
