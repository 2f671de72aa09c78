import { create } from "zustand";
import { layoutStore } from "../../components/preferences-store";
import type { Focus } from "../../generated/Focus";

export interface RecentFocus {
  label: string;
  focus: Focus;
}

const MOST_FOCI = 10;
const LISTS = ["entities", "kinds", "tiers", "counterparties", "currencies"] as const;
const TEXTS = ["amount_from", "amount_to", "due_from", "due_to"] as const;

function isFocus(value: unknown): value is Focus {
  if (typeof value !== "object" || value === null) return false;
  const found = value as Record<string, unknown>;
  const { at_most: most } = found;
  return (
    LISTS.every((name) => {
      const list = found[name];
      return Array.isArray(list) && list.every((each) => typeof each === "string");
    }) &&
    TEXTS.every((name) => found[name] === null || typeof found[name] === "string") &&
    (most === null || typeof most === "number")
  );
}

function readFoci(value: unknown): RecentFocus[] | null {
  if (!Array.isArray(value)) return null;
  return value
    .filter((each) => typeof each?.label === "string" && isFocus(each.focus))
    .slice(0, MOST_FOCI) as RecentFocus[];
}

interface RecentFoci {
  foci: readonly RecentFocus[] | null;
  /** Reads them once, when they are first shown. */
  read: () => void;
  remember: (used: RecentFocus) => void;
}

const kept = () => layoutStore.read("foci", readFoci) ?? [];

/** The foci that were used last, newest first. */
export const useRecentFoci = create<RecentFoci>((set, get) => ({
  foci: null,
  read: () => set(({ foci }) => (foci === null ? { foci: kept() } : {})),
  remember: (used) => {
    const before = get().foci ?? kept();
    const same = JSON.stringify(used.focus);
    const others = before.filter(({ focus }) => JSON.stringify(focus) !== same);
    const foci = [used, ...others].slice(0, MOST_FOCI);
    layoutStore.write("foci", foci);
    set({ foci });
  },
}));
