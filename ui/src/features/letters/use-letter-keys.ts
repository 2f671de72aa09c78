import { ACTIONS } from "../actions/actions";
import { perform, useActionHandlers } from "../actions/handlers";
import { destination, gridKey, MOVES, type Move } from "../review/keys";
import { extendTo, moveTo, toggle } from "../review/selection";
import { useLetterDesk } from "./letters-store";

interface LetterKeys {
  ids: readonly string[];
  cursorPlace: number;
  rowsInSight: () => number;
  bring: (place: number) => void;
}

/** The keys and clicks of the grid of letters: the same as those of the grid of exceptions. */
export function useLetterKeys({ ids, cursorPlace, rowsInSight, bring }: LetterKeys) {
  const { select } = useLetterDesk.getState();

  const move = (by: Move, extend: boolean) => {
    const place = destination(by, cursorPlace, ids.length, rowsInSight());
    const id = ids[place];
    if (id === undefined) return;
    select((now) => (extend ? extendTo(now, ids, id) : moveTo(now, id)));
    bring(place);
  };
  const moving = (by: Move) => ({ run: () => move(by, false) });
  useActionHandlers({
    "move-down": moving(MOVES["move-down"]),
    "move-up": moving(MOVES["move-up"]),
    "page-down": moving(MOVES["page-down"]),
    "page-up": moving(MOVES["page-up"]),
    "first-row": moving(MOVES["first-row"]),
    "last-row": moving(MOVES["last-row"]),
  });

  return {
    onKeyDown: (event: React.KeyboardEvent) => {
      if (event.nativeEvent.isComposing || event.keyCode === 229) return;
      if (event.key === "ArrowLeft" && !event.shiftKey && !event.ctrlKey && !event.altKey) {
        event.preventDefault();
        return void perform("letter-causes");
      }
      const key = gridKey(event, undefined, "desk");
      if (key === null) return;
      event.preventDefault();
      if (key.kind === "move") move(key.move, key.extend);
      // A key that is held must not take, replay or toggle again and again.
      else if (!event.repeat || ACTIONS[key.id].repeats) perform(key.id);
    },
    onClick: (event: React.MouseEvent) => {
      const target = event.target as HTMLElement;
      const row = target.closest<HTMLElement>("[data-id]");
      const id = row?.dataset.id;
      if (row === null || id === undefined) return;
      row.focus({ preventScroll: true });
      const toggles = event.ctrlKey || event.metaKey || target.closest("[data-check]") !== null;
      if (event.shiftKey) select((now) => extendTo(now, ids, id));
      else select((now) => (toggles ? toggle(now, id) : moveTo(now, id)));
    },
    onDoubleClick: (event: React.MouseEvent) => {
      if ((event.target as HTMLElement).closest("[data-id]") !== null) perform("letter-fix");
    },
  };
}
