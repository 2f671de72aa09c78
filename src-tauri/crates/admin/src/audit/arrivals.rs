//! What the tables say of each exception is what its records say, and what arrived.

use std::collections::BTreeMap;

use countersign_domain::exception::Content;
use countersign_domain::person::folded;
use countersign_domain::{gate, hash};
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::Micros;
use super::finding::{Finding, unreadable};
use super::judge::same_amount;
use super::session::Join;
use super::verify::{Audit, State};
use crate::AdminError;

/// Beside each record of an exception its row, the content that the record names, and the instant of its effect.
const SQL: &str = "
    SELECT a.partition_key, a.chain_seq, a.at, a.event, a.actor, a.exception_id, a.outcome, a.detail::text, a.content_hash,
           a.source_hash, a.match_decision, a.trace_id::text,
           e.partition_key, e.seq, e.version, e.content_hash, e.source_hash, e.match_decision, e.trace_id::text, e.state, e.first_by,
           e.resolved_at, e.idempotency_key, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount::text,
           array_to_json(e.prepared_by)::text, array_to_json(e.barred)::text, e.group_key, e.business_date::text, o.idempotency_key,
           c.version, c.body, f.at
    FROM countersign.audit_events a
    LEFT JOIN countersign.exceptions e ON e.id = a.exception_id
    LEFT JOIN countersign.exceptions o ON o.id = e.reverses
    LEFT JOIN LATERAL (SELECT c.version, c.body FROM countersign.exception_contents c
                       WHERE a.event IN ('ARRIVED', 'CORRECTED') AND c.exception_id = a.exception_id AND c.content_hash = a.content_hash
                       LIMIT 1) AS c ON true
    LEFT JOIN LATERAL (SELECT coalesce((SELECT min(x.posted_at) FROM countersign.postings x WHERE x.exception_id = a.exception_id),
                                       (SELECT min(x.routed_at) FROM countersign.routings x WHERE x.exception_id = a.exception_id),
                                       (SELECT min(x.opened_at) FROM countersign.disputes x WHERE x.exception_id = a.exception_id)) AS at
                       WHERE a.event IN ('SIGNED', 'EFFECT')) AS f ON true
    WHERE a.partition_key <> '' AND (a.event IN ('ARRIVED', 'CORRECTED', 'EFFECT')
          OR (a.event = 'SIGNED' AND a.outcome IN ('COMMITTED', 'AWAITING_SECOND', 'HELD')))
    ORDER BY a.partition_key, a.chain_seq";

const CHANGED: &str = "The exception was changed after it arrived, or put in past the gates";

/// What the records of one exception have said so far, and what its row says.
struct Item {
    version: i32,
    first: Option<String>,
    effect: bool,
    row: Option<Row>,
}

struct Row {
    version: i32,
    first: Option<String>,
    pending: bool,
    resolved: bool,
}

/// One partition, as far as it has been read.
#[derive(Default)]
struct Partition {
    key: Option<String>,
    number: i64,
    arrived: i64,
    items: BTreeMap<i64, Item>,
}

#[derive(Deserialize, Default)]
struct Detail {
    version: Option<i32>,
}

impl Audit<'_> {
    /// Every exception beside its records, one partition after the other.
    pub(crate) async fn arrivals(&mut self) -> Result<(), AdminError> {
        self.session.join(Join::ByKey).await?;
        let refused = self.session.refused();
        let mut partition = Partition::default();
        let mut rows = sqlx::query(SQL).fetch(&mut self.session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            if let Err(error) = self.state.arrival(&mut partition, &row) {
                let finding = unreadable("the exception of this record", &error).place(&row, 0, 1);
                self.state.findings.add(finding);
            }
        }
        self.state.arrived_all(&partition);
        Ok(())
    }
}

