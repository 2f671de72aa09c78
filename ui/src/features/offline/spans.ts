import { spanText } from "../../components/clock";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long work is taken offline for. */
export interface Span {
  id: string;
  label: string;
  ms: number;
  /** Why it cannot be chosen; `null` when it can. */
  excluded: string | null;
}

/** The spans that are offered now; `longestMs` is what policy allows, `null` while that is not known. */
export function spansAt(now: Date, longestMs: number | null): Span[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime();
  const spans = [
    { id: "1h", label: "1 hour", ms: HOUR_MS },
    { id: "4h", label: "4 hours", ms: 4 * HOUR_MS },
    // The minute before midnight, so that it still reads as today.
    {
      id: "day",
      label: "Until the end of today",
      ms: Math.max(MINUTE_MS, midnight - MINUTE_MS - now.getTime()),
    },
  ];
  if (longestMs === null) {
    return spans.map((span) => ({ ...span, excluded: "how long policy allows is not known yet" }));
  }
  const longest = spanText(longestMs / 1000);
  return [
    ...spans.map((span) => ({
      ...span,
      excluded: span.ms > longestMs ? `policy allows ${longest} at most` : null,
    })),
    { id: "longest", label: `As long as policy allows, ${longest}`, ms: longestMs, excluded: null },
  ];
}
