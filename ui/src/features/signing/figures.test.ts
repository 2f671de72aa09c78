import { expect, test } from "vitest";
import { numberFormat } from "../../components/number-format";
import { readFigures } from "./figures";

const COMMA = numberFormat({ numbers: "POINT_COMMA", negatives: "MINUS" });
const POINT = numberFormat({ numbers: "COMMA_POINT", negatives: "MINUS" });

test("a corrected amount is read the way amounts are drawn, to the last digit", () => {
  const typed = new Map([["a", { amount: "9.007.199.254.740.993,10", currency: " eur " }]]);
  expect(readFigures(typed, ["a"], COMMA)).toEqual({
    figures: [{ id: "a", amount: "9007199254740993.10", currency: "EUR" }],
    unread: new Map(),
  });
});

test("what can be read in two ways, or not at all, is not sent", () => {
  const typed = new Map([
    ["a", { amount: "1,50", currency: "EUR" }],
    ["b", { amount: "", currency: "EUR" }],
    ["c", { amount: "5", currency: "" }],
    ["d", { amount: "0.00", currency: "EUR" }],
    ["e", { amount: "-5", currency: "EUR" }],
  ]);
  const { figures, unread } = readFigures(typed, ["a", "b", "c", "d", "e"], POINT);
  expect(figures).toEqual([]);
  expect([...unread.keys()]).toEqual(["a", "b", "c", "d", "e"]);
  expect(unread.get("a")).toContain("two ways");
  expect([unread.get("d"), unread.get("e")]).toEqual(Array(2).fill("Write an amount over zero."));
});

test("what was left out of the batch takes its correction along", () => {
  const typed = new Map([["a", { amount: "5", currency: "JPY" }]]);
  expect(readFigures(typed, ["b"], POINT).figures).toEqual([]);
});
