//! Every receipt: its seal, that it adds up, and that its accepted decisions are there.

use countersign_domain::receipt::Receipt;
use countersign_domain::record;
use futures_util::TryStreamExt as _;
use sqlx::postgres::PgRow;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, Row as _};

use super::finding::{Finding, unreadable};
use super::session::Join;
use super::verify::{Audit, State};
use super::{Micros, VerifyingKeys};
use crate::AdminError;

const RECEIPTS: &str = "
    SELECT r.id, r.at, r.reviewer, r.workstation, r.document::text, r.key_id, r.mac, coalesce(s.n, 0)";
const FROM: &str = "
    FROM countersign.receipts r
    LEFT JOIN (SELECT s.receipt_id, count(*) AS n FROM countersign.sign_offs s WHERE s.receipt_id IS NOT NULL GROUP BY s.receipt_id) AS s
      ON s.receipt_id = r.id";

impl Audit<'_> {
    pub(crate) async fn receipts(&mut self, since: Option<i64>) -> Result<(), AdminError> {
        let holds = if self.keys.is_some() {
            "NULL::boolean"
        } else {
            "countersign.mac_holds(r.key_id, countersign.receipt_seal(r.document), r.mac)"
        };
        let of = "WHERE r.at >= '1970-01-01Z'::timestamptz + $1 * interval '1 microsecond'";
        let sql = format!("{RECEIPTS}, {holds} {FROM} {} ORDER BY r.id", if since.is_some() { of } else { "" });
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = if let Some(since) = since { query.bind(since) } else { query };
        let refused = self.session.refused();
        self.session.join(Join::Whole).await?;
        let mut signed: u64 = 0;
        let mut rows = query.fetch(&mut self.session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            match self.state.receipt(&row, self.keys.as_ref()) {
                Ok(named) => signed += named,
                Err(error) => {
                    let what = format!("the receipt {}", row.try_get::<i64, _>(0).unwrap_or_default());
                    self.state.findings.add(unreadable(&what, &error));
                }
            }
        }
        drop(rows);
        if since.is_none() {
            let sql = "SELECT count(*) FROM countersign.sign_offs s WHERE s.receipt_id IS NOT NULL";
            if u64::try_from(self.session.number(sql).await?) != Ok(signed) {
                self.state.findings.add(Finding::new(
                    "some sign-offs name a receipt that is not there",
                    "Receipts were removed, or sign-offs put in",
                ));
            }
        }
        Ok(())
    }
}

impl State {
    /// How many sign-offs name it.
    fn receipt(&mut self, row: &PgRow, keys: Option<&VerifyingKeys>) -> Result<u64, sqlx::Error> {
        let (id, at, reviewer): (i64, Micros, &str) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let (workstation, document): (Uuid, &str) = (row.try_get(3)?, row.try_get(4)?);
        let (key, mac): (i32, &[u8]) = (row.try_get(5)?, row.try_get(6)?);
        let signed = u64::try_from(row.try_get::<i64, _>(7)?).unwrap_or_default();
        self.counts.receipts += 1;
        let event = format!("receipt {id}");
        let about = |finding: Finding| finding.event(&event).by(reviewer).at(at.0);
        let holds = match keys {
            Some(keys) => keys.holds(key, &record::receipt_bytes(document), mac),
            None => Some(row.try_get(8)?),
        };
        self.seal(&about, holds, key, at.0);
        let receipt: Receipt = match serde_json::from_str(document) {
            Ok(receipt) => receipt,
            Err(error) => {
                let what = format!("the receipt does not read: {error}");
                self.findings.add(about(Finding::new(what, "It was changed after it was given")));
                return Ok(signed);
            }
        };
        let wrong = [
            (
                receipt.receipt == id
                    && receipt.at == at.0
                    && receipt.reviewer == reviewer
                    && receipt.workstation == workstation,
                "its document is not about this receipt",
            ),
            (receipt.installation == self.installation, "it is another installation's"),
            (receipt.submitted == receipt.committed + receipt.refused + receipt.duplicate, "its counts do not add up"),
            (
                receipt.outcomes.values().sum::<u64>() == receipt.submitted,
                "its outcomes do not add up to what was submitted",
            ),
            (
                receipt.totals.values().map(|total| total.items).sum::<u64>() == receipt.committed,
                "its totals are not of what was accepted",
            ),
            (
                receipt.totals.values().all(|total| total.debits + total.credits == total.net),
                "its totals do not add up",
            ),
            (receipt.committed == signed, "the decisions that it says were accepted are not there, or there are more"),
        ];
        if let Some((_, what)) = wrong.into_iter().find(|(holds, _)| !holds) {
            self.findings
                .add(about(Finding::new(what, "The receipt was changed, or decisions were removed or put in")));
        }
        Ok(signed)
    }
}
