/** What a key means while the grid has the focus. */
export type GridCommand =
  | { kind: "move"; by: "row" | "page" | "end"; direction: 1 | -1; extend: boolean }
  | { kind: "toggle" | "select-shown" | "clear" | "detail" | "filter" | "shortcuts" }
  | { kind: Action };

type Action = "approve" | "reject" | "release" | "hand-over" | "undo";

export interface KeyPress {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  /** A key that is held down repeats. */
  repeat: boolean;
}

const MOVES: Record<string, ["row" | "page" | "end", 1 | -1]> = {
  ArrowDown: ["row", 1],
  ArrowUp: ["row", -1],
  j: ["row", 1],
  k: ["row", -1],
  PageDown: ["page", 1],
  PageUp: ["page", -1],
  End: ["end", 1],
  Home: ["end", -1],
};

const ACTIONS: Record<string, Action> = {
  a: "approve",
  r: "reject",
  x: "release",
  h: "hand-over",
  u: "undo",
};

const REST: Record<string, "toggle" | "clear" | "detail" | "filter" | "shortcuts"> = {
  " ": "toggle",
  Escape: "clear",
  Enter: "detail",
  "/": "filter",
  "?": "shortcuts",
};

/** The command of a key press, or `null` for one that belongs to the browser. */
export function gridCommand(press: KeyPress): GridCommand | null {
  if (press.altKey) return null;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  const letter = /^[a-z]$/.test(key);
  if (press.ctrlKey || press.metaKey) {
    if (key === "a") return { kind: "select-shown" };
    if (letter || !Object.hasOwn(MOVES, key)) return null;
  }
  if (Object.hasOwn(MOVES, key)) {
    const [by, direction] = MOVES[key] as ["row" | "page" | "end", 1 | -1];
    return { kind: "move", by, direction, extend: press.shiftKey };
  }
  // A key that is held must not sign, release or toggle again and again.
  if (press.repeat) return null;
  if (Object.hasOwn(ACTIONS, key)) return { kind: ACTIONS[key] as Action };
  if (Object.hasOwn(REST, key)) return { kind: REST[key] as (typeof REST)[string] };
  return null;
}

/** Where a move ends, as a place among `count` rows. */
export function destination(
  move: Extract<GridCommand, { kind: "move" }>,
  place: number,
  count: number,
  rowsPerPage: number,
): number {
  const last = count - 1;
  if (move.by === "end") return move.direction === 1 ? last : 0;
  const step = move.by === "page" ? Math.max(1, rowsPerPage) : 1;
  return Math.min(last, Math.max(0, place + move.direction * step));
}
