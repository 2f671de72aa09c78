import { create } from "zustand";
import type { BacklogLine } from "../../generated/BacklogLine";
import { chooseLines, type Draft, EMPTY_DRAFT } from "./focus-draft";
import { lineKey, type Sort } from "./lines";

interface Backlog {
  filter: string;
  sort: Sort;
  /** Groups whose lines are shown. */
  opened: ReadonlySet<string>;
  /** Lines that were chosen, each by its key. */
  chosen: ReadonlyMap<string, BacklogLine>;
  draft: Draft;
  setFilter: (filter: string) => void;
  sortBy: (column: Sort["column"]) => void;
  open: (key: string, opened: boolean) => void;
  /** Chooses or drops some of `all` lines. */
  choose: (lines: readonly BacklogLine[], wanted: boolean, all: readonly BacklogLine[]) => void;
  edit: (part: Partial<Draft>) => void;
  load: (draft: Draft) => void;
}

/** Counts are of interest from the largest on, names from the first. */
const FIRST_DESCENDING: readonly Sort["column"][] = ["free", "held", "mine"];

export const useBacklogChoice = create<Backlog>((set) => ({
  filter: "",
  sort: { column: "entity", descending: false },
  opened: new Set(),
  chosen: new Map(),
  draft: EMPTY_DRAFT,
  setFilter: (filter) => set({ filter }),
  sortBy: (column) =>
    set(({ sort }) => ({
      sort: {
        column,
        descending: sort.column === column ? !sort.descending : FIRST_DESCENDING.includes(column),
      },
    })),
  open: (key, wanted) =>
    set(({ opened }) => {
      const after = new Set(opened);
      if (wanted) after.add(key);
      else after.delete(key);
      return { opened: after };
    }),
  choose: (lines, wanted, all) =>
    set(({ chosen, draft }) => {
      const after = new Map(chosen);
      for (const line of lines) {
        if (wanted) after.set(lineKey(line), line);
        else after.delete(lineKey(line));
      }
      return { chosen: after, draft: chooseLines(draft, [...after.values()], all) };
    }),
  edit: (part) => set(({ draft }) => ({ draft: { ...draft, ...part } })),
  load: (draft) => set({ draft, chosen: new Map() }),
}));
