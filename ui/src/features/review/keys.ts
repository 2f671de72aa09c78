import type { ActionId } from "../actions/actions";
import { actionAt, type Keymap, type KeyPress, keyText, type Place } from "../actions/keymap";

export interface Move {
  by: "row" | "page" | "end";
  direction: 1 | -1;
}

export const MOVES = {
  "move-down": { by: "row", direction: 1 },
  "move-up": { by: "row", direction: -1 },
  "page-down": { by: "page", direction: 1 },
  "page-up": { by: "page", direction: -1 },
  "first-row": { by: "end", direction: -1 },
  "last-row": { by: "end", direction: 1 },
} satisfies Partial<Record<ActionId, Move>>;

function moveOf(id: ActionId | null): Move | undefined {
  return id !== null && Object.hasOwn(MOVES, id) ? MOVES[id as keyof typeof MOVES] : undefined;
}

/** What a key means while the grid has the focus: a move, which Shift makes a range of, or an action. */
export type GridKey = { kind: "move"; move: Move; extend: boolean } | { kind: "action"; id: ActionId };

/** `null` for a key that belongs to the browser. */
export function gridKey(
  press: KeyPress,
  keymap?: Keymap,
  rows: Exclude<Place, null> = "grid",
): GridKey | null {
  const key = keyText(press);
  if (key === null) return null;
  const id = actionAt(key, rows, keymap);
  if (id !== null) {
    const move = moveOf(id);
    return move === undefined ? { kind: "action", id } : { kind: "move", move, extend: false };
  }
  // Whatever moves, moves with Ctrl as well, and selects with Shift.
  const bare = keyText({ ...press, shiftKey: false, ctrlKey: false, metaKey: false });
  const move = moveOf(bare === null || press.altKey ? null : actionAt(bare, rows, keymap));
  if (move === undefined || ((press.ctrlKey || press.metaKey) && bare?.length === 1)) return null;
  return { kind: "move", move, extend: press.shiftKey };
}

/** Where a move ends, as a place among `count` rows. */
export function destination(move: Move, place: number, count: number, rowsPerPage: number): number {
  const last = count - 1;
  if (move.by === "end") return move.direction === 1 ? last : 0;
  const step = move.by === "page" ? Math.max(1, rowsPerPage) : 1;
  return Math.min(last, Math.max(0, place + move.direction * step));
}
