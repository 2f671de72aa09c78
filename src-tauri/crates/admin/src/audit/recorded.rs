//! A record of a decision and the row of the sign-off are the same, field by field.

use chrono::DateTime;
use countersign_domain::record::Record;
use serde::Deserialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::types::Uuid;

use super::Micros;
use super::finding::Finding;
use super::verify::State;

/// What the record of a sign-off says beside its columns.
#[derive(Deserialize, Default)]
struct Signed<'a> {
    #[serde(borrow)]
    key: Option<&'a str>,
    payload: Option<&'a str>,
    decided_at: Option<&'a str>,
    decision: Option<&'a str>,
    epoch: Option<i64>,
    receipt: Option<i64>,
    policy: Option<i32>,
    seal: Option<&'a str>,
}

impl State {
    /// A record of a decision, and the row that says to be recorded here.
    pub(crate) fn signed(&mut self, record: &Record<'_>, row: &PgRow) -> Result<(), sqlx::Error> {
        let about = |finding: Finding| {
            let finding = finding.record(record.chain, record.number).at(record.at).event(record.event);
            let finding = finding.by(record.actor);
            record.exception.map_or(finding.clone(), |id| finding.exception(id))
        };
        let detail: Signed<'_> = serde_json::from_str(record.detail.unwrap_or("{}")).unwrap_or_default();
        let accepted = matches!(record.outcome, Some("COMMITTED" | "AWAITING_SECOND" | "HELD"));
        let key: Option<&[u8]> = row.try_get(18)?;
        self.matched += u64::from(key.is_some());
        if !accepted {
            if key.is_some() {
                self.findings.add(about(Finding::new(
                    format!(
                        "a sign-off says that this is its record, which is a refusal: {}",
                        record.outcome.unwrap_or("?")
                    ),
                    "A decision that was refused was made to stand",
                )));
            }
            return Ok(());
        }
        self.committed_records += u64::from(record.outcome == Some("COMMITTED"));
        let Some(key) = key else {
            if detail.seal.is_some() {
                self.findings.add(about(Finding::new(
                    "the sign-off of this record is not there",
                    "An accepted decision was removed or changed its place",
                )));
            } else if record.at > self.history.sealing_since() {
                self.findings.add(about(Finding::new(
                    "the record of an accepted decision has no seal of a workstation",
                    "Decisions were sealed by then: this one was written by somebody who has no workstation's key",
                )));
            } else {
                self.unsealed_records += 1;
            }
            return Ok(());
        };
        let hex_is = |text: Option<&str>, bytes: Option<&[u8]>| text.map(str::to_owned) == bytes.map(hex::encode);
        let decided_at = detail.decided_at.and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        let same: [(&str, bool); 13] = [
            ("key", hex_is(detail.key, Some(key))),
            ("reason, comment and instant", hex_is(detail.payload, Some(row.try_get(19)?))),
            ("exception", record.exception == Some(row.try_get(20)?)),
            ("content", record.content == Some(row.try_get(21)?)),
            ("reviewer", record.actor == row.try_get::<&str, _>(22)?),
            ("workstation", record.workstation == Some(row.try_get::<Uuid, _>(23)?)),
            ("decision", detail.decision == Some(row.try_get(24)?)),
            ("outcome", record.outcome == Some(row.try_get(25)?)),
            ("seal", detail.seal.is_some() && hex_is(detail.seal, row.try_get(26)?)),
            ("receipt", detail.receipt.is_some() && detail.receipt == row.try_get(27)?),
            ("instant", record.at == row.try_get::<Micros, _>(30)?.0),
            (
                "instant of the decision",
                decided_at.map(|at| at.timestamp_micros()) == Some(row.try_get::<Micros, _>(31)?.0),
            ),
            ("policy and lease", detail.policy == row.try_get(28)? && detail.epoch == Some(row.try_get(29)?)),
        ];
        if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
            self.findings.add(about(Finding::new(
                format!("its {what} is not that of its sign-off"),
                "The sign-off was changed after it was recorded, or another was put in its place",
            )));
        }
        Ok(())
    }
}
