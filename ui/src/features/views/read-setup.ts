import type { Trait } from "../../generated/Trait";
import {
  COLUMN_IDS,
  type ColumnFilter,
  type ColumnId,
  type ColumnLayout,
  EVERYTHING,
  type Filters,
  GROUP_KEYS,
  LEAST_WIDTH_PX,
  MOST_WIDTH_PX,
  type Setup,
  SHIPPED_COLUMNS,
  SORT_IDS,
  type SortRule,
} from "./setup";

const TRAITS: readonly Trait[] = ["ZERO_VARIANCE", "BELOW_MATERIALITY", "LARGE", "NEEDS_SECOND", "RETURNED"];
/** A filter longer than this was not typed. */
const LONGEST_TEXT = 500;
const MOST_VALUES = 500;

/** What was kept, as far as it reads: what does not is as it was shipped, and a column of a newer release is passed over. */
export function readSetup(value: unknown): Setup {
  const kept = fields(value);
  return {
    trait: oneOf(TRAITS, kept.trait),
    quick: text(kept.quick) ?? "",
    filters: readFilters(kept.filters),
    sort: list(kept.sort).flatMap(readSort),
    group: oneOf(GROUP_KEYS, kept.group),
    columns: kept.columns === undefined ? EVERYTHING.columns : readColumns(kept.columns),
  };
}

export function readColumns(value: unknown): ColumnLayout {
  const kept = fields(value);
  const order = columnIds(kept.order);
  if (order.length === 0) return SHIPPED_COLUMNS;
  const added = COLUMN_IDS.filter((id) => !order.includes(id));
  const widths: ColumnLayout["widths"] = {};
  for (const [id, width] of Object.entries(fields(kept.widths))) {
    const column = oneOf(COLUMN_IDS, id);
    if (column === null || typeof width !== "number" || !Number.isFinite(width)) continue;
    widths[column] = Math.min(MOST_WIDTH_PX, Math.max(LEAST_WIDTH_PX, Math.round(width)));
  }
  const addedHidden = added.filter((id) => SHIPPED_COLUMNS.hidden.includes(id));
  return {
    order: [...order, ...added],
    hidden: [...columnIds(kept.hidden), ...addedHidden],
    pinned: columnIds(kept.pinned),
    widths,
  };
}

function readFilters(value: unknown): Filters {
  const filters: Filters = {};
  for (const [id, filter] of Object.entries(fields(value))) {
    const column = oneOf(COLUMN_IDS, id);
    const read = readFilter(filter);
    if (column !== null && read !== null) filters[column] = read;
  }
  return filters;
}

function readFilter(value: unknown): ColumnFilter | null {
  const kept = fields(value);
  switch (kept.kind) {
    case "text": {
      const contains = text(kept.contains);
      return contains === null ? null : { kind: "text", contains };
    }
    case "values":
      return {
        kind: "values",
        values: list(kept.values)
          .flatMap((each) => text(each) ?? [])
          .slice(0, MOST_VALUES),
      };
    case "amount":
    case "dates":
      return { kind: kept.kind, from: text(kept.from), to: text(kept.to) };
    case "days":
      return { kind: "days", from: days(kept.from), to: days(kept.to) };
    default:
      return null;
  }
}

function readSort(value: unknown): SortRule[] {
  const kept = fields(value);
  const id = oneOf(SORT_IDS, kept.id);
  return id === null ? [] : [{ id, desc: kept.desc === true }];
}

function columnIds(value: unknown): ColumnId[] {
  return [...new Set(list(value).flatMap((each) => oneOf(COLUMN_IDS, each) ?? []))];
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" && value.length <= LONGEST_TEXT ? value : null;
}

function days(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

function oneOf<T extends string>(names: readonly T[], value: unknown): T | null {
  return names.find((name) => name === value) ?? null;
}
