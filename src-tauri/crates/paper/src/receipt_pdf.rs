//! A receipt to print.

// Points on a page; amounts are text here.
#![allow(clippy::float_arithmetic)]

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use krilla::Document;
use krilla::metadata::{DateTime as PdfDate, Metadata};

use crate::page::{Fonts, HEIGHT, Mark, PageError, Style, WIDTH, draw};
use crate::receipt::{BatchReceipt, Line, Total, instant};

const LEFT: f32 = 42.0;
const RIGHT: f32 = WIDTH - 42.0;
const TOP: f32 = 48.0;
/// Below this nothing is put but the foot.
const BOTTOM: f32 = HEIGHT - 54.0;
const INK: [u8; 3] = [0x1B, 0x22, 0x2B];
const FAINT: [u8; 3] = [0x5B, 0x65, 0x72];
const LINE: [u8; 3] = [0xCF, 0xD5, 0xDC];
const BAND: [u8; 3] = [0xEE, 0xF1, 0xF5];
const ALARM: [u8; 3] = [0xA4, 0x1E, 0x22];
const TEXT: Style = Style { size: 9.0, bold: false, color: INK };
const STRONG: Style = Style { bold: true, ..TEXT };
const QUIET: Style = Style { color: FAINT, ..TEXT };
const TITLE: Style = Style { size: 17.0, bold: true, color: INK };
const HEAD: Style = Style { size: 11.0, bold: true, color: INK };
const SMALL: Style = Style { size: 7.5, bold: false, color: INK };
const SMALL_STRONG: Style = Style { bold: true, ..SMALL };
const FOOT: Style = Style { size: 7.0, bold: false, color: FAINT };
const LEADING: f32 = 13.0;
const ROW: f32 = 12.0;
const LABELS: f32 = 110.0;
/// A column of the decisions: its heading, where it begins, where it ends, and whether its text ends there.
const COLUMNS: [(&str, f32, f32, bool); 7] = [
    ("No.", LEFT, LEFT + 26.0, true),
    ("Exception", LEFT + 34.0, LEFT + 94.0, false),
    ("Entity", LEFT + 98.0, LEFT + 172.0, false),
    ("Counterparty", LEFT + 176.0, LEFT + 308.0, false),
    ("Variance", LEFT + 312.0, LEFT + 398.0, true),
    ("Currency", LEFT + 402.0, LEFT + 438.0, false),
    ("Answer", LEFT + 442.0, RIGHT, false),
];
/// For each column of the sums how wide its text may be, and where it ends. The widest sum has 29 digits.
const SUM_ENDS: [(f32, f32); 6] = {
    const ROOM: f32 = (RIGHT - LEFT - 80.0) / 4.0;
    const FROM: f32 = LEFT + 80.0;
    [
        (36.0, LEFT + 36.0),
        (38.0, FROM),
        (ROOM - 6.0, FROM + ROOM),
        (ROOM - 6.0, FROM + 2.0 * ROOM),
        (ROOM - 6.0, FROM + 3.0 * ROOM),
        (ROOM - 6.0, RIGHT),
    ]
};
const SUMS: [&str; 6] = ["Currency", "Count", "Debits", "Credits", "Net", "Largest"];

/// Writes a receipt: A4, with its fonts. The same receipt is the same bytes.
pub fn receipt_pdf(receipt: &BatchReceipt) -> Result<Vec<u8>, PageError> {
    let fonts = Fonts::new()?;
    let mut pages = Pages { fonts, done: Vec::new(), marks: Vec::new(), y: TOP };
    front(&mut pages, receipt);
    decisions(&mut pages, receipt);
    let pages = pages.finish(receipt);
    let mut document = Document::new();
    let title = format!("Receipt of confirmation {}", receipt.batch);
    let metadata = Metadata::new()
        .title(title)
        .creator("Countersign".to_owned())
        .language("en".to_owned())
        .document_id(format!("{} {}", receipt.batch, instant(receipt.made_at)))
        .creation_date(pdf_date(receipt.made_at));
    document.set_metadata(metadata);
    draw(&mut document, fonts, pages)?;
    document.finish().map_err(|error| PageError::Document(format!("{error:?}")))
}

/// Pages that are being filled from top to bottom.
struct Pages {
    fonts: Fonts,
    done: Vec<Vec<Mark>>,
    marks: Vec<Mark>,
    y: f32,
}

impl Pages {
    /// Makes room, on the next page if it has to be.
    fn need(&mut self, height: f32) -> bool {
        let next = self.y + height > BOTTOM;
        if next {
            self.done.push(std::mem::take(&mut self.marks));
            self.y = TOP;
        }
        next
    }

    fn put(&mut self, x: f32, text: String, style: Style) {
        self.marks.push(Mark::Text { x, y: self.y, text, style });
    }

