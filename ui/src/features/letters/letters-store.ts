import { create } from "zustand";
import { NOTHING_SELECTED, type Selection } from "../review/selection";
import type { Draft } from "./letter-draft";

/** What is asked about some letters, in a dialog of its own. The list is frozen when it is opened. */
export type LetterQuestion =
  | { kind: "rehearse" | "replay"; ids: readonly string[]; more: number }
  | { kind: "discard"; ids: readonly string[] };

interface LetterDesk {
  /** Only letters of this cause; all of them without one. */
  cause: string | null;
  /** What is done is shown too. */
  done: boolean;
  filter: string;
  selection: Selection;
  /** Corrections that are not kept yet, by letter. */
  drafts: ReadonlyMap<string, Draft>;
  /** The letter whose fields have the keyboard. */
  editing: string | null;
  question: LetterQuestion | null;
  focusRequests: number;
  choose: (cause: string | null) => void;
  showDone: (done: boolean) => void;
  setFilter: (filter: string) => void;
  select: (change: (selection: Selection) => Selection) => void;
  edit: (id: string | null) => void;
  /** `null` forgets it. */
  draft: (id: string, draft: Draft | null) => void;
  ask: (question: LetterQuestion | null) => void;
  focusRows: () => void;
}

export const useLetterDesk = create<LetterDesk>((set) => ({
  cause: null,
  done: false,
  filter: "",
  selection: NOTHING_SELECTED,
  drafts: new Map(),
  editing: null,
  question: null,
  focusRequests: 0,
  // Another cause is another list: what was selected in the one before is not in sight.
  choose: (cause) => set({ cause, selection: NOTHING_SELECTED, editing: null }),
  showDone: (done) => set({ done, selection: NOTHING_SELECTED, editing: null }),
  setFilter: (filter) => set({ filter }),
  select: (change) =>
    set(({ selection }) => {
      const after = change(selection);
      return after === selection ? {} : { selection: after };
    }),
  edit: (editing) => set({ editing }),
  draft: (id, draft) =>
    set(({ drafts }) => {
      const after = new Map(drafts);
      if (draft === null) after.delete(id);
      else after.set(id, draft);
      return { drafts: after };
    }),
  ask: (question) => set({ question }),
  focusRows: () => set(({ focusRequests }) => ({ focusRequests: focusRequests + 1 })),
}));
