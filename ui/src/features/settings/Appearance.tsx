import { Button } from "../../components/Button";
import { usePreferences } from "../../components/preferences-store";
import { Segments } from "../../components/Segments";
import type { Density } from "../../generated/Density";
import type { Motion } from "../../generated/Motion";
import type { Theme } from "../../generated/Theme";
import styles from "./entries.module.css";
import type { Entry } from "./sections";
import { LARGEST_PERCENT, SMALLEST_PERCENT, stepped } from "./zoom";

export const THEMES: readonly { id: Theme; label: string }[] = [
  { id: "SYSTEM", label: "As the system" },
  { id: "LIGHT", label: "Light" },
  { id: "DARK", label: "Dark" },
  { id: "HIGH_CONTRAST", label: "High contrast" },
];

export const DENSITIES: readonly { id: Density; label: string }[] = [
  { id: "COMPACT", label: "Compact" },
  { id: "REGULAR", label: "Regular" },
  { id: "COMFORTABLE", label: "Comfortable" },
];

export const MOTIONS: readonly { id: Motion; label: string }[] = [
  { id: "SYSTEM", label: "As the system" },
  { id: "REDUCED", label: "None at all" },
  { id: "FULL", label: "Progress moves" },
];

export function appearanceEntries(): Entry[] {
  return [
    { id: "theme", words: "theme colours light dark system high contrast", shown: <ThemeEntry /> },
    { id: "density", words: "density rows height compact regular comfortable", shown: <DensityEntry /> },
    { id: "zoom", words: "zoom size larger smaller text", shown: <ZoomEntry /> },
    { id: "motion", words: "motion animation reduced progress", shown: <MotionEntry /> },
  ];
}

function ThemeEntry() {
  const theme = usePreferences((state) => state.preferences.theme);
  const change = usePreferences((state) => state.change);
  return (
    <>
      <Segments
        label="Theme"
        options={THEMES}
        value={theme}
        onChange={(id) => change({ theme: THEMES.find((each) => each.id === id)?.id ?? theme })}
        data-testid="theme"
      />
      <p className={styles.help}>
        High contrast is dark or light as the system is. Colours that the system forces come first.
      </p>
    </>
  );
}

function DensityEntry() {
  const density = usePreferences((state) => state.preferences.density);
  const change = usePreferences((state) => state.change);
  return (
    <Segments
      label="Height of rows"
      options={DENSITIES}
      value={density}
      onChange={(id) => change({ density: DENSITIES.find((each) => each.id === id)?.id ?? density })}
      data-testid="density"
    />
  );
}

function MotionEntry() {
  const motion = usePreferences((state) => state.preferences.motion);
  const change = usePreferences((state) => state.change);
  return (
    <>
      <Segments
        label="Motion"
        options={MOTIONS}
        value={motion}
        onChange={(id) => change({ motion: MOTIONS.find((each) => each.id === id)?.id ?? motion })}
        data-testid="motion"
      />
      <p className={styles.help}>Nothing moves in this window but the bar of work that takes time.</p>
    </>
  );
}

function ZoomEntry() {
  const zoom = usePreferences((state) => state.preferences.zoom_percent);
  const change = usePreferences((state) => state.change);
  return (
    <fieldset>
      <legend>Size of everything</legend>
      <div className={styles.row}>
        <Button
          aria-label="Smaller"
          isDisabled={zoom <= SMALLEST_PERCENT}
          onPress={() => change({ zoom_percent: stepped(zoom, -1) })}
          data-testid="zoom-smaller"
        >
          −
        </Button>
        <output className={styles.figure} data-testid="zoom">
          {zoom} %
        </output>
        <Button
          aria-label="Larger"
          isDisabled={zoom >= LARGEST_PERCENT}
          onPress={() => change({ zoom_percent: stepped(zoom, 1) })}
          data-testid="zoom-larger"
        >
          +
        </Button>
        <Button
          isDisabled={zoom === 100}
          onPress={() => change({ zoom_percent: 100 })}
          data-testid="zoom-reset"
        >
          Original size
        </Button>
      </div>
    </fieldset>
  );
}