    /// Text that ends at `right`.
    fn put_right(&mut self, right: f32, text: String, style: Style) {
        let x = right - self.fonts.width(&text, style);
        self.put(x, text, style);
    }

    fn rule(&mut self) {
        let y = self.y + 4.0;
        self.marks.push(Mark::Box { x: LEFT, y, width: RIGHT - LEFT, height: 0.6, color: LINE });
    }

    fn heading(&mut self, text: &str) {
        self.y += 12.0;
        self.need(3.0 * LEADING);
        self.put(LEFT, text.to_owned(), HEAD);
        self.y += LEADING + 3.0;
    }

    /// A label with its text in as many lines as it takes.
    fn fact(&mut self, label: &str, text: &str) {
        for (number, line) in self.fonts.lines(text, TEXT, RIGHT - LEFT - LABELS).into_iter().enumerate() {
            self.need(LEADING);
            if number == 0 {
                self.put(LEFT, label.to_owned(), QUIET);
            }
            self.put(LEFT + LABELS, line, TEXT);
            self.y += LEADING;
        }
    }

    fn finish(mut self, receipt: &BatchReceipt) -> Vec<Vec<Mark>> {
        self.done.push(std::mem::take(&mut self.marks));
        let (fonts, count) = (self.fonts, self.done.len());
        for (number, marks) in self.done.iter_mut().enumerate() {
            let y = HEIGHT - 30.0;
            let left =
                format!("Batch {} · made {} by the workstation's clock", receipt.batch, instant(receipt.made_at));
            let right = format!("Page {} of {count}", number + 1);
            marks.push(Mark::Box { x: LEFT, y: y - 12.0, width: RIGHT - LEFT, height: 0.6, color: LINE });
            let x = RIGHT - fonts.width(&right, FOOT);
            let left = fonts.fitted(&left, FOOT, x - LEFT - 8.0);
            marks.push(Mark::Text { x: LEFT, y, text: left, style: FOOT });
            marks.push(Mark::Text { x, y, text: right, style: FOOT });
        }
        self.done
    }
}

fn front(pages: &mut Pages, receipt: &BatchReceipt) {
    pages.put(LEFT, "Countersign".to_owned(), QUIET);
    pages.y += 22.0;
    let verb = if receipt.decision == "APPROVE" { "approvals" } else { "rejections" };
    let title = pages.fonts.fitted(&format!("Receipt: {} {verb}", receipt.signed), TITLE, RIGHT - LEFT);
    pages.put(LEFT, title, TITLE);
    pages.y += 22.0;
    for (label, text) in [
        ("Reviewer", Some(receipt.reviewer.clone())),
        ("Workstation", Some(receipt.workstation.clone())),
        ("Signed", Some(format!("{} by the workstation's clock", receipt.decided_at))),
        ("Decision", Some(receipt.decision.clone())),
        ("Reason", receipt.reason.clone()),
        ("Comment", receipt.comment.clone()),
        ("Policy", Some(format!("version {}", receipt.policy_version))),
        ("Attested", Some(format!("“{}”", receipt.attestation))),
        ("Batch", Some(receipt.batch.clone())),
        ("Database receipts", Some(receipts(&receipt.receipts))),
        ("Hash total", Some(receipt.hash_total.clone())),
    ] {
        if let Some(text) = text {
            pages.fact(label, &text);
        }
    }
    pages.heading("How it reconciles");
    let (line, style) = match receipt.reconciliation() {
        Ok(line) => (line, STRONG),
        Err(line) => {
            let alarm = Style { color: ALARM, ..STRONG };
            pages.put(LEFT, "THIS DOES NOT ADD UP".to_owned(), alarm);
            pages.y += LEADING;
            (line, alarm)
        }
    };
    for line in pages.fonts.lines(&line, style, RIGHT - LEFT) {
        pages.put(LEFT, line, style);
        pages.y += LEADING;
    }
    sums(pages, "Signed, by currency", &receipt.totals);
    sums(pages, "Accepted, by currency", &receipt.accepted);
}

fn receipts(numbers: &[String]) -> String {
    if numbers.is_empty() { "none yet".to_owned() } else { numbers.join(", ") }
}

fn sums(pages: &mut Pages, title: &str, totals: &[Total]) {
    pages.heading(title);
    if totals.is_empty() {
        pages.put(LEFT, "Nothing.".to_owned(), QUIET);
        pages.y += LEADING;
        return;
    }
    let line = |pages: &mut Pages, cells: [String; 6], style: Style| {
        for (place, (cell, (room, end))) in cells.into_iter().zip(SUM_ENDS).enumerate() {
            let style = pages.fonts.shrunk(&cell, style, room);
            if place == 0 { pages.put(LEFT, cell, style) } else { pages.put_right(end, cell, style) }
        }
    };
    line(pages, SUMS.map(str::to_owned), Style { color: FAINT, ..SMALL });
    pages.rule();
    pages.y += LEADING + 2.0;
    for total in totals {
        pages.need(LEADING);
        let amount = |text: &String| grouped(text);
        let cells = [
            total.currency.clone(),
            grouped(&total.count.to_string()),
            amount(&total.debits),
            amount(&total.credits),
            amount(&total.net),
            amount(&total.largest),
        ];
        line(pages, cells, TEXT);
        pages.y += LEADING;
    }
}

