import type { Density } from "../generated/Density";
import type { Preferences } from "../generated/Preferences";
import { usePreferences } from "./preferences-store";

/**
 * Heights of the rows of grids and tables, as theme.css has them in `--row-height`. The least is what a pointer needs. A row is never
 * measured: where it stands follows from its number.
 */
export const ROW_HEIGHT_PX: Record<Density, number> = { COMPACT: 24, REGULAR: 28, COMFORTABLE: 36 };

/** The height of a row in the density that the reviewer prefers, for what draws only the rows in sight. */
export function useRowHeight(): number {
  return ROW_HEIGHT_PX[usePreferences(({ preferences }) => preferences.density)];
}

/** What the desktop asks for. */
const CONTRAST = "(prefers-contrast: more)";
const REDUCED = "(prefers-reduced-motion: reduce)";

/** What theme.css chooses by. `SYSTEM` leaves light and dark to the desktop; more contrast and less motion are asked for here. */
export function appearanceOf(
  { theme, density, motion }: Preferences,
  asks: (query: string) => boolean,
): Record<"theme" | "density" | "motion", string> {
  return {
    theme: theme === "SYSTEM" && asks(CONTRAST) ? "HIGH_CONTRAST" : theme,
    density,
    motion: motion === "SYSTEM" ? (asks(REDUCED) ? "REDUCED" : "FULL") : motion,
  };
}

/** Puts the preferences on the root element, now and whenever they or the desktop change. Answers how to stop. */
export function followAppearance(root: HTMLElement = document.documentElement): () => void {
  const queries = [CONTRAST, REDUCED].map((query) => window.matchMedia(query));
  const apply = () => {
    const asks = (query: string) => window.matchMedia(query).matches;
    Object.assign(root.dataset, appearanceOf(usePreferences.getState().preferences, asks));
  };
  apply();
  const unsubscribe = usePreferences.subscribe(apply);
  for (const query of queries) query.addEventListener("change", apply);
  return () => {
    unsubscribe();
    for (const query of queries) query.removeEventListener("change", apply);
  };
}
