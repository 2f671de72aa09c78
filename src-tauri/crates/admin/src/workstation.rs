//! Workstations and their keys.

use chrono::{DateTime, Utc};
use countersign_domain::seal::PublicKey;
use serde::{Deserialize, Serialize};
use sqlx::types::Uuid;

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// How many hex digits a fingerprint has.
const FINGERPRINT_DIGITS: usize = 16;

/// A workstation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workstation {
    /// Its identifier.
    pub id: Uuid,
    /// Whose it is.
    pub reviewer: String,
    /// The machine's name, as it says itself.
    pub name: String,
    /// The release it runs.
    pub app_version: String,
    /// When it was seen last.
    pub last_seen: DateTime<Utc>,
    /// How its enrolment stands.
    pub state: Enrolment,
    /// The fingerprint of its latest key.
    pub fingerprint: Option<String>,
    /// When its latest key was asked for.
    pub requested_at: Option<DateTime<Utc>>,
    /// Who confirmed its latest confirmed key.
    pub confirmed_by: Option<String>,
    /// Who revoked it.
    pub revoked_by: Option<String>,
    /// Why.
    pub revoked_because: Option<String>,
    /// Partitions it holds.
    pub holds: u64,
}

/// How an enrolment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enrolment {
    /// It has not asked for it.
    None,
    /// Its first key waits for a supervisor.
    Waiting,
    /// It may sign.
    Confirmed,
    /// It may sign with its key; a new one waits for a supervisor.
    Renewing,
    /// It was turned away for good.
    Revoked,
}

impl Enrolment {
    fn words(self) -> &'static str {
        match self {
            Self::None => "no key yet",
            Self::Waiting => "waits for confirmation",
            Self::Confirmed => "confirmed",
            Self::Renewing => "confirmed, a new key waits",
            Self::Revoked => "revoked",
        }
    }
}

/// Every workstation; those that wait for somebody come first, then those seen last.
pub async fn list(database: &Database) -> Result<Vec<Workstation>, AdminError> {
    let mut connection = database.connect().await?;
    let mut found: Vec<Workstation> = rows(database, &mut connection, "list workstations", WORKSTATIONS, &[]).await?;
    for workstation in &mut found {
        workstation.fingerprint = workstation.fingerprint.as_deref().and_then(fingerprint);
    }
    Ok(found)
}

/// What comes as the fingerprint is the key in hex: how a person reads it is computed here.
const WORKSTATIONS: &str = "
    SELECT jsonb_build_object(
        'id', w.id, 'reviewer', w.reviewer, 'name', w.name, 'app_version', w.app_version, 'last_seen', w.last_seen,
        'state', s.state, 'fingerprint', encode(k.public_key, 'hex'), 'requested_at', k.requested_at,
        'confirmed_by', (SELECT c.confirmed_by FROM countersign.workstation_keys c WHERE c.workstation = w.id AND c.confirmed_at IS NOT NULL
                         ORDER BY c.enrolment DESC LIMIT 1),
        'revoked_by', w.revoked_by, 'revoked_because', w.revoked_because,
        'holds', (SELECT count(*) FROM countersign.partitions p WHERE p.holder = w.id AND p.lease_until > clock_timestamp()))::text
    FROM countersign.workstations w
    LEFT JOIN LATERAL (SELECT k.* FROM countersign.workstation_keys k WHERE k.workstation = w.id ORDER BY k.enrolment DESC LIMIT 1) AS k ON true
    CROSS JOIN LATERAL (SELECT CASE WHEN w.revoked_at IS NOT NULL THEN 'revoked' WHEN k.enrolment IS NULL THEN 'none'
                                    WHEN k.confirmed_at IS NOT NULL THEN 'confirmed'
                                    WHEN EXISTS (SELECT 1 FROM countersign.workstation_keys c WHERE c.workstation = w.id AND c.confirmed_at IS NOT NULL)
                                        THEN 'renewing' ELSE 'waiting' END AS state) AS s
    ORDER BY s.state NOT IN ('waiting', 'renewing'), w.last_seen DESC, w.id";

