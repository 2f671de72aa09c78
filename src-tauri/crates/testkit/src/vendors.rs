//! Vendors of given arrivals, so that their claims are taken in.

use std::collections::BTreeMap;

use countersign_admin::{AdminError, Database, vendor};
use serde_json::Value;

/// The vendors that the claims among these lines name, by id. What does not read names none.
pub fn of(lines: &str) -> Vec<(String, String)> {
    let mut vendors = BTreeMap::new();
    for line in lines.lines().filter(|line| line.contains("vendor_id")) {
        let Ok(arrival) = serde_json::from_str::<Value>(line) else { continue };
        let field = |name: &str| arrival["payload"][name].as_str().filter(|text| !text.trim().is_empty());
        if let Some(id) = field("vendor_id") {
            vendors.entry(id.to_owned()).or_insert_with(|| field("vendor_name").unwrap_or(id).to_owned());
        }
    }
    vendors.into_iter().collect()
}

/// Registers them, for a supervisor.
pub async fn register(database: &Database, lines: &str) -> Result<(), AdminError> {
    let vendors = of(lines);
    if vendors.is_empty() {
        return Ok(());
    }
    vendor::register(database, &vendors).await.map(|_| ())
}
