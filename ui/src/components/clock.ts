import { useSyncExternalStore } from "react";

/** One timer for every countdown on screen; it stands still while there is none. */
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === undefined) {
    timer = setInterval(() => {
      for (const each of watchers) each();
    }, 1000);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/**
 * Whole seconds until a monotonic deadline, never negative; `null` without one. A component that calls it is drawn again only
 * when the number changes.
 */
export function useSecondsUntil(deadlineMs: number | null): number | null {
  return useSyncExternalStore(watch, () =>
    deadlineMs === null ? null : Math.max(0, Math.ceil((deadlineMs - performance.now()) / 1000)),
  );
}

/** `754` reads `12:34`, `4000` reads `1:06:40`. */
export function clockText(seconds: number): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** How long ago an instant was, in the largest whole unit: `8 d`, `5 h`, `12 m`. */
export function ageText(instant: string, wallClockMs: number): string {
  const minutes = Math.max(0, Math.floor((wallClockMs - Date.parse(instant)) / 60_000));
  if (Number.isNaN(minutes)) return "";
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** An instant in the reviewer's own time: the hour today, with the date before. */
export function instantText(instant: string, wallClockMs: number): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return instant;
  const two = (part: number) => String(part).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === new Date(wallClockMs).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
