import { create } from "zustand";

interface ReceiptDialog {
  /** The confirmation whose receipt is shown. */
  batch: string | null;
  open: (batch: string) => void;
  close: () => void;
}

export const useReceiptDialog = create<ReceiptDialog>((set) => ({
  batch: null,
  open: (batch) => set({ batch }),
  close: () => set({ batch: null }),
}));
