use countersign_domain::gate::ARRIVAL_BYTES;
use countersign_domain::hash;
use tokio::io::BufReader;

use super::{KEPT_BYTES, Line, Lines};

async fn whole(input: &[u8], buffer: usize) -> Vec<(u64, Vec<u8>)> {
    let mut lines = Lines::new(BufReader::with_capacity(buffer, input));
    let mut found = Vec::new();
    while let Some(line) = lines.next().await.expect("memory can be read") {
        match line {
            Line::Whole { number, bytes } => found.push((number, bytes.to_vec())),
            Line::TooLong { number, .. } => unreachable!("line {number} is short"),
        }
    }
    found
}

#[tokio::test]
async fn lines_end_with_lf_or_cr_lf_or_the_input() {
    let cases: [(&[u8], &[&[u8]]); 9] = [
        (b"", &[]),
        (b"\n", &[b""]),
        (b"a", &[b"a"]),
        (b"a\n", &[b"a"]),
        (b"a\r\nb\r\n", &[b"a", b"b"]),
        (b"a\n\n\r\nb", &[b"a", b"", b"", b"b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", &[b"a", b"\xef\xbb\xbfb"]),
        (b"a\rb\n", &[b"a\rb"]),
        (b"\xff\0\n", &[b"\xff\0"]),
    ];
    for (input, expected) in cases {
        for buffer in [1, 2, 3, 64] {
            let expected: Vec<(u64, Vec<u8>)> = (1..).zip(expected.iter().map(|line| line.to_vec())).collect();
            assert_eq!(whole(input, buffer).await, expected, "{input:?} through {buffer} bytes");
        }
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_hashed_and_counted_and_the_next_one_is_read() {
    let long = vec![b'x'; ARRIVAL_BYTES + 1];
    let input = [b"a\n", long.as_slice(), b"\nb\n"].concat();
    let mut lines = Lines::new(BufReader::new(input.as_slice()));
    assert_eq!(lines.next().await.expect("read"), Some(Line::Whole { number: 1, bytes: b"a" }));
    let size = long.len() as u64;
    let expected = Line::TooLong { number: 2, start: &long[..KEPT_BYTES], size, hash: hash::sha256(&long) };
    assert_eq!(lines.next().await.expect("read"), Some(expected));
    assert_eq!(lines.next().await.expect("read"), Some(Line::Whole { number: 3, bytes: b"b" }));
    assert_eq!(lines.next().await.expect("read"), None);
}

#[tokio::test]
async fn the_longest_arrival_is_whole_whatever_ends_it() {
    for (extra, end, is_whole) in [
        (0, "", true),
        (0, "\n", true),
        (0, "\r\n", true),
        (1, "\n", false),
        (1, "", false),
        (2, "\r\n", false),
        (20_000_000, "", false),
    ] {
        let mut input = vec![b'x'; ARRIVAL_BYTES + extra];
        input.extend_from_slice(end.as_bytes());
        let mut lines = Lines::new(BufReader::new(input.as_slice()));
        let line = lines.next().await.expect("read");
        assert_eq!(matches!(line, Some(Line::Whole { .. })), is_whole, "{extra} {end:?}");
        assert_eq!(lines.next().await.expect("read"), None, "{extra} {end:?}");
    }
}
