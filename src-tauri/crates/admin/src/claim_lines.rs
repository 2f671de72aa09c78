//! The lines of a large claim, which come apart from it: loaded chunk by chunk under no partition's lock, and added up by the database.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read};

use countersign_domain::hash;
use countersign_domain::money::parse_decimal;
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, PgConnection, Row as _};

use crate::text::shown;
use crate::{AdminError, Database};

/// Lines of one chunk; the last one may have fewer. The database counts on it.
pub const CHUNK_LINES: usize = 10_000;
/// Chunks of one claim, at most.
pub const CHUNKS: usize = 500;
const LINE_BYTES: usize = 64 * 1024;

/// What the lines of a claim add up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loaded {
    /// How many there are.
    pub lines: u64,
    /// Of these, how many this run sent; the others were there.
    pub sent: u64,
    /// The sum of their units.
    pub units: String,
    /// The sum of units times rate, before any rounding.
    pub exact: String,
    /// The least and the largest rate.
    pub rates: [String; 2],
    /// SHA-256 of the canonical lines, for the claim's `line_items_sha256`.
    pub sha256: String,
}

/// One line, with its decimals as they are hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    item: String,
    units: String,
    rate: String,
    amount: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    item: String,
    units: String,
    tier_rate: String,
    #[serde(default)]
    amount: Option<String>,
}

/// How the lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line: `item`, `units`, `tier_rate`, and perhaps `amount`, decimals in strings.
    JsonLines,
    /// Comma-separated, with the same names as its head.
    Csv,
}

/// Loads the lines of the claim with this key. What an earlier run loaded is compared and not sent again, so that it may be
/// interrupted anywhere and run again; nothing of it counts before the last chunk is there.
pub async fn load(
    database: &Database,
    key: &str,
    input: impl Read,
    format: Format,
    origin: &str,
    mut progress: impl FnMut(u64),
) -> Result<Loaded, AdminError> {
    let mut connection = database.connect().await?;
    let refused = database.refused("load the lines of the claim");
    sqlx::raw_sql(
        "CREATE TEMPORARY TABLE countersign_line (n integer NOT NULL, item text NOT NULL, units text NOT NULL, rate text NOT NULL, amount text) ON COMMIT DELETE ROWS",
    )
    .execute(&mut connection)
    .await
    .map_err(&refused)?;
    let mut lines = Lines::open(input, format, origin)?;
    let (mut chunk, mut chunks, mut sent) = (Vec::with_capacity(CHUNK_LINES), 0, 0);
    loop {
        let line = lines.next()?;
        let over = line.is_none();
        chunk.extend(line);
        if chunk.len() == CHUNK_LINES || (over && !chunk.is_empty()) {
            if chunks == CHUNKS {
                let most = CHUNKS * CHUNK_LINES;
                return Err(AdminError::Request(format!("{}: more than {most} lines", shown(origin))));
            }
            if send(&mut connection, key, chunks, &chunk).await.map_err(&refused)? {
                sent += chunk.len() as u64;
            }
            chunks += 1;
            chunk.clear();
            progress(lines.number);
        }
        if over {
            break;
        }
    }
    if chunks == 0 {
        return Err(AdminError::Request(format!("{}: there are no lines", shown(origin))));
    }
    let sql = "SELECT lines, units::text, trim_scale(exact)::text, trim_scale(least_rate)::text, trim_scale(largest_rate)::text, encode(sha256, 'hex')
               FROM countersign.claim_lines_seal($1, $2)";
    let row = sqlx::query(sql).bind(key).bind(number(chunks)).fetch_one(&mut connection).await.map_err(&refused)?;
    let loaded = || -> Result<Loaded, sqlx::Error> {
        let lines: i32 = row.try_get(0)?;
        Ok(Loaded {
            lines: u64::try_from(lines).unwrap_or_default(),
            sent,
            units: row.try_get(1)?,
            exact: row.try_get(2)?,
            rates: [row.try_get(3)?, row.try_get(4)?],
            sha256: row.try_get(5)?,
        })
    };
    let loaded = loaded().map_err(&refused)?;
    // Everything is in; how the goodbye goes changes nothing.
    let _ = connection.close().await;
    Ok(loaded)
}

