//! What proves a decision: a signature that anybody can check, and a seal that the database checks at commit.

use std::fmt;

use chrono::{DateTime, Utc};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretBox};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;

use crate::hash;
use crate::id::{ContentHash, Digest, WorkstationId};
use crate::money::Money;
use crate::sign_off::Decision;

/// A JSON array the way PostgreSQL's `json_build_array` writes it: elements separated by a comma and a space.
#[derive(Debug, Default)]
pub struct JsonArray(String);

impl JsonArray {
    /// Adds a text, or null.
    #[must_use]
    pub fn text(self, text: Option<&str>) -> Self {
        match text {
            // JSON has one way only to write a string of these characters; both sides take the short escapes where there are any.
            Some(text) => self.raw(&serde_json::Value::from(text).to_string()),
            None => self.raw("null"),
        }
    }

    /// Adds a whole number, or null.
    #[must_use]
    pub fn number(self, number: Option<i64>) -> Self {
        match number {
            Some(number) => self.raw(&number.to_string()),
            None => self.raw("null"),
        }
    }

    /// Adds what is JSON already.
    #[must_use]
    pub fn raw(mut self, json: &str) -> Self {
        self.0.push_str(if self.0.is_empty() { "[" } else { ", " });
        self.0.push_str(json);
        self
    }

    /// Adds a figure's amount and currency, if there is one.
    #[must_use]
    pub fn figure(self, figure: Option<Money>) -> Self {
        match figure {
            Some(figure) => self.text(Some(&figure.text())).text(Some(figure.currency.code())),
            None => self,
        }
    }

    /// The whole array.
    pub fn finish(self) -> Vec<u8> {
        (if self.0.is_empty() { "[]".to_owned() } else { self.0 + "]" }).into_bytes()
    }
}

/// Everything that a workstation vouches for with one decision.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'a> {
    /// The exception's key.
    pub idempotency_key: &'a str,
    /// The content that was shown.
    pub content: ContentHash,
    /// What was decided.
    pub decision: Decision,
    /// The reason's code.
    pub reason: Option<&'a str>,
    /// The comment.
    pub comment: Option<&'a str>,
    /// The reviewer's login.
    pub reviewer: &'a str,
    /// The workstation.
    pub workstation: WorkstationId,
    /// The policy it was decided under.
    pub policy_version: u32,
    /// When, by the workstation's clock, in whole microseconds.
    pub decided_at: DateTime<Utc>,
    /// The figure that the decision carries, where it carries one.
    pub figure: Option<Money>,
}

impl Statement<'_> {
    /// The bytes that are signed: the JSON array of `countersign/decision/1`, the exception's key, the content hash in lower-case hex,
    /// the decision, the reason, the comment, the reviewer, the workstation, the policy's version, and the instant in microseconds
    /// since 1970. With a figure it begins with `countersign/decision/2`, and the figure's amount, with all of its currency's digits,
    /// and currency follow at the end. `countersign.decision_statement` in the database computes the same.
    pub fn bytes(&self) -> Vec<u8> {
        let version = if self.figure.is_some() { "countersign/decision/2" } else { "countersign/decision/1" };
        let statement = JsonArray::default()
            .text(Some(version))
            .text(Some(self.idempotency_key))
            .text(Some(&self.content.0.to_string()))
            .text(Some(self.decision.as_str()))
            .text(self.reason)
            .text(self.comment)
            .text(Some(self.reviewer))
            .text(Some(&self.workstation.0.to_string()))
            .number(Some(self.policy_version.into()))
            .number(Some(self.decided_at.timestamp_micros()));
        statement.figure(self.figure).finish()
    }
}

/// A signature and a seal over one decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Which of the workstation's keys.
    pub enrolment: u32,
    /// Ed25519 (RFC 8032) over the statement.
    pub signature: [u8; 64],
    /// HMAC-SHA256 under the secret of the enrolment, over the statement followed by the signature.
    pub mac: Digest,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seal({})", self.enrolment)
    }
}

#[derive(Serialize, Deserialize)]
struct SealText {
    enrolment: u32,
    signature: String,
    mac: Digest,
}

impl Serialize for Seal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SealText { enrolment: self.enrolment, signature: hex::encode(self.signature), mac: self.mac }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Seal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SealText { enrolment, signature, mac } = SealText::deserialize(deserializer)?;
        let mut bytes = [0; 64];
        hex::decode_to_slice(signature, &mut bytes).map_err(serde::de::Error::custom)?;
        Ok(Self { enrolment, signature: bytes, mac })
    }
}

/// The public part of a workstation's key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// The first 16 hex digits of its SHA-256 in groups of four: what a person compares.
    pub fn fingerprint(&self) -> String {
        let digits = hash::sha256(&self.0).to_string();
        [0, 4, 8, 12].map(|at| &digits[at..at + 4]).join("-")
    }

    /// Whether a signature over some bytes is of this key. Weak keys and malleable signatures are refused.
    pub fn verifies(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}

/// What was agreed with the database when it took the public key.
pub struct Enrolment {
    /// Its number at this workstation, from 1.
    pub number: u32,
    /// The shared secret.
    pub secret: SecretBox<[u8; 32]>,
}

impl Clone for Enrolment {
    fn clone(&self) -> Self {
        Self { number: self.number, secret: SecretBox::new(Box::new(*self.secret.expose_secret())) }
    }
}

impl PartialEq for Enrolment {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && self.secret.expose_secret() == other.secret.expose_secret()
    }
}

impl Eq for Enrolment {}

impl fmt::Debug for Enrolment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enrolment({})", self.number)
    }
}

