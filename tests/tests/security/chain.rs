//! Many at once: the chains have no fork and no gap.

use std::sync::Arc;

use countersign_backlog::PgBacklog;
use countersign_domain::id::WorkstationId;
use countersign_domain::sign_off::Decision;
use countersign_engine::port::{Backlog as _, Failure, LeasedItem};
use countersign_testkit::installation::{Installation, Login};
use countersign_tests::calls::{decision, lease};
use countersign_tests::{chain, owner};
use tokio::task::JoinSet;

/// How many connections sign at once.
const CONNECTIONS: usize = 50;
/// They meet in so many partitions.
const PARTITIONS: u64 = 4;

/// Everybody signs everything: one holds the leases, and all the others are refused in the same partitions, which leaves a record
/// each. Receipts, refusals and effects are in one chain a partition, and each is sealed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_connections_leave_chains_without_a_fork() -> anyhow::Result<()> {
    let installation = Installation::create().await?;
    owner::enqueue(&installation, 4 * CONNECTIONS as u64, PARTITIONS).await?;
    let people = [installation.reviewer("alice").await?, installation.reviewer("bob").await?];
    let (holder, desk) = installation.workstation(&people[0]).await?;
    let items = lease(&holder, desk, 1_000).await?.items;
    assert_eq!(items.len(), 4 * CONNECTIONS);
    let mut work = JoinSet::new();
    for number in 0..CONNECTIONS {
        // Every second one is the holder's workstation over another connection.
        let who = people[number % 2].clone();
        let desk = if number % 2 == 0 { desk } else { installation.workstation(&who).await?.1 };
        let connection = PgBacklog::new(installation.target(&who, None).await?, Some(who.password.clone()));
        let mut items = items.clone();
        // Each begins elsewhere, so that everybody meets everybody.
        items.rotate_left(number * 4);
        work.spawn(sign(Arc::new(connection), desk, who, items));
    }
    let mut asked = 0;
    while let Some(done) = work.join_next().await {
        asked += done??;
    }
    assert_eq!(asked, CONNECTIONS * items.len());
    let findings = chain::audit(&installation.owner).await?;
    assert_eq!(findings.defects, Vec::<String>::new());
    assert_eq!(owner::tally(&installation.owner).await?, owner::Tally::all_approved(items.len().try_into()?));
    for (what, sql) in [
        (
            "no two records follow the same one, and none of them is missing",
            "SELECT count(*) FROM (SELECT partition_key, count(*) AS records, count(DISTINCT chain_hash) AS hashes, max(chain_seq) AS last
                 FROM countersign.audit_event GROUP BY partition_key) AS c WHERE records <> hashes OR records <> last",
        ),
        (
            "every record is sealed",
            "SELECT count(*) FROM countersign.audit_event a WHERE NOT countersign.mac_holds(a.key_id, a.chain_hash, a.mac)",
        ),
        (
            "every receipt is sealed",
            "SELECT count(*) FROM countersign.receipt r WHERE NOT countersign.mac_holds(r.key_id, countersign.receipt_seal(r.document), r.mac)",
        ),
        (
            "every record of a signature names the receipt that covers it",
            "SELECT count(*) FROM countersign.audit_event a WHERE a.event = 'SIGNED' AND NOT EXISTS (
                 SELECT 1 FROM countersign.receipt r CROSS JOIN jsonb_array_elements(r.document -> 'records') AS c
                 WHERE r.id = (a.detail ->> 'receipt')::bigint AND c ->> 0 = a.partition_key
                   AND a.chain_seq BETWEEN (c ->> 1)::bigint AND (c ->> 2)::bigint)",
        ),
        (
            "receipts count what came",
            "SELECT count(*) FROM countersign.receipt r
             WHERE (r.document ->> 'submitted')::integer <> (r.document ->> 'committed')::integer + (r.document ->> 'duplicate')::integer + (r.document ->> 'refused')::integer",
        ),
    ] {
        assert_eq!(owner::number(&installation.owner, sql).await?, 0, "{what}");
    }
    Ok(())
}

/// Signs in batches of eight, again while the database says "not now". How many were answered.
async fn sign(
    connection: Arc<PgBacklog>,
    desk: WorkstationId,
    who: Login,
    items: Vec<LeasedItem>,
) -> anyhow::Result<usize> {
    let mut answered = 0;
    for batch in items.chunks(8) {
        let batch: Vec<_> = batch.iter().map(|item| decision(item, &who, desk, Decision::Approve)).collect();
        answered += loop {
            match connection.sign_off(desk, &batch).await {
                Ok(reply) => break reply.answers.len(),
                Err(error) if error.failure == Failure::Transient => {}
                Err(error) => return Err(error.into()),
            }
        };
    }
    Ok(answered)
}
