import { create } from "zustand";

interface Offline {
  /** The dialog that is open: longer leases, or giving back what will not be finished. */
  dialog: "take" | "return" | null;
  open: (dialog: "take" | "return") => void;
  close: () => void;
}

export const useOffline = create<Offline>((set) => ({
  dialog: null,
  open: (dialog) => set({ dialog }),
  close: () => set({ dialog: null }),
}));

/** The action "Take work offline", for whatever offers it. */
export const takeOffline = () => useOffline.getState().open("take");

/** The action "Return what I won’t finish". */
export const returnUnfinished = () => useOffline.getState().open("return");
