import { create } from "zustand";
import type { CloseLine } from "../../generated/CloseLine";

export type CloseColumn = "entity" | "tier" | "left" | "held" | "signed_today" | "mine_today";

interface CloseOrder {
  column: CloseColumn;
  descending: boolean;
  filter: string;
  sortBy: (column: CloseColumn) => void;
  setFilter: (filter: string) => void;
}

/** What is left most comes first: that is where help is needed. */
export const useCloseOrder = create<CloseOrder>((set) => ({
  column: "left",
  descending: true,
  filter: "",
  sortBy: (column) =>
    set((before) => ({
      column,
      descending: before.column === column ? !before.descending : column !== "entity" && column !== "tier",
    })),
  setFilter: (filter) => set({ filter }),
}));

export function orderLines(
  lines: readonly CloseLine[],
  { column, descending, filter }: Pick<CloseOrder, "column" | "descending" | "filter">,
): CloseLine[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const names = (a: CloseLine, b: CloseLine) =>
    a.entity.localeCompare(b.entity) || a.tier.localeCompare(b.tier);
  const by = (a: CloseLine, b: CloseLine) => {
    const [left, right] = [a[column], b[column]];
    return typeof left === "number" && typeof right === "number"
      ? left - right
      : String(left).localeCompare(String(right));
  };
  return lines
    .filter(({ entity, tier }) => words.every((word) => `${entity}\n${tier}`.toLowerCase().includes(word)))
    .sort((a, b) => (descending ? -by(a, b) : by(a, b)) || names(a, b));
}
