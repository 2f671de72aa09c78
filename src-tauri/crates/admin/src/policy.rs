//! The policy in force, and those before it.

mod explain;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use countersign_domain::policy::Policy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rows::{head, instant, rows};
use crate::text::{shown, shown_json, table};
use crate::{AdminError, Database};

pub use explain::{Explained, describe_explained, explain};

/// One version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Its number, from 1.
    pub version: u32,
    /// Since when it is, or was, in force.
    pub set_at: DateTime<Utc>,
    /// Who set it.
    pub set_by: String,
    /// Why.
    pub comment: String,
    /// What it says.
    pub document: Value,
}

/// One version; the one in force, if none is named.
pub async fn show(database: &Database, version: Option<u32>) -> Result<Version, AdminError> {
    let mut connection = database.connect().await?;
    let wanted = version.map_or_else(String::new, |version| version.to_string());
    let sql = "SELECT to_jsonb(p)::text FROM countersign.policies p WHERE $1 = '' OR p.version::text = $1 ORDER BY p.version DESC LIMIT 1";
    let mut found: Vec<Version> = rows(database, &mut connection, "show the policy", sql, &[&wanted]).await?;
    found.pop().ok_or_else(|| {
        AdminError::Request(format!(
            "there is no policy version {wanted}; `countersign-admin policy history` shows which there are"
        ))
    })
}

/// Every version, the latest first.
pub async fn history(database: &Database) -> Result<Vec<Version>, AdminError> {
    let mut connection = database.connect().await?;
    let sql = "SELECT to_jsonb(p)::text FROM countersign.policies p ORDER BY p.version DESC";
    rows(database, &mut connection, "show the policies", sql, &[]).await
}

/// Reads a document as a supervisor wrote it.
pub fn read(text: &str, origin: &str) -> Result<Policy, AdminError> {
    Policy::parse(text).map_err(|error| {
        let field = if matches!(error.field.as_str(), "" | ".") { "the document" } else { error.field.as_str() };
        AdminError::Request(format!("{} is no policy: {field}: {}", shown(origin), error.reason))
    })
}

/// Puts a policy in force from now on, and returns its version.
pub async fn set(database: &Database, policy: &Policy, comment: &str) -> Result<u32, AdminError> {
    let mut connection = database.connect().await?;
    let document = document(policy)?;
    let version: i32 = sqlx::query_scalar("SELECT countersign.policy_set($1::jsonb, $2)")
        .bind(document.to_string())
        .bind(comment)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("set the policy"))?;
    Ok(u32::try_from(version).unwrap_or_default())
}

/// What a new policy changes, a line each: `-` before what was, `+` before what will be. Empty if nothing changes.
pub fn difference(before: &Version, policy: &Policy) -> Result<String, AdminError> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    // As this release reads it, so that another way to write the same is no change. What it cannot read is compared as it is.
    let known = serde_json::from_value::<Policy>(before.document.clone()).ok();
    let before = known.as_ref().map_or_else(|| Ok(before.document.clone()), document)?;
    flatten("", &before, &mut old);
    flatten("", &document(policy)?, &mut new);
    let mut text = String::new();
    let paths: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for path in paths {
        let (was, is) = (old.get(path), new.get(path));
        if was != is {
            for (sign, value) in [('-', was), ('+', is)] {
                if let Some(value) = value {
                    let _ = writeln!(text, "{sign} {}: {}", shown(path), shown(value));
                }
            }
        }
    }
    Ok(text)
}

fn document(policy: &Policy) -> Result<Value, AdminError> {
    serde_json::to_value(policy).map_err(|error| AdminError::Request(format!("cannot write the policy: {error}")))
}

/// A rule and a reason code are one line each, and a reason code goes by its name and not by its place.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) if matches!(path, "" | "scoring" | "lease" | "review" | "review.due_days") => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, value, into);
            }
        }
        Value::Array(list) => {
            for (number, value) in list.iter().enumerate() {
                let (place, value) = match (value["code"].as_str(), value.get("text")) {
                    (Some(code), Some(text)) => (format!("{path}.{code}"), text),
                    _ => (format!("{path}[{number}]"), value),
                };
                into.insert(place, value.to_string());
            }
        }
        value => {
            into.insert(path.to_owned(), value.to_string());
        }
    }
}

/// A version in words.
pub fn describe(version: &Version) -> String {
    let document = serde_json::to_string_pretty(&version.document).unwrap_or_default();
    format!(
        "Version {}, set {} by {}: {}\n{}",
        version.version,
        instant(version.set_at),
        shown(&version.set_by),
        shown(&version.comment),
        shown_json(&document)
    )
}

/// The versions as a table.
pub fn describe_history(versions: &[Version]) -> String {
    let lines = versions.iter().map(|version| {
        vec![version.version.to_string(), instant(version.set_at), shown(&version.set_by), shown(&version.comment)]
    });
    table(&std::iter::once(head(["version", "set", "by", "comment"])).chain(lines).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_force(policy: &Policy) -> Version {
        let document = document(policy).expect("a policy is JSON");
        Version { version: 1, set_at: DateTime::UNIX_EPOCH, set_by: "x".into(), comment: "y".into(), document }
    }

    #[test]
    fn a_difference_names_what_changes_and_nothing_else() {
        let before = in_force(&Policy::default());
        let mut policy = Policy::default();
        assert_eq!(difference(&before, &policy).expect("two policies"), "");
        policy.lease.longest_ms = 60_000;
        let dropped = policy.reason_codes.remove(0);
        let text = difference(&before, &policy).expect("two policies");
        let expected = format!(
            "- lease.longest_ms: 43200000\n+ lease.longest_ms: 60000\n- reason_codes.{}: \"{}\"\n",
            dropped.code, dropped.text
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_wrong_with_a_document_is_said_with_its_field() {
        let error = read("{}", "policy.json").expect_err("nothing is there");
        assert!(error.to_string().contains("policy.json is no policy") && error.exit_code() == 1, "{error}");
        let mut document = document(&Policy::default()).expect("a policy is JSON");
        document["lease"]["longest_ms"] = 1.into();
        let error = read(&document.to_string(), "policy.json").expect_err("too short");
        assert!(error.to_string().contains("lease.longest_ms: expected 30000 to 43200000"), "{error}");
    }
}
