//! The list of reviewers.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    /// The database login.
    pub login: String,
    /// The name shown to colleagues.
    pub display_name: String,
    /// Whether they may sign.
    pub active: bool,
    /// Whether the login exists and has the rights of a reviewer.
    pub can_connect: bool,
    /// When they were added.
    pub added_at: DateTime<Utc>,
    /// By whom.
    pub added_by: String,
    /// When one of their workstations was seen last.
    pub last_seen: Option<DateTime<Utc>>,
    /// Under which other names upstream systems know them.
    pub also: Vec<String>,
    /// The kinds they may sign; all, if there is no list.
    pub kinds: Option<Vec<String>>,
    /// The tiers.
    pub tiers: Option<Vec<String>>,
    /// The ledger entities.
    pub ledger_entities: Option<Vec<String>>,
    /// Whether they may work at the desk of dead letters.
    pub remediates: bool,
    /// Their limits.
    pub limits: Vec<Limit>,
}

/// Limits in one currency, in its own units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// ISO 4217, or `*` for every currency without such a limit of its own.
    pub currency: String,
    /// The most one exception may have.
    pub largest: Option<String>,
    /// The most that may be approved in one close period.
    pub per_period: Option<String>,
}

/// Every reviewer, also those who are disabled.
pub async fn list(database: &Database) -> Result<Vec<Reviewer>, AdminError> {
    let mut connection = database.connect().await?;
    rows(database, &mut connection, "list reviewers", REVIEWERS, &[]).await
}

const REVIEWERS: &str = "
    SELECT jsonb_build_object(
        'login', r.login, 'display_name', r.display_name, 'active', r.active, 'added_at', r.added_at, 'added_by', r.added_by,
        'can_connect', EXISTS (SELECT FROM pg_roles p WHERE p.rolname = r.login AND p.rolcanlogin
                               AND pg_has_role(p.oid, 'countersign_reviewer', 'USAGE')),
        'last_seen', (SELECT max(w.last_seen) FROM countersign.workstations w WHERE w.reviewer = r.login),
        'also', r.also, 'kinds', r.kinds, 'tiers', r.tiers, 'ledger_entities', r.ledger_entities, 'remediates', r.remediates,
        'limits', coalesce((SELECT jsonb_agg(jsonb_build_object('currency', l.currency, 'largest', l.largest::text, 'per_period', l.per_period::text)
                                             ORDER BY l.currency)
                            FROM countersign.reviewer_limits l WHERE l.reviewer = r.login), '[]'))::text
    FROM countersign.reviewers r ORDER BY r.login";

/// The list as a table.
pub fn describe(reviewers: &[Reviewer]) -> String {
    if reviewers.is_empty() {
        return "No reviewers. Add one: `countersign-admin reviewer add LOGIN`.\n".to_owned();
    }
    let columns =
        head(["login", "name", "state", "may sign", "limits", "dead letters", "also", "added", "by", "last seen"]);
    let lines = reviewers.iter().map(|reviewer| {
        let state = match (reviewer.active, reviewer.can_connect) {
            (true, true) => "active",
            (true, false) => "active, but the login is missing or lacks its rights",
            (false, _) => "disabled",
        };
        vec![
            shown(&reviewer.login),
            shown(&reviewer.display_name),
            state.to_owned(),
            scope(reviewer),
            limits(&reviewer.limits),
            if reviewer.remediates { "yes" } else { "-" }.to_owned(),
            if reviewer.also.is_empty() { "-".to_owned() } else { shown(&reviewer.also.join(", ")) },
            reviewer.added_at.format("%Y-%m-%d").to_string(),
            shown(&reviewer.added_by),
            reviewer.last_seen.map_or_else(|| "never".to_owned(), instant),
        ]
    });
    table(&std::iter::once(columns).chain(lines).collect::<Vec<_>>())
}

fn scope(reviewer: &Reviewer) -> String {
    let parts: Vec<String> = [&reviewer.kinds, &reviewer.tiers, &reviewer.ledger_entities]
        .into_iter()
        .flatten()
        .map(|list| if list.is_empty() { "nothing".to_owned() } else { shown(&list.join(", ")) })
        .collect();
    if parts.is_empty() { "everything".to_owned() } else { parts.join("; ") }
}

fn limits(limits: &[Limit]) -> String {
    let line = |limit: &Limit| {
        let largest = limit.largest.as_ref().map(|amount| format!("{amount} each"));
        let per_period = limit.per_period.as_ref().map(|amount| format!("{amount} a period"));
        let amounts: Vec<String> = [largest, per_period].into_iter().flatten().collect();
        format!("{} {}", limit.currency, amounts.join(", "))
    };
    if limits.is_empty() { "-".to_owned() } else { limits.iter().map(line).collect::<Vec<_>>().join("; ") }
}
