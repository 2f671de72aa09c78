import type { DeckRow } from "../../generated/DeckRow";
import { capitalised } from "../review/words";
import type { GroupKey } from "./setup";

/** What stands in one line of the grid: an exception, or the heading of a group. */
export type Line = { kind: "row"; id: string; row: DeckRow } | { kind: "group"; id: string; group: Group };

export interface Group {
  /** Names the group among the others; it is the value that its rows share. */
  key: string;
  label: string;
  /** In the order of the deck's filter, so that sorting does not make it another group. */
  ids: readonly string[];
}

/** No exception is called so: identifiers are numbers. */
const GROUP_PREFIX = "group:";

export function isGroupLine(id: string): boolean {
  return id.startsWith(GROUP_PREFIX);
}

export function groupLineId(key: string): string {
  return `${GROUP_PREFIX}${key}`;
}

export function keyOfGroupLine(id: string): string {
  return id.slice(GROUP_PREFIX.length);
}

const VALUES: Record<GroupKey, (row: DeckRow) => string> = {
  entity: (row) => row.entity,
  counterparty: (row) => row.counterparty,
  currency: (row) => row.currency,
  tier: (row) => row.tier,
  report: (row) => row.group ?? "",
};

const TIERS = ["escalated", "priority", "standard"];
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export function groupValue(row: DeckRow, by: GroupKey): string {
  return VALUES[by](row);
}

/** The groups of what the filter lets through, by name; tiers by urgency, and what is in no report last. */
export function groupsOf(rows: readonly DeckRow[], by: GroupKey): Group[] {
  const ids = new Map<string, string[]>();
  for (const row of rows) {
    const key = groupValue(row, by);
    const group = ids.get(key);
    if (group === undefined) ids.set(key, [row.id]);
    else group.push(row.id);
  }
  const groups = [...ids].map(([key, each]) => ({ key, label: labelOf(by, key), ids: each }));
  return groups.toSorted((a, b) => {
    if (by === "tier") return TIERS.indexOf(a.key) - TIERS.indexOf(b.key);
    if ((a.key === "") !== (b.key === "")) return a.key === "" ? 1 : -1;
    return collator.compare(a.key, b.key);
  });
}

function labelOf(by: GroupKey, key: string): string {
  if (by === "tier") return capitalised(key);
  if (by === "report" && key === "") return "In no report";
  return key === "" ? "(empty)" : key;
}

/** The lines of the grid: the groups with their rows in the sorted order, without the rows of what is folded. */
export function linesOf(
  sorted: readonly DeckRow[],
  groups: readonly Group[] | null,
  by: GroupKey | null,
  collapsed: ReadonlySet<string>,
): Line[] {
  const line = (row: DeckRow): Line => ({ kind: "row", id: row.id, row });
  if (groups === null || by === null) return sorted.map(line);
  const rows = new Map<string, Line[]>(groups.map(({ key }) => [key, []]));
  for (const row of sorted) rows.get(groupValue(row, by))?.push(line(row));
  return groups.flatMap((group) => [
    { kind: "group" as const, id: groupLineId(group.key), group },
    ...(collapsed.has(group.key) ? [] : (rows.get(group.key) ?? [])),
  ]);
}
