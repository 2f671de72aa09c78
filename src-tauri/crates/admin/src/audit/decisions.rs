//! Every exception with everything that was decided on it, one after the other in the order of their partitions.

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::postgres::PgRow;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, Row as _};

use super::Micros;
use super::finding::unreadable;
use super::session::Join;
use super::verify::Audit;
use crate::AdminError;

/// One row for each sign-off of an exception, and one for an exception without any. The content is the version that was signed.
const SQL: &str = "
    SELECT e.id, e.partition_key, e.seq, e.idempotency_key, e.version, e.content_hash, e.state, e.decision, e.decided_by, e.decided_at,
           e.variance_amount::text, e.prepared_by, e.barred,
           CASE WHEN e.reverses IS NOT NULL THEN (
               SELECT json_build_object('key', o.idempotency_key, 'amount', (SELECT min(x.amount)::text FROM countersign.postings x WHERE x.exception_id = o.id),
                   'signers', (SELECT coalesce(json_agg(x.reviewer), '[]') FROM countersign.sign_offs x WHERE x.exception_id = o.id))::text
               FROM countersign.exceptions o WHERE o.id = e.reverses) END,
           e.reverses,
           p.effect_no, p.ledger_entity, p.currency, p.amount::text, p.period, r.effect_no, r.reason,
           s.sign_off_key, s.payload_hash, s.version, s.content_hash, s.reviewer, s.workstation, s.decision, s.reason, s.comment,
           s.decided_at, s.signed_at, s.outcome, s.partition_key, s.chain_seq, s.policy_version, s.in_force, s.enrolment, s.signature,
           s.period, s.currency, s.amount::text, c.content_hash, c.body,
           s.figure_amount::text, s.figure_currency,
           p.posted_at, p.basis, p.units::text, p.rate::text, p.agreement_version, p.claimed::text,
           r.routed_at, r.routed_to, r.read_amount, r.read_currency, r.corrected_amount::text, r.corrected_currency,
           d.effect_no, d.opened_at, d.currency, d.claimed::text, d.by_agreement::text, d.difference::text, d.agreement_version, d.reason, d.ledger_entity
    FROM countersign.exceptions e
    LEFT JOIN countersign.postings p ON p.exception_id = e.id
    LEFT JOIN countersign.routings r ON r.exception_id = e.id
    LEFT JOIN countersign.disputes d ON d.exception_id = e.id
    LEFT JOIN countersign.sign_offs s ON s.exception_id = e.id
    LEFT JOIN countersign.exception_contents c ON c.exception_id = e.id AND c.version = s.version";
const SINCE: &str = "WHERE e.id IN (SELECT f.exception_id FROM countersign.sign_offs f
                                    WHERE f.signed_at >= '1970-01-01Z'::timestamptz + $1 * interval '1 microsecond')";
const ORDER: &str = "ORDER BY e.partition_key, e.seq";

/// No column: an exception has no number in its chain.
const UNNUMBERED: usize = usize::MAX;

/// An exception as its row says.
#[derive(Debug)]
pub(crate) struct Exception {
    pub(crate) id: i64,
    pub(crate) partition: String,
    pub(crate) seq: i64,
    pub(crate) key: String,
    pub(crate) version: i32,
    pub(crate) content: Vec<u8>,
    pub(crate) state: String,
    pub(crate) decision: Option<String>,
    pub(crate) decided_by: Option<String>,
    pub(crate) decided_at: Option<i64>,
    pub(crate) amount: String,
    pub(crate) prepared_by: Vec<String>,
    pub(crate) barred: Vec<String>,
    pub(crate) reverses: Option<Original>,
    pub(crate) postings: Vec<Posting>,
    pub(crate) routings: Vec<Routing>,
    pub(crate) disputes: Vec<Dispute>,
    pub(crate) sign_offs: Vec<SignOff>,
}

