import { type Range, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useImperativeHandle, useLayoutEffect } from "react";
import { useSecondsUntil } from "../../components/clock";
import { withCursor } from "../../components/cursor-range";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import type { Line } from "../views/grouping";
import { HEAD_PX } from "./columns";
import type { DrawnColumn } from "./drawn-columns";
import styles from "./Grid.module.css";
import { GridGroup } from "./GridGroup";
import { GridRow, titleOf } from "./GridRow";
import type { Selection } from "./selection";

/** Rows beyond the window's edge: enough for the next frame of a scroll, few enough to draw. */
const OVERSCAN_ROWS = 6;

/** The height of a grid that is not there yet. */
const UNMEASURED_PX = 600;

export interface BodyHandle {
  scrollTo: (place: number) => void;
}

interface GridBodyProps {
  ref: React.Ref<BodyHandle>;
  scroller: React.RefObject<HTMLDivElement | null>;
  lines: readonly Line[];
  columns: readonly DrawnColumn[];
  rowPx: number;
  selection: Selection;
  cursorPlace: number;
  collapsed: ReadonlySet<string>;
  subtotals: ReadonlyMap<string, readonly CurrencyTotal[]>;
  /** When the deck was asked for; leases count from there. */
  askedAtMs: number;
  grouped: boolean;
}

/** The lines in sight. It is drawn anew while the grid scrolls, and nothing around it is. */
export function GridBody({ ref, scroller, lines, columns, rowPx, cursorPlace, ...rest }: GridBodyProps) {
  const rangeExtractor = useCallback((range: Range) => withCursor(range, cursorPlace), [cursorPlace]);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    // Before it is measured, so that the first frame has its rows, and the cursor's can take the focus.
    initialRect: { width: 0, height: scroller.current?.clientHeight ?? UNMEASURED_PX },
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
    rangeExtractor,
  });
  useImperativeHandle(ref, () => ({ scrollTo: (place) => virtualizer.scrollToIndex(place) }), [virtualizer]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the reviewer left off is shown once; then they scroll as they like
  useLayoutEffect(() => {
    if (cursorPlace > 0) virtualizer.scrollToIndex(cursorPlace);
  }, []);
  const leaseShown = columns.some(({ id }) => id === "lease");
  const nowMs = useEachSecond(leaseShown);

  return (
    <div
      role="rowgroup"
      className={styles.body}
      style={{ height: lines.length * rowPx }}
      onPointerOver={({ target }) => nameCell(target as HTMLElement, lines, columns)}
    >
      {virtualizer.getVirtualItems().map(({ index }) => {
        const line = lines[index];
        if (line === undefined) return null;
        return (
          <BodyLine
            key={line.id}
            line={line}
            columns={columns}
            rowIndex={index + 2}
            topPx={index * rowPx}
            nowMs={nowMs}
            {...rest}
          />
        );
      })}
    </div>
  );
}

/** The title of the cell that the pointer is over. */
function nameCell(target: HTMLElement, lines: readonly Line[], columns: readonly DrawnColumn[]) {
  const cell = target.closest<HTMLElement>('[role="gridcell"]');
  const row = cell?.parentElement;
  const line = lines[Number(row?.getAttribute("aria-rowindex")) - 2];
  if (cell == null || row == null || line?.kind !== "row") return;
  // The first one holds the box.
  const column = columns[[...row.children].indexOf(cell) - 1];
  if (column !== undefined) cell.title = titleOf(line.row, column);
}

interface BodyLineProps extends Omit<GridBodyProps, "ref" | "scroller" | "lines" | "rowPx" | "cursorPlace"> {
  line: Line;
  rowIndex: number;
  topPx: number;
  nowMs: number | null;
}

function BodyLine({ line, columns, rowIndex, topPx, nowMs, selection, ...rest }: BodyLineProps) {
  const place = { rowIndex, topPx, atCursor: line.id === selection.cursor };
  if (line.kind === "group") {
    const { group } = line;
    return (
      <GridGroup
        {...place}
        group={group}
        columnCount={columns.length}
        selectedCount={group.ids.reduce((count, id) => count + (selection.selected.has(id) ? 1 : 0), 0)}
        folded={rest.collapsed.has(group.key)}
        subtotals={rest.subtotals.get(group.key) ?? null}
      />
    );
  }
  const { row } = line;
  const leftMs = nowMs === null ? null : rest.askedAtMs + row.lease_ends_in_ms - nowMs;
  return (
    <GridRow
      {...place}
      row={row}
      columns={columns}
      selected={selection.selected.has(line.id)}
      level={rest.grouped ? 2 : null}
      leaseSeconds={leftMs === null ? null : Math.max(0, Math.ceil(leftMs / 1000))}
    />
  );
}

/** The monotonic time, anew each second, or `null` while nobody looks at it. */
function useEachSecond(shown: boolean): number | null {
  // A deadline that never comes: what matters is that its seconds pass.
  const seconds = useSecondsUntil(shown ? Number.MAX_SAFE_INTEGER : null);
  return seconds === null ? null : performance.now();
}
