//! Why an exception got its suggestion: every rule, with what it looked at, under a version of the policy.

use std::fmt::Write as _;

use countersign_domain::gate;
use countersign_domain::policy::Policy;
use countersign_domain::scoring::{self, Applied, Explanation};
use serde::{Deserialize, Serialize};

use super::{Version, show};
use crate::rows::{head, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A suggestion and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The exception's identifier.
    pub exception: i64,
    /// Its idempotency key.
    pub key: String,
    /// Its kind.
    pub kind: &'static str,
    /// The version of its content.
    pub content_version: u32,
    /// The rules.
    #[serde(flatten)]
    pub explanation: Explanation,
}

#[derive(Deserialize)]
struct Found {
    id: i64,
    key: String,
    version: u32,
    body: String,
}

/// By its key, or by its identifier; a key that looks like somebody else's identifier comes first.
const EXCEPTION: &str = "
    SELECT jsonb_build_object('id', e.id, 'key', e.idempotency_key, 'version', e.version, 'body', c.body)::text
    FROM countersign.exceptions e JOIN countersign.exception_contents c ON c.exception_id = e.id AND c.version = e.version
    WHERE e.idempotency_key = $1 OR e.id = CASE WHEN $1 ~ '^[0-9]{1,18}$' THEN $1::bigint END
    ORDER BY e.idempotency_key = $1 DESC LIMIT 1";

/// Explains the suggestion of one exception under the policy in force, or under another version of it.
pub async fn explain(database: &Database, exception: &str, version: Option<u32>) -> Result<Explained, AdminError> {
    let mut connection = database.connect().await?;
    let found: Vec<Found> = rows(database, &mut connection, "look for the exception", EXCEPTION, &[exception]).await?;
    let Some(found) = found.into_iter().next() else {
        return Err(AdminError::Request(format!(
            "there is no exception with the key or the identifier {}",
            shown(exception)
        )));
    };
    let Version { version, document, .. } = show(database, version).await?;
    let policy: Policy = serde_json::from_value(document).map_err(|error| {
        AdminError::Request(format!("policy version {version} is none that this release can read: {error}"))
    })?;
    let content = gate::read_body(&found.body).map_err(|rejection| {
        let field = rejection.field.unwrap_or_else(|| "the content".to_owned());
        AdminError::Request(format!(
            "exception {} cannot be scored: {}: {}",
            found.id,
            shown(&field),
            shown(&rejection.reason)
        ))
    })?;
    Ok(Explained {
        exception: found.id,
        key: found.key,
        kind: content.kind.as_str(),
        content_version: found.version,
        explanation: scoring::explain(&content, &policy.thresholds(version)),
    })
}

/// The explanation in words: the suggestion, then a line for each rule in the order in which they are asked.
pub fn describe_explained(explained: &Explained) -> String {
    let suggestion = &explained.explanation.suggestion;
    let mut text = format!(
        "Exception {}, {}, version {} of its content, key {}\nSuggestion under policy version {}: {} ({})\n",
        explained.exception,
        explained.kind,
        explained.content_version,
        shown(&explained.key),
        suggestion.policy_version,
        suggestion.route.as_str(),
        suggestion.route.label()
    );
    for reason in &suggestion.reasons {
        let _ = writeln!(text, "  {}", shown(reason));
    }
    let lines = explained.explanation.rules.iter().map(|rule| {
        let inputs: Vec<String> = rule.inputs.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect();
        let route = rule.route.map_or("only remarks", scoring::Route::as_str);
        vec![rule.rule.to_owned(), verdict(rule).to_owned(), route.to_owned(), inputs.join(", ")]
    });
    text.push('\n');
    text.push_str(&table(
        &std::iter::once(head(["rule", "applies", "route", "looked at"])).chain(lines).collect::<Vec<_>>(),
    ));
    text
}

fn verdict(rule: &Applied) -> &'static str {
    match (rule.applies, rule.decides) {
        (_, true) => "decides",
        (true, false) => "yes",
        (false, false) => "no",
    }
}
