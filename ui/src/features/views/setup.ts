import type { Trait } from "../../generated/Trait";

/** The columns of the grid, by the names that layouts are kept under. */
export const COLUMN_IDS = [
  "kind",
  "entity",
  "counterparty",
  "amount",
  "currency",
  "age",
  "aging",
  "due",
  "match",
  "tier",
  "suggestion",
  "lease",
  "state",
  "partition",
  "seq",
  "report",
  "version",
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

export const GROUP_KEYS = ["entity", "counterparty", "currency", "tier", "report"] as const;
export type GroupKey = (typeof GROUP_KEYS)[number];

/** What one column lets through. Bounds are inclusive, an absent one lets everything through. */
export type ColumnFilter =
  | { kind: "text"; contains: string }
  | { kind: "values"; values: string[] }
  /** Decimal strings, compared with the size of the variance, without its sign. */
  | { kind: "amount"; from: string | null; to: string | null }
  /** Dates as `YYYY-MM-DD`. */
  | { kind: "dates"; from: string | null; to: string | null }
  /** Whole days. */
  | { kind: "days"; from: number | null; to: number | null };

export type Filters = Partial<Record<ColumnId, ColumnFilter>>;

/** What can be sorted by: a column, or the variance without its sign. */
export const SORT_IDS = [...COLUMN_IDS, "size"] as const;
export type SortId = (typeof SORT_IDS)[number];

export interface SortRule {
  id: SortId;
  desc: boolean;
}

/** Which columns there are, in which order and how wide. */
export interface ColumnLayout {
  order: ColumnId[];
  hidden: ColumnId[];
  /** They stay at the left while the rest scrolls sideways. */
  pinned: ColumnId[];
  /** In pixels, where the reviewer chose one. */
  widths: Partial<Record<ColumnId, number>>;
}

/** What a view is made of. */
export interface Setup {
  /** Only exceptions of which policy or deck say this. */
  trait: Trait | null;
  /** The text of the quick filter. */
  quick: string;
  filters: Filters;
  sort: SortRule[];
  group: GroupKey | null;
  columns: ColumnLayout;
}

const HIDDEN_AT_FIRST: ColumnId[] = ["aging", "due", "lease", "partition", "seq", "report", "version"];

export const SHIPPED_COLUMNS: ColumnLayout = {
  order: [...COLUMN_IDS],
  hidden: HIDDEN_AT_FIRST,
  pinned: [],
  widths: {},
};

export const EVERYTHING: Setup = {
  trait: null,
  quick: "",
  filters: {},
  sort: [],
  group: null,
  columns: SHIPPED_COLUMNS,
};

export const LEAST_WIDTH_PX = 36;
export const MOST_WIDTH_PX = 900;
