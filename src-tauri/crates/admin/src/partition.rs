//! Who works on what.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A partition with something to do in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its key.
    pub partition_key: String,
    /// How often it was claimed or moved.
    pub epoch: u64,
    /// Who holds it.
    pub reviewer: Option<String>,
    /// At which machine.
    pub machine: Option<String>,
    /// Until when.
    pub lease_until: Option<DateTime<Utc>>,
    /// Undecided exceptions.
    pub pending: u64,
    /// When the oldest of them was submitted.
    pub oldest: Option<DateTime<Utc>>,
}

/// Partitions with something undecided or somebody who holds them, or the latter alone: the oldest first.
pub async fn list(database: &Database, held: bool, limit: u32) -> Result<Vec<Partition>, AdminError> {
    let mut connection = database.connect().await?;
    let arguments = [if held { "true" } else { "false" }, &limit.to_string()];
    rows(database, &mut connection, "list partitions", PARTITIONS, &arguments).await
}

const PARTITIONS: &str = "
    SELECT jsonb_build_object('partition_key', p.partition_key, 'epoch', p.epoch, 'reviewer', p.reviewer, 'machine', w.name,
               'lease_until', p.lease_until, 'pending', p.pending,
               'oldest', (SELECT min(e.submitted_at) FROM countersign.exceptions e WHERE e.partition_key = p.partition_key AND e.state = 'PENDING'))::text
    FROM (SELECT p.*, CASE WHEN p.lease_until > clock_timestamp() THEN p.holder_reviewer END AS reviewer
          FROM countersign.partitions p
          WHERE (p.pending > 0 AND NOT $1::boolean) OR p.lease_until > clock_timestamp()
          ORDER BY p.claim_rank, p.partition_key LIMIT $2::bigint) AS p
    LEFT JOIN countersign.workstations w ON w.id = p.holder AND p.reviewer IS NOT NULL
    ORDER BY p.claim_rank, p.partition_key";

/// Takes partitions from whoever holds them, and gives them to somebody, or to nobody. Returns those that were moved; the others are
/// not known, or have nothing undecided and nobody who holds them.
pub async fn assign(
    database: &Database,
    keys: &[String],
    to: Option<&str>,
    reason: &str,
) -> Result<Vec<String>, AdminError> {
    let mut connection = database.connect().await?;
    let mut moved: Vec<String> = sqlx::query_scalar("SELECT * FROM countersign.partition_assign($1, $2, $3)")
        .bind(keys)
        .bind(to)
        .bind(reason)
        .fetch_all(&mut connection)
        .await
        .map_err(database.refused("move the partitions"))?;
    if moved.is_empty() {
        return Err(AdminError::Request(
            "none of these partitions has anything undecided, or anybody who holds it; `countersign-admin partition list` shows those that do"
                .to_owned(),
        ));
    }
    moved.sort_unstable();
    Ok(moved)
}

/// What moving came to, in words.
pub fn describe_move(keys: &[String], moved: &[String], to: Option<&str>) -> String {
    let mut text = match to {
        Some(login) => {
            format!("{} with {} now: their next lease call brings the exceptions.\n", listed(moved), shown(login))
        }
        None => format!("{} free now: whoever may sign there is given the exceptions.\n", listed(moved)),
    };
    let left: Vec<String> = keys.iter().filter(|key| !moved.contains(key)).cloned().collect();
    if !left.is_empty() {
        let _ = writeln!(text, "{} left alone: nothing is undecided there, and nobody holds it.", listed(&left));
    }
    text
}

fn listed(keys: &[String]) -> String {
    match keys {
        [key] => format!("{} is", shown(key)),
        keys => format!("{} are", keys.iter().map(|key| shown(key)).collect::<Vec<_>>().join(", ")),
    }
}

/// The list as a table.
pub fn describe(partitions: &[Partition]) -> String {
    if partitions.is_empty() {
        return "No partitions.\n".to_owned();
    }
    let columns = head(["partition", "pending", "oldest", "with", "at", "until", "epoch"]);
    let or_none = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), shown);
    let lines = partitions.iter().map(|partition| {
        vec![
            shown(&partition.partition_key),
            partition.pending.to_string(),
            partition.oldest.map_or_else(|| "-".to_owned(), instant),
            or_none(&partition.reviewer),
            or_none(&partition.machine),
            partition.lease_until.filter(|_| partition.reviewer.is_some()).map_or_else(|| "-".to_owned(), instant),
            partition.epoch.to_string(),
        ]
    });
    table(&std::iter::once(columns).chain(lines).collect::<Vec<_>>())
}
