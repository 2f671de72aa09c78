//! A deck as a workbook.
//!
//! What is filled in comes first and stays in view. Amounts are numbers with their currency's digits; text is text and never a
//! formula; version and content hash, which the import needs, are in hidden columns.

use chrono::{DateTime, Datelike as _, NaiveDate, Timelike as _, Utc};
use countersign_domain::money::Money;
use countersign_domain::policy::ReasonCode;
use countersign_domain::sign_off::COMMENT_CHARS;
use rust_xlsxwriter::{
    Color, DataValidation, DataValidationRule, DocProperties, ExcelDateTime, Format, FormatAlign, FormatBorder,
    Formula, IgnoreError, Workbook, Worksheet, XlsxError,
};
use thiserror::Error;

use crate::sheet::{Cell, Column, SheetRow, cell_text};

/// The sheet with the deck.
pub const DECK: &str = "Deck";
/// The sheet with the reason codes.
const REASONS: &str = "Reason codes";
/// The sheet that says what to do.
const NOTES: &str = "How to";
/// Spreadsheets keep no more significant digits of a number.
const NUMBER_DIGITS: usize = 15;
/// The columns that stay in view: what is filled in, and what it is about.
const FROZEN: u16 = 4;
/// The most a sheet can have, including its heading.
const SHEET_ROWS: usize = 1_048_576;

const HOW_TO: [&str; 7] = [
    "Fill in the column Decision with APPROVE or REJECT; leave it empty to decide later.",
    "A rejection needs one of the codes of the sheet Reason codes in the column Reason.",
    "A comment is optional, and has at most 2,000 characters.",
    "Items with the same Group are decided together, with the same decision, reason and comment.",
    "Rows may be sorted, filtered and deleted. The hidden columns Version and Content SHA-256 have to stay.",
    "Leave the other columns as they are: a row with another amount or currency than the deck is not signed.",
    "Then import the file in Countersign: nothing is signed before you have seen and confirmed it there.",
];

/// The workbook could not be put together.
#[derive(Debug, Error)]
#[error("the workbook could not be written")]
pub struct WorkbookError(#[source] XlsxError);

/// Writes a deck. The same deck at the same time is the same bytes.
pub fn deck_xlsx(rows: &[SheetRow], reasons: &[ReasonCode], now: DateTime<Utc>) -> Result<Vec<u8>, WorkbookError> {
    workbook(rows, reasons, now).map_err(WorkbookError)
}

fn workbook(rows: &[SheetRow], reasons: &[ReasonCode], now: DateTime<Utc>) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    book.set_properties(&DocProperties::new().set_title("Countersign deck").set_creation_datetime(&instant(now)?));
    let last = u32::try_from(rows.len().min(SHEET_ROWS - 1)).unwrap_or(u32::MAX);
    deck(book.add_worksheet().set_name(DECK)?, rows, reasons.len(), last)?;
    reason_codes(book.add_worksheet().set_name(REASONS)?, reasons)?;
    let notes = book.add_worksheet().set_name(NOTES)?;
    notes.set_column_width(0, 110)?;
    for (line, text) in (0..).zip(HOW_TO) {
        notes.write_string(line, 0, text)?;
    }
    book.save_to_buffer()
}

fn deck(sheet: &mut Worksheet, rows: &[SheetRow], reasons: usize, last: u32) -> Result<(), XlsxError> {
    let heading = Format::new()
        .set_bold()
        .set_background_color(Color::RGB(0xE8_EC_F1))
        .set_border_bottom(FormatBorder::Thin)
        .set_align(FormatAlign::VerticalCenter);
    let to_fill = heading.clone().set_background_color(Color::RGB(0xFF_F2_CC));
    let (date, wrapped) = (Format::new().set_num_format("yyyy-mm-dd"), Format::new().set_text_wrap());
    for (place, column) in (0..).zip(Column::ALL) {
        let format = if place < 3 { &to_fill } else { &heading };
        sheet.write_string_with_format(0, place, column.heading(), format)?;
        sheet.set_column_width(place, width(column))?;
        if matches!(column, Column::Version | Column::Content) {
            sheet.set_column_hidden(place)?;
        }
    }
    let amounts: Vec<Format> = (0..=4).map(|digits| Format::new().set_num_format(number_format(digits))).collect();
    for (line, row) in (1..=last).zip(rows) {
        for (place, column) in (0..).zip(Column::ALL) {
            match row.cell(column) {
                Cell::Empty => {}
                Cell::Text(text) => drop(sheet.write_string(line, place, text.as_ref())?),
                Cell::Amount(money) => amount(sheet, line, place, money, &amounts)?,
                // Places and counts are far below what a spreadsheet's number holds; one that were not stays text.
                Cell::Count(count) => match i32::try_from(count) {
                    Ok(count) => drop(sheet.write_number(line, place, count)?),
                    Err(_) => drop(sheet.write_string(line, place, count.to_string())?),
                },
                Cell::Date(day) => drop(match excel_date(day) {
                    Some(day) => sheet.write_datetime_with_format(line, place, &day, &date)?,
                    None => sheet.write_string(line, place, day.to_string())?,
                }),
            }
        }
    }
    sheet.set_column_format(2, &wrapped)?;
    let end = u16::try_from(Column::ALL.len() - 1).unwrap_or(u16::MAX);
    sheet.set_freeze_panes(1, FROZEN)?;
    sheet.autofilter(0, 0, last.max(1), end)?;
    sheet.set_landscape().set_repeat_rows(0, 0)?.set_print_fit_to_pages(1, 0);
    if last > 0 {
        // Identifiers are text although they look like numbers; nothing is wrong with that.
        sheet.ignore_error_range(1, 0, last, end, IgnoreError::NumberStoredAsText)?;
        validate(sheet, reasons, last)?;
    }
    Ok(())
}

