/**
 * Amounts are decimal strings from end to end. Nothing here turns one into a floating-point number; sums are made in Rust.
 */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Most currencies have two digits after the mark, some none and some three: columns leave room for three. */
const COLUMN_DIGITS = 3;

interface Digits {
  negative: boolean;
  whole: string;
  fraction: string;
}

function digitsOf(amount: string): Digits | null {
  const match = DECIMAL.exec(amount);
  if (match === null) return null;
  const whole = (match[2] ?? "").replace(/^0+/, "");
  const fraction = (match[3] ?? "").replace(/0+$/, "");
  return { negative: match[1] === "-" && whole + fraction !== "", whole, fraction };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareMagnitude(a: Digits, b: Digits): number {
  if (a.whole.length !== b.whole.length) return a.whole.length - b.whole.length;
  // Without trailing zeros the shorter of two fractions is a prefix or differs: text order is numeric order.
  return compareText(a.whole, b.whole) || compareText(a.fraction, b.fraction);
}

/** Orders two decimal strings by value, exactly. What is no decimal comes first. */
export function compareDecimals(a: string, b: string): number {
  const left = digitsOf(a);
  const right = digitsOf(b);
  if (left === null || right === null) return (left === null ? 0 : 1) - (right === null ? 0 : 1);
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  return left.negative ? compareMagnitude(right, left) : compareMagnitude(left, right);
}

const formats = new Map<number, Intl.NumberFormat>();

function formatFor(minorUnits: number): Intl.NumberFormat {
  let format = formats.get(minorUnits);
  if (format === undefined) {
    format = new Intl.NumberFormat("en", {
      minimumFractionDigits: minorUnits,
      maximumFractionDigits: minorUnits,
      signDisplay: "never",
    });
    formats.set(minorUnits, format);
  }
  return format;
}

/** An amount as text: exactly `minorUnits` digits, grouped, a negative one in parentheses. */
export function formatAmount(amount: string, minorUnits: number): string {
  const digits = digitsOf(amount);
  if (digits === null) return amount;
  // `format` reads a string exactly; the type of its parameter is a template literal.
  const text = formatFor(minorUnits).format(amount as `${number}`);
  return digits.negative ? `(${text})` : text;
}

/** A decimal as text with as many digits as it came with; what is none stays as it is. */
export function formatDecimal(value: string): string {
  return formatAmount(value, value.split(".")[1]?.length ?? 0);
}

/** What has to stand, unseen, to the right of an amount so that the decimal marks of a right-aligned column meet. */
export function alignmentPad(amount: string, minorUnits: number): string {
  const missing = Math.max(0, COLUMN_DIGITS - minorUnits);
  const mark = minorUnits === 0 ? "." : "";
  const parenthesis = digitsOf(amount)?.negative === true ? "" : ")";
  // The hidden digits stand after a visible parenthesis: widths add up the same in either order.
  return `${mark}${"0".repeat(missing)}${parenthesis}`;
}
