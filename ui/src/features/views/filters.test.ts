import { afterEach, expect, test } from "vitest";
import { SHIPPED, usePreferences } from "../../components/preferences-store";
import type { DeckRow } from "../../generated/DeckRow";
import { deckRow } from "../../test-deck";
import { filterRows, filterWords, readSize } from "./filters";
import { EVERYTHING, type Setup } from "./setup";

afterEach(() => usePreferences.setState({ preferences: SHIPPED }));

function found(rows: readonly DeckRow[], part: Partial<Setup>): string {
  return filterRows(rows, { ...EVERYTHING, ...part })
    .map(({ id }) => id)
    .join("");
}

test("the quick filter looks for every word, in any column and in any case", () => {
  const rows = [
    deckRow("a", { counterparty: "Exxon Mobil", currency: "USD", tier: "priority" }),
    deckRow("b", { counterparty: "Exxon Mobil", currency: "EUR" }),
    deckRow("c", { kind: "receipt", amount: "-12.34", group: "report-7" }),
  ];
  expect(found(rows, { quick: "exxon usd" })).toBe("a");
  expect(found(rows, { quick: "PRIORITY" })).toBe("a");
  expect(found(rows, { quick: "receipt 12.3" })).toBe("c");
  expect(found(rows, { quick: "report-7" })).toBe("c");
  expect(found(rows, { quick: "  " })).toBe("abc");
  expect(found(rows, { quick: ".*" })).toBe("");
});

test("amounts are compared exactly and without their sign", () => {
  const rows = [
    deckRow("a", { amount: "9007199254740993.00" }),
    deckRow("b", { amount: "-9007199254740992.99" }),
    deckRow("c", { amount: "0.10" }),
    deckRow("d", { amount: "-0.00" }),
  ];
  const by = (from: string | null, to: string | null) =>
    found(rows, { filters: { amount: { kind: "amount", from, to } } });
  expect(by("9007199254740993", null)).toBe("a");
  expect(by("9007199254740992.99", "9007199254740992.990")).toBe("b");
  expect(by("0.1", "0.1")).toBe("c");
  expect(by(null, "0")).toBe("d");
});

test("dates are inclusive, and what has none is in no range of them", () => {
  const rows = [
    deckRow("a", { due_on: "2026-10-31" }),
    deckRow("b", { due_on: "2026-11-01" }),
    deckRow("c", { due_on: null }),
  ];
  const by = (from: string | null, to: string | null) =>
    found(rows, { filters: { due: { kind: "dates", from, to } } });
  expect(by("2026-10-31", "2026-10-31")).toBe("a");
  expect(by("2026-11-01", null)).toBe("b");
  expect(by(null, "2026-12-31")).toBe("ab");
});

test("values, texts and days narrow each other, together with the trait", () => {
  const rows = [
    deckRow("a", { tier: "priority", age_days: 40, traits: ["LARGE"] }),
    deckRow("b", { tier: "escalated", age_days: 40, traits: ["LARGE"] }),
    deckRow("c", { tier: "priority", age_days: 10, traits: ["LARGE"] }),
    deckRow("d", { tier: "priority", age_days: 40 }),
  ];
  const filters: Setup["filters"] = {
    tier: { kind: "values", values: ["Priority"] },
    age: { kind: "days", from: 31, to: null },
    counterparty: { kind: "text", contains: "COUNTERPARTY" },
  };
  expect(found(rows, { filters })).toBe("ad");
  expect(found(rows, { filters, trait: "LARGE" })).toBe("a");
});

test.each([
  ["1234.50", "1234.50"],
  [" 7 ", "7"],
  ["1,234.5", "1234.5"],
  // What groups for one reader is the decimal mark of the next: it is not guessed.
  ["10,50", null],
  ["1.234,50", null],
  ["-5", null],
  ["1e5", null],
  ["", null],
  ["1".repeat(29), null],
])("an amount typed as %j reads %j", (typed, read) => {
  const { value, problem } = readSize(typed);
  expect(value).toBe(read);
  expect(problem === null).toBe(read !== null);
});

test("the quick filter finds an amount as it is drawn", () => {
  const rows = [deckRow("a", { amount: "-1284.40" }), deckRow("b", { amount: "1248.40" })];
  expect(found(rows, { quick: "(1,284.40)" })).toBe("a");
  expect(found(rows, { quick: "1,2" })).toBe("ab");
  usePreferences.setState({ preferences: { ...SHIPPED, numbers: "POINT_COMMA" } });
  expect(found(rows, { quick: "1.284,4" })).toBe("a");
  expect(found(rows, { quick: "." })).toBe("ab");
});

test("filters are told in words", () => {
  expect(filterWords({ kind: "values", values: ["USD", "EUR", "JPY"] })).toBe("is USD or 2 others");
  expect(filterWords({ kind: "amount", from: "1000.00", to: null })).toBe("from 1,000.00");
  usePreferences.setState({ preferences: { ...SHIPPED, numbers: "POINT_COMMA" } });
  expect(filterWords({ kind: "amount", from: null, to: "1000.00" })).toBe("to 1.000,00");
  expect(filterWords({ kind: "days", from: 1, to: 2 })).toBe("from 1 to 2 days");
});
