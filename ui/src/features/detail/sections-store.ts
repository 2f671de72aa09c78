import { create } from "zustand";
import { layoutStore } from "../../components/preferences-store";

const NAME = "detail-sections";

type Opened = Readonly<Record<string, boolean>>;

interface Sections {
  /** Where the reviewer changed a section, whether it is open. */
  opened: Opened | null;
  /** What was kept is read when the first detail is drawn. */
  load: () => void;
  setOpen: (name: string, open: boolean) => void;
}

function readOpened(value: unknown): Opened | null {
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"),
  );
}

/** Which parts of a detail are open: it is the same for every exception, and remembered. */
export const useSections = create<Sections>((set, get) => ({
  opened: null,
  load: () => {
    if (get().opened === null) set({ opened: layoutStore.read(NAME, readOpened) ?? {} });
  },
  setOpen: (name, open) => {
    const opened = { ...get().opened, [name]: open };
    set({ opened });
    layoutStore.write(NAME, opened);
  },
}));
