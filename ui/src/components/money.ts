import { currentNumberFormat, type NumberFormat } from "./number-format";

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

/** The digits before the mark in groups, from the mark outwards. */
function grouped(whole: string, { group, groupDigits: [first, others] }: NumberFormat): string {
  let end = whole.length - first;
  if (end <= 0) return whole;
  let text = whole.slice(end);
  for (; end > others; end -= others) text = whole.slice(end - others, end) + group + text;
  return whole.slice(0, end) + group + text;
}

/** The digits after the mark: what there is, and zeros up to `minorUnits`. Nothing is rounded away. */
function shownFraction({ fraction }: Digits, minorUnits: number): string {
  return fraction.padEnd(minorUnits, "0");
}

/**
 * An amount as text: grouped, with at least `minorUnits` digits after the mark, a negative one as the reviewer prefers. It is made
 * of the amount's own digits, so that none is ever changed.
 */
export function formatAmount(amount: string, minorUnits: number, format = currentNumberFormat()): string {
  const digits = digitsOf(amount);
  if (digits === null) return amount;
  const fraction = shownFraction(digits, minorUnits);
  const text = `${grouped(digits.whole || "0", format)}${fraction === "" ? "" : format.mark}${fraction}`;
  if (!digits.negative) return text;
  return format.negatives === "PARENTHESES" ? `(${text})` : `-${text}`;
}

/** A decimal as text with as many digits as it came with; what is none stays as it is. */
export function formatDecimal(value: string, format = currentNumberFormat()): string {
  return formatAmount(value, value.split(".")[1]?.length ?? 0, format);
}

/** What has to stand, unseen, to the right of an amount so that the decimal marks of a right-aligned column meet. */
export function alignmentPad(amount: string, minorUnits: number, format = currentNumberFormat()): string {
  const digits = digitsOf(amount);
  const shown = digits === null ? minorUnits : shownFraction(digits, minorUnits).length;
  const missing = Math.max(0, COLUMN_DIGITS - shown);
  const mark = shown === 0 ? format.mark : "";
  // The hidden digits stand after a visible parenthesis: widths add up the same in either order.
  const parenthesis = format.negatives === "MINUS" || digits?.negative === true ? "" : ")";
  return `${mark}${"0".repeat(missing)}${parenthesis}`;
}
