//! Dead letters for tests.

use countersign_domain::dead_letter::Cause;
use countersign_domain::kind::Kind;
use countersign_domain::money::Money;
use countersign_engine::port::{Correction, Letter, LetterDetail, LetterId, LetterStatus};

use super::samples::at;

/// A receipt that Dana works on.
pub(crate) fn a_letter() -> Letter {
    Letter {
        id: LetterId(7),
        status: LetterStatus::Taken,
        cause: Cause::Amount,
        field: Some("variance_amount".into()),
        reason: "`1.005` has 3 decimal places, EUR has 2".into(),
        origin: "day.jsonl".into(),
        line: Some(12),
        first_at: at(8),
        last_at: at(8),
        times: 1,
        attempts: 1,
        owner: Some("dana".into()),
        key: Some("k".into()),
        kind: Some(Kind::Receipt),
        entity: Some("de-01".into()),
        at_risk: Some(Money::parse("1.00", "EUR".parse().expect("a currency")).expect("an amount")),
        corrections: 0,
    }
}

/// The same with everything about it.
pub(crate) fn detail(original: &[u8], corrections: &[&str]) -> LetterDetail {
    let corrections = (1..).zip(corrections).map(|(revision, body)| Correction {
        revision,
        by: "dana".into(),
        at: at(9),
        body: (*body).to_owned(),
    });
    LetterDetail {
        letter: a_letter(),
        original: original.to_vec(),
        original_size: u64::try_from(original.len()).expect("small"),
        corrections: corrections.collect(),
        history: Vec::new(),
        discard: None,
        exception: None,
    }
}