fn decisions(pages: &mut Pages, receipt: &BatchReceipt) {
    pages.heading("Decisions");
    columns(pages);
    for (number, line) in receipt.decisions.iter().enumerate() {
        if pages.need(ROW) {
            columns(pages);
        }
        if number % 2 == 1 {
            let y = pages.y - 8.6;
            pages.marks.push(Mark::Box { x: LEFT, y, width: RIGHT - LEFT, height: ROW, color: BAND });
        }
        let style =
            if line.state == "REFUSED" || line.state == "DEAD" { Style { color: ALARM, ..SMALL } } else { SMALL };
        for ((heading, start, end, right), text) in COLUMNS.into_iter().zip(cells(number + 1, line)) {
            // Names may be cut, amounts may not.
            let style = if heading == "Variance" { pages.fonts.shrunk(&text, style, end - start) } else { style };
            let text = pages.fonts.fitted(&text, style, end - start);
            if right { pages.put_right(end, text, style) } else { pages.put(start, text, style) }
        }
        pages.y += ROW;
    }
    pages.y += 6.0;
    let lacks = |text: &str| !pages.fonts.has(text, SMALL);
    let lacking = receipt.comment.iter().any(|comment| lacks(comment))
        || receipt.decisions.iter().any(|line| lacks(&line.counterparty) || lacks(&line.entity));
    if lacking {
        pages.need(LEADING);
        let note =
            "□ stands for a character that this document's font does not have; the receipt as CSV or JSON has it.";
        pages.put(LEFT, note.to_owned(), FOOT);
        pages.y += LEADING;
    }
}

fn columns(pages: &mut Pages) {
    for (heading, start, end, right) in COLUMNS {
        if right {
            pages.put_right(end, heading.to_owned(), SMALL_STRONG);
        } else {
            pages.put(start, heading.to_owned(), SMALL_STRONG);
        }
    }
    pages.rule();
    pages.y += ROW + 4.0;
}

fn cells(number: usize, line: &Line) -> [String; 7] {
    [
        number.to_string(),
        line.exception.clone(),
        line.entity.clone(),
        line.counterparty.clone(),
        grouped(&line.amount),
        line.currency.clone(),
        line.outcome.clone().unwrap_or_else(|| waiting(&line.state).to_owned()),
    ]
}

/// A plain decimal with commas between its thousands.
fn grouped(decimal: &str) -> String {
    let (sign, digits) = decimal.strip_prefix('-').map_or(("", decimal), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return decimal.to_owned();
    }
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

fn pdf_date(at: DateTime<Utc>) -> PdfDate {
    let part = |part: u32| u8::try_from(part).unwrap_or_default();
    PdfDate::new(u16::try_from(at.year()).unwrap_or_default())
        .month(part(at.month()))
        .day(part(at.day()))
        .hour(part(at.hour()))
        .minute(part(at.minute()))
        .second(part(at.second()))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

/// What is said in place of an answer.
fn waiting(state: &str) -> &str {
    if state == "DEAD" { "given up" } else { "not answered" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_amount_is_printed_over_another_or_cut() {
        let fonts = Fonts::new().expect("they are compiled in");
        for amount in ["-12345678901234567.12", "12345678901234567890.12", "-79228162514264337593543950.335", "0.00"] {
            let mut pages = Pages { fonts, done: Vec::new(), marks: Vec::new(), y: TOP };
            let text = || amount.to_owned();
            let (debits, credits, net, largest) = (text(), text(), text(), text());
            sums(&mut pages, "Sums", &[Total { currency: "XXX".into(), count: 5_000, debits, credits, net, largest }]);
            let mut spans: Vec<(f32, f32)> = Vec::new();
            let mut whole = 0;
            let last = pages.y - LEADING;
            for mark in &pages.marks {
                let Mark::Text { x, y, text, style } = mark else { continue };
                whole += usize::from(*text == grouped(amount));
                if (*y - last).abs() < 0.1 {
                    spans.push((*x, x + fonts.width(text, *style)));
                }
            }
            assert_eq!((whole, spans.len()), (4, 6), "{amount}");
            assert!(spans.windows(2).all(|pair| pair[0].1 + 4.0 < pair[1].0), "{amount}: {spans:?}");
            assert!(spans[0].0 >= LEFT && spans[5].1 <= RIGHT + 0.1, "{amount}: {spans:?}");
        }
    }
}
