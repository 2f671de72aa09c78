//! Exact money: a decimal and an ISO 4217 currency whose minor units it fits.

use std::fmt;
use std::str::FromStr;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// The most significant digits an amount may have; what the decimal type holds exactly.
pub const AMOUNT_DIGITS: usize = 28;

/// Why a text is no amount or no currency.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MoneyError {
    /// Not digits with an optional sign and decimal mark.
    #[error("`{0}` is not a plain decimal: expected digits with an optional minus sign and one `.`")]
    NotADecimal(String),
    /// More digits than can be held exactly.
    #[error("`{0}` has more than {AMOUNT_DIGITS} significant digits")]
    TooLong(String),
    /// Not a code of ISO 4217.
    #[error("`{0}` is not an ISO 4217 currency")]
    UnknownCurrency(String),
    /// A code that no amount can be in any more.
    #[error("the currency {currency} was withdrawn; it is {successor} now")]
    Withdrawn {
        /// The withdrawn code.
        currency: String,
        /// What replaced it.
        successor: String,
    },
    /// A code without minor units: metals, funds, test codes.
    #[error("{0} has no minor units in ISO 4217 and cannot carry an amount")]
    NoMinorUnits(String),
    /// More decimal places than the currency has.
    #[error("`{amount}` has {places} decimal places, {currency} has {minor_units}")]
    TooPrecise {
        /// The amount as it came.
        amount: String,
        /// Its decimal places.
        places: u32,
        /// The currency.
        currency: String,
        /// The currency's.
        minor_units: u8,
    },
}

/// An active ISO 4217 currency with minor units.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// The three-letter code.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// How many digits follow the decimal mark.
    pub fn minor_units(self) -> u8 {
        // A currency without minor units cannot be parsed into this type.
        self.0.exponent().and_then(|units| u8::try_from(units).ok()).unwrap_or(2)
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    fn from_str(code: &str) -> Result<Self, MoneyError> {
        let currency =
            iso_currency::Currency::from_code(code).ok_or_else(|| MoneyError::UnknownCurrency(code.to_owned()))?;
        if let Some(successor) = currency.is_superseded() {
            return Err(MoneyError::Withdrawn { currency: code.to_owned(), successor: successor.code().to_owned() });
        }
        if currency.exponent().is_none() {
            return Err(MoneyError::NoMinorUnits(code.to_owned()));
        }
        Ok(Self(currency))
    }
}

impl PartialOrd for Currency {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Currency {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.code().cmp(other.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An exact amount of one currency. It is written with all of the currency's digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// The exact amount.
    pub amount: Decimal,
    /// Its currency.
    pub currency: Currency,
}

impl Money {
    /// Reads an amount that fits the currency's minor units.
    pub fn parse(amount: &str, currency: Currency) -> Result<Self, MoneyError> {
        let value = parse_decimal(amount)?;
        if value.scale() > u32::from(currency.minor_units()) {
            return Err(MoneyError::TooPrecise {
                amount: amount.to_owned(),
                places: value.scale(),
                currency: currency.code().to_owned(),
                minor_units: currency.minor_units(),
            });
        }
        Ok(Self { amount: value, currency })
    }

    /// The amount, rounded half-up to the currency's minor units.
    pub fn rounded(&self) -> Decimal {
        round_half_up(self.amount, u32::from(self.currency.minor_units()))
    }

    /// The amount with exactly the currency's number of digits, `.` as the mark and no grouping.
    pub fn text(&self) -> String {
        with_digits(self.amount, self.currency)
    }
}

/// Half-up: what lies in the middle goes away from zero.
pub fn round_half_up(value: Decimal, places: u32) -> Decimal {
    value.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero)
}

/// An amount with exactly the currency's number of digits. It must have no more of them than that.
pub fn with_digits(mut amount: Decimal, currency: Currency) -> String {
    amount.rescale(u32::from(currency.minor_units()));
    amount.to_string()
}

/// `a × b`, if that has at most [`AMOUNT_DIGITS`] significant digits; the decimal type would round what has more.
pub fn exact_product(a: Decimal, b: Decimal) -> Option<Decimal> {
    let (a, b) = (a.normalize(), b.normalize());
    held(a.mantissa().checked_mul(b.mantissa())?, i64::from(a.scale()) + i64::from(b.scale()))
}

/// `a + b`, if that has at most [`AMOUNT_DIGITS`] significant digits.
pub fn exact_sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let (a, b) = (a.normalize(), b.normalize());
    let scale = a.scale().max(b.scale());
    let aligned = |value: Decimal| value.mantissa().checked_mul(10_i128.checked_pow(scale - value.scale())?);
    held(aligned(a)?.checked_add(aligned(b)?)?, i64::from(scale))
}

/// `mantissa / 10^scale` without the zeros at its end, if it has few enough digits.
fn held(mut mantissa: i128, mut scale: i64) -> Option<Decimal> {
    if mantissa == 0 {
        return Some(Decimal::ZERO);
    }
    while mantissa % 10 == 0 && scale > 0 {
        mantissa /= 10;
        scale -= 1;
    }
    let value = Decimal::try_from_i128_with_scale(mantissa, u32::try_from(scale).ok()?).ok()?;
    Some(value).filter(is_held)
}

