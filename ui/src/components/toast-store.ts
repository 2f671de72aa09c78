import { create } from "zustand";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  /** When it leaves by itself, on the monotonic clock; errors stay until they are dismissed. */
  endsAtMs: number | null;
  /** What can be done until then. */
  action: { label: string; run: () => void } | null;
}

interface Toasts {
  toasts: readonly Toast[];
  show: (toast: Pick<Toast, "text"> & Partial<Omit<Toast, "id">>) => number;
  dismiss: (id: number) => void;
}

const PLAIN_MS = 6_000;
/** More than three cannot be read before they leave. */
const MOST_TOASTS = 3;
let lastId = 0;

export const useToasts = create<Toasts>((set) => ({
  toasts: [],
  show: ({ text, tone = "plain", endsAtMs, action = null }) => {
    lastId += 1;
    const byDefault = tone === "bad" ? null : performance.now() + PLAIN_MS;
    const toast = { id: lastId, text, tone, action, endsAtMs: endsAtMs === undefined ? byDefault : endsAtMs };
    set(({ toasts }) => ({ toasts: [...toasts, toast].slice(-MOST_TOASTS) }));
    return toast.id;
  },
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
