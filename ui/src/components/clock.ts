import { useSyncExternalStore } from "react";
import { visibleText } from "./visible-text";

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
  if (Number.isNaN(at.getTime())) return visibleText(instant);
  const two = (part: number) => String(part).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === new Date(wallClockMs).toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/g;

/** A text in which the instants of another program are written like all others here. */
export function withOwnInstants(text: string, wallClockMs: number): string {
  return text.replace(INSTANT, (instant) => instantText(instant, wallClockMs));
}

/** The reviewer's own hour and minute of an instant, with the date before it on another day. */
export function minuteText(instant: string, wallClockMs: number): string {
  return instantText(instant, wallClockMs).replace(/(\d\d:\d\d):\d\d$/, "$1");
}

/** How long something takes, in its two largest units: `2 d 4 h`, `3 h 5 m`, `12 m`, `less than a minute`. */
export function spanText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return "less than a minute";
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const pair = (large: string, small: string, rest: number) =>
    rest === 0 ? large : `${large} ${rest} ${small}`;
  if (days > 0) return pair(`${days} d`, "h", hours % 24);
  return hours > 0 ? pair(`${hours} h`, "m", minutes % 60) : `${minutes} m`;
}
