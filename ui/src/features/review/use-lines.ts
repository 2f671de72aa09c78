import { functionalUpdate, type SortingState, type Updater, useTable } from "@tanstack/react-table";
import { useMemo } from "react";
import type { DeckRow } from "../../generated/DeckRow";
import { type Group, groupsOf, isGroupLine, keyOfGroupLine, type Line, linesOf } from "../views/grouping";
import type { SortRule } from "../views/setup";
import { useViews } from "../views/views-store";
import { columns, features } from "./columns";

/** What the grid shows, line by line, of the rows that the filter lets through. */
export function useLines(rows: readonly DeckRow[]) {
  const { sort, group, columns: layout } = useViews((state) => state.setup);
  const collapsed = useViews((state) => state.collapsed);
  const data = useMemo(() => [...rows], [rows]);
  const columnVisibility = useMemo(
    () => Object.fromEntries(layout.hidden.map((id) => [id, false])),
    [layout.hidden],
  );
  const columnPinning = useMemo(() => ({ start: [...layout.pinned], end: [] }), [layout.pinned]);
  const table = useTable({
    features,
    columns,
    data,
    state: { sorting: sort, columnOrder: layout.order, columnVisibility, columnPinning },
    onSortingChange: changeSorting,
    getRowId: (row: DeckRow) => row.id,
  });
  const model = table.getRowModel().rows;
  const sorted = useMemo(() => model.map(({ original }) => original), [model]);
  const groups = useMemo(() => (group === null ? null : groupsOf(rows, group)), [rows, group]);
  const lines = useMemo(() => linesOf(sorted, groups, group, collapsed), [sorted, groups, group, collapsed]);
  const lineIds = useMemo(() => lines.map(({ id }) => id), [lines]);
  const within = useMemo(() => lineContent(groups, collapsed), [groups, collapsed]);
  return { table, sorted, groups, lines, lineIds, within };
}

/** The exceptions that a line stands for: a folded group's heading for all of it, an unfolded one's for none, as they have lines. */
function lineContent(groups: readonly Group[] | null, collapsed: ReadonlySet<string>) {
  const byKey = new Map((groups ?? []).map(({ key, ids }) => [key, ids]));
  return (line: string): readonly string[] => {
    if (!isGroupLine(line)) return [line];
    const key = keyOfGroupLine(line);
    return collapsed.has(key) ? (byKey.get(key) ?? []) : [];
  };
}

function changeSorting(updater: Updater<SortingState>) {
  const { setup, change } = useViews.getState();
  change({ sort: functionalUpdate(updater, setup.sort) as SortRule[] });
}

export type Lines = ReturnType<typeof useLines>;
export type { Line };
