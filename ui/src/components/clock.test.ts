import { expect, test } from "vitest";
import { ageText, clockText, instantText, withOwnInstants } from "./clock";

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

test.each(["2026-11-29T20:44:32.367Z", "2026-11-29T20:44:32Z", "2026-11-29T21:44:32.367123+01:00"])(
  "the instant %s in a message is written as all others are",
  (instant) => {
    const text = withOwnInstants(`bob decided it at ${instant}. Version 2026-11 stands.`, 0);
    expect(text).toBe(`bob decided it at ${instantText(instant, 0)}. Version 2026-11 stands.`);
    expect(text).toMatch(/at 2026-11-\d\d \d\d:44:32\. /);
  },
);
