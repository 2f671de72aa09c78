import type { ReactTable } from "@tanstack/react-table";
import { memo, useRef, useState } from "react";
import type { DeckRow } from "../../generated/DeckRow";
import { moveColumn, placeColumn, setWidth } from "../views/column-layout";
import type { ColumnId, Filters, SortRule } from "../views/setup";
import { useViews } from "../views/views-store";
import { announce } from "./announcements";
import { ColumnMenu } from "./ColumnMenu";
import type { features } from "./columns";
import type { DrawnColumn, DrawnColumns } from "./drawn-columns";
import styles from "./Grid.module.css";
import { GridHeaderCell } from "./GridHeaderCell";
import { useReview } from "./review-store";

const WIDTH_STEP_PX = 12;

interface GridHeaderProps {
  table: ReactTable<typeof features, DeckRow>;
  drawn: DrawnColumns;
  sort: readonly SortRule[];
  filters: Filters;
  /** How much of what the filter lets through is selected. */
  checked: "none" | "some" | "all";
  onToggleAll: () => void;
}

/** Column headings: one stop in the tab order, arrows between them, a menu on each. */
export const GridHeader = memo(function GridHeader(props: GridHeaderProps) {
  const { table, drawn, sort, filters, checked, onToggleAll } = props;
  const [stop, setStop] = useState("check");
  const [menu, setMenu] = useState<{ column: DrawnColumn; at: HTMLElement } | null>(null);
  const row = useRef<HTMLDivElement>(null);
  const stops = ["check", ...drawn.columns.map(({ id }) => id)];
  const at = stops.includes(stop) ? stop : "check";

  const goTo = (next: string | undefined) => {
    if (next === undefined) return;
    setStop(next);
    row.current?.querySelector<HTMLElement>(`[data-stop="${next}"]`)?.focus();
  };
  const openMenu = (column: DrawnColumn) => {
    const anchor = row.current?.querySelector<HTMLElement>(`[data-stop="${column.id}"]`);
    if (anchor) setMenu({ column, at: anchor });
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    const place = stops.indexOf(at);
    const column = drawn.columns.find(({ id }) => id === at);
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : null;
    const modified = event.altKey || event.ctrlKey || event.metaKey;
    const asksForMenu =
      event.key === "ContextMenu" ||
      (event.key === "F10" && event.shiftKey) ||
      (event.key === "ArrowDown" && event.altKey);
    if (asksForMenu && column !== undefined) openMenu(column);
    else if (by !== null && event.altKey && column !== undefined) shift(column.id, by);
    else if (by !== null && (event.ctrlKey || event.metaKey) && column !== undefined) {
      widen(column.id, by * WIDTH_STEP_PX, row.current);
    } else if (by !== null && !modified) goTo(stops[place + by]);
    else if (event.key === "Home") goTo(stops[0]);
    else if (event.key === "End") goTo(stops.at(-1));
    else if (event.key === "ArrowDown") useReview.getState().focusGrid();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div role="rowgroup" className={styles.head}>
      <div ref={row} role="row" className={styles.headRow} aria-rowindex={1} onKeyDown={onKeyDown}>
        <span role="columnheader" className={styles.check}>
          <button
            type="button"
            role="checkbox"
            className={styles.boxButton}
            aria-checked={checked === "some" ? "mixed" : checked === "all"}
            aria-label="Select all shown"
            title="Select what the filter shows"
            tabIndex={at === "check" ? 0 : -1}
            onClick={onToggleAll}
            onFocus={() => setStop("check")}
            data-stop="check"
            data-testid="select-all"
          >
            <i
              className={styles.box}
              data-on={checked === "all"}
              data-mixed={checked === "some"}
              aria-hidden="true"
            />
          </button>
        </span>
        {drawn.columns.map((column) => {
          const place = sort.findIndex(({ id }) => (id === "size" ? "amount" : id) === column.id);
          return (
            <GridHeaderCell
              key={column.id}
              column={column}
              sorted={place === -1 ? null : { desc: sort[place]?.desc === true, place, of: sort.length }}
              filtered={filters[column.id] !== undefined}
              isStop={column.id === at}
              onSort={(multi) => table.getColumn(column.id)?.toggleSorting(undefined, multi)}
              onStop={() => setStop(column.id)}
              onMenu={() => openMenu(column)}
              onDropped={(dragged) =>
                useViews.getState().changeColumns((layout) => placeColumn(layout, dragged, column.id))
              }
            />
          );
        })}
      </div>
      {menu !== null && (
        <ColumnMenu
          column={menu.column}
          anchor={menu.at}
          onWiden={(by) => widen(menu.column.id, by * WIDTH_STEP_PX, row.current)}
          onMove={(by) => shift(menu.column.id, by)}
          onClose={() => setMenu(null)}
        />
      )}
    </div>
  );
});

function widen(id: ColumnId, byPx: number, row: HTMLElement | null) {
  const width = row?.querySelector<HTMLElement>(`[data-column="${id}"]`)?.offsetWidth ?? 0;
  useViews.getState().changeColumns((layout) => setWidth(layout, id, width + byPx));
  announce(`${useViews.getState().setup.columns.widths[id]} pixels wide`);
}

function shift(id: ColumnId, by: 1 | -1) {
  useViews.getState().changeColumns((layout) => moveColumn(layout, id, by));
  announce(by === 1 ? "Moved to the right" : "Moved to the left");
}
