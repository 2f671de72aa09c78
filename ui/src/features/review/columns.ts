import {
  createColumnHelper,
  createSortedRowModel,
  type Row,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/react-table";
import { compareDecimals } from "../../components/money";
import type { DeckRow } from "../../generated/DeckRow";
import { capitalised, kindWord, stateWords } from "./words";

export const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });

type GridRow = Row<typeof features, DeckRow>;

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function byText(a: GridRow, b: GridRow, column: string): number {
  return collator.compare(a.getValue<string>(column), b.getValue<string>(column));
}

/** Amounts of two currencies have no order: they are kept apart first. */
function byAmount(a: GridRow, b: GridRow): number {
  const [left, right] = [a.original, b.original];
  return collator.compare(left.currency, right.currency) || compareDecimals(left.amount, right.amount);
}

/** The older, the greater. */
function byAge(a: GridRow, b: GridRow): number {
  return Date.parse(b.original.submitted_at) - Date.parse(a.original.submitted_at);
}

function byLease(a: GridRow, b: GridRow): number {
  return a.original.lease_ends_in_ms - b.original.lease_ends_in_ms;
}

const TIERS = ["standard", "priority", "escalated"];

function byTier(a: GridRow, b: GridRow): number {
  return TIERS.indexOf(a.original.tier) - TIERS.indexOf(b.original.tier);
}

const column = createColumnHelper<typeof features, DeckRow>();

/** The grid's columns in order, after the checkbox. A row draws its own cells; here is what they are called and sorted by. */
export const columns = column.columns([
  column.accessor((row) => kindWord(row.kind), { id: "kind", header: "Kind", sortFn: byText }),
  column.accessor("entity", { header: "Entity", sortFn: byText }),
  column.accessor("counterparty", { header: "Counterparty", sortFn: byText }),
  column.accessor("amount", { header: "Variance", sortFn: byAmount }),
  column.accessor("currency", { header: "Cur", sortFn: byText }),
  column.accessor("submitted_at", { id: "age", header: "Age", sortFn: byAge }),
  column.accessor((row) => capitalised(row.match_decision), { id: "match", header: "Match", sortFn: byText }),
  column.accessor("tier", { header: "Tier", sortFn: byTier }),
  column.accessor((row) => row.suggestion.label, { id: "suggestion", header: "Suggestion", sortFn: byText }),
  column.accessor("lease_ends_in_ms", { id: "lease", header: "Lease", sortFn: byLease }),
  column.accessor(stateWords, { id: "state", header: "State", sortFn: byText }),
]);

/** Columns whose content stands at the right. */
export const RIGHT_ALIGNED: ReadonlySet<string> = new Set(["amount", "age", "lease"]);
