import { create } from "zustand";
import { layoutStore } from "../../components/preferences-store";
import { readColumns, readSetup } from "./read-setup";
import { type ColumnLayout, EVERYTHING, type Setup, SHIPPED_COLUMNS } from "./setup";
import { ALL, isModified, LONGEST_NAME, MOST_OWN_VIEWS, SHIPPED_VIEWS, type View } from "./view";

/** What the reviewer is asked about views. */
export type ViewQuestion = "save-as" | "rename" | "delete" | "columns" | null;

interface Views {
  own: readonly View[];
  /** The view that was opened last. */
  current: string;
  /** What is on screen: the view's setup and what was changed since. */
  setup: Setup;
  /** Groups that are folded, by their key. */
  collapsed: ReadonlySet<string>;
  question: ViewQuestion;
  /** Reads what was kept; once, before the grid is drawn. */
  load: (working: { current: string; setup: Setup } | null) => void;
  open: (id: string) => void;
  change: (part: Partial<Omit<Setup, "columns">>) => void;
  changeColumns: (change: (columns: ColumnLayout) => ColumnLayout) => void;
  fold: (keys: readonly string[], folded: boolean) => void;
  ask: (question: ViewQuestion) => void;
  save: () => void;
  saveAs: (name: string) => void;
  rename: (name: string) => void;
  remove: () => void;
  reset: () => void;
}

export function viewsInOrder(own: readonly View[]): View[] {
  return [...SHIPPED_VIEWS, ...own];
}

export function viewOf({ own, current }: Pick<Views, "own" | "current">): View {
  return viewsInOrder(own).find(({ id }) => id === current) ?? ALL;
}

export function useModified(): boolean {
  return useViews((state) => isModified(viewOf(state), state.setup));
}

/** The columns of every view that has none of its own. */
function commonColumns(): ColumnLayout {
  return layoutStore.read("columns", readColumns) ?? SHIPPED_COLUMNS;
}

function readOwn(): View[] {
  return layoutStore.read("views", (value) => (Array.isArray(value) ? value.flatMap(readView) : null)) ?? [];
}

function readView(value: unknown): View[] {
  if (typeof value !== "object" || value === null) return [];
  const { id, name, setup } = value as Record<string, unknown>;
  if (typeof id !== "string" || typeof name !== "string" || name.length > LONGEST_NAME) return [];
  return [{ id, name, shipped: false, setup: readSetup(setup) }];
}

function keep(own: readonly View[]) {
  layoutStore.write(
    "views",
    own.map(({ id, name, setup }) => ({ id, name, setup })),
  );
}

const NONE: ReadonlySet<string> = new Set();

export const useViews = create<Views>((set, get) => {
  const keepOwn = (own: readonly View[], rest: Partial<Views> = {}) => {
    keep(own);
    set({ own, question: null, ...rest });
  };
  const setupOf = (view: View): Setup =>
    view.shipped ? { ...view.setup, columns: commonColumns() } : view.setup;
  return {
    own: [],
    current: ALL.id,
    setup: EVERYTHING,
    collapsed: NONE,
    question: null,
    load: (working) => {
      const own = readOwn().slice(0, MOST_OWN_VIEWS);
      if (working !== null) {
        // A view that is gone leaves what was on screen.
        const known = viewsInOrder(own).some(({ id }) => id === working.current);
        set({ own, setup: working.setup, current: known ? working.current : ALL.id });
      } else set({ own, current: ALL.id, setup: setupOf(ALL) });
    },
    open: (id) => {
      const view = viewOf({ own: get().own, current: id });
      // What was changed of an own view and not saved is not thrown away by a second press.
      if (!view.shipped && view.id === get().current) return;
      set({ current: view.id, setup: setupOf(view), collapsed: NONE });
    },
    change: (part) =>
      set(({ setup, collapsed }) => ({
        setup: { ...setup, ...part },
        collapsed: part.group === undefined || part.group === setup.group ? collapsed : NONE,
      })),
    changeColumns: (change) => {
      const { setup } = get();
      const columns = change(setup.columns);
      if (viewOf(get()).shipped) layoutStore.write("columns", columns);
      set({ setup: { ...setup, columns } });
    },
    fold: (keys, folded) =>
      set(({ collapsed: before }) => {
        const collapsed = new Set(before);
        for (const key of keys) {
          if (folded) collapsed.add(key);
          else collapsed.delete(key);
        }
        return { collapsed };
      }),
    ask: (question) => set({ question }),
    save: () => {
      const { own, setup } = get();
      const view = viewOf(get());
      if (view.shipped) set({ question: "save-as" });
      else keepOwn(own.map((each) => (each.id === view.id ? { ...each, setup } : each)));
    },
    saveAs: (name) => {
      const { own, setup } = get();
      const numbers = own.map(({ id }) => Number(id.replace("own-", "")) || 0);
      const view = { id: `own-${Math.max(0, ...numbers) + 1}`, name: name.trim(), shipped: false, setup };
      keepOwn([...own, view], { current: view.id });
    },
    rename: (name) =>
      keepOwn(get().own.map((each) => (each.id === get().current ? { ...each, name: name.trim() } : each))),
    remove: () => {
      const { own, current } = get();
      keepOwn(own.filter(({ id }) => id !== current));
      get().open(ALL.id);
    },
    reset: () => set({ setup: setupOf(viewOf(get())), collapsed: NONE }),
  };
});
