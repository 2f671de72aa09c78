import { type Range, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useMemo, useRef } from "react";
import { useRowHeight } from "../../components/appearance";
import { withCursor } from "../../components/cursor-range";
import type { LetterRow } from "../../generated/LetterRow";
import { followCursor } from "../review/selection";
import styles from "./LetterGrid.module.css";
import { LetterGridRow } from "./LetterGridRow";
import { LETTER_COLUMNS } from "./letter-columns";
import { useLetterDesk } from "./letters-store";
import { useLetterKeys } from "./use-letter-keys";

const HEAD_PX = 30;
const OVERSCAN_ROWS = 8;

/** Letters as an APG grid: rows take the focus, one of them is in the tab order, and only what is in sight is drawn. */
export function LetterGrid({ rows, empty }: { rows: readonly LetterRow[]; empty: React.ReactNode }) {
  const selection = useLetterDesk((state) => state.selection);
  const focusRequests = useLetterDesk((state) => state.focusRequests);
  const { select } = useLetterDesk.getState();
  const scroller = useRef<HTMLDivElement>(null);
  const ownsFocus = useRef(false);
  const rowPx = useRowHeight();
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const cursorPlace = selection.cursor === null ? -1 : ids.indexOf(selection.cursor);
  const filled = rows.length > 0;

  const before = useRef<readonly string[]>(ids);
  useLayoutEffect(() => {
    select((now) => followCursor(now, before.current, ids));
    before.current = ids;
  }, [ids, select]);

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    initialRect: { width: 0, height: scroller.current?.clientHeight ?? 400 },
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
    rangeExtractor: useCallback((range: Range) => withCursor(range, cursorPlace), [cursorPlace]),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured is another row height's.
  useLayoutEffect(() => virtualizer.measure(), [rowPx]);

  const focusCursor = useCallback(() => {
    const row = scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]');
    (row ?? scroller.current)?.focus({ preventScroll: true });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the cursor's row has changed, and when the last one has gone
  useLayoutEffect(() => {
    const lost =
      document.activeElement === document.body || scroller.current?.contains(document.activeElement);
    if (ownsFocus.current && lost) focusCursor();
  }, [selection.cursor, filled, focusCursor]);
  useLayoutEffect(() => {
    if (focusRequests > 0) focusCursor();
  }, [focusRequests, focusCursor]);

  const { onKeyDown, onClick, onDoubleClick } = useLetterKeys({
    ids,
    cursorPlace,
    rowsInSight: () => Math.floor(((scroller.current?.clientHeight ?? 0) - HEAD_PX) / rowPx) - 1,
    bring: (place) => virtualizer.scrollToIndex(place),
  });

  return (
    <div className={styles.frame}>
      <div
        ref={scroller}
        role="grid"
        className={styles.grid}
        style={{ "--row-height": `${rowPx}px` } as React.CSSProperties}
        aria-label="Dead letters"
        aria-rowcount={rows.length + 1}
        aria-colcount={LETTER_COLUMNS.length + 1}
        aria-multiselectable="true"
        tabIndex={-1}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onDoubleClick={onDoubleClick}
        onFocus={(event) => {
          ownsFocus.current = true;
          if (event.target === scroller.current && filled) focusCursor();
        }}
        onBlur={(event) => {
          if (event.relatedTarget !== null) ownsFocus.current = false;
        }}
        data-testid="letter-grid"
      >
        <div role="row" className={styles.head} aria-rowindex={1}>
          <span role="columnheader" className={styles.box}>
            <span className={styles.spoken}>Selected</span>
          </span>
          {LETTER_COLUMNS.map(({ id, name, right = false, wide = false }) => (
            <span
              key={id}
              role="columnheader"
              className={right ? styles.right : undefined}
              data-wide={wide || undefined}
            >
              {name === "" ? <span className={styles.spoken}>Currency</span> : name}
            </span>
          ))}
        </div>
        {filled && (
          <div role="rowgroup" className={styles.body} style={{ height: rows.length * rowPx }}>
            {virtualizer.getVirtualItems().map(({ index }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <LetterGridRow
                  key={row.id}
                  row={row}
                  place={index}
                  topPx={index * rowPx}
                  selected={selection.selected.has(row.id)}
                  atCursor={row.id === selection.cursor}
                />
              );
            })}
          </div>
        )}
      </div>
      {!filled && empty}
    </div>
  );
}
