import { useEffect, useState } from "react";
import { usePreferences } from "../../components/preferences-store";
import { type Screen, useFrame } from "../shell/frame-store";
import { ACTIONS } from "./actions";
import { type Handlers, perform, useActionHandlers } from "./handlers";
import { actionAt, keyText } from "./keymap";
import { Palette } from "./Palette";

const ZOOM_STEP_PERCENT = 10;
const LEAST_ZOOM_PERCENT = 50;
const MOST_ZOOM_PERCENT = 300;

/** The actions that work on every screen, the keys of all that work anywhere, and the palette. */
export function ActionHost() {
  const [paletteShown, showPalette] = useState(false);
  useActionHandlers({ ...frameActions(), palette: { run: () => showPalette(true) } });
  useEffect(() => {
    window.addEventListener("keydown", takeKey);
    return () => window.removeEventListener("keydown", takeKey);
  }, []);
  return paletteShown ? <Palette onClose={() => showPalette(false)} /> : null;
}

function frameActions(): Handlers {
  const { show, showShortcuts, askSignOut } = useFrame.getState();
  const { change } = usePreferences.getState();
  const go = (screen: Screen) => ({ run: () => show(screen) });
  const zoomBy = (percent: number) => ({
    run: () => {
      const zoom = usePreferences.getState().preferences.zoom_percent + percent;
      change({ zoom_percent: Math.min(MOST_ZOOM_PERCENT, Math.max(LEAST_ZOOM_PERCENT, zoom)) });
    },
  });
  return {
    "go-review": go("review"),
    "go-backlog": go("backlog"),
    "go-sync": go("sync"),
    "go-close": go("close"),
    "go-settings": go("settings"),
    "theme-system": { run: () => change({ theme: "SYSTEM" }) },
    "theme-light": { run: () => change({ theme: "LIGHT" }) },
    "theme-dark": { run: () => change({ theme: "DARK" }) },
    "theme-contrast": { run: () => change({ theme: "HIGH_CONTRAST" }) },
    "density-compact": { run: () => change({ density: "COMPACT" }) },
    "density-regular": { run: () => change({ density: "REGULAR" }) },
    "density-comfortable": { run: () => change({ density: "COMFORTABLE" }) },
    "zoom-in": zoomBy(ZOOM_STEP_PERCENT),
    "zoom-out": zoomBy(-ZOOM_STEP_PERCENT),
    "zoom-reset": { run: () => change({ zoom_percent: 100 }) },
    "sign-out": { run: () => askSignOut(true) },
    shortcuts: { run: () => showShortcuts(true) },
  };
}

/** The grid takes its own keys before they come here. */
function takeKey(event: KeyboardEvent) {
  // While text is composed a key belongs to it; 229 is what older engines tell of that.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const key = keyText(event);
  const id = key === null ? null : actionAt(key, null);
  if (id === null) return;
  const { inDialogs, repeats } = ACTIONS[id];
  if (event.repeat && !repeats) return;
  const inDialog = document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
  if (inDialog && !inDialogs) return;
  if (perform(id)) event.preventDefault();
}
