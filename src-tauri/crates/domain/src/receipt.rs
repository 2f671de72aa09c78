//! The receipt of one call of `sign_off`: what the database says it came to.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::hash;
use crate::id::{Digest, SignOffKey};

/// What was accepted in one currency. Debits are positive variances, credits negative ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrencyTotal {
    /// How many decisions.
    pub items: u64,
    /// The sum of the positive variances.
    #[serde(with = "rust_decimal::serde::str")]
    pub debits: Decimal,
    /// The sum of the negative ones.
    #[serde(with = "rust_decimal::serde::str")]
    pub credits: Decimal,
    /// Both together.
    #[serde(with = "rust_decimal::serde::str")]
    pub net: Decimal,
}

/// A receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its number.
    pub receipt: i64,
    /// When, by the database's clock, in microseconds since 1970.
    pub at: i64,
    /// The installation.
    pub installation: Uuid,
    /// Who signed.
    pub reviewer: String,
    /// Where.
    pub workstation: Uuid,
    /// The policy in force at commit.
    pub policy_version: u32,
    /// How many decisions came.
    pub submitted: u64,
    /// How many were accepted: committed, awaiting a second signature or held.
    pub committed: u64,
    /// How many were accepted before.
    pub duplicate: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many were decided under another policy than the one in force.
    pub under_another_policy: u64,
    /// How many of each outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// What was accepted, by currency.
    pub totals: BTreeMap<String, CurrencyTotal>,
    /// SHA-256 over the sorted keys of all decisions that came, 32 bytes each.
    pub keys_sha256: Digest,
    /// Where the audit records are: partition, first and last number in its chain.
    pub records: Vec<(String, i64, i64)>,
    /// The keys that were accepted before.
    pub duplicates: Vec<Digest>,
    /// The keys of decisions on exceptions that do not exist.
    pub unknown: Vec<Digest>,
}

impl Receipt {
    /// Says what does not add up in itself, or that it is not about these decisions.
    pub fn check(&self, keys: &[SignOffKey]) -> Result<(), String> {
        let submitted = keys.len() as u64;
        if self.submitted != submitted {
            return Err(format!("it counts {} decisions, {submitted} were sent", self.submitted));
        }
        if self.submitted != self.committed + self.duplicate + self.refused {
            return Err(format!(
                "{} submitted are not {} committed, {} refused and {} duplicate",
                self.submitted, self.committed, self.refused, self.duplicate
            ));
        }
        if self.outcomes.values().sum::<u64>() != self.submitted {
            return Err("its outcomes do not add up to what was submitted".to_owned());
        }
        if self.keys_sha256 != keys_total(keys.iter().map(|key| key.0)) {
            return Err("its hash total is not that of the decisions".to_owned());
        }
        Ok(())
    }
}

/// SHA-256 over the sorted keys, 32 bytes each, without anything in between.
pub fn keys_total(keys: impl IntoIterator<Item = Digest>) -> Digest {
    let mut keys: Vec<[u8; 32]> = keys.into_iter().map(|key| key.0).collect();
    keys.sort_unstable();
    hash::sha256(&keys.concat())
}