/// The keys of a workstation.
#[derive(Clone)]
pub struct Keys {
    signing: SigningKey,
    enrolment: Option<Enrolment>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({:?}, {:?})", self.public(), self.enrolment)
    }
}

impl Keys {
    /// From the seed of the signing key, and what was agreed at the latest enrolment.
    pub fn new(seed: &[u8; 32], enrolment: Option<Enrolment>) -> Self {
        Self { signing: SigningKey::from_bytes(seed), enrolment }
    }

    /// The public part.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.signing.verifying_key().to_bytes())
    }

    /// The latest enrolment.
    pub fn enrolment(&self) -> Option<&Enrolment> {
        self.enrolment.as_ref()
    }

    /// Takes up a new enrolment.
    pub fn enrolled(&mut self, enrolment: Enrolment) {
        self.enrolment = Some(enrolment);
    }

    /// Signs and seals; `None` before the first enrolment.
    pub fn seal(&self, statement: &Statement<'_>) -> Option<Seal> {
        let Enrolment { number, secret } = self.enrolment.as_ref()?;
        let bytes = statement.bytes();
        let signature = self.signing.sign(&bytes).to_bytes();
        let mac = hmac_sha256(secret.expose_secret(), &[&bytes, &signature]);
        Some(Seal { enrolment: *number, signature, mac })
    }
}

/// HMAC-SHA256 (RFC 2104) over the parts, one after the other.
pub fn hmac_sha256(key: &[u8; 32], parts: &[&[u8]]) -> Digest {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    for part in parts {
        mac.update(part);
    }
    Digest(mac.finalize().into_bytes().into())
}

/// Signs some bytes with the key of a seed: for files that are kept outside the database.
pub fn sign_with(seed: &[u8; 32], bytes: &[u8]) -> (PublicKey, [u8; 64]) {
    let key = SigningKey::from_bytes(seed);
    (PublicKey(key.verifying_key().to_bytes()), key.sign(bytes).to_bytes())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn statement() -> Statement<'static> {
        Statement {
            idempotency_key: "k\"1\n",
            content: hash::content_hash("{}"),
            decision: Decision::Reject,
            reason: Some("OTHER"),
            comment: None,
            reviewer: "alice",
            workstation: WorkstationId(Uuid::from_u128(7)),
            policy_version: 3,
            decided_at: DateTime::from_timestamp(1_790_000_000, 5_000).expect("a good instant"),
            figure: None,
        }
    }

    fn keys() -> Keys {
        Keys::new(&[1; 32], Some(Enrolment { number: 2, secret: SecretBox::new(Box::new([9; 32])) }))
    }

    #[test]
    fn a_statement_is_one_text_and_no_other() {
        assert_eq!(
            String::from_utf8(statement().bytes()).expect("JSON is UTF-8"),
            format!(
                r#"["countersign/decision/1", "k\"1\n", "{}", "REJECT", "OTHER", null, "alice", "00000000-0000-0000-0000-000000000007", 3, 1790000000000005]"#,
                hash::sha256(b"{}")
            )
        );
    }

    #[test]
    fn a_figure_is_part_of_what_is_stated_with_all_of_its_digits() {
        let figure = |amount, code: &str| Money::parse(amount, code.parse().expect("a currency")).ok();
        for (figure, end) in [
            (figure("21.6", "USD"), r#", 1790000000000005, "21.60", "USD"]"#),
            (figure("22", "JPY"), r#", 1790000000000005, "22", "JPY"]"#),
            (figure("-0.005", "BHD"), r#", 1790000000000005, "-0.005", "BHD"]"#),
        ] {
            let text = String::from_utf8(Statement { figure, ..statement() }.bytes()).expect("JSON is UTF-8");
            assert!(text.starts_with(r#"["countersign/decision/2", "k\"1\n", "#) && text.ends_with(end), "{text}");
        }
    }

    #[test]
    fn a_seal_covers_every_part_of_a_statement() {
        let sealed = keys().seal(&statement()).expect("enrolled");
        assert!(keys().public().verifies(&statement().bytes(), &sealed.signature));
        let now = statement().decided_at;
        for other in [
            Statement { idempotency_key: "k", ..statement() },
            Statement { content: hash::content_hash("[]"), ..statement() },
            Statement { decision: Decision::Approve, ..statement() },
            Statement { reason: None, ..statement() },
            Statement { comment: Some(""), ..statement() },
            Statement { reviewer: "bob", ..statement() },
            Statement { workstation: WorkstationId(Uuid::from_u128(8)), ..statement() },
            Statement { policy_version: 4, ..statement() },
            Statement { figure: Money::parse("1", "USD".parse().expect("a currency")).ok(), ..statement() },
            Statement { decided_at: now + chrono::Duration::microseconds(1), ..statement() },
        ] {
            assert!(!keys().public().verifies(&other.bytes(), &sealed.signature), "{other:?}");
            assert_ne!(keys().seal(&other).expect("enrolled").mac, sealed.mac, "{other:?}");
        }
        assert!(Keys::new(&[1; 32], None).seal(&statement()).is_none());
    }

    #[test]
    fn hmac_is_that_of_its_standard() {
        // RFC 4231, test case 1, whose key of 20 bytes is filled up with zeros as HMAC does itself.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        assert_eq!(
            hmac_sha256(&key, &[b"Hi ", b"There"]).to_string(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }

    #[test]
    fn no_secret_is_in_a_debug_text() {
        let text = format!("{:?} {:?}", keys(), keys().seal(&statement()));
        assert!(!text.contains("0909") && !text.contains("9, 9") && !text.contains("1, 1"), "{text}");
    }
}
