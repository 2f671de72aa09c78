import { expect, test } from "vitest";
import { rangeWords, readWhole, sourceWords, valueWords } from "./setting-words";
import { LARGEST_PERCENT, SMALLEST_PERCENT, stepped } from "./zoom";

test.each([
  [900_000, "ms", "15 min"],
  [5_400_000, "ms", "1 h 30 min"],
  [43_200_000, "ms", "12 h"],
  [1_500, "ms", "1 s 500 ms"],
  [0, "ms", "0 s"],
  [300, "s", "5 min"],
  [5_000, "exceptions", "5,000 exceptions"],
  [1, "attempts", "1 attempt"],
])("%i %s reads %s", (value, unit, words) => {
  expect(valueWords(value, unit)).toBe(words);
});

test("a range says its unit once", () => {
  expect(rangeWords({ least: 10, most: 5_000, unit: "exceptions" })).toBe("10 to 5,000 exceptions");
  expect(rangeWords({ least: 30_000, most: 43_200_000, unit: "ms" })).toBe("30 s to 12 h");
});

test("a source says where", () => {
  expect(sourceWords({ source: "DEFAULT", origin: null })).toBe("Default");
  expect(sourceWords({ source: "ENVIRONMENT", origin: "X" })).toBe("From the environment X");
});

test.each([
  ["100", 100],
  [" 7 ", 7],
  ["1.5", null],
  ["1,000", null],
  ["-1", null],
  ["", null],
  ["1e3", null],
  ["9999999999999999999", null],
])("%j is read as %j", (text, value) => {
  expect(readWhole(text)).toBe(value);
});

test("sizes stay within what the workstation accepts", () => {
  expect(stepped(100, 1)).toBe(110);
  expect(stepped(SMALLEST_PERCENT, -1)).toBe(SMALLEST_PERCENT);
  expect(stepped(LARGEST_PERCENT - 1, 1)).toBe(LARGEST_PERCENT);
});
