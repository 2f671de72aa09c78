import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";

/** The places of the rows to draw. The cursor's row is always there, since it holds the focus; -1 for none. */
export function withCursor(range: Range, cursorPlace: number): number[] {
  const places = defaultRangeExtractor(range);
  if (cursorPlace === -1 || (places[0] ?? 0) <= cursorPlace) {
    if (cursorPlace <= (places.at(-1) ?? -1)) return places;
    return [...places, cursorPlace];
  }
  return [cursorPlace, ...places];
}
