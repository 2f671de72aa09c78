import { type ColumnId, type ColumnLayout, LEAST_WIDTH_PX, MOST_WIDTH_PX } from "./setup";

/** The columns on screen in their order: pinned ones first. */
export function visibleColumns({ order, hidden, pinned }: ColumnLayout): ColumnId[] {
  const shown = order.filter((id) => !hidden.includes(id));
  return [...shown.filter((id) => pinned.includes(id)), ...shown.filter((id) => !pinned.includes(id))];
}

/** One place to the left or right among the columns on screen; a pinned one stays among the pinned. */
export function moveColumn(layout: ColumnLayout, id: ColumnId, by: 1 | -1): ColumnLayout {
  const shown = visibleColumns(layout);
  const other = shown[shown.indexOf(id) + by];
  if (other === undefined || layout.pinned.includes(id) !== layout.pinned.includes(other)) return layout;
  return placeColumn(layout, id, other);
}

/** `id` takes the place of `at`; what is in between moves up. */
export function placeColumn(layout: ColumnLayout, id: ColumnId, at: ColumnId): ColumnLayout {
  const from = layout.order.indexOf(id);
  const to = layout.order.indexOf(at);
  if (from === -1 || to === -1 || from === to) return layout;
  const order = layout.order.filter((each) => each !== id);
  order.splice(to, 0, id);
  return { ...layout, order };
}

export function setWidth(layout: ColumnLayout, id: ColumnId, widthPx: number | null): ColumnLayout {
  const { [id]: _before, ...widths } = layout.widths;
  if (widthPx === null) return { ...layout, widths };
  const width = Math.min(MOST_WIDTH_PX, Math.max(LEAST_WIDTH_PX, Math.round(widthPx)));
  return { ...layout, widths: { ...widths, [id]: width } };
}

/** The last column on screen cannot be hidden: there would be no header to bring one back. */
export function setHidden(layout: ColumnLayout, id: ColumnId, hidden: boolean): ColumnLayout {
  if (hidden && visibleColumns(layout).every((each) => each === id)) return layout;
  return { ...layout, hidden: withOrWithout(layout.hidden, id, hidden) };
}

export function setPinned(layout: ColumnLayout, id: ColumnId, pinned: boolean): ColumnLayout {
  return { ...layout, pinned: withOrWithout(layout.pinned, id, pinned) };
}

function withOrWithout(ids: readonly ColumnId[], id: ColumnId, within: boolean): ColumnId[] {
  const others = ids.filter((each) => each !== id);
  return within ? [...others, id] : others;
}

/** One place up or down among all columns. */
export function moveInOrder(layout: ColumnLayout, id: ColumnId, by: 1 | -1): ColumnLayout {
  const other = layout.order[layout.order.indexOf(id) + by];
  return other === undefined ? layout : placeColumn(layout, id, other);
}