/// Sends a chunk, unless it is there. Whether it was sent.
async fn send(connection: &mut PgConnection, key: &str, place: usize, chunk: &[Line]) -> Result<bool, sqlx::Error> {
    let canonical: String = chunk.iter().map(Line::canonical).collect();
    let digest = hash::sha256(canonical.as_bytes());
    let there: bool = sqlx::query_scalar("SELECT countersign.claim_lines_there($1, $2, $3)")
        .bind(key)
        .bind(number(place))
        .bind(&digest.0[..])
        .fetch_one(&mut *connection)
        .await?;
    if there {
        return Ok(false);
    }
    let mut rows = String::with_capacity(canonical.len() + chunk.len() * 8);
    for (n, line) in chunk.iter().enumerate() {
        let item = line.item.replace('\\', "\\\\");
        let amount = line.amount.as_deref().unwrap_or("\\N");
        let _ = writeln!(rows, "{n}\t{item}\t{}\t{}\t{amount}", line.units, line.rate);
    }
    let mut transaction = connection.begin().await?;
    let mut copy = transaction.copy_in_raw("COPY pg_temp.countersign_line FROM STDIN").await?;
    copy.send(rows.into_bytes()).await?;
    copy.finish().await?;
    sqlx::query(
        "SELECT countersign.claim_lines_add($1, $2, $3, array_agg(s.item ORDER BY s.n), array_agg(s.units ORDER BY s.n), array_agg(s.rate ORDER BY s.n), array_agg(s.amount ORDER BY s.n))
         FROM pg_temp.countersign_line s",
    )
    .bind(key)
    .bind(number(place))
    .bind(&digest.0[..])
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(true)
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Line {
    /// The line as its hash covers it: item, units, rate and amount, separated by tabs and ended by a line feed.
    fn canonical(&self) -> String {
        format!("{}\t{}\t{}\t{}\n", self.item, self.units, self.rate, self.amount.as_deref().unwrap_or_default())
    }

    fn read(given: Given) -> Result<Self, String> {
        let decimal = |field: &str, text: &str| {
            let value = parse_decimal(text).map_err(|error| format!("{field}: {error}"))?.normalize();
            // Zero has no sign.
            Ok::<_, String>(if value.is_zero() { "0".to_owned() } else { value.to_string() })
        };
        let count = given.item.chars().count();
        if !(1..=1_000).contains(&count) || given.item.chars().any(char::is_control) {
            return Err("item: 1 to 1000 characters without control characters are expected".to_owned());
        }
        Ok(Self {
            units: decimal("units", &given.units)?,
            rate: decimal("tier_rate", &given.tier_rate)?,
            amount: given.amount.filter(|text| !text.is_empty()).map(|text| decimal("amount", &text)).transpose()?,
            item: given.item,
        })
    }
}

enum Source<R: Read> {
    JsonLines(BufReader<R>),
    Csv(csv::DeserializeRecordsIntoIter<R, Given>),
}

struct Lines<R: Read> {
    source: Source<R>,
    origin: String,
    number: u64,
}

impl<R: Read> Lines<R> {
    fn open(input: R, format: Format, origin: &str) -> Result<Self, AdminError> {
        let source = match format {
            Format::JsonLines => Source::JsonLines(BufReader::with_capacity(256 * 1024, input)),
            Format::Csv => {
                let mut reader = csv::ReaderBuilder::new().from_reader(input);
                let wrong = |why: String| AdminError::Request(format!("{}: {why}", shown(origin)));
                let head = reader.headers().map_err(|error| wrong(error.to_string()))?;
                let first = head.get(0).unwrap_or_default().trim_start_matches('\u{feff}').to_owned();
                let head: Vec<String> = std::iter::once(first).chain(head.iter().skip(1).map(str::to_owned)).collect();
                let right: &[&[&str]] = &[&["item", "units", "tier_rate"], &["item", "units", "tier_rate", "amount"]];
                if !right.iter().any(|right| head == *right) {
                    return Err(wrong(format!(
                        "the head item,units,tier_rate or item,units,tier_rate,amount is expected, not {}",
                        shown(&head.join(","))
                    )));
                }
                reader.set_headers(csv::StringRecord::from(head));
                Source::Csv(reader.into_deserialize())
            }
        };
        Ok(Self { source, origin: origin.to_owned(), number: 0 })
    }

    fn next(&mut self) -> Result<Option<Line>, AdminError> {
        let given = match &mut self.source {
            Source::Csv(records) => match records.next() {
                None => return Ok(None),
                Some(given) => given.map_err(|error| error.to_string()),
            },
            Source::JsonLines(reader) => {
                let mut text = Vec::new();
                let read = reader.by_ref().take(LINE_BYTES as u64).read_until(b'\n', &mut text);
                let count = read.map_err(|source| AdminError::Unreadable { origin: shown(&self.origin), source })?;
                if count == 0 {
                    return Ok(None);
                }
                if count == LINE_BYTES {
                    Err(format!("it has more than {LINE_BYTES} bytes"))
                } else {
                    serde_json::from_slice(&text).map_err(|error| error.to_string())
                }
            }
        };
        self.number += 1;
        let line = given.and_then(Line::read);
        line.map(Some).map_err(|why| {
            AdminError::Request(format!("{}: line item {}: {}", shown(&self.origin), self.number, shown(&why)))
        })
    }
}

/// What was loaded, in words.
pub fn describe(key: &str, loaded: &Loaded) -> String {
    let [least, largest] = &loaded.rates;
    let rates = if least == largest { format!("the rate {least}") } else { format!("rates from {least} to {largest}") };
    format!(
        "The claim {} has {} lines, {} of them sent now: {} units at {rates}, {} before rounding.\n\
         Its arrival names them: \"line_items_sha256\": \"{}\", \"line_item_count\": {}.\n",
        shown(key),
        loaded.lines,
        loaded.sent,
        loaded.units,
        loaded.exact,
        loaded.sha256,
        loaded.lines
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_the_same_from_either_format_and_are_hashed_without_zeros_at_the_end() {
        let csv = "item,units,tier_rate,amount\na\\b,14.0,0.0175,\n\"c, d\",-0,1.00,5.10\n";
        let json = "{\"item\":\"a\\\\b\",\"units\":\"14.0\",\"tier_rate\":\"0.0175\"}\n{\"item\":\"c, d\",\"units\":\"-0\",\"tier_rate\":\"1.00\",\"amount\":\"5.10\"}";
        for (text, format) in [(csv, Format::Csv), (json, Format::JsonLines)] {
            let mut lines = Lines::open(text.as_bytes(), format, "x").expect("opens");
            let mut all = String::new();
            while let Some(line) = lines.next().expect("good") {
                all += &line.canonical();
            }
            assert_eq!(all, "a\\b\t14\t0.0175\t\nc, d\t0\t1\t5.1\n");
        }
    }

    #[test]
    fn a_line_that_does_not_read_says_which() {
        let text = "item,units,tier_rate\na,1,2\nb,1e3,2\n";
        let mut lines = Lines::open(text.as_bytes(), Format::Csv, "l.csv").expect("opens");
        assert!(lines.next().is_ok());
        let error = lines.next().expect_err("an exponent").to_string();
        assert!(error.contains("l.csv: line item 2: units"), "{error}");
        assert!(Lines::open("item;units\n".as_bytes(), Format::Csv, "l.csv").is_err());
    }
}
