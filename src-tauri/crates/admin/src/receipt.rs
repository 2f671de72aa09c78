//! Receipts of sign-off calls: showing one, and proving it against the audit stream.

use std::collections::BTreeMap;

use countersign_domain::id::Digest;
use countersign_domain::money::parse_decimal;
use countersign_domain::receipt::{CurrencyTotal, Receipt, keys_total};
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::Row as _;

use crate::audit::{Session, instant};
use crate::text::{shown, table};
use crate::{AdminError, Database};

/// A receipt, and whether its seal is right.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// What it says.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Whether the database's key sealed it.
    pub sealed: bool,
}

/// What proving a receipt came to.
#[derive(Debug, Clone, Serialize)]
pub struct Proof {
    /// The receipt's number.
    pub receipt: i64,
    /// How many audit records were read.
    pub records: u64,
    /// What does not agree; nothing, if the receipt holds.
    pub wrong: Vec<String>,
}

/// Reads a receipt.
pub async fn show(database: &Database, number: i64) -> Result<Shown, AdminError> {
    let mut session = Session::begin(database, "show a receipt").await?;
    let receipt = read(&mut session, number).await;
    session.end().await;
    receipt
}

async fn read(session: &mut Session<'_>, number: i64) -> Result<Shown, AdminError> {
    const SQL: &str =
        "SELECT r.document::text, countersign.mac_holds(r.key_id, countersign.receipt_seal(r.document), r.mac)
                       FROM countersign.receipts r WHERE r.id = $1";
    let refused = session.refused();
    let found: Option<(String, bool)> =
        sqlx::query_as(SQL).bind(number).fetch_optional(&mut session.connection).await.map_err(refused)?;
    let (document, sealed) = found.ok_or_else(|| AdminError::Request(format!("there is no receipt {number}")))?;
    let receipt = serde_json::from_str(&document)
        .map_err(|error| AdminError::Request(format!("the receipt {number} does not read: {error}")))?;
    Ok(Shown { receipt, sealed })
}

/// What the record of a decision says.
#[derive(Deserialize)]
struct Signed {
    key: Digest,
    receipt: Option<i64>,
}

/// What the records of a call add up to.
#[derive(Default)]
struct Sums {
    records: u64,
    outcomes: BTreeMap<String, u64>,
    keys: Vec<Digest>,
    totals: BTreeMap<String, CurrencyTotal>,
}

/// Counts a receipt's decisions anew, from the audit records that it names.
pub async fn verify(database: &Database, number: i64) -> Result<Proof, AdminError> {
    let mut session = Session::begin(database, "verify a receipt").await?;
    let Shown { receipt, sealed } = read(&mut session, number).await?;
    let mut sums = Sums::default();
    for (partition, first, last) in &receipt.records {
        sums.add(&mut session, number, partition, *first, *last).await?;
    }
    session.end().await;
    sums.add_all("DUPLICATE", &receipt.duplicates);
    sums.add_all("NOT_ELIGIBLE", &receipt.unknown);
    let accepted = |outcome: &str| sums.outcomes.get(outcome).copied().unwrap_or_default();
    let committed = accepted("COMMITTED") + accepted("AWAITING_SECOND") + accepted("HELD");
    let submitted = sums.outcomes.values().sum::<u64>();
    let refused = submitted - committed - accepted("DUPLICATE");
    let checks = [
        (sealed, "its seal is not that of its key".to_owned()),
        (receipt.receipt == number, "its document is another receipt's".to_owned()),
        (
            (receipt.submitted, receipt.committed, receipt.refused, receipt.duplicate)
                == (submitted, committed, refused, accepted("DUPLICATE")),
            format!(
                "it says {} submitted, {} accepted, {} refused, {} duplicate; recorded are {submitted}, {committed}, {refused}, {}",
                receipt.submitted,
                receipt.committed,
                receipt.refused,
                receipt.duplicate,
                accepted("DUPLICATE")
            ),
        ),
        (
            receipt.outcomes == sums.outcomes,
            format!("its outcomes are {:?}, recorded are {:?}", receipt.outcomes, sums.outcomes),
        ),
        (
            receipt.keys_sha256 == keys_total(sums.keys.iter().copied()),
            "its hash total is not that of the recorded decisions".to_owned(),
        ),
        (receipt.totals == sums.totals, format!("its totals are {:?}, signed were {:?}", receipt.totals, sums.totals)),
    ];
    let wrong = checks.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect();
    Ok(Proof { receipt: number, records: sums.records, wrong })
}