/// What a reversal reverses.
#[derive(Debug, Deserialize)]
pub(crate) struct Original {
    pub(crate) key: String,
    pub(crate) amount: Option<String>,
    pub(crate) signers: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) effect_no: i64,
    pub(crate) entity: String,
    pub(crate) currency: String,
    pub(crate) amount: String,
    pub(crate) period: Option<String>,
    pub(crate) at: i64,
    pub(crate) basis: String,
    pub(crate) units: Option<String>,
    pub(crate) rate: Option<String>,
    pub(crate) agreement_version: Option<i32>,
    pub(crate) claimed: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Routing {
    pub(crate) effect_no: i64,
    pub(crate) reason: Option<String>,
    pub(crate) at: i64,
    pub(crate) to: String,
    /// Amount and currency, as they were read.
    pub(crate) read: [Option<String>; 2],
    /// Amount and currency, as they were entered instead.
    pub(crate) corrected: [Option<String>; 2],
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dispute {
    pub(crate) effect_no: i64,
    pub(crate) at: i64,
    pub(crate) entity: String,
    pub(crate) currency: String,
    pub(crate) claimed: Option<String>,
    pub(crate) by_agreement: Option<String>,
    pub(crate) difference: Option<String>,
    pub(crate) agreement_version: Option<i32>,
    pub(crate) reason: Option<String>,
}

/// A sign-off as its row says.
#[derive(Debug)]
pub(crate) struct SignOff {
    pub(crate) key: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    pub(crate) version: i32,
    pub(crate) content: Vec<u8>,
    pub(crate) reviewer: String,
    pub(crate) workstation: Uuid,
    pub(crate) decision: String,
    pub(crate) reason: Option<String>,
    pub(crate) comment: Option<String>,
    pub(crate) decided_at: i64,
    pub(crate) signed_at: i64,
    pub(crate) outcome: String,
    /// Where it is recorded; `None` if an earlier release signed.
    pub(crate) place: Option<(String, i64)>,
    pub(crate) policy_version: Option<i32>,
    pub(crate) in_force: Option<i32>,
    pub(crate) enrolment: Option<i32>,
    pub(crate) signature: Option<Vec<u8>>,
    pub(crate) period: Option<String>,
    pub(crate) currency: Option<String>,
    pub(crate) amount: Option<String>,
    /// Amount and currency of its figure.
    pub(crate) figure: Option<(String, String)>,
    /// The hash and the text of the version that it names.
    pub(crate) body: Option<(Vec<u8>, String)>,
}

impl SignOff {
    pub(crate) fn decides(&self) -> bool {
        self.outcome != "AWAITING_SECOND"
    }
}

impl Audit<'_> {
    /// Reads the exceptions, and judges each.
    pub(crate) async fn decisions(&mut self, since: Option<i64>) -> Result<(), AdminError> {
        // Sorting the contents of all exceptions would take as much room as they do.
        self.session.join(Join::ByKey).await?;
        let refused = self.session.refused();
        let sql = format!("{SQL} {} {ORDER}", if since.is_some() { SINCE } else { "" });
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = if let Some(since) = since { query.bind(since) } else { query };
        let mut rows = query.fetch(&mut self.session.connection);
        let mut current: Option<Exception> = None;
        let mut unread = None;
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            let id: i64 = row.try_get(0).unwrap_or_default();
            if current.as_ref().is_none_or(|exception| exception.id != id) {
                if let Some(whole) = current.take() {
                    self.state.judge(&whole, since.is_none(), &mut self.signatures).await;
                    self.progress.at(self.state.counts.exceptions);
                }
                unread = None;
                match exception(&row) {
                    Ok(exception) => current = Some(exception),
                    Err(error) => unread = Some(error),
                }
            }
            if let Some(exception) = &mut current {
                unread = add(exception, &row).err();
            }
            if let Some(error) = unread.take() {
                self.state.findings.add(unreadable("its row", &error).place(&row, 1, UNNUMBERED).exception(id));
            }
        }
        if let Some(whole) = current.take() {
            self.state.judge(&whole, since.is_none(), &mut self.signatures).await;
        }
        drop(rows);
        self.signatures.finish(&mut self.state).await;
        Ok(())
    }
}

