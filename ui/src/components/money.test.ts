import { describe, expect, test } from "vitest";
import { alignmentPad, compareDecimals, formatAmount, formatDecimal } from "./money";

describe("compareDecimals", () => {
  test.each([
    ["9", "10", -1],
    ["-9", "-10", 1],
    ["0", "-0.00", 0],
    ["-0", "0.000", 0],
    ["1.5", "1.50", 0],
    ["1.05", "1.5", -1],
    ["007", "7", 0],
    ["-0.01", "0", -1],
    ["0.1", "0.09", 1],
    // Beyond what a floating-point number tells apart.
    ["9007199254740993", "9007199254740992", 1],
    ["79228162514264337593543950335", "79228162514264337593543950334", 1],
    ["0.1234567890123456789012345678", "0.1234567890123456789012345679", -1],
    ["NaN", "0", -1],
    ["1e9", "NaN", 0],
  ])("orders %s against %s", (a, b, sign) => {
    expect(Math.sign(compareDecimals(a, b))).toBe(sign);
    expect(Math.sign(compareDecimals(b, a))).toBe(sign === 0 ? 0 : -sign);
  });

  test("sorts a mixed list by value", () => {
    const amounts = ["10.00", "-2.5", "9.99", "-10", "0", "100", "-0.01"];
    expect(amounts.sort(compareDecimals)).toEqual(["-10", "-2.5", "-0.01", "0", "9.99", "10.00", "100"]);
  });
});

describe("formatAmount", () => {
  test.each([
    ["8.98", 2, "8.98"],
    ["-10", 2, "(10.00)"],
    ["-1061006.00", 2, "(1,061,006.00)"],
    ["500", 0, "500"],
    ["7.125", 3, "7.125"],
    ["-0.00", 2, "0.00"],
    ["79228162514264337593543950.33", 2, "79,228,162,514,264,337,593,543,950.33"],
    ["not a number", 2, "not a number"],
  ])("shows %s with %i digits as %s", (amount, digits, text) => {
    expect(formatAmount(amount, digits)).toBe(text);
  });
});

test("a decimal of evidence keeps the digits it came with", () => {
  expect(formatDecimal("-1234.5")).toBe("(1,234.5)");
  expect(formatDecimal("26,42")).toBe("26,42");
});

test("with their padding, amounts have equally many places after the mark", () => {
  const tail = (amount: string, digits: number) => {
    const text = formatAmount(amount, digits) + alignmentPad(amount, digits);
    const places = text.slice(text.match(/^\(?[\d,]+/)?.[0].length);
    return [...places].sort().join("");
  };
  const places = [tail("500", 0), tail("8.98", 2), tail("7.125", 3), tail("-10.00", 2), tail("-3", 0)];
  expect(new Set(places.map((place) => place.length))).toEqual(new Set([5]));
  expect(places.every((place) => place.startsWith(")."))).toBe(true);
});
