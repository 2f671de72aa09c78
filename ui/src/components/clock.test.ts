import { expect, test } from "vitest";
import { ageText, clockText } from "./clock";

test.each([
  [0, "0:00"],
  [61, "1:01"],
  [754, "12:34"],
  [4000, "1:06:40"],
])("%i seconds read %s", (seconds, text) => {
  expect(clockText(seconds)).toBe(text);
});

test.each([
  ["2026-10-05T00:00:00Z", "8 d"],
  ["2026-10-13T07:00:00Z", "5 h"],
  ["2026-10-13T11:48:00Z", "12 m"],
  ["2026-10-13T12:30:00Z", "0 m"],
  ["no instant", ""],
])("%s is %s old", (instant, text) => {
  expect(ageText(instant, Date.parse("2026-10-13T12:00:00Z"))).toBe(text);
});
