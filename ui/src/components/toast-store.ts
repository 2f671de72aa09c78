import type { ReactNode } from "react";
import { create } from "zustand";

export interface ToastAction {
  label: string;
  run: () => void;
}

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  /** When it leaves by itself, on the monotonic clock; errors stay until they are dismissed. */
  endsAtMs: number | null;
  /** What can be taken back; the key that undoes is meant for it. */
  action: ToastAction | null;
  /** Until when the action is offered, on the monotonic clock; as long as the toast itself when it is not said. */
  actionEndsAtMs: number | null;
  /** What can be looked at or done besides. */
  more: ToastAction | null;
  /** Drawn under the text: how far something has come. */
  content: ReactNode;
}

interface Toasts {
  toasts: readonly Toast[];
  show: (toast: Pick<Toast, "text"> & Partial<Omit<Toast, "id">>) => number;
  change: (id: number, part: Partial<Omit<Toast, "id">>) => void;
  dismiss: (id: number) => void;
}

/** How long something is said that needs no answer. */
export const PLAIN_MS = 6_000;
/** How long it stands where something was written to: long enough to read a path, or to copy it. */
export const PATH_MS = 20_000;
/** More than three cannot be read before they leave. */
const MOST_TOASTS = 3;
let lastId = 0;

export const useToasts = create<Toasts>((set) => ({
  toasts: [],
  show: ({ text, tone = "plain", endsAtMs, ...rest }) => {
    lastId += 1;
    const byDefault = tone === "bad" ? null : performance.now() + PLAIN_MS;
    const nothing = { action: null, actionEndsAtMs: null, more: null, content: null };
    const ends = endsAtMs === undefined ? byDefault : endsAtMs;
    const toast: Toast = { ...nothing, ...rest, id: lastId, text, tone, endsAtMs: ends };
    set(({ toasts }) => ({ toasts: [...toasts, toast].slice(-MOST_TOASTS) }));
    return toast.id;
  },
  change: (id, part) =>
    set(({ toasts }) => ({
      toasts: toasts.map((toast) => (toast.id === id ? { ...toast, ...part } : toast)),
    })),
  dismiss: (id) => set(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) })),
}));

/** Says something for a while, on screen and to a screen reader. */
export function say(text: string): void {
  useToasts.getState().show({ text });
}

/** Says what went wrong, until it is dismissed. */
export function complain(text: string): void {
  useToasts.getState().show({ text, tone: "bad" });
}