impl State {
    fn arrival(&mut self, partition: &mut Partition, row: &PgRow) -> Result<(), sqlx::Error> {
        let (chain, number): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
        let (at, event, actor) =
            (row.try_get::<Micros, _>(2)?.0, row.try_get::<&str, _>(3)?, row.try_get::<&str, _>(4)?);
        let id: Option<i64> = row.try_get(5)?;
        let mut found = Vec::new();
        if partition.key.as_deref() != Some(chain) {
            self.arrived_all(partition);
            *partition = Partition { key: Some(chain.to_owned()), ..Partition::default() };
        }
        if partition.number == number {
            found.push("several exceptions have the number that it names".to_owned());
        } else if let Some(id) = id {
            partition.number = number;
            let since = self.history.sealing_since();
            match event {
                "ARRIVED" | "CORRECTED" => {
                    partition.arrival(id, row, event, (at > since).then_some(actor), &mut found)?;
                }
                _ => partition.decision(id, row, event, actor, at, &mut found)?,
            }
        } else {
            found.push("it names no exception".to_owned());
        }
        for what in found {
            let finding = Finding::new(what, CHANGED).record(chain, number).at(at).event(event).by(actor);
            self.findings.add(id.map_or(finding.clone(), |id| finding.exception(id)));
        }
        Ok(())
    }

    /// What is known only at the end of a partition.
    fn arrived_all(&mut self, partition: &Partition) {
        for (id, Item { version, first, effect, row }) in &partition.items {
            let Some(row) = row else { continue };
            let expected = first.as_deref().filter(|_| row.pending);
            let what = if row.version != *version {
                format!(
                    "its last version is {version} according to its records, and {} according to its row",
                    row.version
                )
            } else if row.first.as_deref() != expected {
                format!("it was approved first by {}, and its row says {}", name(expected), name(row.first.as_deref()))
            } else if row.resolved && !effect {
                "it is resolved, and no record says when".to_owned()
            } else {
                continue;
            };
            let finding = Finding::new(what, CHANGED).exception(*id);
            self.findings.add(finding.chain(partition.key.as_deref().unwrap_or_default()));
        }
    }
}

fn name(login: Option<&str>) -> &str {
    login.unwrap_or("nobody")
}

impl Partition {
    /// `sender` is who is barred for having sent it.
    fn arrival(
        &mut self,
        id: i64,
        row: &PgRow,
        event: &str,
        sender: Option<&str>,
        found: &mut Vec<String>,
    ) -> Result<(), sqlx::Error> {
        let known = self.items.get(&id).map(|item| item.version);
        let version = known.unwrap_or_default().saturating_add(1);
        self.arrived += i64::from(event == "ARRIVED");
        if (event == "ARRIVED") == known.is_some() {
            found.push(
                if known.is_some() { "it arrived before" } else { "it was corrected before it arrived" }.to_owned(),
            );
        }
        let detail: Detail =
            row.try_get::<Option<&str>, _>(7)?.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        if detail.version.is_some_and(|said| said != version) {
            found.push(format!("it is version {version}, and the record says another"));
        }
        let stored = match row.try_get::<Option<i32>, _>(14)? {
            None => {
                found.push("its exception is not there".to_owned());
                None
            }
            Some(last) => {
                let state: &str = row.try_get(19)?;
                let first = row.try_get(20)?;
                Some(Row { version: last, first, pending: state == "PENDING", resolved: state == "RESOLVED" })
            }
        };
        let current = stored.as_ref().is_some_and(|row| row.version == version);
        let there = stored.is_some();
        let effect = self.items.get(&id).is_some_and(|item| item.effect);
        self.items.insert(id, Item { version, first: None, effect, row: stored });
        if !there {
            return Ok(());
        }
        let seq: i64 = row.try_get(13)?;
        if row.try_get::<&str, _>(12)? != row.try_get::<&str, _>(0)? || (event == "ARRIVED" && seq != self.arrived) {
            found.push(format!("it came as number {} of this partition, and its row says another place", self.arrived));
        }
        let (Some(of), Some(body)) = (row.try_get::<Option<i32>, _>(33)?, row.try_get::<Option<&str>, _>(34)?) else {
            found.push("the content that it names is not there".to_owned());
            return Ok(());
        };
        let content: &[u8] = row.try_get(8)?;
        if hash::content_hash(body).0.0[..] != *content || of != version {
            found.push(format!("the content of version {version} is not the one that arrived"));
            return Ok(());
        }
        let barred = names(row, 29)?;
        if sender.is_some_and(|sender| !barred.contains(&folded(sender))) {
            found.push("who sent it is not barred from it any more".to_owned());
        }
        if current {
            same_row(row, body, &barred, found)?;
        }
        Ok(())
    }

