import { expect, test } from "vitest";
import { deckRow } from "../../test-deck";
import { groupsOf, linesOf } from "./grouping";

const ROWS = [
  deckRow("a", { currency: "USD", tier: "standard", group: "r2" }),
  deckRow("b", { currency: "EUR", tier: "escalated" }),
  deckRow("c", { currency: "USD", tier: "priority", group: "r10" }),
];

test("groups are in the order of their names, tiers by urgency, and no report comes last", () => {
  const labels = (by: "currency" | "tier" | "report") => groupsOf(ROWS, by).map(({ label }) => label);
  expect(labels("currency")).toEqual(["EUR", "USD"]);
  expect(labels("tier")).toEqual(["Escalated", "Priority", "Standard"]);
  expect(labels("report")).toEqual(["r2", "r10", "In no report"]);
});

test("a group's rows keep the order that they are sorted in, and its list does not change with it", () => {
  const groups = groupsOf(ROWS, "currency");
  const lines = linesOf([...ROWS].reverse(), groups, "currency", new Set());
  expect(lines.map(({ id }) => id)).toEqual(["group:EUR", "b", "group:USD", "c", "a"]);
  expect(groups[1]?.ids).toEqual(["a", "c"]);
});

test("a folded group is its heading alone", () => {
  const groups = groupsOf(ROWS, "currency");
  const lines = linesOf(ROWS, groups, "currency", new Set(["USD"]));
  expect(lines.map(({ id }) => id)).toEqual(["group:EUR", "b", "group:USD"]);
});

test("names that objects have of their own are groups like others", () => {
  const groups = groupsOf(
    [deckRow("a", { entity: "__proto__" }), deckRow("b", { entity: "constructor" })],
    "entity",
  );
  expect(groups.map(({ key, ids }) => [key, ids])).toEqual([
    ["__proto__", ["a"]],
    ["constructor", ["b"]],
  ]);
});
