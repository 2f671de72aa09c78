import { create } from "zustand";

export type SyncTab = "decisions" | "attention" | "confirmations" | "receipts";

interface Sync {
  /** The tab that is shown. */
  tab: SyncTab;
  /** What wants attention and was on the reviewer's screen, by key. */
  seen: ReadonlySet<string>;
  show: (tab: SyncTab) => void;
  see: (keys: readonly string[]) => void;
}

export const useSync = create<Sync>((set) => ({
  tab: "decisions",
  seen: new Set(),
  show: (tab) => set({ tab }),
  see: (keys) =>
    set(({ seen }) => (keys.every((key) => seen.has(key)) ? {} : { seen: new Set([...seen, ...keys]) })),
}));
