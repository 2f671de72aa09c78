//! The hashes that bind, each with its formula.

use sha2::{Digest as _, Sha256};

use crate::id::{ContentHash, Digest, SignOffKey};
use crate::sign_off::Decision;

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// SHA-256 of the content's exact text.
pub fn content_hash(body: &str) -> ContentHash {
    ContentHash(sha256(body.as_bytes()))
}

/// The `source_hash` of a reconciliation break: SHA-256 of `idempotency_key:ledger_entity:variance_amount:match_decision`.
pub fn recon_break_source_hash(
    idempotency_key: &str,
    ledger_entity: &str,
    variance_amount: &str,
    match_decision: &str,
) -> Digest {
    sha256(format!("{idempotency_key}:{ledger_entity}:{variance_amount}:{match_decision}").as_bytes())
}

/// SHA-256 over `countersign/sign-off/1`, the exception's key, the content hash in lower-case hex, the decision and the reviewer's
/// login, each followed by a line feed. The database computes the same and refuses a key that is not that of its decision.
pub fn sign_off_key(idempotency_key: &str, content: ContentHash, decision: Decision, reviewer: &str) -> SignOffKey {
    let text = format!("countersign/sign-off/1\n{idempotency_key}\n{}\n{}\n{reviewer}\n", content.0, decision.as_str());
    SignOffKey(sha256(text.as_bytes()))
}

/// SHA-256 over the sorted lines `key content-hash`, each with its line feed: names a selection by what is in it.
pub fn hash_total<'a>(items: impl IntoIterator<Item = (&'a str, ContentHash)>) -> Digest {
    let mut lines: Vec<String> = items.into_iter().map(|(key, content)| format!("{key} {}\n", content.0)).collect();
    lines.sort_unstable();
    sha256(lines.concat().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_off_key_depends_on_each_of_its_parts() {
        let content = content_hash("{}");
        let base = sign_off_key("k", content, Decision::Approve, "alice");
        assert_eq!(base, sign_off_key("k", content, Decision::Approve, "alice"));
        assert_ne!(base, sign_off_key("l", content, Decision::Approve, "alice"));
        assert_ne!(base, sign_off_key("k", content_hash("[]"), Decision::Approve, "alice"));
        assert_ne!(base, sign_off_key("k", content, Decision::Reject, "alice"));
        assert_ne!(base, sign_off_key("k", content, Decision::Approve, "bob"));
    }

    #[test]
    fn a_hash_total_ignores_the_order_of_the_selection() {
        let (a, b) = (content_hash("a"), content_hash("b"));
        assert_eq!(hash_total([("x", a), ("y", b)]), hash_total([("y", b), ("x", a)]));
        assert_ne!(hash_total([("x", a)]), hash_total([("x", a), ("y", b)]));
    }
}
