//! The register of vendors: whose claims are taken in.

use std::collections::BTreeSet;
use std::io::Read;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::rows::{head, instant, rows};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// The most vendors of one file.
pub const VENDORS: usize = 1_000_000;
/// The most vendors of one call.
const CHUNK: usize = 500;

/// A vendor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vendor {
    /// The id that claims name it by.
    pub vendor_id: String,
    /// Its name.
    pub name: String,
    /// Whether its claims are taken in.
    pub active: bool,
    /// When that changed last.
    pub changed_at: DateTime<Utc>,
    /// By whom.
    pub changed_by: String,
}

/// What registering came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Registered {
    /// Vendors that were named.
    pub named: usize,
    /// Of these: new, named otherwise before, or disabled.
    pub changed: usize,
}

/// The register, by id, from `after` on.
pub async fn list(database: &Database, after: &str, limit: u32) -> Result<Vec<Vendor>, AdminError> {
    const SQL: &str = "
        SELECT jsonb_build_object('vendor_id', v.vendor_id, 'name', v.name, 'active', v.active, 'changed_at', v.changed_at, 'changed_by', v.changed_by)::text
        FROM countersign.vendors v WHERE v.vendor_id > $1 ORDER BY v.vendor_id LIMIT $2::integer";
    let mut connection = database.connect().await?;
    rows(database, &mut connection, "list vendors", SQL, &[after, &limit.to_string()]).await
}

/// Registers vendors, by id and name, or gives them other names. Each 500 are one transaction; all of it may be run again.
pub async fn register(database: &Database, vendors: &[(String, String)]) -> Result<Registered, AdminError> {
    let mut connection = database.connect().await?;
    let mut changed = 0;
    for chunk in vendors.chunks(CHUNK) {
        let (ids, names): (Vec<&str>, Vec<&str>) = chunk.iter().map(|(id, name)| (id.as_str(), name.as_str())).unzip();
        let count: i32 = sqlx::query_scalar("SELECT countersign.vendor_set($1, $2)")
            .bind(ids)
            .bind(names)
            .fetch_one(&mut connection)
            .await
            .map_err(database.refused("register vendors"))?;
        changed += usize::try_from(count).unwrap_or_default();
    }
    Ok(Registered { named: vendors.len(), changed })
}

/// Takes no more claims of a vendor in. Whether it was active.
pub async fn disable(database: &Database, id: &str, reason: &str) -> Result<bool, AdminError> {
    let mut connection = database.connect().await?;
    sqlx::query_scalar("SELECT countersign.vendor_disable($1, $2)")
        .bind(id)
        .bind(reason)
        .fetch_one(&mut connection)
        .await
        .map_err(database.refused("disable the vendor"))
}

/// Reads `vendor_id,name` with a head, all of it before anything is registered.
pub fn read(input: impl Read, origin: &str) -> Result<Vec<(String, String)>, AdminError> {
    let wrong = |why: String| AdminError::Request(format!("{}: {why}", shown(origin)));
    let mut reader = csv::ReaderBuilder::new().from_reader(input);
    let found = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let found: Vec<&str> = found.iter().map(|name| name.trim_start_matches('\u{feff}').trim()).collect();
    if found != ["vendor_id", "name"] {
        return Err(wrong(format!("the head vendor_id,name is expected, not {}", shown(&found.join(",")))));
    }
    let (mut vendors, mut known) = (Vec::new(), BTreeSet::new());
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let (id, name) = (record.get(0).unwrap_or_default().trim(), record.get(1).unwrap_or_default().trim());
        for (column, text, most) in [("vendor_id", id, 200), ("name", name, 1_000)] {
            if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
                return Err(wrong(format!(
                    "line {line}: {column} has 1 to {most} characters, and no control characters"
                )));
            }
        }
        if !known.insert(id.to_owned()) {
            return Err(wrong(format!("line {line}: the vendor {} is there twice", shown(id))));
        }
        if vendors.len() == VENDORS {
            return Err(wrong(format!("more than {VENDORS} vendors")));
        }
        vendors.push((id.to_owned(), name.to_owned()));
    }
    Ok(vendors)
}

/// The register as a table.
pub fn describe(vendors: &[Vendor]) -> String {
    if vendors.is_empty() {
        return "No vendors. Register one: `countersign-admin vendor add`.\n".to_owned();
    }
    let lines = vendors.iter().map(|vendor| {
        vec![
            shown(&vendor.vendor_id),
            shown(&vendor.name),
            if vendor.active { "active" } else { "disabled" }.to_owned(),
            instant(vendor.changed_at),
            shown(&vendor.changed_by),
        ]
    });
    table(&std::iter::once(head(["vendor", "name", "state", "changed", "by"])).chain(lines).collect::<Vec<_>>())
}

/// What registering came to, in words.
pub fn describe_registered(registered: &Registered) -> String {
    format!(
        "{} named, {} changed. Replay what was refused for its vendor: `countersign-admin dead-letters list`.\n",
        match registered.named {
            1 => "1 vendor".to_owned(),
            named => format!("{named} vendors"),
        },
        registered.changed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_read_whole_or_not_at_all() {
        let good =
            read("\u{feff}vendor_id,name\nv-1,\"Acme, Inc.\"\nv-2,株式会社\n".as_bytes(), "v.csv").expect("good");
        assert_eq!(good, [("v-1".into(), "Acme, Inc.".into()), ("v-2".into(), "株式会社".into())]);
        for (text, words) in [
            ("id,name\n", "the head vendor_id,name is expected"),
            ("vendor_id,name\nv-1\n", "unequal lengths"),
            ("vendor_id,name\n,x\n", "line 2: vendor_id"),
            ("vendor_id,name\nv-1,a\nv-1,b\n", "line 3: the vendor v-1 is there twice"),
        ] {
            let error = read(text.as_bytes(), "v.csv").expect_err(text).to_string();
            assert!(error.contains(words) || (words == "unequal lengths" && error.contains("record")), "{error}");
        }
    }
}
