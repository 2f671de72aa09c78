import type { DeckRow } from "../../generated/DeckRow";

/** What cannot be signed, as far as it is known before it is tried. */
export interface Refusals {
  ids: readonly string[];
  /** By reason, the most frequent first. */
  reasons: readonly { label: string; explanation: string; count: number }[];
}

/** Exceptions whose marks foresee a refusal. The workstation marks them; here they are only counted by what the mark says. */
export function refusalsOf(rows: readonly DeckRow[]): Refusals {
  const ids: string[] = [];
  const reasons = new Map<string, { label: string; explanation: string; count: number }>();
  for (const row of rows) {
    const mark = row.marks.find(({ kind }) => kind === "REFUSAL");
    if (mark === undefined) continue;
    ids.push(row.id);
    const reason = reasons.get(mark.label);
    if (reason === undefined)
      reasons.set(mark.label, { label: mark.label, explanation: mark.explanation, count: 1 });
    else reason.count += 1;
  }
  return { ids, reasons: [...reasons.values()].toSorted((a, b) => b.count - a.count) };
}

/** The age of the oldest, in whole days; `null` without rows. */
export function oldestDays(rows: readonly DeckRow[]): number | null {
  return rows.reduce<number | null>((oldest, { age_days: days }) => Math.max(oldest ?? 0, days), null);
}