fn fingerprint(hex: &str) -> Option<String> {
    let byte = |at: usize| hex.get(2 * at..2 * at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Vec<u8> = (0..32).map_while(byte).collect();
    bytes.try_into().ok().map(|key| PublicKey(key).fingerprint())
}

/// Reads a fingerprint as a person types it: 16 hex digits, with or without hyphens, colons and blanks between them.
pub fn read_fingerprint(text: &str) -> Result<String, String> {
    let digits: String = text.chars().filter(|letter| !matches!(letter, '-' | ':' | ' ')).collect();
    if digits.len() == FINGERPRINT_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        Ok(digits.to_ascii_lowercase())
    } else {
        Err(format!(
            "expected the {FINGERPRINT_DIGITS} hex digits that the reviewer's screen shows, such as 0f1e-2d3c-4b5a-6978"
        ))
    }
}

/// Confirms the key that a workstation asks for. Returns whose it is.
pub async fn confirm(database: &Database, workstation: Uuid, fingerprint: &str) -> Result<String, AdminError> {
    let mut connection = database.connect().await?;
    let reviewer: Option<String> = sqlx::query_scalar("SELECT countersign.workstation_confirm($1, $2)")
        .bind(workstation)
        .bind(fingerprint)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("confirm the workstation"))?;
    reviewer.ok_or_else(|| {
        AdminError::Request(format!(
            "the fingerprint is not that of the key of the workstation {workstation}: nothing was confirmed, and it was recorded. \
             Have the reviewer read it out again; if it differs still, somebody else asks in their name"
        ))
    })
}

/// Turns a workstation away from its next call on. Whether it was not before.
pub async fn revoke(database: &Database, workstation: Uuid, reason: &str) -> Result<bool, AdminError> {
    let mut connection = database.connect().await?;
    let revoked: Option<bool> = sqlx::query_scalar("SELECT countersign.workstation_revoke($1, $2)")
        .bind(workstation)
        .bind(reason)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("revoke the workstation"))?;
    revoked.ok_or_else(|| {
        AdminError::Request(format!(
            "the workstation {workstation} is somebody else's: to revoke it takes the role countersign_supervisor"
        ))
    })
}

/// The list as a table.
pub fn describe(workstations: &[Workstation]) -> String {
    if workstations.is_empty() {
        return "No workstations. One appears when a reviewer connects.\n".to_owned();
    }
    let columns = head(["id", "reviewer", "machine", "release", "last seen", "enrolment", "fingerprint", "holds"]);
    let lines = workstations.iter().map(|workstation| {
        let state = match &workstation.revoked_because {
            Some(reason) => format!("{}: {}", workstation.state.words(), shown(reason)),
            None => workstation.state.words().to_owned(),
        };
        vec![
            workstation.id.to_string(),
            shown(&workstation.reviewer),
            shown(&workstation.name),
            shown(&workstation.app_version),
            instant(workstation.last_seen),
            state,
            workstation.fingerprint.clone().unwrap_or_else(|| "-".to_owned()),
            workstation.holds.to_string(),
        ]
    });
    table(&std::iter::once(columns).chain(lines).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_a_person_types_it() {
        let key = PublicKey([7; 32]);
        let plain = key.fingerprint().replace('-', "");
        for text in [key.fingerprint(), plain.clone(), plain.to_uppercase(), key.fingerprint().replace('-', ": ")] {
            assert_eq!(read_fingerprint(&text).as_deref(), Ok(plain.as_str()), "{text}");
        }
        for text in ["", "0f1e", "0f1e-2d3c-4b5a-697g", "0f1e-2d3c-4b5a-6978-0"] {
            assert!(read_fingerprint(text).is_err(), "{text}");
        }
        assert_eq!(fingerprint(&"07".repeat(32)), Some(key.fingerprint()));
        assert_eq!(fingerprint("07"), None);
    }
}
