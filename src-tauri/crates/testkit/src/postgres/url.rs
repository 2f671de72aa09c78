//! URLs of databases.

use std::fmt::Write as _;

/// TLS is off in so many words: the default, "prefer", would hide a proxy's faults behind a second attempt.
pub(super) fn url(authority: &str, user: &str, password: &str, database: &str) -> String {
    let [user, password, database] = [user, password, database].map(percent_encoded);
    format!("postgres://{user}:{password}@{authority}/{database}?sslmode=disable")
}

/// The same URL for another database.
pub(super) fn with_database(url: &str, database: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, ""), |(address, query)| (address, query));
    let start = address.find("://").map_or(0, |scheme| scheme + 3);
    let end = address[start..].find('/').map_or(address.len(), |path| start + path);
    let separator = if query.is_empty() { "" } else { "?" };
    format!("{}/{}{separator}{query}", &address[..end], percent_encoded(database))
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_every_character_of_a_password() {
        let url = url("127.0.0.1:5432", "ann", "p@ss/w:rd?", "close 2026");
        assert_eq!(url, "postgres://ann:p%40ss%2Fw%3Ard%3F@127.0.0.1:5432/close%202026?sslmode=disable");
    }

    #[test]
    fn the_database_of_a_url_is_replaced_and_nothing_else() {
        for (given, expected) in [
            ("postgres://a:b@h:1/postgres?sslmode=disable", "postgres://a:b@h:1/x?sslmode=disable"),
            ("postgres://a:b@h:1/postgres", "postgres://a:b@h:1/x"),
            ("postgres://a:b@h:1", "postgres://a:b@h:1/x"),
        ] {
            assert_eq!(with_database(given, "x"), expected);
        }
    }
}
