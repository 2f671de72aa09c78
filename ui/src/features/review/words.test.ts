import { expect, test } from "vitest";
import { deckRow } from "../../test-deck";
import { filterRows, undoWords, whyNotSign } from "./words";

test("the filter looks for every word, in any column and in any case", () => {
  const rows = [
    deckRow("a", { counterparty: "Exxon Mobil", currency: "USD", tier: "priority" }),
    deckRow("b", { counterparty: "Exxon Mobil", currency: "EUR" }),
    deckRow("c", { kind: "receipt", amount: "-12.34" }),
  ];
  const found = (filter: string) => filterRows(rows, filter).map(({ id }) => id);
  expect(found("exxon usd")).toEqual(["a"]);
  expect(found("PRIORITY")).toEqual(["a"]);
  expect(found("receipt 12.3")).toEqual(["c"]);
  expect(found("  ")).toEqual(["a", "b", "c"]);
});

test("a filter is text, not a pattern", () => {
  expect(filterRows([deckRow("a")], ".*")).toEqual([]);
});

test("what stands in the way of signing is said, the first thing first", () => {
  expect(whyNotSign(0, 0, 0)).toMatch(/Nothing is selected/);
  expect(whyNotSign(3, 1, 1)).toMatch(/hidden by the filter/);
  expect(whyNotSign(3, 0, 1)).toMatch(/group/);
  expect(whyNotSign(3, 0, 0)).toBeNull();
});

test("undoing is told in words", () => {
  expect(undoWords(5, 0)).toBe("5 withdrawn");
  expect(undoWords(3, 2)).toBe("3 withdrawn, 2 were already sent");
  expect(undoWords(0, 1)).toBe("None withdrawn: 1 was already sent");
});
