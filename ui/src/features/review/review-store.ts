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
  /** Escalating is handing over to somebody senior: one command, two wordings. */
  purpose: "hand-over" | "escalate";
}

/** The latest signature, while it can be withdrawn. */
export interface Signed {
  batch: string;
  toast: number;
  endsAtMs: number;
}

interface Review {
  selection: Selection;
  /** Names the list of selected ids; it changes whenever the list does. */
  revision: number;
  batch: Batch | null;
  handOver: HandOver | null;
  /** Why what was asked for last opened no dialog; `null` once that was read. */
  blockedBy: string | null;
  signed: Signed | null;
  /** Decisions made in a spreadsheet are being read. */
  importOpen: boolean;
  /** Matters in a narrow window only, where the detail lies over the grid. */
  detailOpen: boolean;
  /** Grows each time the grid is asked to take the focus. */
  focusRequests: number;
  select: (change: (selection: Selection) => Selection) => void;
  open: (decision: DecisionChoice, ids: readonly string[]) => void;
  openHandOver: (ids: readonly string[], purpose?: HandOver["purpose"]) => void;
  block: (reason: string) => void;
  closeDialog: () => void;
  openImport: () => void;
  closeImport: () => void;
  keepSigned: (signed: Signed | null) => void;
  openDetail: (open: boolean) => void;
  focusGrid: () => void;
}

export const useReview = create<Review>((set) => ({
  selection: NOTHING_SELECTED,
  revision: 0,
  batch: null,
  handOver: null,
  blockedBy: null,
  signed: null,
  importOpen: false,
  detailOpen: false,
  focusRequests: 0,
  select: (change) =>
    set(({ selection: before, revision }) => {
      const selection = change(before);
      if (selection === before) return {};
      return { selection, revision: selection.selected === before.selected ? revision : revision + 1 };
    }),
  open: (decision, ids) =>
    set(({ batch }) => ({ batch: batch ?? { opening: performance.now(), decision, ids: [...ids] } })),
  openHandOver: (ids, purpose = "hand-over") =>
    set({ handOver: { opening: performance.now(), ids: [...ids], purpose } }),
  block: (blockedBy) => set({ blockedBy }),
  closeDialog: () =>
    set(({ focusRequests }) => ({
      batch: null,
      handOver: null,
      blockedBy: null,
      focusRequests: focusRequests + 1,
    })),
  openImport: () => set({ importOpen: true }),
  closeImport: () => set(({ focusRequests }) => ({ importOpen: false, focusRequests: focusRequests + 1 })),
  keepSigned: (signed) => set({ signed }),
  openDetail: (detailOpen) => set({ detailOpen }),
  focusGrid: () => set(({ focusRequests }) => ({ focusRequests: focusRequests + 1 })),
}));
