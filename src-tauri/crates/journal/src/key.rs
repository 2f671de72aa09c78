//! The key of a journal.

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretBox};

/// What a journal is encrypted with: 32 random bytes, used as they are, so that opening costs no key derivation. It prints nothing
/// and is wiped when it is dropped.
#[derive(Debug)]
pub struct JournalKey(SecretBox<[u8; Self::BYTES]>);

impl JournalKey {
    /// The length of a key.
    pub const BYTES: usize = 32;

    /// A key of bytes that come from the system's randomness, or from where they were kept.
    pub fn new(bytes: &[u8; Self::BYTES]) -> Self {
        Self(SecretBox::init_with(|| *bytes))
    }

    /// The bytes, for whoever keeps them.
    pub fn expose(&self) -> &[u8; Self::BYTES] {
        self.0.expose_secret()
    }

    /// The key as SQL: the form that `SQLCipher` takes for the key itself instead of for a passphrase.
    pub(crate) fn literal(&self) -> Zeroizing<String> {
        let mut digits = Zeroizing::new([0; Self::BYTES * 2]);
        hex::encode_to_slice(self.expose(), &mut *digits).expect("two digits for each byte");
        // With its whole length from the start it never moves and leaves no copy behind.
        let mut literal = Zeroizing::new(String::with_capacity(Self::BYTES * 2 + "\"x''\"".len()));
        literal.push_str("\"x'");
        literal.extend(digits.iter().map(|digit| char::from(*digit)));
        literal.push_str("'\"");
        literal
    }
}

impl Clone for JournalKey {
    fn clone(&self) -> Self {
        Self::new(self.expose())
    }
}