fn exception(row: &PgRow) -> Result<Exception, sqlx::Error> {
    let original: Option<&str> = row.try_get(13)?;
    let reverses: Option<i64> = row.try_get(14)?;
    let gone = || Original { key: String::new(), amount: None, signers: Vec::new() };
    Ok(Exception {
        id: row.try_get(0)?,
        partition: row.try_get(1)?,
        seq: row.try_get(2)?,
        key: row.try_get(3)?,
        version: row.try_get(4)?,
        content: row.try_get(5)?,
        state: row.try_get(6)?,
        decision: row.try_get(7)?,
        decided_by: row.try_get(8)?,
        decided_at: row.try_get::<Option<Micros>, _>(9)?.map(|at| at.0),
        amount: row.try_get(10)?,
        prepared_by: row.try_get(11)?,
        barred: row.try_get(12)?,
        reverses: reverses.map(|_| original.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_else(gone)),
        postings: Vec::new(),
        routings: Vec::new(),
        disputes: Vec::new(),
        sign_offs: Vec::new(),
    })
}

/// Adds what one row says; several effects and several sign-offs come in every combination.
fn add(exception: &mut Exception, row: &PgRow) -> Result<(), sqlx::Error> {
    if let Some(effect_no) = row.try_get(15)? {
        let posting = Posting {
            effect_no,
            entity: row.try_get(16)?,
            currency: row.try_get(17)?,
            amount: row.try_get(18)?,
            period: row.try_get(19)?,
            at: row.try_get::<Micros, _>(47)?.0,
            basis: row.try_get(48)?,
            units: row.try_get(49)?,
            rate: row.try_get(50)?,
            agreement_version: row.try_get(51)?,
            claimed: row.try_get(52)?,
        };
        if !exception.postings.contains(&posting) {
            exception.postings.push(posting);
        }
    }
    if let Some(effect_no) = row.try_get(20)? {
        let routing = Routing {
            effect_no,
            reason: row.try_get(21)?,
            at: row.try_get::<Micros, _>(53)?.0,
            to: row.try_get(54)?,
            read: [row.try_get(55)?, row.try_get(56)?],
            corrected: [row.try_get(57)?, row.try_get(58)?],
        };
        if !exception.routings.contains(&routing) {
            exception.routings.push(routing);
        }
    }
    if let Some(effect_no) = row.try_get(59)? {
        let dispute = Dispute {
            effect_no,
            at: row.try_get::<Micros, _>(60)?.0,
            currency: row.try_get(61)?,
            claimed: row.try_get(62)?,
            by_agreement: row.try_get(63)?,
            difference: row.try_get(64)?,
            agreement_version: row.try_get(65)?,
            reason: row.try_get(66)?,
            entity: row.try_get(67)?,
        };
        if !exception.disputes.contains(&dispute) {
            exception.disputes.push(dispute);
        }
    }
    let Some(key) = row.try_get::<Option<Vec<u8>>, _>(22)? else { return Ok(()) };
    if exception.sign_offs.iter().any(|known| known.key == key) {
        return Ok(());
    }
    let place: Option<String> = row.try_get(34)?;
    let hash: Option<Vec<u8>> = row.try_get(43)?;
    exception.sign_offs.push(SignOff {
        key,
        payload: row.try_get(23)?,
        version: row.try_get(24)?,
        content: row.try_get(25)?,
        reviewer: row.try_get(26)?,
        workstation: row.try_get(27)?,
        decision: row.try_get(28)?,
        reason: row.try_get(29)?,
        comment: row.try_get(30)?,
        decided_at: row.try_get::<Micros, _>(31)?.0,
        signed_at: row.try_get::<Micros, _>(32)?.0,
        outcome: row.try_get(33)?,
        place: place.zip(row.try_get(35)?),
        policy_version: row.try_get(36)?,
        in_force: row.try_get(37)?,
        enrolment: row.try_get(38)?,
        signature: row.try_get(39)?,
        period: row.try_get(40)?,
        currency: row.try_get(41)?,
        amount: row.try_get(42)?,
        figure: row.try_get::<Option<String>, _>(45)?.zip(row.try_get(46)?),
        body: hash.zip(row.try_get(44)?),
    });
    Ok(())
}
