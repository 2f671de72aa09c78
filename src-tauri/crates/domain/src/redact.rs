//! Text that is kept out of logs and panics: the content of exceptions, and what reviewers write.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// Text that `Debug` tells the length of and nothing else. It has no `Display`, so that nobody formats it without meaning to.
///
/// As a field's type it lets the struct around it derive `Debug`. Around a reference it serves a `Debug` written by hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redacted<T>(pub T);

impl<T: AsRef<str>> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.as_ref().len())
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Redacted<T> {
    fn from(text: T) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_text_everywhere_but_in_debug() {
        #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
        struct Letter {
            body: Redacted<String>,
            comment: Option<Redacted<String>>,
        }
        let letter = Letter { body: "canary".to_owned().into(), comment: Some(Redacted("canäry".to_owned())) };
        assert_eq!(format!("{letter:?}"), "Letter { body: <6 bytes>, comment: Some(<7 bytes>) }");
        assert_eq!(format!("{:?}", Redacted("canary")), "<6 bytes>");
        let json = serde_json::to_string(&letter).expect("text");
        assert_eq!(json, r#"{"body":"canary","comment":"canäry"}"#);
        assert_eq!(serde_json::from_str::<Letter>(&json).expect("the same"), letter);
        assert_eq!((letter.body.as_str(), letter.comment.as_deref().map(String::as_str)), ("canary", Some("canäry")));
    }
}