/// An exact amount, rounded half-up to the currency's minor units and written with all of them; `None` if that has too many digits.
pub fn in_minor_units(exact: Decimal, currency: Currency) -> Option<Money> {
    let places = u32::from(currency.minor_units());
    let mut amount = round_half_up(exact, places);
    amount.rescale(places);
    if amount.is_zero() {
        amount.set_sign_positive(true);
    }
    (amount.scale() == places && is_held(&amount)).then_some(Money { amount, currency })
}

fn is_held(value: &Decimal) -> bool {
    const BEYOND: u128 = 10_u128.pow(28);
    value.mantissa().unsigned_abs() < BEYOND
}

/// Reads a plain decimal: digits, an optional minus sign, an optional `.` with digits behind it. Exponents, signs of plus,
/// grouping, NaN and infinity are refused, as is what cannot be held exactly. Minus zero is zero.
pub fn parse_decimal(text: &str) -> Result<Decimal, MoneyError> {
    let shown = || text.chars().take(60).collect::<String>();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return Err(MoneyError::NotADecimal(shown()));
    }
    let significant = digits.bytes().filter(u8::is_ascii_digit).skip_while(|b| *b == b'0').count();
    if significant > AMOUNT_DIGITS || fraction.len() > AMOUNT_DIGITS {
        return Err(MoneyError::TooLong(shown()));
    }
    let mut value = Decimal::from_str_exact(text).map_err(|_| MoneyError::TooLong(shown()))?;
    if value.is_zero() {
        value.set_sign_positive(true);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_exact_decimal_are_refused() {
        for text in [
            "", "-", ".", "1.", ".5", "+1", "1e29", "1E5", "1e-7", "NaN", "Infinity", "-inf", "1,000.00", "1 000",
            "0x10", "١٢", "--1", "1.2.3", " 1",
        ] {
            assert!(matches!(parse_decimal(text), Err(MoneyError::NotADecimal(_))), "{text:?}");
        }
        for text in ["1".repeat(29), format!("0.{}1", "0".repeat(28)), format!("1{}", "0".repeat(29))] {
            assert!(matches!(parse_decimal(&text), Err(MoneyError::TooLong(_))), "{text:?}");
        }
    }

    #[test]
    fn the_longest_exact_decimals_keep_every_digit() {
        for text in ["9999999999999999999999999999", "-0.0000000000000000000000000001", "1234567890123456789012345.678"]
        {
            assert_eq!(parse_decimal(text).map(|d| d.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_product_or_a_sum_is_exact_or_nothing() {
        let read = |text: &str| parse_decimal(text).expect("a decimal");
        let said = |result: Option<Decimal>| result.map(|value| value.to_string());
        for (a, b, product, sum) in [
            ("1234", "0.0175", Some("21.595"), Some("1234.0175")),
            ("-3", "0.10", Some("-0.3"), Some("-2.9")),
            ("0", "0.0000000000000000000000000001", Some("0"), Some("0.0000000000000000000000000001")),
            // 14 digits times 14 digits that have 28, and one more.
            ("99999999999999", "99999999999999", Some("9999999999999800000000000001"), Some("199999999999998")),
            ("99999999999999", "999999999999999", None, Some("1099999999999998")),
            ("9999999999999999999999999999", "1", Some("9999999999999999999999999999"), None),
            ("9999999999999999999999999999", "0.1", Some("999999999999999999999999999.9"), None),
            ("0.00000000000001", "0.000000000000001", None, Some("0.000000000000011")),
            ("0.0000000000000000000000000001", "0.1", None, Some("0.1000000000000000000000000001")),
            ("1000000000000000000000000000", "0.01", Some("10000000000000000000000000"), None),
        ] {
            assert_eq!(said(exact_product(read(a), read(b))).as_deref(), product, "{a} × {b}");
            assert_eq!(said(exact_sum(read(a), read(b))).as_deref(), sum, "{a} + {b}");
        }
    }

    #[test]
    fn minus_zero_is_zero() {
        assert_eq!(parse_decimal("-0.00").map(|d| d.to_string()), Ok("0.00".to_owned()));
    }

    #[test]
    fn an_amount_fits_its_currencys_minor_units() {
        let currency = |code: &str| code.parse::<Currency>().expect("an active currency");
        for (code, amount, shown) in [
            ("JPY", "5", "5"),
            ("USD", "5", "5.00"),
            ("USD", "-1.5", "-1.50"),
            ("BHD", "0.005", "0.005"),
            ("CLF", "1", "1.0000"),
        ] {
            assert_eq!(Money::parse(amount, currency(code)).map(|m| m.text()), Ok(shown.to_owned()));
        }
        for (code, amount) in [("JPY", "5.0"), ("USD", "1.005"), ("BHD", "0.0001")] {
            assert!(
                matches!(Money::parse(amount, currency(code)), Err(MoneyError::TooPrecise { .. })),
                "{code} {amount}"
            );
        }
    }

    #[test]
    fn withdrawn_and_unreal_currencies_are_refused() {
        assert!(matches!("DEM".parse::<Currency>(), Err(MoneyError::UnknownCurrency(_))));
        assert!(matches!("HRK".parse::<Currency>(), Err(MoneyError::Withdrawn { .. })));
        assert!(matches!("XAU".parse::<Currency>(), Err(MoneyError::NoMinorUnits(_))));
        assert!(matches!("usd".parse::<Currency>(), Err(MoneyError::UnknownCurrency(_))));
    }
}
