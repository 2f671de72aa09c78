//! Medians, side by side. Whole numbers only: a ratio is in hundredths.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::claim::ClaimRow;
use super::intake::{FlowRow, IntakeRow};
use super::server::Written;
use super::sides::Which;

/// Everything that was measured.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Product and roof side by side.
    pub rows: Vec<Row>,
    /// The claim over backlogs of different sizes.
    pub claims: Vec<ClaimRow>,
    /// Small work beside a large load.
    pub flow: Option<FlowRow>,
    /// Taking arrivals in.
    pub intake: Option<IntakeRow>,
}

/// One kind of work.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What is done.
    pub name: String,
    /// Items in one call.
    pub items_per_call: u32,
    /// Calls in one run.
    pub calls: u32,
    /// The product's runs.
    pub product: Runs,
    /// The roof's runs.
    pub roof: Runs,
}

/// All runs of one side.
#[derive(Debug, Default, Serialize)]
pub struct Runs {
    /// How long each took, in microseconds.
    pub took_us: Vec<u64>,
    /// Bytes of the write-ahead log without the images of whole pages, in each run. Empty where calls of several kinds mingle.
    pub wal_bytes: Vec<u64>,
    /// Bytes of those images.
    pub image_bytes: Vec<u64>,
    /// Commits in each run.
    pub commits: Vec<u64>,
}

/// One run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Samples {
    pub(crate) took: Duration,
    pub(crate) written: Option<Written>,
}

impl Row {
    pub(crate) fn new(name: String, items_per_call: u32, calls: u32) -> Self {
        Self { name, items_per_call, calls, product: Runs::default(), roof: Runs::default() }
    }

    pub(crate) fn add(&mut self, which: Which, samples: Samples) {
        let runs = match which {
            Which::Product => &mut self.product,
            Which::Roof => &mut self.roof,
        };
        runs.took_us.push(micros(samples.took));
        if let Some(written) = samples.written {
            runs.wal_bytes.push(written.wal_bytes.saturating_sub(written.image_bytes));
            runs.image_bytes.push(written.image_bytes);
            runs.commits.push(written.commits);
        }
    }

    /// How fast the product is as a share of the roof, in hundredths.
    pub fn ratio_percent(&self) -> u64 {
        median(&self.roof.took_us) * 100 / median(&self.product.took_us).max(1)
    }

    fn items(&self) -> u64 {
        u64::from(self.items_per_call) * u64::from(self.calls)
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let rate = |runs: &Runs| grouped(self.items() * 1_000_000 / median(&runs.took_us).max(1));
        let each = |values: &[u64]| {
            if values.is_empty() { String::new() } else { grouped(median(values) / self.items().max(1)) }
        };
        let commits = |runs: &Runs| match &runs.commits[..] {
            [] => String::new(),
            commits => {
                let thousandths = median(commits) * 1_000 / self.items().max(1);
                format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
            }
        };
        [
            self.name.clone(),
            rate(&self.product),
            rate(&self.roof),
            hundredths(self.ratio_percent()),
            each(&self.product.wal_bytes),
            each(&self.roof.wal_bytes),
            each(&self.product.image_bytes),
            each(&self.roof.image_bytes),
            commits(&self.product),
            commits(&self.roof),
        ]
    }
}

const COLUMNS: [&str; 10] =
    ["", "items/s", "roof", "ratio", "WAL B/item", "roof", "+ page images", "roof", "commits/item", "roof"];
const CLAIM_COLUMNS: [&str; 5] = ["claim of 50 items from", "claims", "p50 ms", "p99 ms", "p50 ratio"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.rows.is_empty() {
            table(f, COLUMNS, self.rows.iter().map(Row::cells))?;
        }
        if !self.claims.is_empty() {
            writeln!(f)?;
            let cells = |row: &ClaimRow| {
                let counts = [row.claims.to_string(), milliseconds(row.p50_us), milliseconds(row.p99_us)];
                let [claims, p50, p99] = counts;
                [row.name.clone(), claims, p50, p99, hundredths(row.ratio_percent)]
            };
            table(f, CLAIM_COLUMNS, self.claims.iter().map(cells))?;
        }
        if let Some(flow) = &self.flow {
            write!(f, "{flow}")?;
        }
        if let Some(intake) = &self.intake {
            write!(f, "{intake}")?;
        }
        Ok(())
    }
}

fn table<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    columns: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> fmt::Result {
    let lines: Vec<[String; N]> = std::iter::once(columns.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    for line in &lines {
        write!(f, "{:<1$}", line[0], width(0))?;
        for (column, cell) in line.iter().enumerate().skip(1) {
            write!(f, "  {cell:>0$}", width(column))?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// The middle one; of an even number the lower.
fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// With a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn hundredths(number: u64) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

fn milliseconds(micros: u64) -> String {
    hundredths(micros / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(took_us: [u64; 3]) -> Runs {
        Runs { took_us: took_us.into(), wal_bytes: vec![1_000_000; 3], image_bytes: vec![0; 3], commits: vec![2; 3] }
    }

    #[test]
    fn a_row_compares_medians() {
        let mut row = Row::new("work".into(), 500, 2);
        (row.product, row.roof) = (ran([2_000_000, 9_000_000, 1_000_000]), ran([900_000, 1_000_000, 8_000_000]));
        assert_eq!(row.ratio_percent(), 50);
        assert_eq!(row.cells()[1..5], ["500", "1,000", "0.50", "1,000"]);
        assert_eq!(row.cells()[8], "0.002");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), text);
        }
    }
}
