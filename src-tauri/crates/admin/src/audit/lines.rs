//! The lines of a large claim are those that its content names: evidence of what was posted for it.

use futures_util::TryStreamExt as _;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::finding::{Finding, unreadable};
use super::session::Join;
use super::verify::{Audit, State};
use crate::AdminError;

/// Each claim whose lines come apart, with what its content names, what its load says, and what the lines come to now.
const SQL: &str = r"
    SELECT e.id, e.partition_key, c.body::jsonb #>> '{payload,line_items_sha256}', encode(l.sha256, 'hex'),
           (SELECT encode(sha256(convert_to(string_agg(k.item || E'\t' || trim_scale(k.units)::text || E'\t' || trim_scale(k.tier_rate)::text || E'\t'
                       || coalesce(trim_scale(k.amount)::text, '') || E'\n', '' ORDER BY k.line), 'UTF8')), 'hex')
            FROM countersign.claim_lines k WHERE k.idempotency_key = e.idempotency_key)
    FROM countersign.exceptions e
    JOIN countersign.exception_contents c ON c.exception_id = e.id AND c.version = e.version
    LEFT JOIN countersign.claim_loads l ON l.idempotency_key = e.idempotency_key
    WHERE e.kind = 'sales_claim' AND c.body LIKE '%line_items_sha256%' AND c.body::jsonb #>> '{payload,line_items_sha256}' IS NOT NULL
    ORDER BY e.id";

const CHANGED: &str = "The lines of a claim were changed, put in or removed after it arrived with their hash";

impl Audit<'_> {
    /// Every claim whose lines come apart from it, beside those.
    pub(crate) async fn claim_lines(&mut self) -> Result<(), AdminError> {
        self.session.join(Join::ByKey).await?;
        let refused = self.session.refused();
        let mut rows = sqlx::query(SQL).fetch(&mut self.session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            if let Err(error) = self.state.claim_lines(&row) {
                self.state.findings.add(unreadable("the lines of a claim", &error));
            }
        }
        Ok(())
    }
}

impl State {
    fn claim_lines(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let (id, partition): (i64, &str) = (row.try_get(0)?, row.try_get(1)?);
        let named: &str = row.try_get(2)?;
        for (column, what) in [(3, "its lines were loaded"), (4, "its lines are")] {
            let there: Option<&str> = row.try_get(column)?;
            if there != Some(named) {
                let what =
                    format!("{what} with the SHA-256 {}, and its content names {named}", there.unwrap_or("of none"));
                self.findings.add(Finding::new(what, CHANGED).chain(partition).exception(id));
            }
        }
        Ok(())
    }
}
