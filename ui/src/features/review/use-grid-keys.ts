import { ACTIONS } from "../actions/actions";
import { perform, useActionHandlers } from "../actions/handlers";
import { groupLineId, groupValue, isGroupLine, keyOfGroupLine } from "../views/grouping";
import { useViews } from "../views/views-store";
import { HEAD_PX } from "./columns";
import type { BodyHandle } from "./GridBody";
import { destination, gridKey, MOVES, type Move } from "./keys";
import { useReview } from "./review-store";
import { extendTo, moveTo } from "./selection";
import type { Lines } from "./use-lines";

interface GridKeys {
  lines: Lines;
  cursorPlace: number;
  scroller: React.RefObject<HTMLDivElement | null>;
  body: React.RefObject<BodyHandle | null>;
  rowPx: number;
  holdsKeys: (target: HTMLElement, grid: HTMLElement | null) => boolean;
}

/** The grid's own keys: moving, and whatever the registry gives a key to. */
export function useGridKeys({ lines, cursorPlace, scroller, body, rowPx, holdsKeys }: GridKeys) {
  const { lineIds, within } = lines;

  const goTo = (place: number, extend: boolean) => {
    const id = lineIds[place];
    if (id === undefined) return;
    useReview.getState().select((now) => (extend ? extendTo(now, lineIds, id, within) : moveTo(now, id)));
    body.current?.scrollTo(place);
  };

  const move = (by: Move, extend: boolean) => {
    const rowsPerPage = Math.floor(((scroller.current?.clientHeight ?? 0) - HEAD_PX) / rowPx) - 1;
    goTo(destination(by, cursorPlace, lineIds.length, rowsPerPage), extend);
  };
  const moveHandler = (by: Move) => ({ run: () => move(by, false) });
  useActionHandlers({
    "move-down": moveHandler(MOVES["move-down"]),
    "move-up": moveHandler(MOVES["move-up"]),
    "page-down": moveHandler(MOVES["page-down"]),
    "page-up": moveHandler(MOVES["page-up"]),
    "first-row": moveHandler(MOVES["first-row"]),
    "last-row": moveHandler(MOVES["last-row"]),
  });

  /** In a tree Right unfolds, and Left folds or leads to the heading. */
  const takeTreeKey = (event: React.KeyboardEvent): boolean => {
    const { group } = useViews.getState().setup;
    const line = lines.lines[cursorPlace];
    const bare = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
    if (group === null || line === undefined || !bare) return false;
    const { fold, collapsed } = useViews.getState();
    const key = line.kind === "group" ? line.group.key : groupValue(line.row, group);
    if (line.kind === "group" && event.key === "Enter") fold([key], !collapsed.has(key));
    else if (line.kind === "group" && event.key === "ArrowRight") fold([key], false);
    else if (line.kind === "group" && event.key === "ArrowLeft") fold([key], true);
    else if (event.key === "ArrowLeft") goTo(lineIds.indexOf(groupLineId(key)), false);
    else return false;
    return true;
  };

  return (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    const inRows = holdsKeys(event.target as HTMLElement, scroller.current);
    const inHeader = (event.target as HTMLElement).closest('[role="columnheader"]') !== null;
    if (inHeader && takeHeaderKey(event)) return event.preventDefault();
    if (!inRows) return;
    if (takeTreeKey(event)) return event.preventDefault();
    const key = gridKey(event);
    if (key === null) return;
    event.preventDefault();
    if (key.kind === "move") move(key.move, key.extend);
    // A key that is held must not sign, release or toggle again and again.
    else if (!event.repeat || ACTIONS[key.id].repeats) perform(key.id);
  };
}

/** Headings are buttons, whose own keys print or confirm. With Ctrl a key means the grid that they are part of, not the page's text. */
function takeHeaderKey(event: React.KeyboardEvent): boolean {
  const key = event.ctrlKey || event.metaKey ? gridKey(event) : null;
  if (key?.kind !== "action") return false;
  if (!["grid", "rows"].includes(ACTIONS[key.id].context)) return false;
  if (!event.repeat || ACTIONS[key.id].repeats) perform(key.id);
  return true;
}

export function groupKeyAt(cursor: string | null): string | null {
  return cursor !== null && isGroupLine(cursor) ? keyOfGroupLine(cursor) : null;
}