/// The lists to choose from.
fn validate(sheet: &mut Worksheet, reasons: usize, last: u32) -> Result<(), XlsxError> {
    let decision = DataValidation::new()
        .allow_list_strings(&["APPROVE", "REJECT"])?
        .set_error_title("No decision")?
        .set_error_message("Choose APPROVE or REJECT, or leave it empty.")?;
    sheet.add_data_validation(1, 0, last, 0, &decision)?;
    if reasons > 0 {
        let codes = Formula::new(format!("='{REASONS}'!$A$2:$A${}", reasons + 1));
        let reason = DataValidation::new()
            .allow_list_formula(codes)
            .set_error_title("No reason code")?
            .set_error_message("Choose one of the sheet Reason codes.")?;
        sheet.add_data_validation(1, 1, last, 1, &reason)?;
    }
    let most = u32::try_from(COMMENT_CHARS).unwrap_or(u32::MAX);
    let comment = DataValidation::new()
        .allow_text_length(DataValidationRule::LessThanOrEqualTo(most))
        .set_error_title("Too long")?
        .set_error_message("A comment has at most 2,000 characters.")?;
    sheet.add_data_validation(1, 2, last, 2, &comment)?;
    Ok(())
}

fn reason_codes(sheet: &mut Worksheet, reasons: &[ReasonCode]) -> Result<(), XlsxError> {
    let heading = Format::new().set_bold();
    sheet.write_string_with_format(0, 0, "Code", &heading)?.write_string_with_format(0, 1, "Meaning", &heading)?;
    sheet.set_column_width(0, 28)?.set_column_width(1, 60)?;
    for (line, reason) in (1..).zip(reasons) {
        sheet.write_string(line, 0, cell_text(&reason.code).as_ref())?;
        sheet.write_string(line, 1, cell_text(&reason.text).as_ref())?;
    }
    Ok(())
}

/// A number where a spreadsheet keeps every digit of it, else text: an amount is never shown rounded.
fn amount(sheet: &mut Worksheet, line: u32, place: u16, money: Money, formats: &[Format]) -> Result<(), XlsxError> {
    let text = money.text();
    let significant = text.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    let format = formats.get(usize::from(money.currency.minor_units()));
    // Fifteen digits go into a spreadsheet's number and come out the same; nothing is calculated with it here.
    match (text.parse::<f64>(), format) {
        (Ok(number), Some(format)) if significant <= NUMBER_DIGITS => {
            sheet.write_number_with_format(line, place, number, format)?;
        }
        _ => {
            let right = Format::new().set_align(FormatAlign::Right);
            sheet.write_string_with_format(line, place, text, &right)?;
        }
    }
    Ok(())
}

fn number_format(digits: usize) -> String {
    if digits == 0 { "#,##0".to_owned() } else { format!("#,##0.{}", "0".repeat(digits)) }
}

fn width(column: Column) -> u32 {
    match column {
        Column::Counterparty | Column::Comment => 34,
        Column::Key | Column::Content => 24,
        Column::Reason => 22,
        Column::Entity | Column::Group | Column::Partition | Column::State | Column::Suggestion => 18,
        Column::Variance => 17,
        Column::Currency | Column::Number | Column::Version => 9,
        Column::AgeDays | Column::Tier => 11,
        Column::Decision
        | Column::Exception
        | Column::Kind
        | Column::Match
        | Column::BusinessDate
        | Column::Due
        | Column::Submitted => 13,
    }
}

/// `None` outside the years that a spreadsheet's dates know.
fn excel_date(day: NaiveDate) -> Option<ExcelDateTime> {
    let number = |part: u32| u8::try_from(part).ok();
    ExcelDateTime::from_ymd(u16::try_from(day.year()).ok()?, number(day.month())?, number(day.day())?).ok()
}

fn instant(at: DateTime<Utc>) -> Result<ExcelDateTime, XlsxError> {
    let day = at.date_naive();
    let part = |part: u32| u8::try_from(part).unwrap_or_default();
    ExcelDateTime::from_ymd(u16::try_from(day.year()).unwrap_or_default(), part(day.month()), part(day.day()))?.and_hms(
        u16::try_from(at.hour()).unwrap_or_default(),
        part(at.minute()),
        part(at.second()),
    )
}
