import {
  columnOrderingFeature,
  columnPinningFeature,
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  type Row,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/react-table";
import { compareDecimals } from "../../components/money";
import type { DeckRow } from "../../generated/DeckRow";
import { TEXTS } from "../views/filters";
import { type ColumnFilter, type ColumnId, type GroupKey, SORT_IDS, type SortId } from "../views/setup";

export const features = tableFeatures({
  rowSortingFeature,
  columnOrderingFeature,
  columnVisibilityFeature,
  columnPinningFeature,
  sortedRowModel: createSortedRowModel(),
});

/** What there is to know of a column besides its cells. */
export interface ColumnSpec {
  /** In the header. */
  header: string;
  /** Where there is room, and to a screen reader. */
  name: string;
  /** As wide as its usual content; one that grows shares what is left over. */
  widthPx: number;
  grows: number;
  right: boolean;
  filter: ColumnFilter["kind"] | null;
  groupBy: GroupKey | null;
}

function spec(header: string, widthPx: number, rest: Partial<ColumnSpec> = {}): ColumnSpec {
  return { header, name: header, widthPx, grows: 0, right: false, filter: null, groupBy: null, ...rest };
}

export const COLUMNS: Record<ColumnId, ColumnSpec> = {
  kind: spec("Kind", 58, { filter: "values" }),
  entity: spec("Entity", 84, { grows: 3, filter: "text", groupBy: "entity" }),
  counterparty: spec("Counterparty", 102, { grows: 4, filter: "text", groupBy: "counterparty" }),
  amount: spec("Variance", 138, { right: true, filter: "amount" }),
  currency: spec("Cur", 42, { name: "Currency", filter: "values", groupBy: "currency" }),
  age: spec("Age", 46, { right: true, filter: "days" }),
  aging: spec("Aging", 76, { name: "Aging bucket, in days", filter: "values" }),
  due: spec("Due", 116, { name: "Due date", filter: "dates" }),
  match: spec("Match", 84, { filter: "values" }),
  tier: spec("Tier", 74, { filter: "values", groupBy: "tier" }),
  suggestion: spec("Suggestion", 100, { filter: "values" }),
  lease: spec("Lease", 66, { right: true }),
  state: spec("State", 132, { grows: 1, filter: "text" }),
  partition: spec("Partition", 140, { filter: "text" }),
  seq: spec("Seq", 56, { name: "Place in the partition", right: true }),
  report: spec("Report", 120, { filter: "text", groupBy: "report" }),
  version: spec("Ver", 44, { name: "Version", right: true }),
};

/** What is sorted by, in words. */
export function sortName(id: SortId): string {
  return id === "size" ? "Size of the variance" : COLUMNS[id].name;
}

export const CHECK_PX = 28;

/** The height of the headings. */
export const HEAD_PX = 30;

type GridRow = Row<typeof features, DeckRow>;
type Compare = (a: DeckRow, b: DeckRow) => number;

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const TIERS = ["standard", "priority", "escalated"];
const AGING = ["0-30", "31-60", "61-90", "90+"];

/** How a column sorts, where not by its text. */
const COMPARES: Partial<Record<SortId, Compare>> = {
  // Amounts of two currencies have no order: they are kept apart first.
  amount: (a, b) => collator.compare(a.currency, b.currency) || compareDecimals(a.amount, b.amount),
  size: (a, b) => collator.compare(a.currency, b.currency) || compareDecimals(sizeOf(a), sizeOf(b)),
  // The older, the greater; the day alone would leave the order within it open.
  age: (a, b) => Date.parse(b.submitted_at) - Date.parse(a.submitted_at),
  aging: (a, b) => AGING.indexOf(a.aging) - AGING.indexOf(b.aging),
  tier: (a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier),
  lease: (a, b) => a.lease_ends_in_ms - b.lease_ends_in_ms,
  seq: (a, b) => compareDecimals(a.seq, b.seq),
};

const sizeOf = ({ amount }: DeckRow) => amount.replace(/^-/, "");

const column = createColumnHelper<typeof features, DeckRow>();

/** A row draws its own cells; here is what the columns are called and sorted by. The last one is sorted by and never drawn. */
export const columns = column.columns(
  SORT_IDS.map((id) => {
    const shown = id === "size" ? "amount" : id;
    const compare: Compare = COMPARES[id] ?? ((a, b) => collator.compare(TEXTS[shown](a), TEXTS[shown](b)));
    return column.accessor(TEXTS[shown], {
      id,
      header: COLUMNS[shown].header,
      sortFn: (a: GridRow, b: GridRow) => compare(a.original, b.original),
    });
  }),
);
