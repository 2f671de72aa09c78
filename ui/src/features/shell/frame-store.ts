import { create } from "zustand";
import type { Changed } from "../../generated/Changed";
import type { DrainView } from "../../generated/DrainView";
import type { Timed } from "../../ipc/reads";

export type Screen = "review" | "sync";

interface Frame {
  screen: Screen;
  /** The reviewer chose to go on without signing in. */
  worksOffline: boolean;
  shortcutsShown: boolean;
  /** The reviewer is asked whether to sign out. */
  signOutAsked: boolean;
  /** Set once closing has begun; there is no way back. */
  drain: Timed<DrainView> | null;
  show: (screen: Screen) => void;
  workOffline: (worksOffline: boolean) => void;
  showShortcuts: (shown: boolean) => void;
  askSignOut: (asked: boolean) => void;
  followDrain: (changed: Changed) => void;
}

export const useFrame = create<Frame>((set) => ({
  screen: "review",
  worksOffline: false,
  shortcutsShown: false,
  signOutAsked: false,
  drain: null,
  show: (screen) => set({ screen }),
  workOffline: (worksOffline) => set({ worksOffline }),
  askSignOut: (signOutAsked) => set({ signOutAsked }),
  showShortcuts: (shortcutsShown) => set({ shortcutsShown }),
  followDrain: ({ drain }) => {
    if (drain !== null) set({ drain: { value: drain, askedAtMs: performance.now() } });
  },
}));
