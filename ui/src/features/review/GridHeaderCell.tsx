import { setWidth } from "../views/column-layout";
import { COLUMN_IDS, type ColumnId } from "../views/setup";
import { useViews } from "../views/views-store";
import type { ColumnSpec } from "./columns";
import type { DrawnColumn } from "./drawn-columns";
import styles from "./Grid.module.css";

interface GridHeaderCellProps {
  column: DrawnColumn;
  sorted: { desc: boolean; place: number; of: number } | null;
  filtered: boolean;
  isStop: boolean;
  onSort: (multi: boolean) => void;
  onStop: () => void;
  onMenu: () => void;
  onDropped: (dragged: ColumnId) => void;
}

const DRAGGED = "application/x-countersign-column";

export function GridHeaderCell(props: GridHeaderCellProps) {
  const { column, sorted, filtered, isStop, onSort, onStop, onMenu } = props;
  const { id, spec, stickyPx } = column;
  const classes = [spec.right && styles.right, stickyPx !== null && styles.pinned].filter(Boolean).join(" ");
  const order = sorted === null ? "none" : sorted.desc ? "descending" : "ascending";
  return (
    <span
      role="columnheader"
      className={`${styles.headCell} ${classes}`}
      style={stickyPx === null ? undefined : { left: stickyPx }}
      aria-sort={order}
      data-column={id}
      onContextMenu={(event) => {
        event.preventDefault();
        onMenu();
      }}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, id)}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
      }}
      onDrop={(event) => {
        const dragged = COLUMN_IDS.find((each) => each === event.dataTransfer.getData(DRAGGED));
        if (dragged !== undefined) props.onDropped(dragged);
      }}
    >
      <button
        type="button"
        className={styles.sort}
        title={`${spec.name}: click sorts, with Shift on top of the others; Shift F10 for more`}
        aria-label={filtered ? `${spokenName(spec)}, filtered` : spokenName(spec)}
        aria-haspopup="menu"
        tabIndex={isStop ? 0 : -1}
        onClick={(event) => onSort(event.shiftKey)}
        onFocus={onStop}
        data-stop={id}
      >
        {spec.header}
        {filtered && <i aria-hidden="true">▿</i>}
        {sorted !== null && (
          <i aria-hidden="true">
            {sorted.desc ? "↓" : "↑"}
            {sorted.of > 1 && <sub>{sorted.place + 1}</sub>}
          </i>
        )}
      </button>
      <button
        type="button"
        className={styles.menuButton}
        tabIndex={-1}
        aria-label={`Menu of ${spec.name}`}
        onClick={onMenu}
        data-testid={`column-menu-${id}`}
      >
        ⋮
      </button>
      {/* The keyboard does it with Ctrl and an arrow, and in the menu. */}
      <i
        className={styles.handle}
        aria-hidden="true"
        draggable={false}
        onPointerDown={(event) => resize(event, id)}
      />
    </span>
  );
}

/** Begins with what is seen, so that who speaks to the computer can name it. */
function spokenName({ header, name }: ColumnSpec): string {
  return header === name ? name : `${header}, ${name}`;
}

/** Follows the pointer on the grid's own property, so that nothing is drawn anew by React until it lets go. */
function resize(event: React.PointerEvent<HTMLElement>, id: ColumnId) {
  event.preventDefault();
  event.stopPropagation();
  const handle = event.currentTarget;
  const cell = handle.parentElement;
  const grid = cell?.closest<HTMLElement>('[data-testid="grid"]');
  if (!cell || !grid) return;
  const track = [...(cell.parentElement?.children ?? [])].indexOf(cell);
  const tracks = splitTracks(grid.style.getPropertyValue("--columns"));
  const startX = event.clientX;
  const startPx = cell.offsetWidth;
  let width = startPx;
  handle.setPointerCapture(event.pointerId);
  const follow = (move: PointerEvent) => {
    width = Math.max(36, startPx + move.clientX - startX);
    grid.style.setProperty("--columns", tracks.with(track, `${width}px`).join(" "));
  };
  const end = () => {
    handle.removeEventListener("pointermove", follow);
    handle.removeEventListener("lostpointercapture", end);
    if (width !== startPx) useViews.getState().changeColumns((layout) => setWidth(layout, id, width));
  };
  handle.addEventListener("pointermove", follow);
  handle.addEventListener("lostpointercapture", end);
}

/** `28px minmax(92px, 3fr)` are two. */
function splitTracks(template: string): string[] {
  return template.split(/\s+(?![^(]*\))/);
}
