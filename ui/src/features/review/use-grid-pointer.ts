import { perform } from "../actions/handlers";
import { isGroupLine, keyOfGroupLine } from "../views/grouping";
import { useViews } from "../views/views-store";
import { useReview } from "./review-store";
import { extendTo, moveTo, toggle, toggleAll } from "./selection";
import type { Lines } from "./use-lines";

/** What clicks in the grid do: one moves, one with Ctrl or on the box toggles, one with Shift takes a range. */
export function useGridPointer({ lineIds, within, groups }: Lines) {
  const { select } = useReview.getState();
  return {
    onClick: (event: React.MouseEvent) => {
      const target = event.target as HTMLElement;
      const row = target.closest<HTMLElement>("[data-id]");
      const id = row?.dataset.id;
      if (row === null || id === undefined) return;
      row.focus({ preventScroll: true });
      const toggles = event.ctrlKey || event.metaKey || target.closest("[data-check]") !== null;
      if (event.shiftKey) select((now) => extendTo(now, lineIds, id, within));
      else if (isGroupLine(id)) {
        const key = keyOfGroupLine(id);
        const group = groups?.find((each) => each.key === key);
        if (toggles) select((now) => toggleAll(now, group?.ids ?? [], id));
        else {
          const { fold, collapsed } = useViews.getState();
          select((now) => moveTo(now, id));
          fold([key], !collapsed.has(key));
        }
      } else if (toggles) select((now) => toggle(now, id));
      else select((now) => moveTo(now, id));
    },
    onDoubleClick: (event: React.MouseEvent) => {
      const id = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset.id;
      if (id !== undefined && !isGroupLine(id)) perform("detail");
    },
    onMouseDown: (event: React.MouseEvent) => {
      // Shift with a click would select text between the rows.
      if (event.shiftKey) event.preventDefault();
    },
  };
}
