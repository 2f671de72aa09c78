//! The audit stream as bytes: a record, its link in the chain, its seal. The database writes these; whoever verifies recomputes them
//! from here and from nothing else.

use std::fmt;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::hash;
use crate::id::Digest;
use crate::money::Money;
use crate::seal::JsonArray;

/// One record of the audit stream, by its fields. `countersign.audit_event` in the database holds them.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The chain: a partition's key, or the empty text for what belongs to no partition.
    pub chain: &'a str,
    /// Its number in the chain, from 1.
    pub number: i64,
    /// When, by the database's clock, in microseconds since 1970.
    pub at: i64,
    /// What happened.
    pub event: &'a str,
    /// The login that did it.
    pub actor: &'a str,
    /// Where.
    pub workstation: Option<Uuid>,
    /// To which exception.
    pub exception: Option<i64>,
    /// The exception's trace.
    pub trace: Option<Uuid>,
    /// The exception's source hash.
    pub source_hash: Option<&'a str>,
    /// What the matching engine had said.
    pub match_decision: Option<&'a str>,
    /// The content's hash.
    pub content: Option<&'a [u8]>,
    /// What came of it.
    pub outcome: Option<&'a str>,
    /// Everything else, as JSON in the words of PostgreSQL.
    pub detail: Option<&'a str>,
}

impl Record<'_> {
    /// The bytes that the chain covers: a JSON array of the fields in this order, hashes in lower-case hex.
    /// `countersign.audit_record` in the database computes the same.
    pub fn bytes(&self) -> Vec<u8> {
        let workstation = self.workstation.map(|id| id.to_string());
        let trace = self.trace.map(|id| id.to_string());
        let content = self.content.map(hex::encode);
        JsonArray::default()
            .text(Some(self.chain))
            .number(Some(self.number))
            .number(Some(self.at))
            .text(Some(self.event))
            .text(Some(self.actor))
            .text(workstation.as_deref())
            .number(self.exception)
            .text(trace.as_deref())
            .text(self.source_hash)
            .text(self.match_decision)
            .text(content.as_deref())
            .text(self.outcome)
            .raw(self.detail.unwrap_or("null"))
            .finish()
    }

    /// SHA-256 of the hash before it, which is empty for the first record of a chain, and these bytes.
    pub fn chain_hash(&self, before: &[u8]) -> Digest {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.bytes());
        Digest(hash.finalize().into())
    }
}

/// A key of the audit seal, which is HMAC-SHA256 (RFC 2104) over a record's chain hash. It is known by its two padded blocks.
#[derive(Clone)]
pub struct MacKey {
    inner: Sha256,
    outer: Sha256,
}

impl MacKey {
    /// From the blocks that begin the inner and the outer hash.
    pub fn from_pads(inner: &[u8; 64], outer: &[u8; 64]) -> Self {
        Self { inner: Sha256::new_with_prefix(inner), outer: Sha256::new_with_prefix(outer) }
    }

    /// The seal over some bytes.
    pub fn mac(&self, bytes: &[u8]) -> Digest {
        let inner = self.inner.clone().chain_update(bytes).finalize();
        Digest(self.outer.clone().chain_update(inner).finalize().into())
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey")
    }
}

/// Everything that a sign-off's key stands for besides the exception, the content, the decision and the reviewer: SHA-256 of the
/// JSON array of the exception's number, the reason, the comment and the instant of the decision in microseconds since 1970, and of
/// the figure's amount and currency where there is a figure. `countersign.sign_off_payload` in the database computes the same.
pub fn payload_hash(
    exception: i64,
    reason: Option<&str>,
    comment: Option<&str>,
    decided_at: i64,
    figure: Option<Money>,
) -> Digest {
    let array = JsonArray::default().number(Some(exception)).text(reason).text(comment).number(Some(decided_at));
    hash::sha256(&array.figure(figure).finish())
}

/// The bytes of a receipt that its seal covers: `countersign/receipt/1`, a line feed, and the document in the words of PostgreSQL.
pub fn receipt_bytes(document: &str) -> Vec<u8> {
    format!("countersign/receipt/1\n{document}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal;

    fn record() -> Record<'static> {
        Record {
            chain: "a\"b",
            number: 2,
            at: 1_790_000_000_000_005,
            event: "SIGNED",
            actor: "alice",
            workstation: Some(Uuid::from_u128(7)),
            exception: Some(9),
            trace: None,
            source_hash: Some("x\u{1}\u{7f}é"),
            match_decision: None,
            content: Some(&[0xab; 2]),
            outcome: Some("COMMITTED"),
            detail: Some(r#"{"a": 1}"#),
        }
    }

    #[test]
    fn a_record_is_one_text_and_no_other() {
        assert_eq!(
            String::from_utf8(record().bytes()).expect("JSON is UTF-8"),
            "[\"a\\\"b\", 2, 1790000000000005, \"SIGNED\", \"alice\", \"00000000-0000-0000-0000-000000000007\", 9, null, \
             \"x\\u0001\u{7f}é\", null, \"abab\", \"COMMITTED\", {\"a\": 1}]"
        );
        assert!(Record { detail: None, ..record() }.bytes().ends_with(b"\"COMMITTED\", null]"));
    }

    #[test]
    fn a_link_covers_all_before_it() {
        let first = record().chain_hash(b"");
        assert_eq!(first, hash::sha256(&record().bytes()));
        assert_eq!(record().chain_hash(&first.0), hash::sha256(&[&first.0[..], &record().bytes()].concat()));
    }

    #[test]
    fn a_seal_by_pads_is_the_hmac_of_the_key() {
        let key = [7; 32];
        let pad = |mask: u8| {
            let mut pad = [mask; 64];
            pad[..32].iter_mut().for_each(|byte| *byte ^= 7);
            pad
        };
        let by_pads = MacKey::from_pads(&pad(0x36), &pad(0x5c));
        assert_eq!(by_pads.mac(b"text"), seal::hmac_sha256(&key, &[b"text"]));
        assert_eq!(format!("{by_pads:?}"), "MacKey");
    }
}
