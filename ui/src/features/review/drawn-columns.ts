import { visibleColumns } from "../views/column-layout";
import type { ColumnId, ColumnLayout } from "../views/setup";
import { CHECK_PX, COLUMNS, type ColumnSpec } from "./columns";

/** A column as it is drawn. */
export interface DrawnColumn {
  id: ColumnId;
  spec: ColumnSpec;
  /** Where it stays while the rest scrolls sideways; `null` for one that scrolls. */
  stickyPx: number | null;
}

export interface DrawnColumns {
  columns: readonly DrawnColumn[];
  /** For `grid-template-columns`, the checkbox included. */
  template: string;
  /** Below this the grid scrolls sideways. */
  leastPx: number;
}

/** A digit and a separator at the size of the grid's text, in the widest of the system fonts. */
const DIGIT_PX = 8.3;
const SIGN_PX = 4.6;
/** Beside an amount: the space to the next column, and what aligns the marks. */
const AMOUNT_SPACE_PX = 17;

/** What the longest of these amounts takes: one that is cut would read as another. */
export function amountPx(amounts: readonly string[]): number {
  let most = 0;
  for (const amount of amounts) {
    const digits = amount.replace(/\D/g, "").length;
    most = Math.max(most, digits * DIGIT_PX + (amount.length - digits) * SIGN_PX);
  }
  return Math.ceil(most + AMOUNT_SPACE_PX);
}

/** `leastAmountPx`: no amount is cut, however narrow its column was made. */
export function drawnColumns(layout: ColumnLayout, leastAmountPx = 0): DrawnColumns {
  let leastPx = CHECK_PX;
  const tracks = [`${CHECK_PX}px`];
  const columns = visibleColumns(layout).map((id) => {
    const spec = COLUMNS[id];
    const pinned = layout.pinned.includes(id);
    const chosen = layout.widths[id];
    const width = Math.max(chosen ?? spec.widthPx, id === "amount" ? leastAmountPx : 0);
    const stickyPx = pinned ? leastPx : null;
    // Where a pinned column ends has to be known, so that it does not grow.
    const grows = spec.grows > 0 && chosen === undefined && !pinned;
    tracks.push(grows ? `minmax(${width}px, ${spec.grows}fr)` : `${width}px`);
    leastPx += width;
    return { id, spec, stickyPx };
  });
  return { columns, template: tracks.join(" "), leastPx };
}
