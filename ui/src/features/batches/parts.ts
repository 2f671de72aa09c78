import type { BatchRow } from "../../generated/BatchRow";
import type { OutboxRow } from "../../generated/OutboxRow";

/** What the decisions of a confirmation divide into, in the order of the line that adds them up. */
export const PARTS = ["committed", "held", "awaiting", "refused", "waiting"] as const;

export type Part = (typeof PARTS)[number];

export const PART_WORDS: Record<Part, string> = {
  committed: "committed",
  held: "held behind earlier items",
  awaiting: "awaiting a second signature",
  refused: "refused",
  waiting: "waiting",
};

/** Where a decision of the list belongs; how many there are is counted by the workstation. */
export function partOf({ state, outcome }: OutboxRow): Part {
  if (state === "REFUSED") return "refused";
  if (state !== "COMMITTED") return "waiting";
  if (outcome === "HELD") return "held";
  return outcome === "AWAITING_SECOND" ? "awaiting" : "committed";
}

/** `5 signed = 2 committed + 1 held behind earlier items + 1 awaiting a second signature + 1 refused + 0 waiting`. */
export function sumWords(row: BatchRow): string {
  return `${row.signed} signed = ${PARTS.map((part) => `${row[part]} ${PART_WORDS[part]}`).join(" + ")}`;
}
