//! Lines of any length, in bounded memory.

use std::io;

use countersign_domain::gate::ARRIVAL_BYTES;
use countersign_domain::id::Digest;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// How much of a line that is too long is kept.
pub(crate) const KEPT_BYTES: usize = 64 * 1024;
/// A buffer that grew beyond this for one line is given back after it.
const BUFFER_BYTES: usize = 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line without its end, which is LF or CR LF.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line that may be an arrival.
    Whole {
        /// Its number, from 1.
        number: u64,
        /// What is on it.
        bytes: &'a [u8],
    },
    /// A line of more than [`ARRIVAL_BYTES`].
    TooLong {
        /// Its number, from 1.
        number: u64,
        /// Its first [`KEPT_BYTES`].
        start: &'a [u8],
        /// How many bytes it has.
        size: u64,
        /// SHA-256 of all of them.
        hash: Digest,
    },
}

pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// How many bytes the lines so far had, without their ends.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line; the last one may lack its end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        if self.buffer.capacity() > BUFFER_BYTES {
            self.buffer.shrink_to(BUFFER_BYTES);
        }
        // Room for an arrival and its end.
        let Some(ended) = take(&mut self.reader, ARRIVAL_BYTES + 2, |part| self.buffer.extend_from_slice(part)).await?
        else {
            return Ok(None);
        };
        self.number += 1;
        self.bytes += self.buffer.len() as u64;
        let number = self.number;
        if ended {
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
            if self.buffer.len() <= ARRIVAL_BYTES {
                let bytes = self.buffer.as_slice();
                let bytes = if number == 1 { bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes) } else { bytes };
                return Ok(Some(Line::Whole { number, bytes }));
            }
        }
        self.skip(number, ended).await.map(Some)
    }

    /// Reads a line that is too long to its end, and keeps its start.
    async fn skip(&mut self, number: u64, mut ended: bool) -> io::Result<Line<'_>> {
        let mut hash = Sha256::new_with_prefix(&self.buffer);
        let mut size = self.buffer.len() as u64;
        self.buffer.truncate(KEPT_BYTES);
        while !ended {
            let part = take(&mut self.reader, usize::MAX, |part| {
                hash.update(part);
                size += part.len() as u64;
            });
            ended = part.await?.unwrap_or(true);
        }
        self.bytes += size - KEPT_BYTES.min(usize::try_from(size).unwrap_or(usize::MAX)) as u64;
        Ok(Line::TooLong { number, start: &self.buffer, size, hash: Digest(hash.finalize().into()) })
    }
}

/// Hands over what comes before the next LF, in parts, but at most `limit` bytes. Whether the line ended; `None` if nothing is left.
async fn take<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    limit: usize,
    mut part: impl FnMut(&[u8]),
) -> io::Result<Option<bool>> {
    let mut left = limit;
    let mut any = false;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(any.then_some(true));
        }
        any = true;
        let window = &available[..available.len().min(left)];
        let end = window.iter().position(|byte| *byte == b'\n');
        let used = end.unwrap_or(window.len());
        part(&window[..used]);
        left -= used;
        reader.consume(used + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(true));
        }
        if left == 0 {
            return Ok(Some(false));
        }
    }
}

#[cfg(test)]
mod tests;
