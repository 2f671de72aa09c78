//! Verifying the whole stream, beside a roof that reads the same columns and does nothing with them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use countersign_admin::audit::{Verify, export_keys, verify};
use futures_util::TryStreamExt as _;
use sqlx::Connection as _;

use super::product::Product;
use super::report::{Row, Samples};
use super::server::{Copy, Server};
use super::sides::{Which, approve, held};

/// Items a partition of the template.
const ITEMS: u32 = 100;
/// Decisions a call.
const BATCH: u32 = 500;
/// The tables whose rows are read, each by itself and in no order.
const ROOF: [&str; 3] = [
    "SELECT a.* FROM countersign.audit_event a",
    "SELECT s.* FROM countersign.sign_off s",
    "SELECT e.*, c.body, p.amount FROM countersign.exception e, countersign.exception_content c, countersign.posting p
     WHERE c.exception_id = e.id AND p.exception_id = e.id",
];

/// Signs everything in a copy of the template, and verifies it several times: by the exported keys, as an auditor does who asks the
/// database for nothing but its rows.
pub(crate) async fn measure(server: &Server, template: &str, partitions: u32, runs: usize) -> anyhow::Result<Row> {
    let mut copy = server.copy(template, 0).await?;
    sign_all(&mut copy, partitions * ITEMS).await?;
    let database = copy.for_admin()?;
    let directory = tempfile::tempdir()?;
    let keys = directory.path().join("keys.json");
    export_keys(&database, &keys).await?;
    let what = Verify { keys: Some(keys), ..Verify::default() };
    let mut row = None;
    for run in 0..runs {
        let began = Instant::now();
        let report = verify(&database, &what).await?;
        let took = began.elapsed();
        ensure!(report.holds(), "the bench's stream does not hold: {:#?}", report.first);
        ensure!(report.counts.signatures == u64::from(partitions * ITEMS), "{:?}", report.counts);
        let records = u32::try_from(report.counts.records)?;
        let row = row.get_or_insert_with(|| Row::new("audit verify".to_owned(), records, 1));
        row.add(Which::Product, Samples { took, written: None });
        row.add(Which::Roof, Samples { took: roof(&copy).await?, written: None });
        super::progress(&format!("audit: run {} of {runs}", run + 1));
    }
    copy.remove().await?;
    row.context("nothing was run")
}

async fn sign_all(copy: &mut Copy<'_>, items: u32) -> anyhow::Result<()> {
    let product = Product::connect(copy.backlog()).await?;
    for _ in 0..items / BATCH {
        let (_, reply) = product.lease(BATCH, Vec::new()).await?;
        product.sign_off(&approve(&reply.items)).await?;
        product.release(&held(&reply)).await?;
    }
    product.close().await;
    sqlx::raw_sql("VACUUM (ANALYZE)").execute(&mut copy.owner).await?;
    copy.checkpoint().await?;
    Ok(())
}

async fn roof(copy: &Copy<'_>) -> anyhow::Result<Duration> {
    let mut connection = copy.connect().await?;
    let began = Instant::now();
    for sql in ROOF {
        let mut rows = sqlx::query(sql).fetch(&mut connection);
        while rows.try_next().await?.is_some() {}
    }
    let took = began.elapsed();
    connection.close().await?;
    Ok(took)
}
