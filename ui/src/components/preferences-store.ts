import { create } from "zustand";
import type { Preferences } from "../generated/Preferences";
import type { Ipc } from "../ipc/ipc";
import { documentStore } from "./document-store";

/** What is in force before the workstation has answered. */
export const SHIPPED: Preferences = {
  theme: "SYSTEM",
  density: "REGULAR",
  negatives: "PARENTHESES",
  numbers: "SYSTEM",
  motion: "SYSTEM",
  zoom_percent: 100,
  notifications: true,
  keymap: {},
  layout: "",
};

const SAVE_AFTER_MS = 300;

interface PreferencesStore {
  preferences: Preferences;
  /** Changes some; they are saved by themselves. */
  change: (part: Partial<Omit<Preferences, "layout">>) => void;
}

let save: ((preferences: Preferences) => void) | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

function keep(preferences: Preferences) {
  clearTimeout(timer);
  timer = setTimeout(() => save?.(preferences), SAVE_AFTER_MS);
}

export const usePreferences = create<PreferencesStore>((set, get) => ({
  preferences: SHIPPED,
  change: (part) => {
    set({ preferences: { ...get().preferences, ...part } });
    keep(get().preferences);
  },
}));

/** Columns, saved views and the like: one JSON document with a value for each feature. */
export const layoutStore = documentStore((text) => {
  const { preferences } = usePreferences.getState();
  usePreferences.setState({ preferences: { ...preferences, layout: text } });
  keep(usePreferences.getState().preferences);
});

/** Reads the preferences once, before the first screen is drawn. A failure leaves the shipped ones and is told by `complain`. */
export async function openPreferences(ipc: Ipc, complain: (thrown: unknown) => void) {
  save = (preferences) => void ipc.savePreferences(preferences).catch(complain);
  try {
    const preferences = await ipc.preferences();
    usePreferences.setState({ preferences });
    layoutStore.load(preferences.layout);
  } catch (thrown) {
    complain(thrown);
  }
}
