use std::future::Future;

use countersign_domain::gate::ARRIVAL_BYTES;
use countersign_domain::hash;
use tokio::io::BufReader;

use super::lines::Line;
use super::{EnqueueReport, Sorted, describe, enqueue_reader, sort};
use crate::Database;

#[test]
fn a_line_is_blank_or_an_arrival_or_a_dead_letter() {
    for blank in [&b""[..], b"  ", b"\t\r"] {
        assert!(matches!(sort(&Line::Whole { number: 1, bytes: blank }), Sorted::Blank), "{blank:?}");
    }
    let Sorted::Bad(letter) = sort(&Line::Whole { number: 7, bytes: b"{\"idempotency_key\":\"k\"}" }) else {
        unreachable!("it is no arrival")
    };
    assert_eq!((letter.line, letter.code, letter.class.as_str()), (7, "POISON_MESSAGE", "STRUCTURAL"));
    assert_eq!(letter.key.as_deref(), Some("k"));
    assert_eq!(letter.original, b"{\"idempotency_key\":\"k\"}");
    assert_eq!(letter.hash, hash::sha256(&letter.original));
}

#[test]
fn a_line_that_is_too_long_says_how_long_it_is() {
    let size = ARRIVAL_BYTES as u64 * 3;
    let hash = hash::sha256(b"all of it");
    let Sorted::Bad(letter) = sort(&Line::TooLong { number: 2, start: b"{\"schema", size, hash }) else {
        unreachable!("it is no arrival")
    };
    assert_eq!((letter.size, letter.hash), (size, hash));
    assert!(letter.reason.contains(&size.to_string()), "{}", letter.reason);
}

#[test]
fn the_report_is_told_in_words() {
    let report = EnqueueReport {
        lines: 10,
        blank: 1,
        enqueued: 4,
        duplicates: 2,
        duplicates_with_other_content: 1,
        conflicts: 1,
        refused: 2,
        dead_letters_new: 2,
        dead_letters_seen_before: 1,
        ..EnqueueReport::default()
    };
    assert_eq!(
        describe(&report, "a\u{1b}b.jsonl"),
        "a<U+001B>b.jsonl: 10 lines read, 4 enqueued, 2 known already (1 of them with another content; the first one stands), \
         1 in conflict with what is decided or lies elsewhere, 2 refused by the gates, 1 blank.\n\
         Dead letters: 2 new, 1 seen before. A supervisor or a reviewer with the right to the desk sees them under dead letters.\n"
    );
    assert_eq!(describe(&EnqueueReport::default(), "x"), "x: 0 lines read, 0 enqueued.\n");
}

#[test]
fn taking_in_may_run_as_a_task_of_its_own() {
    fn is_send(_: &impl Send) {}
    let database = Database::from_url("postgres://localhost/close").expect("a URL");
    let future: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
        Box::pin(async move { enqueue_reader(&database, BufReader::new(&b""[..]), "x").await });
    is_send(&future);
}
