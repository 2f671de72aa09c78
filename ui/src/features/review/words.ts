import type { DeckRow } from "../../generated/DeckRow";

const KINDS: Record<string, string> = { recon_break: "Break", sales_claim: "Claim", receipt: "Receipt" };
const LONG_KINDS: Record<string, string> = {
  recon_break: "reconciliation break",
  sales_claim: "sales claim",
  receipt: "expense receipt",
};

/** A name that this version does not know is shown as it came. */
export function kindWord(kind: string): string {
  return KINDS[kind] ?? kind;
}

export function longKindWord(kind: string): string {
  return LONG_KINDS[kind] ?? kind;
}

/** `PARTIAL` and `priority` read `Partial` and `Priority`. */
export function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

export type Tone = "ok" | "warn" | "plain";

export function suggestionTone(code: string): Tone {
  if (code === "AUTO_RESOLVE" || code === "AUTO_APPROVE") return "ok";
  return code === "ESCALATE" ? "warn" : "plain";
}

/** What is known of a row, in words: why it is back, its marks, its group. */
export function stateWords({ note, marks, group }: DeckRow): string {
  const words = [note ?? "", ...marks.map(({ label }) => label)].filter(Boolean);
  return words.length === 0 && group !== null ? `Group ${group}` : words.join(" · ");
}

/** The same with what it means. */
export function stateExplanation(row: DeckRow): string {
  const meanings = row.marks.map(({ label, explanation }) => `${label}: ${explanation}`);
  return meanings.length === 0 ? stateWords(row) : [row.note ?? "", ...meanings].filter(Boolean).join("\n");
}

export type StateTone = "back" | "warn" | "accent" | "faint";

export function stateTone({ note, marks }: DeckRow): StateTone {
  if (note !== null) return "back";
  if (marks.some(({ kind }) => kind === "REFUSAL")) return "warn";
  return marks.some(({ kind }) => kind === "SIGNED") ? "accent" : "faint";
}

/** Everything the quick filter looks at, in lower case. */
export function searchText(row: DeckRow): string {
  return [
    kindWord(row.kind),
    row.entity,
    row.counterparty,
    row.currency,
    row.amount,
    row.match_decision,
    row.tier,
    row.suggestion.label,
    stateWords(row),
  ]
    .join("\n")
    .toLowerCase();
}

/** The words a reviewer typed, all of which a row has to contain. */
export function filterRows(rows: readonly DeckRow[], filter: string): readonly DeckRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = searchText(row);
    return words.every((word) => text.includes(word));
  });
}

/** Why a selection cannot be signed now, or `null`. */
export function whyNotSign(selected: number, hidden: number, splitGroups: number): string | null {
  if (selected === 0) return "Nothing is selected.";
  if (hidden > 0)
    return `${hidden} of the selection ${hidden === 1 ? "is" : "are"} hidden by the filter: drop them or clear the filter.`;
  if (splitGroups > 0) return "Part of a group is not selected: a group is signed whole.";
  return null;
}

export function undoWords(withdrawn: number, tooLate: number): string {
  if (tooLate === 0) return `${withdrawn} withdrawn`;
  const late = `${tooLate} ${tooLate === 1 ? "was" : "were"} already sent`;
  return withdrawn === 0 ? `None withdrawn: ${late}` : `${withdrawn} withdrawn, ${late}`;
}
