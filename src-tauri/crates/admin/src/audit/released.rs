//! Receipts that needed no reviewer: each has its record, is what the record says, and needed none.

use countersign_domain::kind::receipt::capture;
use countersign_domain::scoring::Thresholds;
use countersign_domain::{gate, hash};
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use serde::Deserialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::Micros;
use super::finding::{Finding, unreadable};
use super::judge::same_amount;
use super::session::Join;
use super::verify::{Audit, State};
use crate::AdminError;

const SQL: &str = "
    SELECT coalesce(a.partition_key, r.partition_key), coalesce(a.chain_seq, r.chain_seq), a.at, a.actor, a.content_hash, a.source_hash, a.detail::text,
           r.idempotency_key, r.content_hash, r.source_hash, r.body, r.drift::text, r.amount::text, r.currency, r.routed_to, r.released_at,
           EXISTS (SELECT 1 FROM countersign.exceptions e WHERE e.idempotency_key = r.idempotency_key)
    FROM (SELECT * FROM countersign.audit_events a WHERE a.event = 'RECEIPT_RELEASED') AS a
    FULL JOIN countersign.releases r ON r.partition_key = a.partition_key AND r.chain_seq = a.chain_seq
    ORDER BY 1, 2";

const EVENT: &str = "RECEIPT_RELEASED";
const CHANGED: &str = "A receipt was sent on without a reviewer that needed one, or what was sent on was changed";

#[derive(Deserialize)]
struct Detail {
    idempotency_key: String,
    drift: String,
    amount: String,
    currency: String,
    routed_to: String,
}

impl Audit<'_> {
    /// Every release beside its record.
    pub(crate) async fn released(&mut self) -> Result<(), AdminError> {
        self.session.join(Join::ByKey).await?;
        let refused = self.session.refused();
        let mut rows = sqlx::query(SQL).fetch(&mut self.session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            if let Err(error) = self.state.release(&row) {
                self.state.findings.add(unreadable("the release of a receipt", &error).place(&row, 0, 1));
            }
        }
        Ok(())
    }
}

impl State {
    fn release(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let (chain, number): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
        let found = match (row.try_get::<Option<&str>, _>(6)?, row.try_get::<Option<&str>, _>(7)?) {
            (None, _) => vec!["a receipt was released, and no record says so".to_owned()],
            (_, None) => vec!["the receipt that it releases is not there".to_owned()],
            (Some(detail), Some(key)) => compared(row, detail, key)?,
        };
        for what in found {
            let mut finding = Finding::new(what, CHANGED).record(chain, number).event(EVENT);
            if let Some(at) = row.try_get::<Option<Micros>, _>(2)? {
                finding = finding.at(at.0);
            }
            if let Some(actor) = row.try_get::<Option<&str>, _>(3)? {
                finding = finding.by(actor);
            }
            self.findings.add(finding);
        }
        Ok(())
    }
}

fn compared(row: &PgRow, detail: &str, key: &str) -> Result<Vec<String>, sqlx::Error> {
    let said: Detail = serde_json::from_str(detail).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let body: &str = row.try_get(10)?;
    let content = match gate::read_body(body) {
        Ok(content) => content,
        Err(why) => return Ok(vec![format!("its content does not pass the gates: {}", why.reason)]),
    };
    let recorded: &[u8] = row.try_get(4)?;
    // Which policy was in force is not said with the release: what it escalates is not judged again.
    let drift = capture(&content, &Thresholds { escalate_above: Decimal::MAX, ..Thresholds::default() });
    let text = |column: usize| row.try_get::<&str, _>(column);
    let same_decimal = |left: &str, right: &str| right.parse().is_ok_and(|right| same_amount(left, right));
    let read = content.payload.json.get("extracted_amount").and_then(serde_json::Value::as_str).unwrap_or_default();
    let at = row.try_get::<Option<Micros>, _>(2)?.map(|at| at.0);
    let same = [
        ("content", hash::content_hash(body).0.0[..] == *recorded && row.try_get::<&[u8], _>(8)? == recorded),
        ("source hash", text(9)? == text(5)? && text(9)? == content.source_hash),
        ("key", said.idempotency_key == key && content.idempotency_key == key),
        ("partition", text(0)? == content.partition_key),
        (
            "drift",
            text(11)? == said.drift
                && drift
                    .as_ref()
                    .and_then(|capture| capture.drift)
                    .is_some_and(|drift| same_amount(&said.drift, drift)),
        ),
        ("amount", said.amount == read && same_decimal(text(12)?, read)),
        ("currency", text(13)? == said.currency && said.currency == content.variance.currency.code()),
        ("way", text(14)? == said.routed_to),
        ("time", at == Some(row.try_get::<Micros, _>(15)?.0)),
    ];
    let mut found: Vec<String> = same
        .iter()
        .filter(|(_, same)| !same)
        .map(|(what, _)| format!("its {what} is not that of what arrived"))
        .collect();
    if drift.is_none_or(|capture| capture.needs_person) {
        found.push("it was released, and a person had to decide on it".to_owned());
    }
    if row.try_get::<bool, _>(16)? {
        found.push("it was released, and it is an exception too".to_owned());
    }
    Ok(found)
}
