import { create } from "zustand";
import type { DecisionChoice } from "../../generated/DecisionChoice";
import { NOTHING_SELECTED, type Selection } from "./selection";

/** A batch that is about to be signed. The list is frozen here: what changes behind the dialog does not change it. */
export interface Batch {
  /** Tells one opening of the dialog from the next. */
  opening: number;
  decision: DecisionChoice;
  ids: readonly string[];
}

/** What is about to be handed over: a list that is frozen as well. */
export interface HandOver {
  opening: number;
  ids: readonly string[];
}

/** The latest signature, while it can be withdrawn. */
export interface Signed {
  batch: string;
  toast: number;
  endsAtMs: number;
}

interface Review {
  filter: string;
  selection: Selection;
  /** Names the list of selected ids; it changes whenever the list does. */
  revision: number;
  batch: Batch | null;
  handOver: HandOver | null;
  signed: Signed | null;
  /** Matters in a narrow window only, where the detail lies over the grid. */
  detailOpen: boolean;
  /** Grows each time the grid is asked to take the focus. */
  focusRequests: number;
  setFilter: (filter: string) => void;
  select: (change: (selection: Selection) => Selection) => void;
  open: (decision: DecisionChoice, ids: readonly string[]) => void;
  openHandOver: (ids: readonly string[]) => void;
  closeDialog: () => void;
  keepSigned: (signed: Signed | null) => void;
  openDetail: (open: boolean) => void;
  focusGrid: () => void;
}

export const useReview = create<Review>((set) => ({
  filter: "",
  selection: NOTHING_SELECTED,
  revision: 0,
  batch: null,
  handOver: null,
  signed: null,
  detailOpen: false,
  focusRequests: 0,
  setFilter: (filter) => set({ filter }),
  select: (change) =>
    set(({ selection: before, revision }) => {
      const selection = change(before);
      if (selection === before) return {};
      return { selection, revision: selection.selected === before.selected ? revision : revision + 1 };
    }),
  open: (decision, ids) =>
    set(({ batch }) => ({ batch: batch ?? { opening: performance.now(), decision, ids: [...ids] } })),
  openHandOver: (ids) => set({ handOver: { opening: performance.now(), ids: [...ids] } }),
  closeDialog: () =>
    set(({ focusRequests }) => ({ batch: null, handOver: null, focusRequests: focusRequests + 1 })),
  keepSigned: (signed) => set({ signed }),
  openDetail: (detailOpen) => set({ detailOpen }),
  focusGrid: () => set(({ focusRequests }) => ({ focusRequests: focusRequests + 1 })),
}));