    fn decision(
        &mut self,
        id: i64,
        row: &PgRow,
        event: &str,
        actor: &str,
        at: i64,
        found: &mut Vec<String>,
    ) -> Result<(), sqlx::Error> {
        let outcome: Option<&str> = row.try_get(6)?;
        let Some(item) = self.items.get_mut(&id) else {
            found.push("no record says that its exception arrived".to_owned());
            return Ok(());
        };
        item.first = (outcome == Some("AWAITING_SECOND")).then(|| actor.to_owned());
        if event == "EFFECT" || outcome == Some("COMMITTED") {
            if item.effect {
                found.push("it had taken effect before".to_owned());
            }
            item.effect = true;
            let effect = row.try_get::<Option<Micros>, _>(35)?;
            let resolved = row.try_get::<Option<Micros>, _>(21)?;
            if effect.is_some_and(|effect| effect.0 != at) || resolved.is_some_and(|resolved| resolved.0 != at) {
                found.push("its effect is of another instant".to_owned());
            }
        }
        Ok(())
    }
}

/// Folded names from a column with a JSON array.
fn names(row: &PgRow, column: usize) -> Result<Vec<String>, sqlx::Error> {
    Ok(list(row, column)?.iter().map(|name| folded(name)).collect())
}

fn list(row: &PgRow, column: usize) -> Result<Vec<String>, sqlx::Error> {
    let json: Option<&str> = row.try_get(column)?;
    serde_json::from_str(json.unwrap_or("null")).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// The row of an exception against its last record and its content.
fn same_row(row: &PgRow, body: &str, barred: &[String], found: &mut Vec<String>) -> Result<(), sqlx::Error> {
    let content: Content = match gate::read_body(body) {
        Ok(content) => content,
        Err(why) => {
            found.push(format!("its content does not pass the gates: {}", why.reason));
            return Ok(());
        }
    };
    let text = |column: usize| row.try_get::<Option<&str>, _>(column);
    let is = |column: usize, value: &str| Ok::<_, sqlx::Error>(text(column)? == Some(value));
    let prepared = list(row, 28)?;
    let day = content.business_date.to_string();
    let same = [
        ("content hash", row.try_get::<&[u8], _>(15)? == row.try_get::<&[u8], _>(8)?),
        ("source hash", text(16)? == text(9)? && is(16, &content.source_hash)?),
        ("match decision", text(17)? == text(10)? && is(17, content.match_decision.as_str())?),
        ("trace", text(18)? == text(11)? && is(18, &content.trace_id.to_string())?),
        ("key", is(22, &content.idempotency_key)?),
        ("partition", is(12, &content.partition_key)?),
        ("kind", is(23, content.kind.as_str())?),
        ("tier", is(24, content.routing_tier.as_str())?),
        ("ledger entity", is(25, &content.ledger_entity)?),
        ("currency", is(26, content.variance.currency.code())?),
        ("amount", text(27)?.is_some_and(|amount| same_amount(amount, content.variance.amount))),
        ("group", text(30)? == content.group_key.as_deref()),
        ("business date", is(31, &day)?),
        ("reversed exception", text(32)? == content.reverses.as_deref()),
        ("list of preparers", content.prepared_by.iter().all(|person| prepared.contains(person))),
        ("list of who is barred", prepared.iter().all(|person| barred.contains(&folded(person)))),
    ];
    found.extend(
        same.iter().filter(|(_, same)| !same).map(|(what, _)| format!("its {what} is not that of what arrived")),
    );
    Ok(())
}
