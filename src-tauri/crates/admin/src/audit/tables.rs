//! The tables that rules are read from say what the installation's chain says.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::types::Uuid;

use super::finding::{Finding, unreadable};
use super::history::History;
use super::letters;
use super::rights::{Limit, Reviewer};
use super::session::Join;
use super::verify::Audit;
use crate::AdminError;

const PERIODS: &str = "SELECT p.ledger_entity, p.name, p.first_day::text, p.last_day::text, p.state FROM countersign.periods p ORDER BY 1, 2";
const REVIEWERS: &str = "SELECT r.login, r.active, r.display_name, r.also, r.kinds, r.tiers, r.ledger_entities, r.remediates FROM countersign.reviewers r ORDER BY 1";
const LIMITS: &str = "SELECT l.reviewer, l.currency, l.largest::text, l.per_period::text FROM countersign.reviewer_limits l ORDER BY 1, 2";
const WORKSTATIONS: &str =
    "SELECT w.id, w.reviewer, w.revoked_at IS NOT NULL, w.revoked_because FROM countersign.workstations w ORDER BY 1";
const KEYS: &str = "SELECT k.workstation, k.enrolment, k.public_key, coalesce(w.reviewer, '') FROM countersign.workstation_keys k
                    LEFT JOIN countersign.workstations w ON w.id = k.workstation WHERE k.confirmed_at IS NOT NULL ORDER BY 1, 2";
/// Names of what is not as its record says, or has none, or of which a record says more.
const RECEIPTS: &str = "
    WITH said AS (SELECT DISTINCT a.detail ->> 'receipt' AS id FROM countersign.audit_events a WHERE a.event = 'SIGNED' AND a.detail ? 'receipt')
    SELECT coalesce(r.id::text, s.id, '?') FROM countersign.receipts r FULL JOIN said s ON s.id = r.id::text
    WHERE r.id IS NULL OR (s.id IS NULL AND r.document ->> 'submitted' IS DISTINCT FROM r.document ->> 'duplicate')
    ORDER BY 1 LIMIT 20";

const CHANGED: &str = "It was changed past the functions that record every change";

/// Rows by their names, each as it is compared; and what reading them came to.
struct Table {
    what: &'static str,
    rows: BTreeMap<String, String>,
}

impl Audit<'_> {
    /// Compares what can be changed with what was recorded last.
    pub(crate) async fn tables(&mut self, whole: bool) -> Result<(), AdminError> {
        self.session.join(Join::Whole).await?;
        self.table("period", PERIODS, period, &periods).await?;
        self.table("reviewer", REVIEWERS, reviewer, &reviewers).await?;
        self.table("limit of", LIMITS, limit, &limits).await?;
        self.table("workstation", WORKSTATIONS, workstation, &workstations).await?;
        self.table("key of the workstation", KEYS, key, &keys).await?;
        self.named(letters::RECORDED, "dead letter").await?;
        self.named(letters::LIVES, "life of the dead letter").await?;
        if whole {
            self.named(RECEIPTS, "receipt").await?;
        }
        Ok(())
    }

    async fn named(&mut self, sql: &'static str, what: &str) -> Result<(), AdminError> {
        let refused = self.session.refused();
        let found: Vec<String> =
            sqlx::query_scalar(sql).fetch_all(&mut self.session.connection).await.map_err(refused)?;
        for id in found {
            let what = format!("the {what} {id} is not as its records say, or one of them is missing");
            self.state.findings.add(Finding::new(what, CHANGED));
        }
        Ok(())
    }

    async fn table(
        &mut self,
        what: &'static str,
        sql: &'static str,
        read: impl Fn(&PgRow) -> Result<(String, String), sqlx::Error>,
        recorded: &impl Fn(&History) -> BTreeMap<String, String>,
    ) -> Result<(), AdminError> {
        let refused = self.session.refused();
        let found = sqlx::query(sql).fetch_all(&mut self.session.connection).await.map_err(refused)?;
        let (mut table, state) = (Table { what, rows: BTreeMap::new() }, &mut self.state);
        for row in &found {
            match read(row) {
                Ok((name, row)) => {
                    if table.rows.insert(name.clone(), row).is_some() {
                        state.findings.add(Finding::new(format!("the {what} {name} is there twice"), CHANGED));
                    }
                }
                Err(error) => {
                    let name = row.try_get::<String, _>(0).unwrap_or_default();
                    state.findings.add(unreadable(&format!("the {what} {name}"), &error));
                }
            }
        }
        for finding in table.differences(&state.history, &recorded(&state.history)) {
            state.findings.add(finding);
        }
        Ok(())
    }
}

