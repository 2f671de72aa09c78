//! The keys themselves, and how they are written.

use std::fmt;

use countersign_journal::JournalKey;
use rand::CryptoRng;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretBox};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The layout that this release reads and writes.
const VERSION: u32 = 1;
/// Longer than any document: it is never moved while it is written, and leaves no copies.
const TEXT_BYTES: usize = 1_024;

/// 32 secret bytes. They print nothing and are wiped when they are dropped.
#[derive(Debug)]
pub struct Secret(SecretBox<[u8; 32]>);

impl Secret {
    /// A secret of these bytes.
    pub fn new(bytes: &[u8; 32]) -> Self {
        Self(SecretBox::init_with(|| *bytes))
    }

    /// The bytes, for whoever computes with them.
    pub fn expose(&self) -> &[u8; 32] {
        self.0.expose_secret()
    }
}

impl Clone for Secret {
    fn clone(&self) -> Self {
        Self::new(self.expose())
    }
}

/// What a workstation and the database have agreed on.
#[derive(Debug, Clone)]
pub struct Sealing {
    /// Which enrolment it belongs to.
    pub enrolment: u32,
    /// The secret itself.
    pub secret: Secret,
}

/// The keys of one workstation.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// Encrypts its journal.
    pub journal_key: JournalKey,
    /// Makes its signing key.
    pub signing_seed: Secret,
    /// Agreed with the database, once it is.
    pub sealing: Option<Sealing>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    journal_key: Digits,
    signing_seed: Digits,
    sealing: Option<SealingDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SealingDocument {
    enrolment: u32,
    secret: Digits,
}

/// Only what every layout has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Secrets {
    /// New keys, before anything was agreed with a database.
    pub fn random(source: &mut impl CryptoRng) -> Self {
        let mut draw = || {
            let mut bytes = Zeroizing::new([0; 32]);
            source.fill_bytes(&mut *bytes);
            bytes
        };
        Self { journal_key: JournalKey::new(&draw()), signing_seed: Secret::new(&draw()), sealing: None }
    }

    /// One small JSON document.
    pub(super) fn to_text(&self) -> Zeroizing<String> {
        let document = Document {
            version: VERSION,
            journal_key: Digits::of(self.journal_key.expose()),
            signing_seed: Digits::of(self.signing_seed.expose()),
            sealing: self.sealing.as_ref().map(|Sealing { enrolment, secret }| SealingDocument {
                enrolment: *enrolment,
                secret: Digits::of(secret.expose()),
            }),
        };
        let mut text = Zeroizing::new(Vec::with_capacity(TEXT_BYTES));
        serde_json::to_writer(&mut *text, &document).expect("numbers and digits, into memory");
        Zeroizing::new(String::from_utf8(std::mem::take(&mut *text)).expect("JSON is UTF-8"))
    }

    /// Reads the document back. What is wrong with it is said without quoting it.
    pub(super) fn from_text(text: &str) -> Result<Self, String> {
        let told = |error: serde_json::Error| {
            format!("line {}, column {}: not the expected {}", error.line(), error.column(), kind(&error))
        };
        let Versioned { version } = serde_json::from_str(text).map_err(told)?;
        if version != VERSION {
            return Err(format!("a newer release of Countersign wrote layout {version}; this one knows {VERSION}"));
        }
        let document: Document = serde_json::from_str(text).map_err(told)?;
        Ok(Self {
            journal_key: JournalKey::new(&document.journal_key.0),
            signing_seed: Secret::new(&document.signing_seed.0),
            sealing: document
                .sealing
                .map(|SealingDocument { enrolment, secret }| Sealing { enrolment, secret: Secret::new(&secret.0) }),
        })
    }
}

/// The message of an error of serde may hold a value, which may be half a key.
fn kind(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "fields" } else { "JSON" }
}

/// 32 bytes as hexadecimal digits.
struct Digits(Zeroizing<[u8; 32]>);

impl Digits {
    fn of(bytes: &[u8; 32]) -> Self {
        Self(Zeroizing::new(*bytes))
    }
}

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = Zeroizing::new([0; 64]);
        hex::encode_to_slice(self.0.as_slice(), &mut *digits).expect("two digits for each byte");
        serializer.serialize_str(std::str::from_utf8(&*digits).expect("digits are ASCII"))
    }
}

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Digits;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 hexadecimal digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digits, E> {
                let mut bytes = Zeroizing::new([0; 32]);
                hex::decode_to_slice(text, &mut *bytes).map_err(|_| E::custom("expected 64 hexadecimal digits"))?;
                Ok(Digits(bytes))
            }
        }
        // Digits need no escapes, so the text is read where it lies.
        deserializer.deserialize_str(Read)
    }
}