impl Sums {
    async fn add(
        &mut self,
        session: &mut Session<'_>,
        receipt: i64,
        chain: &str,
        first: i64,
        last: i64,
    ) -> Result<(), AdminError> {
        const SQL: &str = "
            SELECT a.event, a.outcome, a.detail::text, s.currency, s.amount::text FROM countersign.audit_events a
            LEFT JOIN countersign.sign_offs s ON encode(s.sign_off_key, 'hex') = a.detail ->> 'key' AND s.receipt_id = $4
                AND s.partition_key = a.partition_key AND s.chain_seq = a.chain_seq
            WHERE a.partition_key = $1 AND a.chain_seq BETWEEN $2 AND $3 ORDER BY a.chain_seq";
        let refused = session.refused();
        let mut rows = sqlx::query(SQL).bind(chain).bind(first).bind(last).bind(receipt).fetch(&mut session.connection);
        while let Some(row) = rows.try_next().await.map_err(&refused)? {
            self.records += 1;
            let (event, outcome): (&str, Option<&str>) =
                (row.try_get(0).map_err(&refused)?, row.try_get(1).map_err(&refused)?);
            let detail: Option<&str> = row.try_get(2).map_err(&refused)?;
            let signed = detail.and_then(|detail| serde_json::from_str::<Signed>(detail).ok());
            let Some(signed) = signed.filter(|signed| event == "SIGNED" && signed.receipt == Some(receipt)) else {
                continue;
            };
            self.keys.push(signed.key);
            *self.outcomes.entry(outcome.unwrap_or_default().to_owned()).or_default() += 1;
            let currency: Option<String> = row.try_get(3).map_err(&refused)?;
            let amount: Option<&str> = row.try_get(4).map_err(&refused)?;
            if let Some((currency, amount)) = currency.zip(amount.and_then(|amount| parse_decimal(amount).ok())) {
                let zero =
                    CurrencyTotal { items: 0, debits: Decimal::ZERO, credits: Decimal::ZERO, net: Decimal::ZERO };
                let total = self.totals.entry(currency).or_insert(zero);
                total.items += 1;
                total.net += amount;
                *(if amount.is_sign_negative() { &mut total.credits } else { &mut total.debits }) += amount;
            }
        }
        Ok(())
    }

    fn add_all(&mut self, outcome: &str, keys: &[Digest]) {
        if !keys.is_empty() {
            *self.outcomes.entry(outcome.to_owned()).or_default() += keys.len() as u64;
            self.keys.extend(keys);
        }
    }
}

impl Shown {
    /// In words.
    pub fn describe(&self) -> String {
        let receipt = &self.receipt;
        let mut rows = vec![
            ("Receipt".to_owned(), receipt.receipt.to_string()),
            ("At".to_owned(), instant(receipt.at)),
            ("Reviewer".to_owned(), shown(&receipt.reviewer)),
            ("Workstation".to_owned(), receipt.workstation.to_string()),
            (
                "Policy".to_owned(),
                format!("{}, {} decided under another", receipt.policy_version, receipt.under_another_policy),
            ),
            (
                "Decisions".to_owned(),
                format!(
                    "{} submitted: {} accepted, {} refused, {} duplicate",
                    receipt.submitted, receipt.committed, receipt.refused, receipt.duplicate
                ),
            ),
        ];
        for (outcome, count) in &receipt.outcomes {
            rows.push((format!("– {}", shown(outcome)), count.to_string()));
        }
        for (currency, total) in &receipt.totals {
            let CurrencyTotal { items, debits, credits, net } = total;
            rows.push((shown(currency), format!("{items} items, debits {debits}, credits {credits}, net {net}")));
        }
        rows.push(("Hash total".to_owned(), receipt.keys_sha256.to_string()));
        rows.push(("Seal".to_owned(), if self.sealed { "holds" } else { "DOES NOT HOLD" }.to_owned()));
        table(&rows.into_iter().map(|(name, value)| vec![name, value]).collect::<Vec<_>>())
    }
}