impl Table {
    fn differences(&self, history: &History, recorded: &BTreeMap<String, String>) -> Vec<Finding> {
        let what = self.what;
        let mut found = Vec::new();
        for (name, row) in &self.rows {
            let words = match recorded.get(name) {
                Some(recorded) if recorded == row => continue,
                Some(recorded) => format!("the {what} {name} is {row}, and was set to {recorded}"),
                // Earlier releases left no record of workstations, nor of some reviewers.
                None if (what == "workstation" && row == UNTOUCHED) || (what == "reviewer" && history.early(name)) => {
                    continue;
                }
                None => format!("no record says how the {what} {name} came to be"),
            };
            found.push(Finding::new(words, CHANGED));
        }
        for name in recorded.keys().filter(|name| !self.rows.contains_key(*name)) {
            found.push(Finding::new(format!("the {what} {name} was recorded, and is not there"), CHANGED));
        }
        found
    }
}

fn period(row: &PgRow) -> Result<(String, String), sqlx::Error> {
    let (entity, name): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
    let (first, last, state): (&str, &str, &str) = (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
    Ok((format!("{name} of {entity}"), format!("{state}, {first} to {last}")))
}

fn periods(history: &History) -> BTreeMap<String, String> {
    let all = history.calendar.0.iter();
    all.map(|((entity, name), one)| {
        (format!("{name} of {entity}"), format!("{}, {} to {}", one.state(), one.first_day, one.last_day))
    })
    .collect()
}

fn reviewer(row: &PgRow) -> Result<(String, String), sqlx::Error> {
    let reviewer = Reviewer {
        active: row.try_get(1)?,
        display_name: row.try_get(2)?,
        also: row.try_get(3)?,
        kinds: row.try_get(4)?,
        tiers: row.try_get(5)?,
        entities: row.try_get(6)?,
        remediates: row.try_get(7)?,
    };
    Ok((row.try_get(0)?, reviewer.text()))
}

fn reviewers(history: &History) -> BTreeMap<String, String> {
    let all = history.rights.reviewers.iter();
    all.filter_map(|(login, changes)| Some((login.clone(), changes.last()?.1.text()))).collect()
}

fn limit(row: &PgRow) -> Result<(String, String), sqlx::Error> {
    let (login, currency): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
    let limit = Limit { largest: row.try_get(2)?, per_period: row.try_get(3)? };
    Ok((format!("{login} in {currency}"), limit.text()))
}

fn limits(history: &History) -> BTreeMap<String, String> {
    let last = history.rights.limits.iter().filter_map(|(name, changes)| Some((name, &changes.last()?.1)));
    last.filter(|(_, limit)| **limit != Limit::default())
        .map(|((login, currency), limit)| (format!("{login} in {currency}"), limit.text()))
        .collect()
}

/// A workstation that was neither confirmed nor revoked: whose it is does not matter yet.
const UNTOUCHED: &str = "not revoked";

fn workstation(row: &PgRow) -> Result<(String, String), sqlx::Error> {
    let revoked: bool = row.try_get(2)?;
    let because: Option<&str> = row.try_get(3)?;
    let text = if revoked { revoked_text(because.unwrap_or_default()) } else { UNTOUCHED.to_owned() };
    Ok((row.try_get::<Uuid, _>(0)?.to_string(), text))
}

fn revoked_text(because: &str) -> String {
    format!("revoked: {because}")
}

fn workstations(history: &History) -> BTreeMap<String, String> {
    history.revoked.iter().map(|(id, revoked)| (id.to_string(), revoked_text(&revoked.reason))).collect()
}

fn key(row: &PgRow) -> Result<(String, String), sqlx::Error> {
    let (workstation, enrolment): (Uuid, i32) = (row.try_get(0)?, row.try_get(1)?);
    Ok((format!("{workstation}, {enrolment}"), key_text(row.try_get(3)?, row.try_get(2)?)))
}

fn key_text(reviewer: &str, key: &[u8]) -> String {
    format!("{} of {reviewer}", hex::encode(key))
}

fn keys(history: &History) -> BTreeMap<String, String> {
    let all = history.enrolled.iter();
    all.map(|((id, number), one)| (format!("{id}, {number}"), key_text(&one.reviewer, &one.key.0))).collect()
}
