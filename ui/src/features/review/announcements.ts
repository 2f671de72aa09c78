import { create } from "zustand";

/** What a screen reader is told of what happened in the grid. */
export const useAnnouncement = create<{ text: string }>(() => ({ text: "" }));

export function announce(text: string): void {
  useAnnouncement.setState({ text });
}
