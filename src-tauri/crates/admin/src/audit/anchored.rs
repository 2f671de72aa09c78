//! What was anchored is still there.

use std::fs::File;
use std::path::Path;

use countersign_domain::seal::PublicKey;
use sqlx::Row as _;

use super::anchor::{Line, Lines};
use super::finding::Finding;
use super::verify::Audit;
use crate::AdminError;
use crate::text::shown;

/// Looked up by its place, head by head.
const LOOK_UP: &str = "
    SELECT a.chain_hash FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS i (chain, number, n)
    LEFT JOIN LATERAL (SELECT a.chain_hash FROM countersign.audit_events a
                       WHERE a.partition_key = i.chain AND a.chain_seq = i.number LIMIT 1) AS a ON true
    ORDER BY i.n";

impl Audit<'_> {
    /// The file's own chain and signatures, and every head in it.
    pub(crate) async fn anchored(&mut self, path: &Path, key: Option<PublicKey>) -> Result<(), AdminError> {
        let unreadable = |source| AdminError::Unreadable { origin: shown(&path.to_string_lossy()), source };
        let total = "SELECT least(coalesce(sum(h.chain_seq), 0), 1e18)::bigint FROM countersign.chain_heads h";
        let total = self.session.number(total).await?;
        let mut lines = Lines::new(File::open(path).map_err(unreadable)?, self.state.installation, key);
        while let Some(line) = lines.next().map_err(unreadable)? {
            match line {
                Ok(line) => {
                    if line.records > total {
                        let what =
                            format!("anchor {} counted {} records, and there are {total}", line.anchor, line.records);
                        self.state.findings.add(Finding::new(what, "Records were removed since"));
                    }
                    self.heads(&line).await?;
                }
                Err(why) => {
                    let what = format!("line {} of the anchors: {why}", lines.count);
                    self.state.findings.add(Finding::new(what, "The file of anchors was changed, or is another one"));
                }
            }
        }
        self.state.counts.anchors = lines.count;
        if lines.count == 0 {
            self.state.findings.add(Finding::new("the file of anchors is empty", "Nothing is anchored"));
        }
        Ok(())
    }

    async fn heads(&mut self, line: &Line) -> Result<(), AdminError> {
        let refused = self.session.refused();
        let (chains, numbers): (Vec<&str>, Vec<i64>) =
            line.heads.iter().map(|(chain, number, _)| (chain.as_str(), *number)).unzip();
        let rows = sqlx::query(LOOK_UP)
            .bind(chains)
            .bind(numbers)
            .fetch_all(&mut self.session.connection)
            .await
            .map_err(&refused)?;
        for (row, (chain, number, hash)) in rows.iter().zip(&line.heads) {
            let what = match row.try_get::<Option<&[u8]>, _>(0).map_err(&refused)? {
                Some(stored) if stored == hash.0 => {
                    self.state.counts.anchored_heads += 1;
                    continue;
                }
                Some(_) => format!("anchor {} of {} knows this record with another hash", line.anchor, line.at),
                None => format!("anchor {} of {} knows this record, and it is gone", line.anchor, line.at),
            };
            let means = "The end of the chain was cut off or written anew after it was anchored";
            self.state.findings.add(Finding::new(what, means).record(chain, *number));
        }
        Ok(())
    }
}
