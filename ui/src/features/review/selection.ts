/**
 * What is selected in the grid, and where the keyboard is. Pure: every function answers a new selection.
 *
 * A range always runs from the anchor to the cursor in the order on screen. `base` is what was selected before the range began, so
 * that a range that shrinks gives back what it took and nothing else.
 */
export interface Selection {
  cursor: string | null;
  anchor: string | null;
  base: ReadonlySet<string>;
  selected: ReadonlySet<string>;
}

export const NOTHING_SELECTED: Selection = {
  cursor: null,
  anchor: null,
  base: new Set(),
  selected: new Set(),
};

/** The cursor goes to `id`; what is selected stays. */
export function moveTo(selection: Selection, id: string): Selection {
  return { ...selection, cursor: id, anchor: id, base: selection.selected };
}

/** `id` changes sides, and a range can begin there. */
export function toggle(selection: Selection, id: string): Selection {
  const selected = new Set(selection.selected);
  if (!selected.delete(id)) selected.add(id);
  return { cursor: id, anchor: id, base: selected, selected };
}

/** Several change sides together, to selected unless all of them are. `at` is the line that stands for them. */
export function toggleAll(selection: Selection, ids: readonly string[], at: string): Selection {
  const selected = new Set(selection.selected);
  const all = ids.every((id) => selected.has(id));
  for (const id of ids) {
    if (all) selected.delete(id);
    else selected.add(id);
  }
  return { cursor: at, anchor: at, base: selected, selected };
}

const ITSELF = (id: string): readonly string[] => [id];

/**
 * The range from the anchor to `id`, on top of what was selected before it. `shown` is the order on screen; `within` answers the
 * exceptions that a line of it stands for.
 */
export function extendTo(
  selection: Selection,
  shown: readonly string[],
  id: string,
  within: (line: string) => readonly string[] = ITSELF,
): Selection {
  const to = shown.indexOf(id);
  const anchor = selection.anchor ?? selection.cursor ?? id;
  // An anchor that left the screen cannot bound a range; it begins anew.
  const from = shown.indexOf(anchor) === -1 ? to : shown.indexOf(anchor);
  const range = shown.slice(Math.min(from, to), Math.max(from, to) + 1).flatMap(within);
  return {
    cursor: id,
    anchor: shown[from] ?? id,
    base: selection.base,
    selected: new Set([...selection.base, ...range]),
  };
}

/** Exactly what is shown, however it was filtered. */
export function selectShown(selection: Selection, shown: readonly string[]): Selection {
  const selected = new Set(shown);
  return { ...selection, base: selected, selected };
}

export function clear(selection: Selection): Selection {
  if (selection.selected.size === 0) return selection;
  return { ...selection, anchor: selection.cursor, base: new Set(), selected: new Set() };
}

export function add(selection: Selection, ids: Iterable<string>): Selection {
  const selected = new Set([...selection.selected, ...ids]);
  return { ...selection, base: selected, selected };
}

/** Keeps what `keeps` accepts: after a refresh what is still in the deck, on demand what the filter shows. */
export function retain(selection: Selection, keeps: ReadonlySet<string>): Selection {
  const kept = (ids: ReadonlySet<string>) => new Set([...ids].filter((id) => keeps.has(id)));
  const selected = kept(selection.selected);
  if (selected.size === selection.selected.size) return selection;
  return { ...selection, base: kept(selection.base), selected };
}

/**
 * The cursor after the rows on screen changed: the same row, else the one that took its place, else the last one. `before` and
 * `after` are the orders on screen.
 */
export function followCursor(
  selection: Selection,
  before: readonly string[],
  after: readonly string[],
): Selection {
  const { cursor } = selection;
  if (cursor !== null && after.includes(cursor)) return selection;
  const place = cursor === null ? 0 : Math.max(0, before.indexOf(cursor));
  const next = after[Math.min(place, after.length - 1)] ?? null;
  return next === cursor ? selection : { ...selection, cursor: next, anchor: next, base: selection.selected };
}

export function countHidden(selection: Selection, shown: ReadonlySet<string>): number {
  let hidden = 0;
  for (const id of selection.selected) if (!shown.has(id)) hidden += 1;
  return hidden;
}
