//! The receipts of the latest calls.

use chrono::DateTime;
use countersign_domain::money::{Currency, with_digits};
use countersign_domain::receipt::{CurrencyTotal, Receipt};
use countersign_engine::{Engine, Now};
use countersign_wire::{CurrencyNet, ReceiptRow};

use super::instant;

/// The receipts, newest first; the engine keeps a bounded number of them.
pub(crate) fn receipts(engine: &Engine, _: Now) -> Vec<ReceiptRow> {
    engine.receipts().map(row).collect()
}

fn row(receipt: &Receipt) -> ReceiptRow {
    let under_another = receipt.under_another_policy;
    let other_policy = (under_another > 0).then(|| {
        let verb = if under_another == 1 { "was" } else { "were" };
        format!("{under_another} {verb} decided under another policy than version {}", receipt.policy_version)
    });
    let nets = receipt.totals.iter().map(|(code, total)| net(code, total)).collect();
    ReceiptRow {
        number: receipt.receipt.to_string(),
        at: DateTime::from_timestamp_micros(receipt.at).map(instant).unwrap_or_default(),
        submitted: many(receipt.submitted),
        committed: many(receipt.committed),
        refused: many(receipt.refused),
        duplicate: many(receipt.duplicate),
        nets,
        policy_version: receipt.policy_version,
        other_policy,
    }
}

/// A currency that this release does not know is shown with the digits that came.
fn net(code: &str, total: &CurrencyTotal) -> CurrencyNet {
    let net = total.net;
    let known = code.parse::<Currency>().ok();
    CurrencyNet {
        currency: code.to_owned(),
        minor_units: known.map_or_else(|| u8::try_from(net.scale()).unwrap_or(0), Currency::minor_units),
        count: many(total.items),
        net: known.map_or_else(|| net.to_string(), |currency| with_digits(net, currency)),
    }
}

/// A count; a call carries a thousand decisions at most.
fn many(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
