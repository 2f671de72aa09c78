import { useCallback, useLayoutEffect, useMemo, useRef } from "react";
import { useRowHeight } from "../../components/appearance";
import { formatAmount } from "../../components/money";
import { useNumberFormat } from "../../components/number-format";
import type { DeckRow } from "../../generated/DeckRow";
import { useViews } from "../views/views-store";
import { amountPx, drawnColumns } from "./drawn-columns";
import styles from "./Grid.module.css";
import { type BodyHandle, GridBody } from "./GridBody";
import { GridHeader } from "./GridHeader";
import { useReview } from "./review-store";
import { clear, countHidden, followCursor, selectShown } from "./selection";
import { useGridKeys } from "./use-grid-keys";
import { useGridPointer } from "./use-grid-pointer";
import type { Lines } from "./use-lines";
import { useSubtotals } from "./use-subtotals";

interface GridProps {
  lines: Lines;
  /** What the filter lets through. */
  rows: readonly DeckRow[];
  /** The deck has been read; before that its rows are not gone. */
  loaded: boolean;
  askedAtMs: number;
  /** Shown in place of rows, beside the grid: what is no row has no place in one. */
  empty: React.ReactNode;
}

/** A row, or the grid itself where it has none. The header's buttons and what stands in place of rows have keys of their own. */
function holdsKeys(target: HTMLElement, grid: HTMLElement | null): boolean {
  return target === grid || target.closest("[data-id]") !== null;
}

/** The deck as an APG grid: rows take the focus, one of them is in the tab order, and it is always drawn. */
export function Grid({ lines, rows, loaded, askedAtMs, empty }: GridProps) {
  const selection = useReview((state) => state.selection);
  const select = useReview((state) => state.select);
  const focusRequests = useReview((state) => state.focusRequests);
  const { columns: layout, sort, filters } = useViews((state) => state.setup);
  const collapsed = useViews((state) => state.collapsed);
  const rowPx = useRowHeight();
  const numbers = useNumberFormat();
  const leastAmountPx = useMemo(
    () => amountPx(rows.map((row) => formatAmount(row.amount, row.minor_units, numbers))),
    [rows, numbers],
  );
  const drawn = useMemo(() => drawnColumns(layout, leastAmountPx), [layout, leastAmountPx]);
  const subtotals = useSubtotals(lines.groups);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<BodyHandle>(null);
  const ownsFocus = useRef(false);
  const { lineIds } = lines;
  const cursorPlace = useMemo(
    () => (selection.cursor === null ? -1 : lineIds.indexOf(selection.cursor)),
    [lineIds, selection.cursor],
  );

  const before = useRef<readonly string[]>(lineIds);
  useLayoutEffect(() => {
    if (!loaded) return;
    select((now) => followCursor(now, before.current, lineIds));
    before.current = lineIds;
  }, [loaded, lineIds, select]);

  const filled = lineIds.length > 0;
  const focusCursor = useCallback(() => {
    const row = scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]');
    // Without a row the grid itself takes the focus, so that its keys, Undo first of all, go on working.
    (row ?? scroller.current)?.focus({ preventScroll: true });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the cursor's row has changed, and when the last row has gone
  useLayoutEffect(() => {
    // A row that leaves the deck takes the focus with it: the next one gets it, unless the reviewer has moved on.
    const lost =
      document.activeElement === document.body || scroller.current?.contains(document.activeElement);
    if (ownsFocus.current && lost) focusCursor();
  }, [selection.cursor, filled, focusCursor]);
  useLayoutEffect(() => {
    if (focusRequests > 0) focusCursor();
  }, [focusRequests, focusCursor]);
  useLayoutEffect(() => {
    if (filled && document.activeElement === document.body) useReview.getState().focusGrid();
  }, [filled]);

  const onKeyDown = useGridKeys({ lines, cursorPlace, scroller, body, rowPx, holdsKeys });
  const pointer = useGridPointer(lines);
  const rowIds = useMemo(() => rows.map(({ id }) => id), [rows]);
  const rowIdSet = useMemo(() => new Set(rowIds), [rowIds]);
  const selectedShown = selection.selected.size - countHidden(selection, rowIdSet);
  const onToggleAll = useCallback(
    () =>
      select((now) => (rowIds.every((id) => now.selected.has(id)) ? clear(now) : selectShown(now, rowIds))),
    [rowIds, select],
  );

  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it is a grid, with or without groups */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have these */}
      <div
        ref={scroller}
        role={lines.groups === null ? "grid" : "treegrid"}
        className={styles.grid}
        style={
          {
            "--row-height": `${rowPx}px`,
            "--columns": drawn.template,
            "--least": `${drawn.leastPx}px`,
          } as React.CSSProperties
        }
        aria-label="Exceptions to review"
        aria-rowcount={lineIds.length + 1}
        aria-colcount={drawn.columns.length + 1}
        aria-multiselectable="true"
        // A scrolling element is in the tab order of some engines by itself; its cursor row is the one stop.
        tabIndex={-1}
        onKeyDown={onKeyDown}
        {...pointer}
        onFocus={(event) => {
          ownsFocus.current = holdsKeys(event.target, scroller.current);
          if (event.target === scroller.current && filled) focusCursor();
        }}
        onBlur={(event) => {
          if (event.relatedTarget !== null) ownsFocus.current = false;
        }}
        data-testid="grid"
      >
        <GridHeader
          table={lines.table}
          drawn={drawn}
          sort={sort}
          filters={filters}
          checked={selectedShown === 0 ? "none" : selectedShown === rowIds.length ? "all" : "some"}
          onToggleAll={onToggleAll}
        />
        {filled && (
          <GridBody
            ref={body}
            scroller={scroller}
            lines={lines.lines}
            columns={drawn.columns}
            rowPx={rowPx}
            selection={selection}
            cursorPlace={cursorPlace}
            collapsed={collapsed}
            subtotals={subtotals}
            askedAtMs={askedAtMs}
            grouped={lines.groups !== null}
          />
        )}
      </div>
      {!filled && empty}
    </div>
  );
}
