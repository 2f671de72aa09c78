//! The whole way of 500 items: leased, signed off in the order of their partitions, and the partitions given back.

use std::time::Duration;

use super::report::{Row, Samples};
use super::server::Server;
use super::sides::{Side, Which, approve, held};

/// Items in a cycle.
const BATCH: u32 = 500;
/// Cycles before the measured ones: connections, caches and the plans of the functions' statements.
const WARM_UP: u32 = 8;

pub(crate) async fn measure(
    server: &Server,
    template: &str,
    items: u32,
    cycles: u32,
    runs: usize,
) -> anyhow::Result<Vec<Row>> {
    let partitions = if items == 1 { "1 item a partition".to_owned() } else { format!("{items} items a partition") };
    let names = [
        format!("lease + sign off + release, {partitions}"),
        "  lease".into(),
        "  sign off".into(),
        "  release".into(),
    ];
    let mut rows = names.map(|name| Row::new(name, BATCH, cycles));
    for run in 0..runs {
        for which in [Which::Product, Which::Roof] {
            let samples = one(server, template, run, which, items, cycles).await?;
            for (row, sample) in rows.iter_mut().zip(samples) {
                row.add(which, sample);
            }
        }
        super::progress(&format!("{}: run {} of {runs}", rows[0].name, run + 1));
    }
    Ok(rows.into())
}

async fn one(
    server: &Server,
    template: &str,
    run: usize,
    which: Which,
    items: u32,
    cycles: u32,
) -> anyhow::Result<[Samples; 4]> {
    let mut copy = server.copy(template, run).await?;
    let mut side = Side::connect(which, &copy, items).await?;
    for _ in 0..WARM_UP {
        cycle(&mut side).await?;
    }
    let start = copy.checkpoint().await?;
    let mut spent = [Duration::ZERO; 3];
    for _ in 0..cycles {
        let took = cycle(&mut side).await?;
        for (total, part) in spent.iter_mut().zip(took) {
            *total += part;
        }
    }
    let written = copy.written_since(&start).await?;
    side.close().await?;
    copy.remove().await?;
    let [lease, sign_off, release] = spent.map(|took| Samples { took, written: None });
    Ok([Samples { took: spent.iter().sum(), written: Some(written) }, lease, sign_off, release])
}

async fn cycle(side: &mut Side) -> anyhow::Result<[Duration; 3]> {
    let (lease, reply) = side.lease(BATCH, Vec::new()).await?;
    let decisions = approve(&reply.items);
    let sign_off = side.sign_off(&decisions).await?;
    let release = side.release(&held(&reply)).await?;
    Ok([lease, sign_off, release])
}
