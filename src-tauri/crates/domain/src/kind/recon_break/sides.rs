//! What a reconciliation break carries.

use serde::Deserialize;

use crate::dead_letter::Cause;
use crate::exception::Content;
use crate::gate::{self, Gate, Rejection};
use crate::money::Currency;

/// Both sides of a reconciliation break; one of them may be missing, not both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("anyOf" = [{"required": ["statement_line"], "properties": {"statement_line": {"type": "object"}}}, {"required": ["ledger_entry"], "properties": {"ledger_entry": {"type": "object"}}}])))]
pub struct ReconBreak {
    /// Why the engine left it.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the bank says.
    #[serde(default)]
    pub statement_line: Option<Side>,
    /// What the books say.
    #[serde(default)]
    pub ledger_entry: Option<Side>,
}

/// One side of a break.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// Its identifier at the source.
    pub source_id: String,
    /// The business date: a plain date, never shifted by a time zone.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::day"))]
    pub date: String,
    /// The reference text.
    #[serde(default)]
    pub reference: Option<String>,
    /// The other party as this side names it.
    #[serde(default)]
    pub counterparty: Option<String>,
    /// A plain decimal in the minor units of this side's currency; some sources withhold it on one side.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::optional_decimal"))]
    pub amount: Option<String>,
    /// An active currency of ISO 4217 that has minor units.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::currency"))]
    pub currency: String,
}

impl ReconBreak {
    /// Reads a payload: its dates are dates, its amounts exact in their currencies.
    pub fn read(content: &Content) -> Result<Self, Rejection> {
        content.payload.object("statement_line")?;
        content.payload.object("ledger_entry")?;
        let sides: Self = content.payload.read()?;
        if sides.statement_line.is_none() && sides.ledger_entry.is_none() {
            let reason = "neither statement_line nor ledger_entry is there; expected one of them, or both";
            return Err(Rejection::new(Gate::Structural, Cause::Field, "payload", reason));
        }
        for (name, side) in [("statement_line", &sides.statement_line), ("ledger_entry", &sides.ledger_entry)] {
            if let Some(side) = side {
                side.check(&format!("payload.{name}"))?;
            }
        }
        Ok(sides)
    }
}

impl Side {
    fn check(&self, path: &str) -> Result<(), Rejection> {
        gate::day(&format!("{path}.date"), &self.date)?;
        let currency: Currency =
            self.currency.parse().map_err(|error| Rejection::money(format!("{path}.currency"), &error))?;
        if let Some(amount) = &self.amount {
            gate::amount(format!("{path}.amount"), amount, currency)?;
        }
        Ok(())
    }
}
