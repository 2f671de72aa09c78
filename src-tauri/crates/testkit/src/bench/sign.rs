//! The sign-off transaction alone, at different numbers of decisions a call.

use std::time::Duration;

use countersign_engine::port::HeldCursor;

use super::report::{Row, Samples};
use super::server::{Copy, Server};
use super::sides::{Side, Which, approve, held};

/// Decisions a call.
const SIZES: [u32; 3] = [1, 50, 500];
/// Items a partition of the template.
const ITEMS: u32 = 100;
/// Items in one lease call.
const LEASE: u32 = 5_000;
/// Calls before the measured ones.
const WARM_UP: u32 = 8;

pub(crate) async fn measure(server: &Server, template: &str, calls: [u32; 3], runs: usize) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = SIZES
        .iter()
        .zip(calls)
        .map(|(size, calls)| Row::new(format!("sign off, {size} a call"), *size, calls))
        .collect();
    for run in 0..runs {
        for which in [Which::Product, Which::Roof] {
            let mut copy = server.copy(template, run).await?;
            let mut side = Side::connect(which, &copy, ITEMS).await?;
            for (row, (size, calls)) in rows.iter_mut().zip(SIZES.into_iter().zip(calls)) {
                let sample = one(&mut copy, &mut side, size, calls).await?;
                row.add(which, sample);
            }
            side.close().await?;
            copy.remove().await?;
        }
        super::progress(&format!("sign off: run {} of {runs}", run + 1));
    }
    Ok(rows)
}

async fn one(copy: &mut Copy<'_>, side: &mut Side, each: u32, calls: u32) -> anyhow::Result<Samples> {
    let wanted = each * (calls + WARM_UP);
    // Nothing may be left over for the next size to come upon.
    anyhow::ensure!(wanted.is_multiple_of(ITEMS), "{wanted} decisions do not fill partitions of {ITEMS} items");
    let (mut decisions, mut cursors, mut leases) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(want) = wanted.checked_sub(u32::try_from(decisions.len())?).filter(|left| *left > 0) {
        let (_, reply) = side.lease(want.min(LEASE), cursors.clone()).await?;
        decisions.extend(approve(&reply.items));
        leases.extend(held(&reply));
        cursors.extend(
            reply.partitions.into_iter().map(|leased| HeldCursor { partition: leased.partition, after: leased.after }),
        );
    }
    let (warm_up, measured) = decisions.split_at((each * WARM_UP) as usize);
    for batch in warm_up.chunks(each as usize) {
        side.sign_off(batch).await?;
    }
    let start = copy.checkpoint().await?;
    let mut took = Duration::ZERO;
    for batch in measured.chunks(each as usize) {
        took += side.sign_off(batch).await?;
    }
    let written = copy.written_since(&start).await?;
    side.release(&leases).await?;
    Ok(Samples { took, written: Some(written) })
}
