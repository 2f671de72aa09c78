import { type SortingState, useTable } from "@tanstack/react-table";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { DeckRow } from "../../generated/DeckRow";
import { columns, features } from "./columns";
import styles from "./Grid.module.css";
import { GridHeader } from "./GridHeader";
import { GridRow } from "./GridRow";
import { destination, type GridCommand, gridCommand } from "./keys";
import { useReview } from "./review-store";
import { clear, countHidden, extendTo, followCursor, moveTo, selectShown, toggle } from "./selection";

const ROW_PX = 28;
const HEAD_PX = 30;

interface GridProps {
  /** What the filter lets through. */
  rows: readonly DeckRow[];
  askedAtMs: number;
  /** Commands that reach beyond the grid. */
  onCommand: (command: GridCommand) => void;
  /** Shown in place of rows. */
  empty: React.ReactNode;
}

/** A row, or the grid itself where it has none. The header's buttons and what stands in place of rows have keys of their own. */
function holdsKeys(target: HTMLElement, grid: HTMLElement | null): boolean {
  return target === grid || target.closest("[data-id]") !== null;
}

/** The deck as an APG grid: rows take the focus, one of them is in the tab order, and it is always drawn. */
export function Grid({ rows, askedAtMs, onCommand, empty }: GridProps) {
  const selection = useReview((state) => state.selection);
  const select = useReview((state) => state.select);
  const focusRequests = useReview((state) => state.focusRequests);
  const [sorting, setSorting] = useState<SortingState>([]);
  const scroller = useRef<HTMLDivElement>(null);
  const ownsFocus = useRef(false);

  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({
    features,
    columns,
    data,
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: (row: DeckRow) => row.id,
  });
  const sorted = table.getRowModel().rows;
  const shown = useMemo(() => sorted.map((row) => row.id), [sorted]);
  const shownSet = useMemo(() => new Set(shown), [shown]);
  const cursorPlace = selection.cursor === null ? -1 : shown.indexOf(selection.cursor);

  const withCursor = useCallback(
    (range: Range) => {
      const places = defaultRangeExtractor(range);
      if (cursorPlace === -1 || places.includes(cursorPlace)) return places;
      return [...places, cursorPlace].sort((a, b) => a - b);
    },
    [cursorPlace],
  );
  const virtualizer = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
    rangeExtractor: withCursor,
  });

  const before = useRef<readonly string[]>(shown);
  useLayoutEffect(() => {
    select((now) => followCursor(now, before.current, shown));
    before.current = shown;
  }, [shown, select]);

  const filled = shown.length > 0;
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

  const goTo = (place: number, extend: boolean) => {
    const id = shown[place];
    if (id === undefined) return;
    select((now) => (extend ? extendTo(now, shown, id) : moveTo(now, id)));
    virtualizer.scrollToIndex(place);
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (!holdsKeys(event.target as HTMLElement, scroller.current)) return;
    const command = gridCommand(event);
    if (command === null) return;
    event.preventDefault();
    const rowsPerPage = Math.floor(((scroller.current?.clientHeight ?? 0) - HEAD_PX) / ROW_PX) - 1;
    if (command.kind === "move") {
      goTo(destination(command, cursorPlace, shown.length, rowsPerPage), command.extend);
    } else if (command.kind === "toggle") {
      const { cursor } = selection;
      if (cursor !== null) select((now) => toggle(now, cursor));
    } else if (command.kind === "select-shown") select((now) => selectShown(now, shown));
    else if (command.kind === "clear") select(clear);
    else onCommand(command);
  };

  const onClick = (event: React.MouseEvent) => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-id]");
    const id = row?.dataset.id;
    if (row === null || id === undefined) return;
    row.focus({ preventScroll: true });
    if (event.shiftKey) select((now) => extendTo(now, shown, id));
    else if (event.ctrlKey || event.metaKey || target.closest("[data-check]") !== null) {
      select((now) => toggle(now, id));
    } else select((now) => moveTo(now, id));
  };

  const selectedShown = selection.selected.size - countHidden(selection, shownSet);
  const allSelected = filled && selectedShown === shown.length;
  return (
    <div
      ref={scroller}
      role="grid"
      className={styles.grid}
      aria-label="Exceptions to review"
      aria-rowcount={shown.length + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      // A scrolling element is in the tab order of some engines by itself; its cursor row is the one stop.
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onDoubleClick={() => onCommand({ kind: "detail" })}
      onMouseDown={(event) => {
        // Shift with a click would select text between the rows.
        if (event.shiftKey) event.preventDefault();
      }}
      onFocus={(event) => {
        ownsFocus.current = holdsKeys(event.target, scroller.current);
      }}
      onBlur={(event) => {
        if (event.relatedTarget !== null) ownsFocus.current = false;
      }}
      data-testid="grid"
    >
      <GridHeader
        table={table}
        selectedShown={selectedShown}
        shown={shown.length}
        onToggleAll={() => select((now) => (allSelected ? clear(now) : selectShown(now, shown)))}
      />
      {filled ? (
        <div role="rowgroup" className={styles.body} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const row = sorted[item.index];
            if (row === undefined) return null;
            return (
              <GridRow
                key={row.id}
                row={row.original}
                rowIndex={item.index + 2}
                topPx={item.start - HEAD_PX}
                selected={selection.selected.has(row.id)}
                atCursor={row.id === selection.cursor}
                askedAtMs={askedAtMs}
              />
            );
          })}
        </div>
      ) : (
        empty
      )}
    </div>
  );
}
