//! Transactions that were left open: whoever comes with a plain client can begin one, call a function in it, and go for lunch.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use tokio::time::sleep;

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// How long a transaction of which nothing can be seen has to last to count as left open: much longer than a call.
const LASTS: Duration = Duration::from_secs(1);

/// A session that holds locks on Countersign's tables while it waits for its client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The server's process; `SELECT pg_terminate_backend(pid)` ends it.
    pub pid: i32,
    /// Whose it is.
    pub login: String,
    /// With which program, where the caller may see that.
    pub program: Option<String>,
    /// Since when the transaction is open, where the caller may see that.
    pub since: Option<DateTime<Utc>>,
    /// The tables it holds.
    pub tables: Vec<String>,
    /// Names the transaction.
    #[serde(default, skip_serializing)]
    transaction: String,
    /// Whether the caller may see what it does.
    #[serde(default, skip_serializing)]
    visible: bool,
}

/// Without `pg_read_all_stats`, the state of others' sessions is NULL; what they lock, everybody may see.
const LOCKING: &str = "
    SELECT jsonb_build_object('pid', a.pid, 'login', a.usename, 'program', nullif(a.application_name, ''), 'since', a.xact_start,
               'visible', a.state IS NOT NULL, 'transaction', max(l.virtualtransaction), 'tables', jsonb_agg(DISTINCT c.relname))::text
    FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r' AND c.relnamespace = 'countersign'::regnamespace
    WHERE l.locktype = 'relation' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND a.pid <> pg_backend_pid() AND a.usename IS NOT NULL AND coalesce(a.backend_type, 'client backend') = 'client backend'
      AND coalesce(a.state LIKE 'idle in transaction%', true)
    GROUP BY a.pid, a.usename, a.application_name, a.xact_start, a.state ORDER BY a.xact_start NULLS LAST, a.pid";

pub(super) async fn left_open(database: &Database, connection: &mut PgConnection) -> Result<Vec<Session>, AdminError> {
    const OPERATION: &str = "look for open transactions";
    let first: Vec<Session> = rows(database, connection, OPERATION, LOCKING, &[]).await?;
    if first.iter().all(|session| session.visible) {
        return Ok(first);
    }
    sleep(LASTS).await;
    let seen: HashSet<&str> = first.iter().map(|session| session.transaction.as_str()).collect();
    let mut second: Vec<Session> = rows(database, connection, OPERATION, LOCKING, &[]).await?;
    second.retain(|session| seen.contains(session.transaction.as_str()));
    Ok(second)
}

pub(super) fn describe(sessions: &[Session]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let lines = sessions.iter().map(|session| {
        vec![
            session.pid.to_string(),
            shown(&session.login),
            session.program.as_deref().map_or_else(|| "-".to_owned(), shown),
            session.since.map_or_else(|| "not for you to see".to_owned(), instant),
            session.tables.join(", "),
        ]
    });
    "\nTransactions left open, which may keep others waiting:\n".to_owned()
        + &table(
            &std::iter::once(head(["pid", "login", "program", "since", "tables"])).chain(lines).collect::<Vec<_>>(),
        )
}
