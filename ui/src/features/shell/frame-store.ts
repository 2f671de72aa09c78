import { create } from "zustand";
import { uiState } from "../../components/ui-state";
import type { Changed } from "../../generated/Changed";
import type { DrainView } from "../../generated/DrainView";
import type { Timed } from "../../ipc/reads";

export const SCREENS = ["review", "backlog", "sync", "letters", "close", "settings"] as const;
export type Screen = (typeof SCREENS)[number];

interface Frame {
  screen: Screen;
  /** Grows with each navigation that takes the focus along; what leads to a row keeps it for the row. */
  arrivals: number;
  /** The reviewer chose to go on without signing in. */
  worksOffline: boolean;
  shortcutsShown: boolean;
  /** The reviewer is asked whether to sign out. */
  signOutAsked: boolean;
  /** Set once closing has begun; there is no way back. */
  drain: Timed<DrainView> | null;
  show: (screen: Screen, focus?: "screen" | "elsewhere") => void;
  /** Shows the screen that was shown before a crash. */
  restore: () => void;
  workOffline: (worksOffline: boolean) => void;
  showShortcuts: (shown: boolean) => void;
  askSignOut: (asked: boolean) => void;
  followDrain: (changed: Changed) => void;
}

export const useFrame = create<Frame>((set) => ({
  screen: "review",
  arrivals: 0,
  worksOffline: false,
  shortcutsShown: false,
  signOutAsked: false,
  drain: null,
  show: (screen, focus = "screen") => {
    uiState.write("screen", screen);
    set(({ arrivals }) => ({ screen, arrivals: focus === "screen" ? arrivals + 1 : arrivals }));
  },
  restore: () => {
    const screen = uiState.read("screen", (value) => SCREENS.find((each) => each === value) ?? null);
    if (screen !== null) set({ screen });
  },
  workOffline: (worksOffline) => set({ worksOffline }),
  askSignOut: (signOutAsked) => set({ signOutAsked }),
  showShortcuts: (shortcutsShown) => set({ shortcutsShown }),
  followDrain: ({ drain }) => {
    if (drain !== null) set({ drain: { value: drain, askedAtMs: performance.now() } });
  },
}));
