use postgres_protocol::message::backend::Message;

use super::*;
use crate::failure::{Step, cause, failure_of};
use countersign_engine::port::{Failure, Problem};

async fn verdict(bytes: &[u8]) -> Result<(), sqlx::Error> {
    let message: Result<Message, sqlx::Error> = first_message(&mut &bytes[..]).await;
    judge(message?)
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short message");
    [&[tag][..], &length.to_be_bytes(), body].concat()
}

fn asks(kind: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes()[..], rest].concat())
}

#[tokio::test]
async fn only_scram_or_no_password_at_all_is_agreed_to() {
    for good in
        [asks(0, &[]), asks(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"), asks(10, b"OTHER\0SCRAM-SHA-256\0\0")]
    {
        assert!(verdict(&good).await.is_ok(), "{good:?}");
    }
    for (bad, words) in [
        (asks(2, &[]), "Kerberos"),
        (asks(3, &[]), "in the clear"),
        (asks(5, &[1, 2, 3, 4]), "as MD5"),
        (asks(6, &[]), "SCM"),
        (asks(7, &[]), "GSSAPI"),
        (asks(9, &[]), "SSPI"),
        (asks(10, b"OAUTHBEARER\0\0"), "OAUTHBEARER"),
        (asks(10, b"SCRAM-SHA-1\0\0"), "SCRAM-SHA-1;"),
    ] {
        let error = verdict(&bad).await.expect_err(words);
        assert_eq!(failure_of(Step::Connect, &error), Failure::Refused(Problem::Tls), "{words}");
        assert!(cause(&error).contains(words) && cause(&error).contains("SCRAM-SHA-256 only"), "{}", cause(&error));
    }
}

#[tokio::test]
async fn an_error_is_the_one_that_sqlx_would_have_read() {
    let body = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0";
    let error = verdict(&message(b'E', body)).await.expect_err("an error");
    assert_eq!(failure_of(Step::Connect, &error), Failure::Refused(Problem::BadPassword));
    assert_eq!(cause(&error), "password authentication failed (28P01)");
}

#[tokio::test]
async fn what_is_no_beginning_is_a_lost_connection_and_takes_no_room() {
    let endless = [&b"R"[..], &u32::MAX.to_be_bytes()].concat();
    for bytes in
        [&b""[..], b"R\0\0", b"HTTP/1.1 400 Bad Request", &endless, &message(b'Z', b"I"), &asks(99, &[]), b"R\0\0\0\0"]
    {
        let error = verdict(bytes).await.expect_err("no beginning");
        assert_eq!(failure_of(Step::Connect, &error), Failure::Offline, "{bytes:?}: {error}");
    }
}
