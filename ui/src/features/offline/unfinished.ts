import type { DeckRow } from "../../generated/DeckRow";

/** What is given back, and what stays although it was not selected. */
export interface Unfinished {
  ids: string[];
  /** Not selected, and kept because they share a partition with something selected: partitions go back whole. */
  kept: number;
}

export function unfinished(rows: readonly DeckRow[], selected: ReadonlySet<string>): Unfinished {
  const wanted = new Set(rows.filter(({ id }) => selected.has(id)).map(({ partition }) => partition));
  const ids = rows.filter(({ partition }) => !wanted.has(partition)).map(({ id }) => id);
  const kept = rows.filter(({ id, partition }) => !selected.has(id) && wanted.has(partition)).length;
  return { ids, kept };
}
