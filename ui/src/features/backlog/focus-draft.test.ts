import { expect, test } from "vitest";
import { type Draft, draftOf, EMPTY_DRAFT, focusOf, problemsOf } from "./focus-draft";

test.each<[string, Partial<Draft>, keyof Draft | null]>([
  ["nothing", {}, null],
  ["a decimal", { amountFrom: "0.001" }, null],
  ["thousands as they are shown", { amountFrom: "1,000.50" }, null],
  ["a mark that could separate thousands", { amountFrom: "1,50" }, "amountFrom"],
  ["a negative amount", { amountTo: "-1" }, "amountTo"],
  ["a float's notation", { amountFrom: "1e3" }, "amountFrom"],
  [
    "amounts in order, beyond what a float tells apart",
    { amountFrom: "9007199254740992.1", amountTo: "9007199254740992.2" },
    null,
  ],
  ["amounts out of order", { amountFrom: "10", amountTo: "9.99" }, "amountTo"],
  ["a day that is none", { dueFrom: "2026-02-30" }, "dueFrom"],
  ["days out of order", { dueFrom: "2026-10-31", dueTo: "2026-10-01" }, "dueTo"],
  ["more than the deck holds", { atMost: "101" }, "atMost"],
  ["none at all", { atMost: "0" }, "atMost"],
  ["a word for a currency", { currencies: "EUR dollars" }, "currencies"],
  ["currencies in any writing", { currencies: "eur, USD;jpy" }, null],
  [
    "too many names",
    { counterparties: Array.from({ length: 101 }, (_, each) => `c${each}`).join("\n") },
    "counterparties",
  ],
])("%s", (_, part, field) => {
  expect(Object.keys(problemsOf({ ...EMPTY_DRAFT, ...part }, 100))).toEqual(field === null ? [] : [field]);
});

test("a focus that was used before reads back as it was", () => {
  const focus = {
    entities: ["a, b"],
    kinds: ["receipt"],
    tiers: ["priority"],
    counterparties: [" Acme, Inc. ", "x"],
    currencies: ["EUR", "USD"],
    amount_from: "1234.10",
    amount_to: null,
    due_from: null,
    due_to: "2026-10-31",
    at_most: 5,
  };
  expect(focusOf(draftOf(focus))).toEqual(focus);
});
